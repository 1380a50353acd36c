//! What the runs that are due cost: rentals as the price rounds and bounds them, not hours times a price.

use std::collections::BTreeMap;

use cost::BillRequest;
use model::run::phase;
use model::{Currency, Environment, Money, Phase, Plan, RunId, Study};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::scatter::{Batch, Batches, Drawn, ENDS};
use super::{ExpectedRequests, MoneySpread, RunForecast};
use crate::budget::Rentals;

/// What runs are expected to add to the rentals that began already; none where none is paid.
pub(crate) fn money(
    study: &Study,
    plan: &Plan,
    runs: &[RunId],
    expected: &BTreeMap<u32, RunForecast>,
    begun: &Rentals,
) -> Option<Money> {
    let mut rentals = begun.clone();
    let mut is_priced = false;
    for run in runs {
        let scenario = plan.scenario(run.scenario);
        let Some((scenario, forecast)) = scenario.zip(expected.get(&run.scenario)) else {
            continue;
        };
        let environment = plan::resolve(study, scenario).environment;
        is_priced |= environment.price.is_some();
        add(&mut rentals, &environment, forecast, 1.0);
    }
    rentals.stay_on_together(begun);
    // With machines that are on and have no run left.
    let total = rentals.total(None).filter(|_| is_priced)?;
    let before = begun.total(None);
    let before = before.filter(|before| before.currency == total.currency);
    let before = before.map_or(Decimal::ZERO, |before| before.amount);
    Some(Money::new(total.amount - before, total.currency))
}

/// One run that takes `factor` times what is expected.
fn add(rentals: &mut Rentals, environment: &Environment, forecast: &RunForecast, factor: f64) {
    let Some(price) = &environment.price else {
        return;
    };
    let phases: Vec<Phase> = forecast
        .phases
        .iter()
        .map(|p| Phase {
            seconds: p.seconds * factor,
            ..p.clone()
        })
        .collect();
    let total_seconds = phases.iter().map(|p| p.seconds).sum();
    let requests = forecast.requests.unwrap_or_else(|| {
        // Pauses of a load are not billed; where their length is not known, this is the most.
        let asked = forecast.phases.iter().filter(|p| phase::is_work(&p.name));
        ExpectedRequests {
            count: 0.0,
            seconds: asked.map(|p| p.seconds).sum::<f64>(),
        }
    });
    let request = BillRequest {
        phases: &phases,
        total_seconds,
        requests: Some(cost::Requests {
            count: requests.count.round() as u64,
            as_billed: true,
            seconds: requests.seconds * factor,
        }),
        started: None,
        price,
        study_currency: price.per_hour.currency,
        rates: &[],
    };
    rentals.add(&environment.name, None, &request, 0.0);
}

pub(super) struct Paid {
    /// In the order of the batches' environments.
    pub(super) environments: Vec<Option<MoneySpread>>,
    pub(super) total: Option<MoneySpread>,
}

/// The price of every draw's times.
pub(super) fn paid(study: &Study, batches: &Batches, drawn: &Drawn) -> Paid {
    let names = 0..batches.environments.len();
    let bills: Vec<Option<Bills>> = names
        .map(|place| Bills::of(study, batches, drawn, place))
        .collect();
    let environments: Vec<Option<MoneySpread>> = bills
        .iter()
        .map(|bills| bills.as_ref().map(Bills::interval))
        .collect();
    let priced: Vec<&Bills> = bills.iter().flatten().collect();
    let total = match priced.as_slice() {
        [] => None,
        [only] => Some(only.interval()),
        [first, others @ ..] => {
            let is_same = others.iter().all(|bills| bills.currency == first.currency);
            is_same.then(|| Bills::sum(&priced).interval())
        }
    };
    Paid {
        environments,
        total,
    }
}

/// Of one environment, or of several together.
struct Bills {
    currency: Currency,
    expected: Decimal,
    /// Of every draw.
    drawn: Vec<f64>,
}

impl Bills {
    /// None where it has no price.
    fn of(study: &Study, batches: &Batches, drawn: &Drawn, place: usize) -> Option<Self> {
        let is_own = |batch: &&Batch| batch.environment == place;
        let own: Vec<&Batch> = batches.all.iter().filter(is_own).collect();
        let is_shared = |batch: &&Batch| {
            let price = batch.place.price.as_ref();
            price.is_none_or(|price| price.billing.is_shared())
        };
        let rented = |factor: f64| -> Option<Money> {
            let mut rentals = Rentals::new(study);
            for batch in &own {
                for _ in 0..batch.runs {
                    add(&mut rentals, &batch.place, batch.forecast, factor);
                }
            }
            rentals.total(Some(&batches.environments[place]))
        };
        let expected = rented(1.0)?;
        let seconds: Vec<f64> = drawn.seconds.iter().map(|of| of[place]).collect();
        if own.iter().all(is_shared) {
            let expected_seconds = batches.seconds(Some(place));
            return Some(Bills {
                currency: expected.currency,
                expected: expected.amount,
                drawn: of_rental(expected_seconds, &seconds, rented),
            });
        }
        let drawn = of_runs(study, batches, drawn, place)?;
        Some(Bills {
            currency: expected.currency,
            // Of runs that are rounded up one by one, the expected time alone does not say it: as
            // many are a little above a step as below.
            expected: at(&drawn, 0.5).unwrap_or(expected.amount),
            drawn,
        })
    }

    fn sum(all: &[&Bills]) -> Self {
        let draws = all.iter().map(|bills| bills.drawn.len()).min().unwrap_or(0);
        let draw = |place: usize| all.iter().map(|bills| bills.drawn[place]).sum();
        Bills {
            currency: all.first().map_or(Currency::USD, |bills| bills.currency),
            expected: all.iter().map(|bills| bills.expected).sum(),
            drawn: (0..draws).map(draw).collect(),
        }
    }

    fn interval(&self) -> MoneySpread {
        let [low, high] = ENDS.map(|end| at(&self.drawn, end).unwrap_or(self.expected));
        let money = |amount: Decimal| Money::new(amount, self.currency);
        MoneySpread {
            value: money(self.expected),
            low: money(low.min(self.expected)),
            high: money(high.max(self.expected)),
        }
    }
}

/// The sum that this share of the draws is at most.
fn at(drawn: &[f64], share: f64) -> Option<Decimal> {
    let mut sorted = drawn.to_vec();
    sorted.sort_by(f64::total_cmp);
    let found = stats::quantile(&sorted, share).and_then(Decimal::from_f64_retain);
    found.map(|found| found.round_dp(cost::AMOUNT_PLACES).normalize())
}

/// Points at which a bill is made; between them it is interpolated.
const POINTS: usize = 9;

/// Of machines that stay on from the first run to the last: the sum of the times decides.
fn of_rental(expected: f64, seconds: &[f64], rented: impl Fn(f64) -> Option<Money>) -> Vec<f64> {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = |point: usize| point as f64 / (POINTS - 1) as f64;
    let ends = [0.0].into_iter().chain(ENDS).chain([1.0]);
    let mut factors: Vec<f64> = ends
        .chain((0..POINTS).map(place))
        .filter_map(|share| stats::quantile(&sorted, share))
        .map(|seconds| seconds / expected)
        .collect();
    factors.sort_by(f64::total_cmp);
    factors.dedup();
    let points = factors.into_iter().filter_map(|factor| {
        let paid = rented(factor)?.amount.to_f64()?;
        Some(Known { factor, paid })
    });
    let points: Vec<Known> = points.collect();
    seconds
        .iter()
        .map(|seconds| between(&points, seconds / expected))
        .collect()
}

/// Of machines that are rented for each run: every run is rounded by itself.
fn of_runs(study: &Study, batches: &Batches, drawn: &Drawn, place: usize) -> Option<Vec<f64>> {
    let mut bills: Vec<Option<RunBills>> = Vec::new();
    for batch in &batches.all {
        bills.push(match batch.environment == place {
            true => Some(RunBills::of(study, batch)?),
            false => None,
        });
    }
    let mut sums = Vec::new();
    for errors in &drawn.errors {
        let mut sum = 0.0;
        errors.each_run(batches, |batch, logarithm| {
            sum += bills[batch]
                .as_ref()
                .map_or(0.0, |bills| bills.at(logarithm));
        });
        sums.push(sum);
    }
    Some(sums)
}

/// Bills of one run at some times around the expected one: a bill for every drawn run would take seconds.
struct RunBills {
    /// Of the farthest time, as the logarithm of its factor.
    farthest: f64,
    paid: Vec<f64>,
}

impl RunBills {
    /// Even, so that the expected time is one of them.
    const STEPS: usize = 40;
    /// Times the half width of a run's interval: beyond it are two runs in a thousand.
    const BEYOND: f64 = 1.6;

    fn of(study: &Study, batch: &Batch) -> Option<Self> {
        let forecast = batch.forecast;
        let widest = forecast.high_factor.ln().max(-forecast.low_factor.ln());
        let farthest = Self::BEYOND * widest;
        let bill = |step: usize| {
            let part = 2.0 * step as f64 / Self::STEPS as f64 - 1.0;
            let mut rentals = Rentals::new(study);
            add(
                &mut rentals,
                &batch.place,
                forecast,
                (farthest * part).exp(),
            );
            rentals.total(None)?.amount.to_f64()
        };
        let paid = (0..=Self::STEPS).map(bill).collect::<Option<_>>()?;
        Some(RunBills { farthest, paid })
    }

    /// Of the nearest time.
    fn at(&self, logarithm: f64) -> f64 {
        let part = match self.farthest > 0.0 {
            true => (logarithm / self.farthest).clamp(-1.0, 1.0),
            false => 0.0,
        };
        let step = ((part + 1.0) / 2.0 * Self::STEPS as f64).round() as usize;
        self.paid.get(step).copied().unwrap_or(0.0)
    }
}

/// What is paid if times are so many times what is expected.
struct Known {
    factor: f64,
    paid: f64,
}

/// Beyond the ends, in proportion to the last step.
fn between(points: &[Known], factor: f64) -> f64 {
    let above = points.partition_point(|known| known.factor < factor);
    let above = above.clamp(1, points.len().saturating_sub(1).max(1));
    let (Some(low), Some(high)) = (points.get(above - 1), points.get(above)) else {
        return points.first().map_or(0.0, |only| only.paid);
    };
    let step = (factor - low.factor) / (high.factor - low.factor);
    (low.paid + step * (high.paid - low.paid)).max(0.0)
}
