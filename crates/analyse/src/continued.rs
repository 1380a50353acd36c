//! When runs that did not reach an accuracy would reach it: their learning curves continued, or why they are not.

use messages::{message, word};
use model::{Money, RunRecord};
use predict::curve::{self, NotContinued};
use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive;
use serde::Serialize;

use crate::CONFIDENCE;
use crate::words::format;

/// Of all runs of a scenario that did not reach the target: the median of their predictions, and the hull of their
/// intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictedTarget {
    pub runs: usize,
    pub typical: PredictedMoment,
    pub earliest: PredictedMoment,
    /// `None` where a curve's interval does not reach the target as far as it is continued.
    pub latest: Option<PredictedMoment>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictedMoment {
    pub epoch: usize,
    /// Since the start of the run.
    pub seconds: f64,
    /// In proportion to the run's own time and cost.
    pub cost: Option<Money>,
}

/// A run on its way, with what its prediction needs.
pub(crate) struct Unfinished<'r> {
    pub(crate) record: &'r RunRecord,
    /// In the table's currency.
    pub(crate) paid: Option<Money>,
    /// In percent, one an epoch.
    pub(crate) accuracies: Vec<Option<f64>>,
    /// Since the start of the run, to the end of the first and of the last epoch.
    pub(crate) first_epoch_seconds: f64,
    pub(crate) last_epoch_seconds: f64,
}

/// A prediction only where every run has one: of those that do, it would be too hopeful.
pub(crate) fn predicted(
    runs: &[Unfinished],
    target_percent: f64,
) -> Result<PredictedTarget, NotContinued> {
    let none = NotContinued::TooFewEpochs { epochs: 0 };
    let mut arrivals: Vec<Moments> = Vec::new();
    for run in runs {
        arrivals.push(run.predicted(target_percent)?);
    }
    arrivals.sort_by_key(|arrival| arrival.typical.epoch);
    let middle = arrivals.get((arrivals.len().max(1) - 1) / 2).ok_or(none)?;
    let seconds = |moment: &PredictedMoment| moment.seconds;
    let earliest = arrivals.iter().map(|a| &a.earliest);
    let earliest = earliest.min_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    let latest: Option<Vec<&PredictedMoment>> =
        arrivals.iter().map(|a| a.latest.as_ref()).collect();
    let latest = latest.and_then(|all| {
        let last = all.into_iter();
        last.max_by(|a, b| seconds(a).total_cmp(&seconds(b)))
            .cloned()
    });
    Ok(PredictedTarget {
        runs: runs.len(),
        typical: middle.typical.clone(),
        earliest: earliest.ok_or(none)?.clone(),
        latest,
    })
}

struct Moments {
    typical: PredictedMoment,
    earliest: PredictedMoment,
    latest: Option<PredictedMoment>,
}

impl Unfinished<'_> {
    fn predicted(&self, target_percent: f64) -> Result<Moments, NotContinued> {
        let told: Option<Vec<f64>> = self.accuracies.iter().copied().collect();
        let distances: Vec<f64> = told
            .unwrap_or_default()
            .iter()
            .map(|percent| 1.0 - percent / 100.0)
            .collect();
        let curve = curve::continued(&distances, CONFIDENCE)?;
        let arrival = curve.reaches(1.0 - target_percent / 100.0)?;
        Ok(Moments {
            typical: self.moment(arrival.epoch),
            earliest: self.moment(arrival.earliest),
            latest: arrival.latest.map(|epoch| self.moment(epoch)),
        })
    }

    /// Further epochs take as long as those before.
    fn moment(&self, epoch: usize) -> PredictedMoment {
        let known = self.accuracies.len();
        let each = (self.last_epoch_seconds - self.first_epoch_seconds) / (known.max(2) - 1) as f64;
        let more = epoch.saturating_sub(known) as f64;
        let seconds = self.last_epoch_seconds + more * each;
        let share = Decimal::from_f64(seconds / self.record.seconds);
        let cost = self.paid.zip(share).and_then(|(paid, share)| {
            let amount = paid.amount.checked_mul(share)?;
            Some(Money::new(
                amount.round_dp(cost::AMOUNT_PLACES),
                paid.currency,
            ))
        });
        PredictedMoment {
            epoch,
            seconds,
            cost,
        }
    }
}

/// `about 23 epochs [17, 41], 4 min 10 s [3 min, 7 min], US$ 0.02`.
pub(crate) fn words(predicted: &PredictedTarget) -> String {
    let (typical, earliest) = (&predicted.typical, &predicted.earliest);
    let ends = |write: &dyn Fn(&PredictedMoment) -> String| match &predicted.latest {
        Some(latest) => message!("interval", low = write(earliest), high = write(latest)),
        None => message!("curve-open", earliest = write(earliest)),
    };
    let cost = typical.cost.map_or_else(String::new, |cost| {
        let known = |moment: &PredictedMoment| moment.cost.map(|c| format::money(&c));
        let write = |moment: &PredictedMoment| known(moment).unwrap_or_default();
        format!(", {} {}", format::money(&cost), ends(&write))
    });
    let seconds = ends(&|moment| format::duration(moment.seconds));
    message!(
        "curve-when",
        epochs = typical.epoch,
        ends = ends(&|moment| format::count(moment.epoch)),
        time = format!("{} {seconds}", format::duration(typical.seconds)),
        cost
    )
}

/// Why a curve is not continued.
pub fn refusal(why: NotContinued) -> String {
    match why {
        NotContinued::TooFewEpochs { epochs } => {
            message!("curve-too-few", epochs, least = curve::LEAST_EPOCHS)
        }
        NotContinued::NothingLeft => word!("curve-nothing-left").to_owned(),
        NotContinued::Noisy { spread } => {
            let spread = format!("{:.0} %", 100.0 * spread);
            message!("curve-noisy", spread)
        }
        NotContinued::Flat => word!("curve-flat").to_owned(),
        NotContinued::Unpredictable => word!("curve-unpredictable").to_owned(),
        NotContinued::OutOfReach { epochs, .. } => message!("curve-out-of-reach", epochs),
        NotContinued::Open { epochs } => message!("curve-may-not", epochs),
    }
}
