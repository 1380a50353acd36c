//! `[import]`: are its factors and levels those of the study, and is each given once?

use diagnostics::{Diagnostic, Located, Problems, Span};
use model::study::{ImportColumn, ImportSettings};

use crate::read::{Draft, DraftColumn, DraftImport};

/// In a file pattern, not a factor but the number of the run.
const REPETITION: &str = "repetition";

pub(super) fn check(draft: &Draft, problems: &Problems) -> Option<ImportSettings> {
    let import = draft.import.as_ref()?;
    let in_pattern = pattern_names(import, problems);
    check_factors(draft, import, &in_pattern, problems);
    check_levels(draft, import, problems);
    check_metrics(import, problems);
    let columns = |drafts: &[DraftColumn]| {
        let column = |draft: &DraftColumn| ImportColumn {
            column: draft.column.clone(),
            means: draft.means.value.clone(),
        };
        drafts.iter().map(column).collect()
    };
    let levels = import.levels.iter();
    Some(ImportSettings {
        row: import.row.map(str::to_owned),
        factors: columns(&import.factors),
        metrics: columns(&import.metrics),
        levels: levels
            .map(|l| (l.factor.value.clone(), l.level.value.clone()))
            .collect(),
        file_pattern: import.file_pattern.as_ref().map(|p| p.value.clone()),
        repetition: import.repetition.clone(),
        status: import.status.clone(),
        started: import.started.clone(),
        delimiter: import.delimiter,
        decimal_mark: import.decimal_mark.map(str::to_owned),
    })
}

/// The factors that names of files tell.
fn pattern_names(import: &DraftImport, problems: &Problems) -> Vec<Located<String>> {
    let Some(pattern) = &import.file_pattern else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for (index, part) in pattern.value.split('{').enumerate() {
        match (index, part.split_once('}')) {
            (0, None) => {}
            (1.., Some((name, rest))) if !name.trim().is_empty() && !rest.contains('}') => {
                // `{network:vgg-16|vgg-19}` lists what may stand there.
                let name = name.split_once(':').map_or(name, |(name, _)| name);
                names.push(name.trim());
            }
            _ => {
                let message = "this file pattern has an unmatched brace, or a brace without a name";
                let broken = pattern.wrong(message);
                problems.push(broken.label("such as \"{framework}-{image}px-r{repetition}.csv\""));
                return Vec::new();
            }
        }
    }
    let located = |name: &str| Located::new(name.to_owned(), pattern.span.clone());
    let factors = names.into_iter().filter(|name| *name != REPETITION);
    factors.map(located).collect()
}

fn check_factors(
    draft: &Draft,
    import: &DraftImport,
    in_pattern: &[Located<String>],
    problems: &Problems,
) {
    let columns = import.factors.iter().map(|column| &column.means);
    let levels = import.levels.iter().map(|level| &level.factor);
    let mut told: Vec<&Located<String>> = Vec::new();
    for name in columns.chain(in_pattern).chain(levels) {
        if draft.factor(&name.value).is_none() {
            let known = draft.factors.iter().map(|f| f.name.value.as_str());
            let (word, span) = (&name.value, name.span.clone());
            problems.push(Diagnostic::unknown("factor", word, span, known));
        }
        match told.iter().find(|earlier| earlier.value == name.value) {
            Some(earlier) => problems.push(
                name.wrong(format!("the level of `{}` is given twice", name.value))
                    .other(earlier.span.clone(), "first here"),
            ),
            None => told.push(name),
        }
    }
}

fn check_levels(draft: &Draft, import: &DraftImport, problems: &Problems) {
    for constant in &import.levels {
        let Some(factor) = draft.factor(&constant.factor.value) else {
            continue;
        };
        if factor.find(&constant.level.value).is_none() {
            let known: Vec<String> = factor.levels.iter().map(|l| l.value.to_string()).collect();
            problems.push(Diagnostic::unknown(
                &format!("level of `{}`:", factor.name.value),
                &constant.level.value.to_string(),
                constant.level.span.clone(),
                known.iter().map(String::as_str),
            ));
        }
    }
}

fn check_metrics(import: &DraftImport, problems: &Problems) {
    let mut told: Vec<(&str, &Span)> = Vec::new();
    for column in &import.metrics {
        let span = &column.means.span;
        let metric = metric_name(&column.column, &column.means.value);
        if metric.is_empty() {
            let unnamed = Diagnostic::at(span.clone(), "the name of the metric is missing");
            problems.push(unnamed.label("such as \"train_seconds:ms\", or only the unit"));
        }
        match told.iter().find(|(earlier, _)| *earlier == metric) {
            Some((_, earlier)) => problems.push(
                Diagnostic::at(span.clone(), format!("metric `{metric}` is listed twice"))
                    .other((*earlier).clone(), "first here"),
            ),
            None => told.push((metric, span)),
        }
    }
}

/// `METRIC:UNIT`; with the unit alone the column's own name.
pub(super) fn metric_name<'t>(column: &'t str, means: &'t str) -> &'t str {
    means
        .split_once(':')
        .map_or(column, |(metric, _)| metric.trim())
}
