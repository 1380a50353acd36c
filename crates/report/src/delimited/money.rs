//! Bills line by line, and break-even points.

use analyse::{Analysis, BreakEven, BuyOrRent, Buying, DearerMachine, Estimate, RunRow};
use model::{BillLine, Price};

use super::told::Told;
use super::{Grid, Writer, billed_column, exact, number};
use crate::tables::{of, verdict};

/// One row per line of a run's bill, in the currency it is paid in.
pub(crate) fn bills(analysis: &Analysis) -> Grid {
    let mut columns = vec![
        "line",
        "kind",
        "seconds",
        "price_per_hour",
        "quantity",
        "unit",
        "unit_price",
        "amount",
        "currency",
        "price_source",
        "price_date",
    ];
    let billed = billed_column(analysis);
    columns.extend(billed.as_deref());
    let mut table = Told::new(analysis, &columns);
    for run in &analysis.runs {
        for line in lines(run) {
            table.row(run, line.into_iter().chain(analysis.study.repriced.clone()));
        }
    }
    table.out.finish()
}

fn lines(run: &RunRow) -> Vec<[String; 11]> {
    let (Some(bill), Some(price)) = (&run.bill, &run.price) else {
        return Vec::new();
    };
    bill.lines.iter().map(|line| fields(line, price)).collect()
}

fn fields(line: &BillLine, price: &Price) -> [String; 11] {
    let is_time = !line.seconds.is_zero();
    let seconds = is_time.then(|| line.seconds.normalize().to_string());
    let counted = line.counted.as_ref();
    let (source, date) = match counted {
        Some(counted) => (counted.source.clone(), counted.date.clone()),
        None if is_time => (price.source.clone(), price.date.clone()),
        None => Default::default(),
    };
    [
        line.what.clone(),
        line.kind.word().to_owned(),
        seconds.unwrap_or_default(),
        exact(line.per_hour),
        counted.map_or_else(String::new, |c| c.quantity.normalize().to_string()),
        counted.map_or_else(String::new, |c| c.unit.word().to_owned()),
        exact(counted.map(|c| c.unit_price)),
        exact(Some(line.amount)),
        line.amount.currency.to_string(),
        source,
        date,
    ]
}

/// One row a pair of places: what is cheaper from where on.
pub(crate) fn break_evens(analysis: &Analysis) -> Grid {
    let mut table = Pairs {
        analysis,
        out: Writer::default(),
    };
    table.out.texts([
        "study",
        "question",
        "of",
        "first",
        "first_environment",
        "second",
        "second_environment",
        "first_is_cheaper_from",
        "low",
        "high",
        "unit",
        "measured",
        "measured_low",
        "measured_high",
        "verdict",
    ]);
    table.out.all(billed_column(analysis));
    table.out.end_row();
    let even = &analysis.money.break_even;
    even.buying.iter().for_each(|one| table.bought(one));
    even.more_expensive
        .iter()
        .for_each(|one| table.more_expensive(one));
    let served = analysis.serving.iter().flat_map(|s| &s.break_evens);
    served.for_each(|one| table.served(one));
    table.out.finish()
}

struct Pairs<'a> {
    analysis: &'a Analysis,
    out: Writer,
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

impl Pairs<'_> {
    fn bought(&mut self, one: &BuyOrRent) {
        self.row(Pair {
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
        });
    }

    fn more_expensive(&mut self, one: &DearerMachine) {
        self.row(Pair {
            question: "more expensive machine",
            of: of(&one.phrase, one.expensive),
            first: (one.expensive, &one.expensive_environment),
            second: (one.cheap, &one.cheap_environment),
            from: [Some(one.break_even), None, None],
            unit: "speed-up",
            measured: ends(&one.speed_up),
            verdict: verdict(one.verdict),
        });
    }

    fn served(&mut self, one: &BreakEven) {
        self.row(Pair {
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
        });
    }

    fn row(&mut self, pair: Pair<'_>) {
        let named =
            |(scenario, environment): (u32, &str)| [format!("C{scenario}"), environment.to_owned()];
        let out = &mut self.out;
        out.texts([&self.analysis.study.name, pair.question, &pair.of]);
        out.all(named(pair.first));
        out.all(named(pair.second));
        out.all(pair.from.map(number));
        out.texts([pair.unit]);
        out.all(pair.measured.map(number));
        out.texts([pair.verdict]);
        out.all(self.analysis.study.repriced.clone());
        out.end_row();
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
