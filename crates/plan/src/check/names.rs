//! Names: of the study, its factors, its environments, its metrics.

use diagnostics::{Diagnostic, Located, Problems};
use model::run::metric::{self, Runs};

use crate::field::find_field;
use crate::read::{Draft, DraftWorkload};

/// Columns of every table of results: a factor of that name could not be told from them.
const COLUMNS: &[&str] = &["scenario", "repetition", "run", "status"];
const MAX_NAME_BYTES: usize = 100;

pub(super) fn check(draft: &Draft, problems: &Problems) {
    if let Some(name) = &draft.head.name {
        check_study_name(name, problems);
    }
    for factor in &draft.factors {
        check_factor_name(draft, &factor.name, problems);
    }
    for environment in &draft.environments {
        if !is_plain(&environment.name.value) {
            let message = "the name of an environment must consist of visible characters";
            problems.push(environment.name.wrong(message));
        }
    }
    let columns = draft.import.iter().flat_map(|import| &import.metrics);
    let imported: Vec<&str> = columns
        .map(|c| super::import::metric_name(&c.column, &c.means.value))
        .collect();
    check_metrics(draft, &imported, problems);
    check_pareto(draft, &imported, problems);
    check_roles(draft, problems);
}

/// Results go to a folder of the study's name: whether it can be one.
pub fn is_study_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_NAME_BYTES
        && text.chars().all(allowed)
        && !text.starts_with(['.', '-'])
}

fn allowed(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn check_study_name(name: &Located<String>, problems: &Problems) {
    let text = &name.value;
    if is_study_name(text) {
        return;
    }
    let words = text.split(|c| !allowed(c)).filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    let slug: String = slug.trim_matches(['-', '.']).chars().take(40).collect();
    let suggestion = if slug.is_empty() {
        "my-study".to_owned()
    } else {
        slug
    };
    let message = "the study's name must be a valid folder name: letters, digits, `-`, `_` and `.`";
    let diagnostic = name.wrong(message);
    problems.push(diagnostic.label(format!("such as \"{suggestion}\"")));
}

fn check_factor_name(draft: &Draft, name: &Located<String>, problems: &Problems) {
    let text = name.value.as_str();
    // Training knows its factors anyway.
    // Of those that serve, `requests` is both a setting and what was counted.
    let fields = draft.workload.as_ref().and_then(|w| w.fields());
    let is_setting = |fields| find_field(fields, text).is_some();
    let open = fields.is_none_or(|fields| super::serving::is_open(draft) && !is_setting(fields));
    let taken = open && (metric::definition(text).is_some() || COLUMNS.contains(&text));
    let message = if !is_plain(text) || text.contains(['{', '}']) {
        "the name of a factor must consist of visible characters, without braces".to_owned()
    } else if taken {
        format!("a factor cannot be called `{text}`: the results have a column with this name")
    } else {
        return;
    };
    problems.push(name.wrong(message).label("choose a different name"));
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(diagnostics::screen::is_hidden)
}

/// Factors of measurements made elsewhere are known when they are read.
fn check_roles(draft: &Draft, problems: &Problems) {
    if draft.import.is_some() {
        return;
    }
    let known = || {
        draft
            .factors
            .iter()
            .map(|factor| factor.name.value.as_str())
    };
    for (name, _) in &draft.head.roles {
        if !known().any(|factor| factor == name.value) {
            let span = name.span.clone();
            problems.push(Diagnostic::unknown("factor", &name.value, span, known()));
        }
    }
}

/// A command may report metrics of its own that nothing here can know.
fn check_metrics(draft: &Draft, imported: &[&str], problems: &Problems) {
    for asked in &draft.head.metrics {
        if let Some(problem) = unmeasured(draft, asked, imported) {
            problems.push(problem);
        }
    }
    check_unique(&draft.head.metrics, problems);
}

fn check_unique(metrics: &[Located<String>], problems: &Problems) {
    for (index, asked) in metrics.iter().enumerate() {
        let name = asked.value.as_str();
        let mut earlier = metrics[..index].iter();
        if earlier.any(|earlier| earlier.value == name) {
            problems.push(asked.wrong(format!("metric `{name}` is listed twice")));
        }
    }
}

/// One choice is better than another only by what is good low or high.
fn check_pareto(draft: &Draft, imported: &[&str], problems: &Problems) {
    let pareto = &draft.head.pareto;
    for asked in pareto {
        let name = asked.value.as_str();
        // Whatever the workload: of a run that serves, time is latency.
        if name == "time" {
            continue;
        }
        let neither = |metric: &&metric::Definition| metric.better == metric::Better::Neither;
        if let Some(problem) = unmeasured(draft, asked, imported) {
            problems.push(problem);
        } else if metric::meant(name).as_ref().is_some_and(neither) {
            let undirected = format!("`{name}` is neither better low nor better high");
            problems.push(asked.wrong(undirected).label("name a different metric"));
        }
    }
    check_unique(pareto, problems);
    if let [only] = pareto.as_slice() {
        let single = only.wrong("a Pareto set needs at least two metrics");
        problems.push(single.label("such as [\"time\", \"cost\"]"));
    }
}

/// Why no run of the study will have the metric.
fn unmeasured(draft: &Draft, asked: &Located<String>, imported: &[&str]) -> Option<Diagnostic> {
    let workload = draft.workload.as_ref();
    // A command may report anything.
    if workload.is_some_and(|workload| workload.fields().is_none()) {
        return None;
    }
    let others = workload.and_then(DraftWorkload::other_runs);
    let (name, span) = (asked.value.as_str(), asked.span.clone());
    let is_measured = |metric: &&metric::Definition| Some(metric.runs) != others;
    if imported.contains(&name) || metric::meant(name).as_ref().is_some_and(is_measured) {
        return None;
    }
    if metric::meant(name).is_none() {
        let known = metric::ALL.iter().filter(is_measured);
        let known = known.map(|metric| metric.name);
        let known = known.chain(imported.iter().copied());
        return Some(Diagnostic::unknown("metric", name, span, known));
    }
    let (whose, ours) = match others {
        Some(Runs::Serving) => ("serve", "trains"),
        _ => ("train", "serves"),
    };
    let message = format!("only runs that {whose} have the metric `{name}`");
    Some(Diagnostic::at(span, message).label(format!("this study {ours}")))
}
