//! Which scenarios of a task no other beats in everything that counts, and which are beaten, with evidence.

use messages::{message, word};
use model::run::metric::{self, Better};
use serde::Serialize;
use stats::{Contrast, Samples};

use crate::energy;
use crate::table::Table;
use crate::words::names::MetricInfo;

/// What the set is over, as far as runs have it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Criteria {
    /// Columns of the table; none where fewer than two are left.
    pub(crate) columns: Vec<usize>,
    /// Sentences on what the study asks for in vain.
    pub(crate) left_out: Vec<String>,
}

/// A scenario that another of its task beats.
#[derive(Debug, Clone, Serialize)]
pub struct Dominated {
    pub scenario: u32,
    pub by: u32,
    /// One for each criterion.
    pub reasons: Vec<Reason>,
    pub sentence: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Reason {
    pub metric: String,
    /// Otherwise practically equal.
    pub is_worse: bool,
    /// Difference as a fraction of the better one's value, of percentages in points, with its interval. Above zero
    /// is worse, whether the metric is better low or high.
    pub by: f64,
    pub low: f64,
    pub high: f64,
}

/// What counts as different and as equal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Error rate of everything that is said of one task.
    pub(crate) level: f64,
    /// Part of a value within which a difference counts as none.
    pub(crate) equal_within: f64,
}

/// Scenarios of one task.
#[derive(Debug, Default)]
pub(crate) struct Front {
    /// Not beaten as measured, by growing first criterion.
    pub(crate) measured: Vec<u32>,
    pub(crate) beaten: Vec<Beaten>,
}

#[derive(Debug)]
pub(crate) struct Beaten {
    pub(crate) scenario: u32,
    pub(crate) by: u32,
    pub(crate) reasons: Vec<Difference>,
}

/// Of one criterion; above zero is worse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Difference {
    is_worse: bool,
    contrast: Contrast,
    /// At which it was asked.
    level: f64,
    /// The better one's value.
    base: f64,
}

impl Difference {
    pub(crate) fn reason(&self, info: &MetricInfo) -> Reason {
        let scale = match info.unit.as_str() {
            "%" => 1.0,
            _ if self.base == 0.0 => 1.0,
            _ => self.base,
        };
        let estimate = self
            .contrast
            .estimate(1.0 - self.level, "", |value| value / scale);
        let (low, high) = match estimate.interval {
            Some(interval) => (interval.low, interval.high),
            None => (estimate.value, estimate.value),
        };
        Reason {
            metric: info.name.clone(),
            is_worse: self.is_worse,
            by: estimate.value,
            low,
            high,
        }
    }
}

impl Criteria {
    /// Those of the study, or time and cost.
    pub(crate) fn of(table: &Table, time: usize, cost: Option<usize>) -> Self {
        let mut criteria = Criteria::default();
        if table.study.pareto.is_empty() {
            criteria
                .columns
                .extend(cost.map(|cost| [time, cost]).into_iter().flatten());
            return criteria;
        }
        for word in &table.study.pareto {
            match column(table, word, time, cost) {
                Ok(column) if criteria.columns.contains(&column) => {}
                Ok(column) => criteria.columns.push(column),
                Err(why) => criteria
                    .left_out
                    .push(message!("pareto-without", word, why)),
            }
        }
        if criteria.columns.len() < 2 {
            criteria.columns.clear();
            criteria.left_out.push(message!("pareto-none"));
        }
        criteria
    }
}

fn column(
    table: &Table,
    word: &str,
    time: usize,
    cost: Option<usize>,
) -> Result<usize, &'static str> {
    let named = || {
        let own = table.column(word);
        own.or_else(|| table.column(metric::meant(word)?.name))
    };
    let found = match word {
        "time" => Some(time),
        "cost" => cost,
        _ => named(),
    };
    let found = found.filter(|column| table.has_ok_value(*column));
    let column = found.ok_or(word!("pareto-no-run"))?;
    let info = &table.columns[column];
    if info.better == Better::Neither {
        return Err(word!("pareto-no-direction"));
    }
    if energy::is_energy(&info.name) && !table.is_comparable(column) {
        return Err(word!("pareto-sources"));
    }
    Ok(column)
}

/// Scenarios by their numbers, with their values of every criterion, lower being better.
///
/// Pairs are compared by their means first: only who may be beaten is tested. Each question gets the level that
/// all pairs and criteria leave it, since which of them are asked was picked from the data.
pub(crate) fn front(scenarios: &[u32], criteria: &[Samples], limits: Limits) -> Front {
    let mean = |samples: &Samples, place: usize| stats::precise::mean(&samples.values(place));
    let of = |place: usize| criteria.iter().map(|one| mean(one, place)).collect();
    let means: Vec<Vec<f64>> = (0..scenarios.len()).map(of).collect();
    let measured = stats::pareto(&means);
    let pairs = scenarios.len() * scenarios.len().saturating_sub(1) / 2;
    let limits = Limits {
        level: limits.level / (pairs * criteria.len()).max(1) as f64,
        ..limits
    };
    let compared = Compared {
        criteria,
        means: &means,
        limits,
    };
    let beaten = (0..scenarios.len()).filter_map(|one| {
        let mut found: Option<Beaten> = None;
        for by in measured.iter().copied().filter(|by| *by != one) {
            let Some(reasons) = compared.differences(one, by) else {
                continue;
            };
            let worse = |reasons: &[Difference]| reasons.iter().filter(|r| r.is_worse).count();
            if found
                .as_ref()
                .is_none_or(|found| worse(&reasons) > worse(&found.reasons))
            {
                found = Some(Beaten {
                    scenario: scenarios[one],
                    by: scenarios[by],
                    reasons,
                });
            }
        }
        found
    });
    Front {
        beaten: beaten.collect(),
        measured: measured.iter().map(|place| scenarios[*place]).collect(),
    }
}

struct Compared<'a> {
    criteria: &'a [Samples],
    /// Of each scenario, by criterion.
    means: &'a [Vec<f64>],
    limits: Limits,
}

impl Compared<'_> {
    /// `None` unless every criterion is worse or practically equal, and one of them worse.
    fn differences(&self, one: usize, by: usize) -> Option<Vec<Difference>> {
        let (own, base, limits) = (&self.means[one], &self.means[by], self.limits);
        let margin = |place: usize| limits.equal_within * base[place].abs();
        let mut places = 0..own.len();
        if places.any(|place| own[place] < base[place] - margin(place)) {
            return None;
        }
        let mut reasons = Vec::new();
        for (place, samples) in self.criteria.iter().enumerate() {
            let contrast = samples.contrast(one, by)?;
            let is_different = contrast.p() <= limits.level;
            let is_worse = is_different && contrast.value > 0.0;
            let is_equal = !is_different && is_within(&contrast, margin(place), limits.level);
            if !is_worse && !is_equal {
                return None;
            }
            reasons.push(Difference {
                is_worse,
                contrast,
                level: limits.level,
                base: base[place].abs(),
            });
        }
        let is_any_worse = reasons.iter().any(|reason| reason.is_worse);
        is_any_worse.then_some(reasons)
    }
}

/// Whether the interval is within the margin, by two one-sided tests (Schuirmann 1987).
fn is_within(contrast: &Contrast, margin: f64, level: f64) -> bool {
    let room = margin - contrast.value.abs();
    let to_the_margin = Contrast {
        value: room,
        ..*contrast
    };
    contrast.value == 0.0 && contrast.standard_error == 0.0
        || room > 0.0 && to_the_margin.p() <= level
}
