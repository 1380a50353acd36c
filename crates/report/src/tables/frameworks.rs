//! Frameworks side by side.

use analyse::format;
use analyse::{
    Analysis, CheckState, FrameworkCheck, FrameworkResult, Frameworks, MetricInfo, metric_value,
};
use messages::{date, message, word};
use model::run::metric;

use super::{Table, TableCell, Tone};

/// Who trained, and whether it was shown to compute the same.
pub(crate) fn checks_table(frameworks: &Frameworks) -> Table {
    let mut table = Table::new(
        &[
            word!("head-framework"),
            word!("check-version"),
            word!("check-network"),
            word!("check-verified"),
            word!("check-when"),
        ],
        &[word!("check-first-loss"), word!("check-after")],
    );
    for framework in &frameworks.frameworks {
        let versions = match framework.versions.is_empty() {
            true => TableCell::none(),
            false => TableCell::new(format::listed(&framework.versions, 4)),
        };
        if framework.checks.is_empty() {
            let mut row = vec![TableCell::new(&framework.name), versions];
            row.resize(table.headers.len(), TableCell::none());
            table.rows.push(row);
            continue;
        }
        for check in &framework.checks {
            let mut row = vec![TableCell::new(&framework.name), versions.clone()];
            row.extend(check_cells(check));
            table.rows.push(row);
        }
    }
    table.cut()
}

fn check_cells(check: &FrameworkCheck) -> Vec<TableCell> {
    let mut cells = vec![TableCell::or_none(check.network.as_ref())];
    let verified = check.verified.as_ref();
    cells.push(match check.state {
        CheckState::Reference => TableCell::new(word!("check-reference")),
        CheckState::Agrees => TableCell::new(word!("check-yes")),
        CheckState::NotVerified if check.unchecked < check.runs => {
            let (unchecked, runs) = (check.unchecked, check.runs);
            TableCell::new(message!("check-not-all", unchecked, runs)).tone(Tone::Warning)
        }
        CheckState::NotVerified => TableCell::new(word!("check-no")).tone(Tone::Warning),
        CheckState::Differs => {
            let layer = verified
                .and_then(|v| v.differs_at.as_deref())
                .unwrap_or("?");
            TableCell::new(message!("check-differs", layer)).tone(Tone::Warning)
        }
    });
    let Some(verified) = verified else {
        cells.resize(5, TableCell::none());
        return cells;
    };
    let after = message!("check-steps", steps = verified.steps);
    cells.extend([
        TableCell::new(date(&verified.when.strftime("%Y-%m-%d").to_string())),
        TableCell::new(format::difference(verified.first_loss_difference)),
        TableCell::new(format::difference(verified.last_loss_difference)).small(after),
    ]);
    cells
}

/// What each took, over the combinations that all of them carried out.
pub(crate) fn comparison_table(analysis: &Analysis, frameworks: &Frameworks) -> Option<Table> {
    let mut columns = COLUMNS.to_vec();
    columns.retain(|column| {
        let mut values = frameworks.frameworks.iter().map(|f| column.value(f));
        values.any(|value| value.is_some())
    });
    if columns.is_empty() {
        return None;
    }
    let headers: Vec<&str> = columns.iter().map(|column| (column.header)()).collect();
    let mut table = Table::new(&[word!("head-framework")], &headers);
    for framework in &frameworks.frameworks {
        let mut row = vec![TableCell::new(&framework.name)];
        for column in &columns {
            row.push(match column.value(framework) {
                Some(value) => {
                    let cell = TableCell::new(column.text(analysis, value));
                    cell.small(column.against_best(frameworks, value))
                }
                None => TableCell::none(),
            });
        }
        table.rows.push(row);
    }
    Some(table)
}

#[derive(Clone, Copy)]
struct Column {
    header: fn() -> &'static str,
    /// `None` for what is before training, which is no metric.
    metric: Option<&'static str>,
    unit: &'static str,
}

const fn column(header: fn() -> &'static str, metric: &'static str, unit: &'static str) -> Column {
    Column {
        header,
        metric: Some(metric),
        unit,
    }
}

const COLUMNS: [Column; 7] = [
    column(|| word!("metric-epoch_seconds"), metric::EPOCH_SECONDS, "s"),
    column(
        || word!("header-images_per_second"),
        metric::IMAGES_PER_SECOND,
        "",
    ),
    column(|| word!("metric-accuracy_percent"), metric::ACCURACY, "%"),
    column(
        || word!("metric-peak_memory_bytes"),
        metric::PEAK_MEMORY_BYTES,
        "B",
    ),
    Column {
        header: || word!("frameworks-before"),
        metric: None,
        unit: "s",
    },
    column(
        || word!("frameworks-first-step"),
        metric::FIRST_STEP_SECONDS,
        "s",
    ),
    column(
        || word!("frameworks-later-steps"),
        metric::STEP_SECONDS,
        "s",
    ),
];

impl Column {
    fn value(&self, framework: &FrameworkResult) -> Option<f64> {
        match self.metric {
            Some(name) => framework.metrics.get(name).copied(),
            None => framework.before_training_seconds,
        }
    }

    fn text(&self, analysis: &Analysis, value: f64) -> String {
        let known: Option<&MetricInfo> = self.metric.and_then(|name| analysis.metric(name));
        match (self.unit, known) {
            ("", _) => format::significant(value, 3),
            (_, Some(info)) => metric_value(info, value),
            _ => format::duration(value),
        }
    }

    /// `1.20×`, of the shortest time per epoch; other columns speak for themselves.
    fn against_best(&self, frameworks: &Frameworks, value: f64) -> String {
        if self.metric != Some(metric::EPOCH_SECONDS) || frameworks.frameworks.len() < 2 {
            return String::new();
        }
        let all = frameworks.frameworks.iter().filter_map(|f| self.value(f));
        match all.reduce(f64::min) {
            Some(best) if best > 0.0 && value > best => {
                format!("{}×", format::significant(value / best, 3))
            }
            Some(_) => word!("frameworks-shortest").to_owned(),
            None => String::new(),
        }
    }
}

/// Over what the means are.
pub(crate) fn shared_sentence(frameworks: &Frameworks) -> String {
    let Frameworks {
        combinations,
        combinations_in_all,
        ..
    } = frameworks;
    let (done, all) = (*combinations, *combinations_in_all);
    let before = word!("frameworks-before-note");
    match frameworks.frameworks.len() {
        1 => message!("frameworks-means-own", done, before),
        _ if done == 0 => word!("frameworks-means-none").to_owned(),
        _ if done == all => message!("frameworks-means-all", all, before),
        _ => message!("frameworks-means-some", done, all, before),
    }
}
