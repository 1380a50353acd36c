//! Frameworks side by side.

use analyse::format;
use analyse::{
    Analysis, CheckState, FrameworkCheck, FrameworkResult, Frameworks, MetricInfo, metric_value,
};
use model::run::metric;

use super::{Table, TableCell, Tone};

/// Who trained, and whether it was shown to compute the same.
pub(crate) fn checks_table(frameworks: &Frameworks) -> Table {
    let mut table = Table::new(
        &["framework", "version", "network", "verified", "on"],
        &["first loss differs by", "after the steps"],
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
        CheckState::Reference => TableCell::new("the reference"),
        CheckState::Agrees => TableCell::new("yes"),
        CheckState::NotVerified if check.unchecked < check.runs => {
            let part = format!("not for {} of {} runs", check.unchecked, check.runs);
            TableCell::new(part).tone(Tone::Warning)
        }
        CheckState::NotVerified => TableCell::new("no").tone(Tone::Warning),
        CheckState::Differs => {
            let layer = verified
                .and_then(|v| v.differs_at.as_deref())
                .unwrap_or("?");
            TableCell::new(format!("differs from layer {layer} on")).tone(Tone::Warning)
        }
    });
    let Some(verified) = verified else {
        cells.resize(5, TableCell::none());
        return cells;
    };
    let after = format::counted(verified.steps as usize, "step", "steps");
    cells.extend([
        TableCell::new(verified.when.strftime("%Y-%m-%d").to_string()),
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
    let headers: Vec<&str> = columns.iter().map(|column| column.header).collect();
    let mut table = Table::new(&["framework"], &headers);
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
    header: &'static str,
    /// `None` for what is before training, which is no metric.
    metric: Option<&'static str>,
    unit: &'static str,
}

const fn column(header: &'static str, metric: &'static str, unit: &'static str) -> Column {
    Column {
        header,
        metric: Some(metric),
        unit,
    }
}

const COLUMNS: [Column; 7] = [
    column("time per epoch", metric::EPOCH_SECONDS, "s"),
    column("images/s", metric::IMAGES_PER_SECOND, ""),
    column("accuracy", metric::ACCURACY, "%"),
    column("peak memory", metric::PEAK_MEMORY_BYTES, "B"),
    Column {
        header: "before training",
        metric: None,
        unit: "s",
    },
    column("first step", metric::FIRST_STEP_SECONDS, "s"),
    column("later steps", metric::STEP_SECONDS, "s"),
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
            Some(_) => "the shortest".to_owned(),
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
    let in_all = format::counted(*combinations_in_all, "combination", "combinations");
    let before = "Before training is startup and start: loading the framework, building and compiling the network.";
    match (frameworks.frameworks.len(), *combinations) {
        (1, done) => format!(
            "Means over {} of levels, geometric except for the accuracy. {before}",
            format::counted(done, "combination", "combinations")
        ),
        (_, 0) => "No combination of the other factors was completed by all frameworks, so there are no means to compare.".to_owned(),
        (_, shared) if shared == *combinations_in_all => format!(
            "Means over all {in_all} of the other factors, geometric except for the accuracy. {before}"
        ),
        (_, shared) => format!(
            "Means over the {} of {in_all} of the other factors that all frameworks completed, geometric except for the accuracy: a framework must not look fast because it skipped slow combinations. {before}",
            format::count(shared)
        ),
    }
}
