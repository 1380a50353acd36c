//! Bills line by line, and break-even points.

use analyse::{Analysis, BreakEven, BuyOrRent, Buying, Estimate, ExpensiveMachine, RunRow};
use model::money::Counted;
use model::{BillLine, Price};

use super::{Columns, Grid, exact, number};
use crate::tables::{of, verdict};

/// A line of a run's bill.
struct Line<'a> {
    run: &'a RunRow,
    line: &'a BillLine,
    price: &'a Price,
}

impl<'a> Line<'a> {
    fn counted(&self) -> Option<&'a Counted> {
        self.line.counted.as_deref()
    }

    /// Where the price was read, and when.
    fn source(&self) -> (&'a str, &'a str) {
        match self.counted() {
            Some(counted) => (&counted.source, &counted.date),
            None if !self.line.seconds.is_zero() => (&self.price.source, &self.price.date),
            None => ("", ""),
        }
    }
}

/// One row per line of a run's bill, in the currency it is paid in.
pub(crate) fn bills(analysis: &Analysis) -> Grid {
    let mut table = Columns::of_runs(analysis, |of: &Line| of.run);
    table.add("line", |of| of.line.what.clone());
    table.add("kind", |of| of.line.kind.word().to_owned());
    table.add("seconds", |of| match of.line.seconds.is_zero() {
        true => String::new(),
        false => of.line.seconds.normalize().to_string(),
    });
    table.add("price_per_hour", |of| exact(of.line.per_hour));
    table.add("quantity", |of| {
        let quantity = of.counted().map(|c| c.quantity.normalize().to_string());
        quantity.unwrap_or_default()
    });
    table.add("unit", |of| {
        of.counted().map_or("", |c| c.unit.word()).to_owned()
    });
    table.add("unit_price", |of| exact(of.counted().map(|c| c.unit_price)));
    table.add("amount", |of| exact(Some(of.line.amount)));
    table.add("currency", |of| of.line.amount.currency.to_string());
    table.add("price_source", |of| of.source().0.to_owned());
    table.add("price_date", |of| of.source().1.to_owned());
    table.billed();
    let lines = analysis.runs.iter().flat_map(|run| {
        let billed = run.bill.as_ref().zip(run.price.as_ref());
        billed.into_iter().flat_map(move |(bill, price)| {
            let lines = bill.lines.iter();
            lines.map(move |line| Line { run, line, price })
        })
    });
    table.grid(lines)
}

/// One row a pair of places: what is cheaper from where on.
pub(crate) fn break_evens(analysis: &Analysis) -> Grid {
    let mut table = Columns::new(analysis);
    table.add("question", |pair: &Pair| pair.question.to_owned());
    table.add("of", |pair| pair.of.clone());
    table.add("first", |pair| format!("C{}", pair.first.0));
    table.add("first_environment", |pair| pair.first.1.to_owned());
    table.add("second", |pair| format!("C{}", pair.second.0));
    table.add("second_environment", |pair| pair.second.1.to_owned());
    for (place, name) in ["first_is_cheaper_from", "low", "high"].iter().enumerate() {
        table.add(*name, move |pair| number(pair.from[place]));
    }
    table.add("unit", |pair| pair.unit.to_owned());
    let measured = ["measured", "measured_low", "measured_high"];
    for (place, name) in measured.iter().enumerate() {
        table.add(*name, move |pair| number(pair.measured[place]));
    }
    table.add("verdict", |pair| pair.verdict.to_owned());
    table.billed();
    let even = &analysis.money.break_even;
    let served = analysis.serving.iter().flat_map(|s| &s.break_evens);
    let pairs = even.buying.iter().map(bought);
    let pairs = pairs.chain(even.more_expensive.iter().map(more_expensive));
    table.grid(pairs.chain(served.map(on_demand)))
}

/// Two places, and what is between them.
struct Pair<'p> {
    question: &'static str,
    of: String,
    first: (u32, &'p str),
    second: (u32, &'p str),
    /// With the ends of its interval.
    from: [Option<f64>; 3],
    unit: &'static str,
    measured: [Option<f64>; 3],
    verdict: &'static str,
}

fn bought(one: &BuyOrRent) -> Pair<'_> {
    Pair {
        question: "buy or rent",
        of: of(&one.phrase, one.own),
        first: (one.own, &one.own_environment),
        second: (one.rented, &one.rented_environment),
        from: one.hours_per_month.as_ref().map_or([None; 3], ends),
        unit: "hours per month",
        measured: [None; 3],
        verdict: match one.verdict {
            Buying::Pays => "pays",
            Buying::NotWithinAMonth => "not within a month",
            Buying::Never => "never",
            Buying::Inconclusive => "inconclusive",
        },
    }
}

fn more_expensive(one: &ExpensiveMachine) -> Pair<'_> {
    Pair {
        question: "more expensive machine",
        of: of(&one.phrase, one.expensive),
        first: (one.expensive, &one.expensive_environment),
        second: (one.cheap, &one.cheap_environment),
        from: [Some(one.break_even), None, None],
        unit: "speed-up",
        measured: ends(&one.speed_up),
        verdict: verdict(one.verdict),
    }
}

fn on_demand(one: &BreakEven) -> Pair<'_> {
    Pair {
        question: "always on or serverless",
        of: of(&one.phrase, one.on_demand),
        first: (one.always_on, &one.always_on_environment),
        second: (one.on_demand, &one.on_demand_environment),
        from: ends(&one.requests_per_day),
        unit: "requests per day",
        measured: [None; 3],
        verdict: match one.within_capacity {
            true => "pays",
            false => "beyond the capacity of one machine",
        },
    }
}

fn ends(estimate: &Estimate) -> [Option<f64>; 3] {
    let interval = estimate.interval;
    [
        Some(estimate.value),
        interval.map(|i| i.low),
        interval.map(|i| i.high),
    ]
}
