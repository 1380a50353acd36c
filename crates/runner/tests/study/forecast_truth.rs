//! Studies whose runs are drawn: how often do the sums lie in the forecast's intervals?

use model::{Plan, RunId, RunRecord};
use place::Fake;
use runner::{Forecast, Rentals, forecast};
use seeded::SplitMix64;

use crate::bench::{Bench, good};

pub(crate) struct Setting {
    /// Levels of each factor.
    pub(crate) levels: &'static [usize],
    /// Runs of every scenario that are known.
    pub(crate) known: u32,
    /// Runs of every scenario that are due.
    pub(crate) due: u32,
    /// Standard deviation of the logarithm of a run's time.
    pub(crate) sigma: f64,
    /// `run`, or `study`: one rental for all.
    pub(crate) rental: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Coverage {
    pub(crate) time: f64,
    pub(crate) cost: f64,
    /// Mean width of the interval of the time, in parts of the true time.
    pub(crate) width: f64,
}

struct World {
    bench: Bench,
    example: RunRecord,
}

impl Setting {
    /// Every run is rounded up to ten minutes, and costs an hour at least where it is rented for itself.
    fn world(&self) -> World {
        let factors = self.levels.iter().enumerate().map(|(place, levels)| {
            let levels: Vec<String> = (0..*levels).map(|level| level.to_string()).collect();
            format!("f{place} = [{}]\n", levels.join(", "))
        });
        let used: Vec<String> = (0..self.levels.len())
            .map(|place| format!("\"{{f{place}}}\""))
            .collect();
        let minimum = if self.rental == "run" { "1h" } else { "10min" };
        let bench = Bench::of(&format!(
            "[study]\nname = \"s\"\nrepetitions = {}\norder = \"listed\"\n[factors]\n{}[workload]\n\
             command = [\"true\", {}]\n[environments.here]\nprice = \"3 USD/h\"\n\
             billing = {{ step = \"10min\", minimum = \"{minimum}\", rental = \"{}\" }}\n",
            self.known + self.due,
            factors.collect::<String>(),
            used.join(", "),
            self.rental,
        ));
        let place: Fake = good(1.0);
        bench.run_at(&place);
        let example = bench.records().swap_remove(0);
        World { bench, example }
    }

    /// Half an hour, times 1 to 2 for the levels of every factor.
    fn middle(&self, plan: &Plan, run: RunId) -> f64 {
        let scenario = plan.scenario(run.scenario).unwrap();
        let levels = scenario.levels.iter().zip(self.levels);
        let effects = levels.map(|(level, count)| {
            let level = level.level.as_float().unwrap();
            1.0 + level / (*count as f64 - 1.0).max(1.0)
        });
        2400.0 * effects.product::<f64>()
    }

    pub(crate) fn coverage(&self, studies: u64) -> Coverage {
        let world = self.world();
        let all = studies as f64;
        let mut coverage = Coverage {
            time: 0.0,
            cost: 0.0,
            width: 0.0,
        };
        for seed in 1..=studies {
            let Case { found, truth } = self.case(&world, seed);
            let seconds: f64 = truth.iter().map(|record| record.seconds).sum();
            let paid = world.paid(&truth);
            let (time, money) = (found.seconds, found.money.unwrap());
            let is_in = time.low <= seconds && seconds <= time.high;
            coverage.time += f64::from(is_in) / all;
            coverage.width += (time.high - time.low) / seconds / all;
            let is_in = money.low.amount <= paid && paid <= money.high.amount;
            coverage.cost += f64::from(is_in) / all;
        }
        coverage
    }

    pub(crate) fn forecast(&self, seed: u64) -> Forecast {
        self.case(&self.world(), seed).found
    }

    fn case(&self, world: &World, seed: u64) -> Case {
        let World { bench, example } = world;
        let plan = &bench.plan;
        let (known, due): (Vec<RunId>, Vec<RunId>) = plan
            .runs
            .iter()
            .partition(|run| run.repetition <= self.known);
        let mut random = SplitMix64::new(seed);
        let mut drawn = |run: &RunId| {
            let normal = stats::normal(&mut random);
            let mut record = example.clone();
            record.run = *run;
            record.scenario = plan.scenario(run.scenario).unwrap().clone();
            record.seconds = self.middle(plan, *run) * (self.sigma * normal).exp();
            record.phases.truncate(1);
            record.phases[0].seconds = record.seconds;
            record
        };
        let earlier: Vec<RunRecord> = known.iter().map(&mut drawn).collect();
        let truth = due.iter().map(&mut drawn).collect();
        let study = model::Study {
            seed,
            ..bench.study.clone()
        };
        let expected = forecast::from_records(&earlier);
        let spread = forecast::spread(&expected, &plan.scenarios);
        Case {
            found: forecast::add_up(&study, plan, &due, expected, spread),
            truth,
        }
    }
}

struct Case {
    found: Forecast,
    truth: Vec<RunRecord>,
}

impl World {
    /// By the runs as they were.
    fn paid(&self, truth: &[RunRecord]) -> rust_decimal::Decimal {
        let study = &self.bench.study;
        let price = study.environments[0].price.as_ref().unwrap();
        let mut rentals = Rentals::new(study);
        for record in truth {
            let request = cost::BillRequest::of(record, price, price.per_hour.currency, &[]);
            rentals.add("here", None, &request, 0.0);
        }
        rentals.total(None).unwrap().amount
    }
}
