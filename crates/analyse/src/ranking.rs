//! Which scenario to choose, per task: the fastest, the cheapest, what lies between, and how sure that is.

use std::collections::BTreeMap;

use messages::{message, word};
use model::run::metric::{self, Better};
use model::{Role, Status};
use serde::Serialize;
use stats::Samples;

use crate::analysis::{LevelFacts, ScenarioResult, StatusCounts};
use crate::candidates::{self, Candidate, Measured};
use crate::decides::Verdict;
use crate::design::{are_linked, block_factors};
use crate::levels::Levels;
use crate::pareto::{self, Criteria, Dominated, Reason};
use crate::serving::Serving;
use crate::table::{Row, Table};
use crate::words::names::MetricInfo;
use crate::words::{pareto as pareto_words, ranking as words};

/// What to choose, for every task of the study.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Best {
    /// In the order of the scenarios; one without levels where the study has one task.
    pub tasks: Vec<TaskBest>,
    /// Of which anything was measured, also where there was nothing to choose between.
    pub measured_tasks: usize,
    /// What the numbers of rankings stand for, where the study has days or hosts that are no choice; otherwise empty,
    /// and each is that scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// What holds for all tasks, then each.
    pub sentences: Vec<String>,
    /// Metrics that the Pareto set is over; empty without one.
    pub criteria: Vec<String>,
    /// Why metrics that the study asks for are not among them.
    pub left_out: Vec<String>,
}

impl Best {
    /// Whether it is the fastest of its task, or cannot be told from the fastest.
    pub fn is_among_fastest(&self, scenario: u32) -> bool {
        let mut rankings = self.tasks.iter().filter_map(|task| task.time.as_ref());
        rankings.any(|ranking| ranking.is_first(self.number_of(scenario)))
    }

    pub fn is_among_cheapest(&self, scenario: u32) -> bool {
        let mut rankings = self.tasks.iter().filter_map(|task| task.cost.as_ref());
        rankings.any(|ranking| ranking.is_first(self.number_of(scenario)))
    }

    /// Of all tasks: which scenarios no other of their task beats in all criteria, as measured.
    pub fn pareto(&self) -> impl Iterator<Item = u32> {
        let sets = self.tasks.iter().flat_map(|task| &task.pareto);
        sets.flat_map(|number| self.members(*number))
    }

    /// The number that a scenario has in rankings.
    pub fn number_of(&self, scenario: u32) -> u32 {
        let mut all = self.candidates.iter();
        let own = all.find(|one| one.members.contains(&scenario));
        own.map_or(scenario, |own| own.scenario)
    }

    /// The scenarios that a number in rankings stands for.
    pub fn members(&self, number: u32) -> Vec<u32> {
        let mut all = self.candidates.iter();
        let own = all.find(|one| one.scenario == number);
        own.map_or_else(|| vec![number], |own| own.members.clone())
    }
}

/// Scenarios that do the same, by what one may choose.
#[derive(Debug, Clone, Serialize)]
pub struct TaskBest {
    /// Levels of the factors that say what is to be done.
    pub task: Vec<LevelFacts>,
    pub time: Option<Ranking>,
    pub cost: Option<Ranking>,
    /// Not beaten in all criteria as measured, from the best by the first (the fastest) to the worst (the cheapest).
    pub pareto: Vec<u32>,
    /// Beaten in all criteria, with evidence.
    pub dominated: Vec<Dominated>,
    /// Scenarios whose runs all succeeded.
    pub ranked: Vec<u32>,
    /// Never ranked by what survived, nor by one run.
    pub unranked: Vec<Unranked>,
    pub sentences: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Ranking {
    pub metric: String,
    /// The best as measured, then those that cannot be told from it.
    pub first: Vec<u32>,
    /// Worse ones, the nearest first.
    pub behind: Vec<Behind>,
    /// Different: there is one best. Practically equal: all in `first` are.
    pub verdict: Verdict,
    /// How often the best was best in resamplings of the means.
    pub stability: Option<f64>,
    /// Repetitions that would probably decide it.
    pub repetitions: Option<usize>,
}

impl Ranking {
    pub fn is_first(&self, scenario: u32) -> bool {
        self.verdict != Verdict::NotEstimable && self.first.contains(&scenario)
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Behind {
    pub scenario: u32,
    /// By how much of the best one's value, with its interval.
    pub by: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Unranked {
    pub scenario: u32,
    /// What sentences call it.
    pub label: String,
    pub why: String,
    /// It succeeded once and was not repeated.
    #[serde(skip)]
    pub(crate) is_single: bool,
    /// Not for its runs, but for the days that they were made on.
    #[serde(skip)]
    pub(crate) is_of_blocks: bool,
}

/// A run that ended badly by itself is an outcome of its scenario; one that was interrupted is not.
pub(crate) fn has_failed(row: &Row) -> bool {
    let bad = [Status::Failed, Status::OutOfMemory, Status::TimedOut];
    row.status().is_some_and(|status| bad.contains(&status))
}

pub(crate) fn best(
    table: &Table,
    scenarios: &[ScenarioResult],
    serving: Option<&Serving>,
    levels: &Levels,
) -> Best {
    let Some(time) = table.time_column() else {
        return Best::default();
    };
    let cost = table.column(metric::COST_PER_INFERENCE);
    let cost = cost.or_else(|| table.column(metric::COST));
    let candidates = candidates::candidates(table, scenarios);
    let mut tasks: BTreeMap<Vec<&str>, Vec<&Candidate>> = BTreeMap::new();
    let is_task = |level: &&LevelFacts| table.study.role(&level.factor) == Role::Task;
    let mut order = Vec::new();
    for candidate in &candidates {
        let levels = candidate.result.levels.iter().filter(is_task);
        let key: Vec<&str> = levels.map(|level| level.level.as_str()).collect();
        if !tasks.contains_key(&key) {
            order.push(key.clone());
        }
        tasks.entry(key).or_default().push(candidate);
    }
    let criteria = Criteria::of(table, time, cost);
    let measured = Measured::new(table, &candidates);
    let columns = [time]
        .into_iter()
        .chain(cost)
        .chain(criteria.columns.clone());
    let blocked = columns.filter(|column| measured.is_blocked(*column));
    let maker = Maker {
        table,
        serving,
        time,
        cost,
        blocked: blocked.collect(),
        measured,
        criteria,
        level: levels.ranking / tasks.len().max(1) as f64,
        dominance_level: levels.dominance / tasks.len().max(1) as f64,
    };
    let measured_tasks = tasks
        .values()
        .filter(|task| task.iter().any(|one| one.result.runs.total() > 0));
    let measured_tasks = measured_tasks.count();
    let made = order.iter().filter_map(|key| maker.task(&tasks[key]));
    let tasks: Vec<TaskBest> = made.collect();
    let criteria = maker.criteria_infos();
    let criteria = criteria.map(|info| info.name.clone()).collect();
    let left_out = maker.criteria.left_out;
    let is_any_merged = candidates.iter().any(|one| one.members.len() > 1);
    Best {
        sentences: words::sentences(&tasks, measured_tasks, &candidates, table),
        tasks,
        measured_tasks,
        criteria,
        left_out,
        candidates: if is_any_merged {
            candidates
        } else {
            Vec::new()
        },
    }
}

struct Maker<'t, 'a> {
    table: &'t Table<'a>,
    serving: Option<&'t Serving>,
    time: usize,
    cost: Option<usize>,
    measured: Measured<'t, 'a>,
    /// Columns in which blocks differ.
    blocked: Vec<usize>,
    criteria: Criteria,
    /// Error rate of one ranking.
    level: f64,
    /// Of all that is said of dominated scenarios of one task.
    dominance_level: f64,
}

impl Maker<'_, '_> {
    fn task(&self, candidates: &[&Candidate]) -> Option<TaskBest> {
        let mut unranked = Vec::new();
        let mut ranked = Vec::new();
        let is_measured = |one: &&&Candidate| one.result.runs.total() > 0;
        for candidate in candidates.iter().filter(is_measured) {
            match self.why_not(candidate) {
                Some(why) => unranked.push(Unranked {
                    scenario: candidate.scenario,
                    label: candidate.result.label.clone(),
                    why,
                    is_single: false,
                    is_of_blocks: false,
                }),
                None => ranked.push(*candidate),
            }
        }
        if ranked.len() + unranked.len() < 2 {
            return None;
        }
        let (ranked, others) = self.linked(ranked);
        unranked.extend(others);
        let (ranked, others) = self.comparable(ranked);
        unranked.extend(others);
        let time = self.ranking(&ranked, self.time);
        let cost = self.cost.and_then(|column| self.ranking(&ranked, column));
        let is_task = |level: &&LevelFacts| self.table.study.role(&level.factor) == Role::Task;
        let levels = candidates.first()?.result.levels.iter().filter(is_task);
        let mut best = TaskBest {
            task: levels.cloned().collect(),
            time,
            cost,
            pareto: Vec::new(),
            dominated: Vec::new(),
            ranked: ranked.iter().map(|one| one.scenario).collect(),
            unranked,
            sentences: Vec::new(),
        };
        self.add_pareto(&mut best, &ranked);
        let is_asked = !self.table.study.pareto.is_empty();
        best.sentences = words::of_task(&best, candidates, self.infos(), !is_asked);
        if is_asked && !self.criteria.columns.is_empty() {
            let infos: Vec<&MetricInfo> = self.criteria_infos().collect();
            let sentences = pareto_words::set(&best, &labels(candidates), &infos);
            best.sentences.extend(sentences);
        }
        Some(best)
    }

    fn criteria_infos(&self) -> impl Iterator<Item = &MetricInfo> {
        let columns = self.criteria.columns.iter();
        columns.map(|column| &self.table.columns[*column])
    }

    fn infos(&self) -> (&MetricInfo, Option<&MetricInfo>) {
        let info = |column: usize| &self.table.columns[column];
        (info(self.time), self.cost.map(info))
    }

    /// Why a scenario is not ranked by the runs that succeeded.
    fn why_not(&self, candidate: &Candidate) -> Option<String> {
        let runs = &candidate.result.runs;
        let failed = StatusCounts {
            failed: runs.failed,
            out_of_memory: runs.out_of_memory,
            timed_out: runs.timed_out,
            ..StatusCounts::default()
        };
        if failed.total() > 0 {
            let failed = failed.text();
            return Some(message!("unranked-runs", failed, runs = runs.total()));
        }
        let served = self.serving.iter().flat_map(|serving| &serving.scenarios);
        let mut own = served.filter(|one| candidate.members.contains(&one.scenario));
        own.any(|one| !one.is_reliable())
            .then(|| word!("unranked-requests").to_owned())
    }

    /// None of them where days tell them apart as much as they do.
    fn linked<'c>(&self, ranked: Vec<&'c Candidate>) -> (Vec<&'c Candidate>, Vec<Unranked>) {
        let members = ranked.iter().flat_map(|one| one.members.iter().copied());
        if are_linked(self.table, &members.collect::<Vec<u32>>()) {
            return (ranked, Vec::new());
        }
        let others = self.blocks();
        let why = message!("effect-confounded-with", others);
        (Vec::new(), self.of_blocks(&ranked, &why))
    }

    fn of_blocks(&self, candidates: &[&Candidate], why: &str) -> Vec<Unranked> {
        let is_named = |level: &&LevelFacts| self.table.study.role(&level.factor) != Role::Block;
        let each = candidates.iter().map(|one| Unranked {
            scenario: one.scenario,
            label: LevelFacts::phrase_of(one.result.levels.iter().filter(is_named)),
            why: why.to_owned(),
            is_single: false,
            is_of_blocks: true,
        });
        each.collect()
    }

    fn blocks(&self) -> String {
        block_factors(self.table.study).join(" × ")
    }

    /// One run cannot be distinguished from noise, and without two common days nothing is known of what days do: that
    /// takes nothing from the others.
    fn comparable<'c>(&self, ranked: Vec<&'c Candidate>) -> (Vec<&'c Candidate>, Vec<Unranked>) {
        let (known, samples) = self.samples(&ranked, self.time);
        let runs = |one: &Candidate| {
            let place = known.iter().position(|k| k.scenario == one.scenario);
            place.map_or(0, |place| samples.lists[place].len())
        };
        if samples.is_declared {
            return self.in_common(ranked, (&known, &samples));
        }
        if ranked.iter().filter(|one| runs(one) > 1).count() < 2 {
            return (ranked, Vec::new());
        }
        let (single, repeated): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|c| runs(c) == 1);
        let single = single.into_iter().map(|one| Unranked {
            scenario: one.scenario,
            label: one.result.label.clone(),
            why: word!("unranked-single").to_owned(),
            is_single: true,
            is_of_blocks: false,
        });
        (repeated, single.collect())
    }

    /// Those that can be compared with each other, beginning with what was measured in most blocks.
    fn in_common<'c>(
        &self,
        ranked: Vec<&'c Candidate>,
        (known, samples): (&[&'c Candidate], &Samples),
    ) -> (Vec<&'c Candidate>, Vec<Unranked>) {
        let mut order: Vec<usize> = (0..known.len()).collect();
        order.sort_by_key(|place| std::cmp::Reverse(samples.lists[*place].len()));
        let mut kept: Vec<usize> = Vec::new();
        for place in order {
            let mut others = kept.iter();
            if others.all(|other| samples.contrast(place, *other).is_some()) {
                kept.push(place);
            }
        }
        let kept: Vec<u32> = match kept.len() {
            1 => Vec::new(),
            _ => kept.iter().map(|place| known[*place].scenario).collect(),
        };
        let is_kept = |one: &&Candidate| kept.contains(&one.scenario);
        let (kept, others): (Vec<_>, Vec<_>) = ranked.into_iter().partition(is_kept);
        let why = message!("unranked-blocks", names = self.blocks());
        (kept, self.of_blocks(&others, &why))
    }

    /// Those that have the column, with their values.
    fn samples<'c>(
        &self,
        candidates: &[&'c Candidate],
        column: usize,
    ) -> (Vec<&'c Candidate>, Samples) {
        let is_paired = self.blocked.contains(&column);
        self.measured.samples(candidates, column, is_paired)
    }

    fn ranking(&self, candidates: &[&Candidate], column: usize) -> Option<Ranking> {
        let (known, samples) = self.samples(candidates, column);
        let mean = |place: usize| stats::precise::mean(&samples.values(place));
        let mut order: Vec<usize> = (0..known.len()).collect();
        order.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)));
        let (&lowest, others) = order.split_first()?;
        if others.is_empty() {
            return None;
        }
        let number = |place: usize| known[place].scenario;
        let mut ranking = Ranking {
            metric: self.table.columns[column].name.clone(),
            first: vec![number(lowest)],
            behind: Vec::new(),
            verdict: Verdict::NotEstimable,
            stability: None,
            repetitions: None,
        };
        if samples.lists.iter().any(|list| list.len() < 2) {
            return Some(ranking);
        }
        if others
            .iter()
            .any(|place| self.are_apart(column, [known[lowest], known[*place]]))
        {
            ranking.first = order.iter().map(|place| number(*place)).collect();
            ranking.verdict = Verdict::Inconclusive;
            return Some(ranking);
        }
        let within = self.table.study.equal_within() / 100.0;
        let ranked = stats::rank_lowest_of(&samples, self.level, within)?;
        let best = *ranked.first.first()?;
        ranking.first = ranked.first.iter().map(|place| number(*place)).collect();
        let behind = ranked.behind.iter().map(|behind| Behind {
            scenario: number(behind.place),
            by: behind.by,
            low: behind.low,
            high: behind.high,
        });
        ranking.behind = behind.collect();
        let wanted = |place: usize| stats::Decision {
            margin: within * mean(best).abs(),
            level: self.level / others.len() as f64,
            repetitions: samples.lists[best].len().min(samples.lists[place].len()),
        };
        let open = ranked.open.iter();
        let needed = open.filter_map(|place| {
            let mut contrast = samples.contrast(*place, best)?;
            if !samples.is_paired {
                // For a spread, all repetitions beyond the first count.
                contrast.degrees_of_freedom = contrast.count as f64 - 2.0;
            }
            stats::repetitions_to_decide(&contrast, wanted(*place))
        });
        ranking.repetitions = needed.max();
        ranking.verdict = match (ranking.first.len(), ranked.is_settled()) {
            (1, _) => Verdict::Different,
            (_, true) => Verdict::PracticallyEqual,
            (_, false) => Verdict::Inconclusive,
        };
        // The best, then the others by their means.
        let others = order.iter().copied().filter(|place| *place != best);
        let lists = [best].into_iter().chain(others);
        let lists = lists.map(|place| samples.lists[place].clone()).collect();
        let ordered = Samples { lists, ..samples };
        ranking.stability = stats::chance_of_lowest_of(&ordered, self.table.study.seed);
        Some(ranking)
    }

    /// Whether the machine may have changed between them.
    fn are_apart(&self, column: usize, pair: [&Candidate; 2]) -> bool {
        let members = pair.map(|one| one.members.as_slice());
        self.table
            .dependences
            .are_apart(self.table, column, members)
    }

    fn add_pareto(&self, best: &mut TaskBest, ranked: &[&Candidate]) {
        if self.criteria.columns.is_empty() {
            return;
        }
        let has_all = |one: &&&Candidate| {
            let mut columns = self.criteria.columns.iter();
            columns.all(|column| !self.measured.list(one, *column).is_empty())
        };
        let known: Vec<&Candidate> = ranked.iter().filter(has_all).copied().collect();
        let criteria = self.criteria.columns.iter();
        let criteria = criteria.map(|column| self.criterion(&known, *column));
        let criteria: Vec<Samples> = criteria.collect();
        let numbers: Vec<u32> = known.iter().map(|one| one.scenario).collect();
        let limits = pareto::Limits {
            level: self.dominance_level,
            equal_within: self.table.study.equal_within() / 100.0,
        };
        let front = pareto::front(&numbers, &criteria, limits);
        let infos: Vec<&MetricInfo> = self.criteria_infos().collect();
        best.pareto = front.measured;
        let labels = labels(ranked);
        let of = |number: u32| known.iter().find(|one| one.scenario == number);
        let in_time = |beaten: &&pareto::Beaten| {
            let pair = of(beaten.scenario).zip(of(beaten.by));
            let mut columns = self.criteria.columns.iter();
            pair.is_some_and(|(a, b)| columns.any(|column| self.are_apart(*column, [a, b])))
        };
        let beaten = front.beaten.iter().filter(|one| !in_time(one));
        let beaten = beaten.map(|beaten| {
            let (scenario, by) = (beaten.scenario, beaten.by);
            let each = beaten.reasons.iter().zip(&infos);
            let reasons: Vec<Reason> = each.map(|(found, info)| found.reason(info)).collect();
            Dominated {
                sentence: pareto_words::dominated(
                    [labels[&scenario], labels[&by]],
                    &reasons,
                    &infos,
                ),
                scenario,
                by,
                reasons,
            }
        });
        best.dominated = beaten.collect();
    }

    /// Lower is better.
    fn criterion(&self, known: &[&Candidate], column: usize) -> Samples {
        let sign = match self.table.columns[column].better {
            Better::Higher => -1.0,
            Better::Lower | Better::Neither => 1.0,
        };
        let (_, mut samples) = self.samples(known, column);
        let values = samples.lists.iter_mut().flatten();
        values.for_each(|one| one.value *= sign);
        samples
    }
}

/// What sentences call them.
fn labels<'c>(candidates: &[&'c Candidate]) -> BTreeMap<u32, &'c str> {
    let named = candidates.iter();
    let named = named.map(|one| (one.scenario, one.result.label.as_str()));
    named.collect()
}
