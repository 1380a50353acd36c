//! How much faster several are than one, and an accelerator than a plain CPU.

use model::Study;
use serde::Serialize;
use stats::Estimate;

use crate::along::{Along, Line};
use crate::analysis::{LevelFacts, ScenarioResult};
use crate::rounded;
use crate::scenarios::ok_rows;
use crate::table::Table;
use crate::words::speedup::Words;

/// What the levels of one factor gain over its lowest, for every combination of the others.
#[derive(Debug, Clone, Serialize)]
pub struct SpeedUp {
    pub factor: String,
    pub kind: SpeedUpKind,
    /// The time it is computed of.
    pub metric: String,
    pub lines: Vec<SpeedUpLine>,
    /// In words, the most important first.
    pub sentences: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedUpKind {
    /// More of the same: workers, cores, threads. Twice as many could be twice as fast.
    Count,
    /// Another kind of device, of which nothing can be expected.
    Device,
}

#[derive(Debug, Clone, Serialize)]
pub struct SpeedUpLine {
    /// Of the other factors that vary.
    pub levels: Vec<LevelFacts>,
    pub phrase: String,
    /// What it is compared with: the lowest level that has a result.
    pub baseline: LevelFacts,
    pub baseline_scenario: u32,
    pub points: Vec<SpeedUpPoint>,
}

#[derive(Debug, Clone, Serialize)]
pub struct SpeedUpPoint {
    pub level: LevelFacts,
    pub scenario: u32,
    /// Time of the baseline over time of this.
    pub speed_up: Estimate,
    /// Speed-up over how many times as many there are: 1 where nothing is lost. `None` for devices.
    pub efficiency: Option<Estimate>,
}

pub(crate) fn speed_ups(table: &Table, scenarios: &[ScenarioResult]) -> Vec<SpeedUp> {
    let Some(time) = table.time_column() else {
        return Vec::new();
    };
    let maker = Maker { table, time };
    let names: Vec<&str> = table
        .study
        .factors
        .iter()
        .map(|f| f.name.as_str())
        .collect();
    let counts = names
        .iter()
        .filter(|name| COUNTS.contains(name))
        .filter_map(|name| maker.count(scenarios, name));
    let devices = names
        .iter()
        .filter(|name| DEVICES.contains(name))
        .filter_map(|name| maker.device(scenarios, name));
    counts.chain(devices).collect()
}

pub(crate) const COUNTS: [&str; 5] = ["workers", "cores", "threads", "vcpus", "gpus"];
const DEVICES: [&str; 2] = ["environment", "device"];

struct Maker<'t, 'a> {
    table: &'t Table<'a>,
    time: usize,
}

impl Maker<'_, '_> {
    fn count(&self, scenarios: &[ScenarioResult], factor: &str) -> Option<SpeedUp> {
        let along = Along::new(scenarios, factor);
        let above_zero = |l: &&LevelFacts| l.number().is_some_and(|n| n > 0.0);
        if along.levels.len() < 2 || !along.levels.iter().all(above_zero) {
            return None;
        }
        self.speed_up(factor, SpeedUpKind::Count, &along, |_| true)
    }

    /// The first level without an accelerator against those with one.
    fn device(&self, scenarios: &[ScenarioResult], factor: &str) -> Option<SpeedUp> {
        let mut along = Along::new(scenarios, factor);
        let is_gpu = |l: &LevelFacts| is_accelerator(self.table.study, factor, &l.level);
        let base = along.levels.iter().position(|l| !is_gpu(l))?;
        // The baseline comes first.
        along.levels[..=base].rotate_right(1);
        for line in &mut along.lines {
            line.cells[..=base].rotate_right(1);
        }
        self.speed_up(factor, SpeedUpKind::Device, &along, is_gpu)
    }

    fn speed_up(
        &self,
        factor: &str,
        kind: SpeedUpKind,
        along: &Along,
        compared: impl Fn(&LevelFacts) -> bool,
    ) -> Option<SpeedUp> {
        let lines: Vec<SpeedUpLine> = along
            .lines
            .iter()
            .filter_map(|line| self.line(kind, along, line, &compared))
            .collect();
        let mut speed_up = SpeedUp {
            factor: factor.to_owned(),
            kind,
            metric: self.table.columns[self.time].name.clone(),
            lines,
            sentences: Vec::new(),
        };
        speed_up.sentences = Words::new(self.table.study, &speed_up).sentences();
        (!speed_up.lines.is_empty()).then_some(speed_up)
    }

    fn line(
        &self,
        kind: SpeedUpKind,
        along: &Along,
        line: &Line,
        compared: &impl Fn(&LevelFacts) -> bool,
    ) -> Option<SpeedUpLine> {
        let timed = |(place, cell): (usize, &Option<&ScenarioResult>)| {
            let times = self.times((*cell)?.number);
            let level = *along.levels.get(place)?;
            (!times.is_empty()).then_some(Timed {
                level,
                scenario: (*cell)?.number,
                step: rounded::step(&ok_rows(self.table, (*cell)?.number), self.time),
                times,
            })
        };
        let mut timed = line.cells.iter().enumerate().filter_map(timed);
        let base = match kind {
            SpeedUpKind::Count => timed.next()?,
            // Another level in its place would be another question.
            SpeedUpKind::Device => timed
                .next()
                .filter(|t| t.level.level == along.levels[0].level)?,
        };
        let points: Vec<SpeedUpPoint> = timed
            .filter(|t| compared(t.level))
            .map(|t| self.point(kind, &base, t))
            .collect();
        (!points.is_empty()).then(|| SpeedUpLine {
            levels: line.owned_levels(),
            phrase: line.phrase(),
            baseline: base.level.clone(),
            baseline_scenario: base.scenario,
            points,
        })
    }

    fn point(&self, kind: SpeedUpKind, base: &Timed, timed: Timed) -> SpeedUpPoint {
        let confidence = self.table.confidence();
        let speed_up = match stats::welch_ratio_of(base.sample(), timed.sample(), confidence) {
            Ok(comparison) => comparison.estimate,
            Err(_) => Estimate::bare(
                geometric_mean(&base.times) / geometric_mean(&timed.times),
                self.table.confidence(),
                base.times.len() + timed.times.len(),
                "ratio of geometric means, too few runs for an interval",
            ),
        };
        let more = timed
            .level
            .number()
            .zip(base.level.number())
            .map(|(n, lowest)| n / lowest);
        let efficiency = more.filter(|_| kind == SpeedUpKind::Count);
        SpeedUpPoint {
            level: timed.level.clone(),
            scenario: timed.scenario,
            efficiency: efficiency
                .map(|more| speed_up.over(more, "speed-up over the ratio of the counts")),
            speed_up,
        }
    }

    fn times(&self, scenario: u32) -> Vec<f64> {
        let rows = ok_rows(self.table, scenario).into_iter();
        rows.filter_map(|row| row.values[self.time])
            .filter(|seconds| *seconds > 0.0)
            .collect()
    }
}

struct Timed<'s> {
    level: &'s LevelFacts,
    scenario: u32,
    times: Vec<f64>,
    /// What they were rounded to.
    step: f64,
}

impl Timed<'_> {
    fn sample(&self) -> stats::Sample<'_> {
        rounded::sample(&self.times, self.step)
    }
}

/// Of values above zero.
pub(crate) fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// By the device of the environment; by its name where it tells none, as imported runs do.
fn is_accelerator(study: &Study, factor: &str, level: &str) -> bool {
    let names_one = |text: &str| {
        let text = text.to_lowercase();
        ["cuda", "gpu", "rocm", "mps", "tpu"]
            .iter()
            .any(|word| text.contains(word))
    };
    let own = study.workload.as_train().map(|train| train.device.as_str());
    match (factor, study.environment(level)) {
        ("environment", Some(environment)) => match environment.device.as_deref().or(own) {
            Some(device) if device != "cpu" => names_one(device),
            _ => own.is_none() && environment.device.is_none() && names_one(level),
        },
        _ => names_one(level),
    }
}
