//! Money other than the scenarios' costs.

use analyse::{
    Analysis, CostResult, Estimate, Fit, Provisioning, Target, TargetResult, Unused, format,
    phase_words, refusal_of_forecast,
};
use messages::{message, word};
use model::Money;
use rust_decimal::Decimal;

use super::{Table, TableCell, Tone, currency_symbol};

/// What a run costs and what its parts do; `None` if no run tells of parts.
pub(crate) fn work_table(analysis: &Analysis) -> Option<Table> {
    let parts: [Part; 3] = [
        (word!("money-per-epoch"), |cost| cost.per_epoch),
        (word!("header-cost_per_thousand_images"), |cost| {
            cost.per_thousand_images
        }),
        (word!("header-cost_per_thousand_steps"), |cost| {
            cost.per_thousand_steps
        }),
    ];
    let priced = || {
        let scenarios = analysis.scenarios.iter();
        scenarios.filter_map(|s| Some((s, s.cost.as_ref()?)))
    };
    let told = |(_, part): &&Part| priced().any(|(_, cost)| part(cost).is_some());
    let parts: Vec<&Part> = parts.iter().filter(told).collect();
    if parts.is_empty() {
        return None;
    }
    let mut table = Table::new(&[word!("head-scenario")], &[word!("money-per-run")]);
    parts.iter().for_each(|(header, _)| table.number(header));
    let symbol = currency_symbol(analysis);
    for (scenario, cost) in priced() {
        let mut row = vec![
            TableCell::new(&scenario.label).small(scenario.phrase()),
            amount(Some(&cost.estimate), &symbol),
        ];
        let parts = parts.iter().map(|(_, part)| part(cost));
        row.extend(parts.map(|money| TableCell::or_none(money.as_ref().map(format::money))));
        table.rows.push(row);
    }
    Some(table.cut())
}

type Part = (&'static str, fn(&CostResult) -> Option<Money>);

/// What each scenario takes to get to the accuracy that the study asks for.
pub(crate) fn target_table(analysis: &Analysis, target: &Target) -> Table {
    let mut table = Table::new(
        &[word!("head-scenario")],
        &[
            word!("target-runs"),
            word!("head-time"),
            word!("target-median-time"),
            word!("head-cost"),
            word!("target-accuracy"),
            word!("target-forecast"),
        ],
    );
    let symbol = currency_symbol(analysis);
    for result in &target.scenarios {
        let reached = message!(
            "target-reached",
            reached = result.reached,
            runs = result.runs
        );
        let reached = match result.reached {
            0 => TableCell::new(reached).tone(Tone::Ended),
            _ => TableCell::new(reached),
        };
        let share = result.share.as_ref().and_then(|share| share.interval);
        let share = share.map(|i| format::interval(i.low, i.high, format::percent));
        let reached = reached.small(share.unwrap_or_default());
        let accuracy = result.accuracy_percent;
        table.rows.push(vec![
            TableCell::new(&result.label).small(result.phrase.clone()),
            reached,
            TableCell::seconds(result.seconds.as_ref()),
            median_cell(result),
            amount(result.cost.as_ref(), &symbol),
            TableCell::or_none(
                accuracy.map(|percent| format!("{} %", format::significant(percent, 3))),
            ),
            predicted_cell(result),
        ]);
    }
    table.cut()
}

fn median_cell(result: &TargetResult) -> TableCell {
    let open =
        |end: Option<f64>| end.map_or_else(|| word!("target-open").to_owned(), format::duration);
    result.median.map_or_else(TableCell::none, |median| {
        let ends = message!("interval", low = open(median.low), high = open(median.high));
        let known = median.low.is_some() || median.high.is_some();
        let ends = if known { ends } else { String::new() };
        TableCell::new(format::duration(median.seconds)).small(ends)
    })
}

/// Epochs and time to the target by continued learning curves, or why there is none.
fn predicted_cell(result: &TargetResult) -> TableCell {
    let Some(predicted) = &result.predicted else {
        let why = result.not_predicted.map(refusal_of_forecast);
        return match why {
            Some(why) => TableCell::new(word!("target-no-forecast"))
                .tone(Tone::Absent)
                .small(why),
            None => TableCell::none(),
        };
    };
    let latest = predicted.latest.as_ref();
    let latest = latest.map_or_else(|| word!("target-open").to_owned(), |l| l.epoch.to_string());
    let earliest = predicted.earliest.epoch;
    let ends = message!("interval", low = earliest, high = latest);
    let typical = &predicted.typical;
    let time = format::duration(typical.seconds);
    TableCell::new(message!("target-after", time, epochs = typical.epoch))
        .small(message!("target-epochs", ends))
}

/// A row an environment; columns without an amount are left out. `None` if nothing is to be said.
pub(crate) fn unused_table(unused: &[Unused]) -> Option<Table> {
    let columns: Vec<&UnusedColumn> = UNUSED
        .iter()
        .filter(|column| unused.iter().any(|one| !(column.amount)(one).is_zero()))
        .collect();
    if columns.is_empty() {
        return None;
    }
    let mut table = Table::new(&[word!("head-environment")], &[word!("money-paid")]);
    for column in &columns {
        table.number((column.header)());
    }
    for one in unused {
        let runs = message!("counted-runs", runs = one.runs);
        let mut row = vec![
            TableCell::new(&one.environment).small(runs),
            TableCell::new(format::money(&one.paid)),
        ];
        row.extend(columns.iter().map(|column| column.cell(one)));
        table.rows.push(row);
    }
    Some(table.cut())
}

struct UnusedColumn {
    header: fn() -> &'static str,
    amount: fn(&Unused) -> Decimal,
    small: fn(&Unused) -> String,
}

impl UnusedColumn {
    fn cell(&self, of: &Unused) -> TableCell {
        let amount = (self.amount)(of);
        if amount.is_zero() {
            return TableCell::none();
        }
        let money = Money { amount, ..of.paid };
        TableCell::new(format::money(&money)).small((self.small)(of))
    }
}

const fn column(header: fn() -> &'static str, amount: fn(&Unused) -> Decimal) -> UnusedColumn {
    UnusedColumn {
        header,
        amount,
        small: |_| String::new(),
    }
}

const UNUSED: [UnusedColumn; 8] = [
    column(|| word!("money-idle"), |one| one.idle.amount),
    column(|| word!("money-rounding"), |one| one.rounding.amount),
    column(|| word!("money-minimum"), |one| one.minimum.amount),
    column(|| word!("money-no-result"), |one| one.no_result.amount),
    column(|| word!("money-re-run"), |one| one.done_again.amount),
    UnusedColumn {
        small: |one| format::percent(one.unused_share),
        ..column(|| word!("money-wasted"), |one| one.unused.amount)
    },
    UnusedColumn {
        small: phases,
        ..column(
            || word!("money-overhead"),
            |one| one.not_work.iter().map(|phase| phase.cost.amount).sum(),
        )
    },
    UnusedColumn {
        small: |one| format::percent(one.expected_lost_share),
        ..column(
            || word!("money-expected-lost"),
            |one| one.expected_lost.amount,
        )
    },
];

fn phases(one: &Unused) -> String {
    const LEAST: f64 = 0.005;
    let phases = one.not_work.iter().filter(|phase| phase.share >= LEAST);
    let named: Vec<String> = phases
        .map(|phase| {
            format!(
                "{} {}",
                phase_words(&phase.phase),
                format::percent(phase.share)
            )
        })
        .collect();
    named.join(", ")
}

/// A row an environment whose use says something about its size.
pub(crate) fn provisioning_table(found: &[Provisioning]) -> Option<Table> {
    if found.is_empty() {
        return None;
    }
    let has_gpu = found.iter().any(|one| one.gpu_percent.is_some());
    let mut table = Table::new(
        &[word!("head-environment")],
        &[word!("header-cpu_percent"), word!("head-memory")],
    );
    if has_gpu {
        table.number(word!("header-gpu_percent"));
        table.number(word!("money-gpu-memory"));
    }
    table.text(word!("head-verdict"));
    let percent = |value: f64| TableCell::new(format!("{} %", format::whole(value)));
    for one in found {
        let runs = message!("counted-runs", runs = one.runs);
        let mut row = vec![
            TableCell::new(&one.environment).small(runs),
            percent(one.cpu_percent),
            percent(one.memory_percent),
        ];
        if has_gpu {
            let gpu = [one.gpu_percent, one.gpu_memory_percent];
            row.extend(gpu.map(|value| value.map_or_else(TableCell::none, percent)));
        }
        row.push(TableCell::new(fit_words(one)));
        table.rows.push(row);
    }
    Some(table.cut())
}

fn fit_words(one: &Provisioning) -> &'static str {
    match one.verdict {
        Fit::Fits => word!("fit-fits"),
        Fit::TooLarge => word!("fit-too-large"),
        Fit::TooSmall if one.out_of_memory > 0 => word!("fit-others-too-large"),
        Fit::TooSmall => word!("fit-too-small"),
        Fit::StarvedGpu => word!("fit-starved-gpu"),
    }
}

fn amount(estimate: Option<&Estimate>, symbol: &str) -> TableCell {
    let Some(estimate) = estimate else {
        return TableCell::none();
    };
    let quantity = format::quantity(estimate, 1.0);
    let cell = TableCell::new(message!("money", symbol, amount = quantity.value));
    match quantity.half_width.as_str() {
        "" => cell,
        half => cell.small(format!("± {half}")),
    }
}
