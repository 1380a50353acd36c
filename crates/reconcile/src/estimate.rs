//! The study's side: its runs by machine, with what they were estimated to cost.

use model::{Bill, Currency, ExchangeRate, Money, Price, RunRecord};
use rust_decimal::Decimal;

use crate::charge::{Interval, Tag};
use crate::names::MachineName;
use crate::timeline::Timeline;

/// What a bill is held against.
#[derive(Debug, Clone)]
pub struct Question<'q> {
    pub study: &'q str,
    /// All that was paid for: attempts that later ones took the place of, too.
    pub runs: Vec<&'q RunRecord>,
    /// The currency the study speaks.
    pub currency: Currency,
    pub rates: &'q [ExchangeRate],
    /// None looks for `bancada=STUDY`, and goes by machine and time where no row has it.
    pub tag: Option<Tag>,
}

/// Key of the tag that is looked for unless another is named.
pub const DEFAULT_TAG: &str = "bancada";

impl Question<'_> {
    pub(crate) fn wanted_tag(&self) -> Tag {
        self.tag.clone().unwrap_or_else(|| Tag {
            key: DEFAULT_TAG.to_owned(),
            value: self.study.to_owned(),
        })
    }
}

/// Runs on machines of one name, priced in one currency.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: Option<MachineName>,
    /// Of the latest run: earlier ones may have had another.
    pub(crate) price: Price,
    pub(crate) runs: Vec<EstimatedRun>,
    pub(crate) timeline: Timeline,
}

#[derive(Debug)]
pub(crate) struct EstimatedRun {
    pub(crate) time: Interval,
    pub(crate) bill: Bill,
    /// Of its phases, as far as the estimate pays them.
    pub(crate) paid_seconds: Decimal,
    /// What rounding up and minimum add.
    pub(crate) rounding_seconds: Decimal,
}

#[derive(Debug, Default)]
pub(crate) struct Estimate {
    pub(crate) groups: Vec<Group>,
    pub(crate) unpriced_runs: u64,
}

impl Estimate {
    pub(crate) fn of(runs: &[&RunRecord]) -> Estimate {
        let mut estimate = Estimate::default();
        let mut ordered = runs.to_vec();
        ordered.sort_by_key(|run| run.started);
        for run in ordered {
            match (&run.price, &run.bill) {
                (Some(price), Some(bill)) => estimate.add(run, price, bill),
                _ => estimate.unpriced_runs += 1,
            }
        }
        for group in &mut estimate.groups {
            let times: Vec<Interval> = group.runs.iter().map(|run| run.time).collect();
            group.timeline = Timeline::new(&times);
        }
        estimate
    }

    fn add(&mut self, run: &RunRecord, price: &Price, bill: &Bill) {
        let same = |group: &Group| {
            group.price.machine == price.machine
                && group.price.per_hour.currency == price.per_hour.currency
        };
        let place = match self.groups.iter().position(same) {
            Some(place) => place,
            None => {
                self.groups.push(Group {
                    name: MachineName::parse(&price.machine),
                    price: price.clone(),
                    runs: Vec::new(),
                    timeline: Timeline::default(),
                });
                self.groups.len() - 1
            }
        };
        self.groups[place].price = price.clone();
        self.groups[place].runs.push(EstimatedRun::of(run, bill));
    }
}

impl EstimatedRun {
    fn of(run: &RunRecord, bill: &Bill) -> EstimatedRun {
        let start_ms = run.started.as_millisecond();
        let (mut paid_seconds, mut rounding_seconds) = (Decimal::ZERO, Decimal::ZERO);
        for line in &bill.lines {
            // The names that `cost` gives these two lines.
            let is_rounding =
                line.what.starts_with("rounding up to") || line.what.starts_with("minimum of");
            match is_rounding {
                true => rounding_seconds += line.seconds,
                false => paid_seconds += line.seconds,
            }
        }
        EstimatedRun {
            time: Interval {
                start_ms,
                end_ms: start_ms.saturating_add(milliseconds(run.seconds)),
            },
            bill: bill.clone(),
            paid_seconds,
            rounding_seconds,
        }
    }

    /// None where there is no rate.
    pub(crate) fn amount(&self, to: Currency, rates: &[ExchangeRate]) -> Option<Decimal> {
        if let Some(converted) = &self.bill.converted
            && converted.total.currency == to
        {
            return Some(converted.total.amount);
        }
        in_currency(self.bill.total, to, rates)
    }
}

pub(crate) fn in_currency(money: Money, to: Currency, rates: &[ExchangeRate]) -> Option<Decimal> {
    cost::convert(money, to, rates).ok().map(|m| m.amount)
}

/// Times that are no times count nothing; none is longer than 30 years.
fn milliseconds(seconds: f64) -> i64 {
    const LONGEST: f64 = 1e9;
    let sane = if seconds.is_nan() {
        0.0
    } else {
        seconds.clamp(0.0, LONGEST)
    };
    (sane * 1000.0).round() as i64
}
