//! Clouds whose truth is known: machines with prices, and how long a training takes on them. None of them is of the
//! surrogate's own form.

use predict::search::{
    Constraint, FactorSpace, Fidelity, Observation, Point, Question, Search, Seen, Space, Step,
    WHOLE,
};
use seeded::{SplitMix64, mix};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// The slower of computing and of moving bytes, with overhead for every step; large batches run out of memory.
    Roofline,
    /// Amdahl's and Gunther's laws over cores, with a batch size that pays off less and less.
    Scaling,
    /// Effects and interactions of two and three factors, drawn, with nothing to know of machines beforehand.
    Drawn,
    /// As drawn, with a tenth of machine types that are slow at one precision, and noise with a long tail.
    Cliffs,
}

impl Family {
    pub(crate) const ALL: [Family; 4] = [
        Family::Roofline,
        Family::Scaling,
        Family::Drawn,
        Family::Cliffs,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Family::Roofline => "roofline",
            Family::Scaling => "scaling",
            Family::Drawn => "drawn",
            Family::Cliffs => "cliffs",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    pub(crate) name: &'static str,
    is_cost: bool,
    has_deadline: bool,
    has_short_runs: bool,
}

pub(crate) const GOALS: [Goal; 4] = [
    Goal {
        name: "min time",
        is_cost: false,
        has_deadline: false,
        has_short_runs: false,
    },
    Goal {
        name: "min cost",
        is_cost: true,
        has_deadline: false,
        has_short_runs: false,
    },
    Goal {
        name: "min cost where time < …",
        is_cost: true,
        has_deadline: true,
        has_short_runs: false,
    },
    Goal {
        name: "min cost, short runs first",
        is_cost: true,
        has_deadline: false,
        has_short_runs: true,
    },
];

/// A tenth of a run, from which the whole is predicted with an error of 5 %.
const SHORT: Fidelity = Fidelity {
    share: 0.1,
    noise: 0.05,
};
/// The replay ends here at the latest.
const MOST_TIME: f64 = 0.1;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Replayed {
    pub(crate) scenarios: usize,
    /// Of the time of one run of every scenario.
    pub(crate) time_share: f64,
    pub(crate) runs: usize,
    pub(crate) is_close: bool,
    pub(crate) is_settled: bool,
}

struct Machine {
    cores: f64,
    memory: f64,
    price: f64,
    core_speed: f64,
    bandwidth: f64,
}

pub(crate) struct Cloud {
    pub(crate) space: Space,
    /// Seconds by point; none where it runs out of memory.
    seconds: Vec<Option<f64>>,
    prices: Vec<f64>,
    noise: f64,
    has_long_tail: bool,
}

const BATCHES: [f64; 6] = [16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
const CORES: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
const PRECISIONS: usize = 2;

pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(SplitMix64::new(mix(seed)))
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

impl Cloud {
    pub(crate) fn new(family: Family, machines: usize, seed: u64) -> Self {
        let mut random = Random::new(seed ^ (family as u64) << 40);
        let machines: Vec<Machine> = (0..machines)
            .map(|place| machine(place, &mut random))
            .collect();
        let mut points = Vec::new();
        for machine in 0..machines.len() {
            for batch in 0..BATCHES.len() {
                for cores in 0..CORES.len() {
                    for precision in 0..PRECISIONS {
                        points.push(Point {
                            levels: vec![machine, batch, cores, precision],
                            task: 0,
                        });
                    }
                }
            }
        }
        let seconds = match family {
            Family::Roofline => roofline(&machines, &points, &mut random),
            Family::Scaling => scaling(&machines, &points, &mut random),
            Family::Drawn => drawn(&machines, &points, 0.0, &mut random),
            Family::Cliffs => drawn(&machines, &points, 0.1, &mut random),
        };
        let numbers = |numbers: &[f64]| FactorSpace {
            levels: numbers.iter().map(|number| vec![number.ln()]).collect(),
        };
        let features = |m: &Machine| vec![m.cores.ln(), m.memory.ln(), m.price.ln()];
        Cloud {
            prices: points
                .iter()
                .map(|point| machines[point.levels[0]].price)
                .collect(),
            space: Space {
                factors: vec![
                    FactorSpace {
                        levels: machines.iter().map(features).collect(),
                    },
                    numbers(&BATCHES),
                    numbers(&CORES),
                    FactorSpace {
                        levels: vec![Vec::new(); PRECISIONS],
                    },
                ],
                points,
            },
            seconds,
            noise: if family == Family::Cliffs { 0.05 } else { 0.03 },
            has_long_tail: family == Family::Cliffs,
        }
    }

    pub(crate) fn question(&self, goal: Goal, seed: u64) -> Question {
        let prices: Vec<f64> = self.prices.iter().map(|price| price.ln()).collect();
        Question {
            quantities: 2,
            objective: usize::from(goal.is_cost),
            constraints: self.deadline(goal).into_iter().collect(),
            offsets: vec![Vec::new(), prices],
            repetitions: 5,
            seed,
        }
    }

    /// A third of the scenarios keep it.
    fn deadline(&self, goal: Goal) -> Option<Constraint> {
        let mut times: Vec<f64> = self.seconds.iter().flatten().copied().collect();
        times.sort_by(f64::total_cmp);
        goal.has_deadline.then(|| Constraint {
            quantity: 0,
            limit: times[times.len() / 3].ln(),
            is_upper: true,
        })
    }

    fn objective(&self, goal: Goal, point: usize) -> Option<f64> {
        let seconds = self.seconds[point]?;
        let late = self
            .deadline(goal)
            .is_some_and(|limit| seconds.ln() > limit.limit);
        let factor = if goal.is_cost {
            self.prices[point]
        } else {
            1.0
        };
        (!late).then_some(seconds * factor)
    }

    pub(crate) fn observe(
        &self,
        point: usize,
        fidelity: Fidelity,
        random: &mut Random,
    ) -> Observation {
        let spread = self.noise.hypot(fidelity.noise);
        let tail = if self.has_long_tail && random.uniform() < 0.05 {
            4.0
        } else {
            1.0
        };
        let error = spread * tail * random.normal();
        let seconds = self.seconds[point].map(|seconds| seconds.ln() + error);
        let cost = seconds.map(|seconds| seconds + self.prices[point].ln());
        Observation {
            point,
            values: vec![seconds, cost],
            outcome: if seconds.is_some() {
                Seen::Ok
            } else {
                Seen::Failed
            },
            fidelity: fidelity.share,
            noise: fidelity.noise,
        }
    }
}

/// Three generations of machines in sizes from 2 to 32 cores; prices differ by offer.
fn machine(place: usize, random: &mut Random) -> Machine {
    let cores = [2.0, 4.0, 8.0, 16.0, 32.0][place % 5];
    let generation = 1.0 + 0.3 * ((place / 5) % 3) as f64;
    let memory = cores * [2.0, 4.0, 8.0][(place / 3) % 3];
    Machine {
        cores,
        memory,
        core_speed: generation * (0.15 * random.normal()).exp(),
        bandwidth: generation.sqrt() * (4.0 + cores).sqrt() * (0.2 * random.normal()).exp(),
        price: (0.03 * cores + 0.004 * memory) * generation.sqrt() * (0.15 * random.normal()).exp(),
    }
}

fn roofline(machines: &[Machine], points: &[Point], random: &mut Random) -> Vec<Option<f64>> {
    let work = 40.0 * (0.5 * random.normal()).exp();
    let traffic = 25.0 * (0.5 * random.normal()).exp();
    let overhead = 0.02 * (0.5 * random.normal()).exp();
    let bytes = 0.02 * (0.4 * random.normal()).exp();
    let gains: Vec<f64> = machines.iter().map(|_| 1.0 + random.uniform()).collect();
    let of = |point: &Point| {
        let machine = &machines[point.levels[0]];
        let (batch, wanted) = (BATCHES[point.levels[1]], CORES[point.levels[2]]);
        let half = point.levels[3] == 1;
        let needed = 1.0 + bytes * batch * if half { 0.6 } else { 1.0 };
        if needed > machine.memory {
            return None;
        }
        let used = wanted.min(machine.cores);
        let filled = batch / (batch + 8.0 * used);
        let gain = if half { gains[point.levels[0]] } else { 1.0 };
        let computing = work / (machine.core_speed * used.powf(0.9) * filled * gain);
        let moving = traffic / machine.bandwidth * if half { 0.6 } else { 1.0 };
        Some(20.0 + 10.0 * computing.max(moving) + overhead * 10_000.0 / batch)
    };
    points.iter().map(of).collect()
}

fn scaling(machines: &[Machine], points: &[Point], random: &mut Random) -> Vec<Option<f64>> {
    let serial = 0.02 + 0.15 * random.uniform();
    let crosstalk = 0.01 * random.uniform();
    let work = 600.0 * (0.5 * random.normal()).exp();
    let best_batch = 32.0 * (4.0 * random.uniform()).exp2();
    let gain = 0.1 + 0.5 * random.uniform();
    let of = |point: &Point| {
        let machine = &machines[point.levels[0]];
        let p = CORES[point.levels[2]].min(machine.cores);
        let batch = BATCHES[point.levels[1]];
        let law = serial + (1.0 - serial) / p + crosstalk * (p - 1.0);
        let away = (batch / best_batch).ln();
        let precision = if point.levels[3] == 1 {
            1.0 - gain
        } else {
            1.0
        };
        Some(10.0 + work * law / machine.core_speed * (1.0 + 0.08 * away * away) * precision)
    };
    points.iter().map(of).collect()
}

fn drawn(
    machines: &[Machine],
    points: &[Point],
    cliffs: f64,
    random: &mut Random,
) -> Vec<Option<f64>> {
    let sizes = [machines.len(), BATCHES.len(), CORES.len(), PRECISIONS];
    let mut draw =
        |count: usize, sd: f64| -> Vec<f64> { (0..count).map(|_| sd * random.normal()).collect() };
    let mains: Vec<Vec<f64>> = sizes
        .iter()
        .zip([0.5, 0.3, 0.4, 0.2])
        .map(|(n, sd)| draw(*n, sd))
        .collect();
    let mut pairs = Vec::new();
    for a in 0..sizes.len() {
        for b in a + 1..sizes.len() {
            pairs.push((a, b, draw(sizes[a] * sizes[b], 0.1)));
        }
    }
    let triple = draw(sizes[0] * sizes[1] * sizes[2], 0.03);
    let slow: Vec<f64> = (0..sizes[0] * PRECISIONS)
        .map(|_| if random.uniform() < cliffs { 0.9 } else { 0.0 })
        .collect();
    let of = |point: &Point| {
        let l = &point.levels;
        let main: f64 = mains
            .iter()
            .zip(l)
            .map(|(effects, level)| effects[*level])
            .sum();
        let two: f64 = pairs
            .iter()
            .map(|(a, b, e)| e[l[*a] * sizes[*b] + l[*b]])
            .sum();
        let three = triple[(l[0] * sizes[1] + l[1]) * sizes[2] + l[2]];
        Some((5.0 + main + two + three + slow[l[0] * PRECISIONS + l[3]]).exp())
    };
    points.iter().map(of).collect()
}

/// A search from nothing to its end.
pub(crate) fn replay(family: Family, machines: usize, goal: Goal, seed: u64) -> Replayed {
    let cloud = Cloud::new(family, machines, seed);
    let question = cloud.question(goal, seed);
    let mut random = Random::new(seed ^ 0xABCD);
    // A run that fails has used a little time.
    let taken = |point: usize| cloud.seconds[point].unwrap_or(10.0);
    let all: f64 = (0..cloud.space.points.len()).map(taken).sum();
    let fidelities: &[Fidelity] = match goal.has_short_runs {
        true => &[SHORT, WHOLE],
        false => &[WHOLE],
    };
    let mut observed: Vec<Observation> = Vec::new();
    let mut time = 0.0;
    let (is_settled, chosen) = loop {
        let search = Search::new(&cloud.space, &question, &observed);
        let step = search.step(fidelities, &|_| true);
        let Step::Observe(proposal) = step else {
            break (step == Step::Settled, search.standings()[0].chosen);
        };
        let fidelity = fidelities.iter().find(|f| f.share == proposal.share);
        let fidelity = *fidelity.unwrap_or(&WHOLE);
        time += taken(proposal.point) * fidelity.share;
        if time > MOST_TIME * all {
            break (false, search.standings()[0].chosen);
        }
        observed.push(cloud.observe(proposal.point, fidelity, &mut random));
    };
    let points = 0..cloud.space.points.len();
    let best = points.filter_map(|point| cloud.objective(goal, point));
    let best = best.fold(f64::INFINITY, f64::min);
    let own = chosen.and_then(|chosen| cloud.objective(goal, chosen));
    Replayed {
        scenarios: cloud.space.points.len(),
        time_share: time.min(MOST_TIME * all) / all,
        runs: observed.len(),
        is_close: own.is_some_and(|own| own <= best / 0.95),
        is_settled,
    }
}
