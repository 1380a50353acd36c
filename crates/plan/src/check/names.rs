//! Names: of the study, its factors, its environments, its metrics.

use model::run::metric;
use source::{Diagnostic, Located, Problems};

use crate::read::{Draft, DraftWorkload};

/// Metrics that every run can have.
pub(crate) const METRICS: &[&str] = &[
    metric::TOTAL_SECONDS,
    metric::TRAIN_SECONDS,
    metric::EPOCH_SECONDS,
    metric::STEP_SECONDS,
    metric::FIRST_STEP_SECONDS,
    metric::IMAGES_PER_SECOND,
    metric::LOSS,
    metric::ACCURACY,
    metric::CPU_SECONDS,
    metric::CORES_USED,
    metric::CPU_PERCENT,
    metric::MACHINE_CPU_PERCENT,
    metric::PEAK_MEMORY_BYTES,
    metric::MEMORY_PERCENT,
    metric::MEAN_MEMORY_PERCENT,
    metric::DISK_READ_BYTES,
    metric::DISK_WRITE_BYTES,
    metric::GPU_PERCENT,
    metric::GPU_MEMORY_PERCENT,
    metric::GPU_ENERGY_JOULES,
    metric::SAMPLER_CPU_SECONDS,
    metric::COST,
    metric::FIRST_PING_SECONDS,
    metric::SETUP_SECONDS,
    metric::FIRST_ANSWER_SECONDS,
    metric::LATENCY_SECONDS,
    metric::LATENCY_P50_SECONDS,
    metric::LATENCY_P90_SECONDS,
    metric::LATENCY_P95_SECONDS,
    metric::LATENCY_P99_SECONDS,
    metric::LATENCY_MAX_SECONDS,
    metric::PREDICTION_SECONDS,
    metric::PREDICTION_PERCENT,
    metric::REQUESTS,
    metric::FAILED_REQUESTS,
    metric::REQUESTS_PER_SECOND,
    metric::HIGHEST_RATE,
    metric::BUSY_SECONDS,
    metric::BILLED_SECONDS,
    metric::BILLED_SECONDS_PER_REQUEST,
    metric::ENDPOINT_SECONDS,
    metric::CONTAINER_SECONDS,
    metric::OVERHEAD_SECONDS,
    metric::COLD_REQUESTS,
    metric::COST_PER_INFERENCE,
    metric::CLIENT_CPU_SECONDS,
    metric::MODEL_BYTES,
    metric::AGREEMENT_PERCENT,
];

/// Columns of every table of results: a factor of that name could not be told from them.
const COLUMNS: &[&str] = &["scenario", "repetition", "run", "status"];
const MAX_NAME_BYTES: usize = 100;

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    if let Some(name) = &draft.head.name {
        check_study_name(name, problems);
    }
    for factor in &draft.factors {
        check_factor_name(draft, &factor.name, problems);
    }
    for environment in &draft.environments {
        if !is_plain(&environment.name.value) {
            let message = "the name of an environment must consist of visible characters";
            problems.push(Diagnostic::at(environment.name.span.clone(), message));
        }
    }
    check_metrics(draft, problems);
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

fn check_study_name(name: &Located<String>, problems: &mut Problems) {
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
    let diagnostic = Diagnostic::at(name.span.clone(), message);
    problems.push(diagnostic.label(format!("such as \"{suggestion}\"")));
}

fn check_factor_name(draft: &Draft, name: &Located<String>, problems: &mut Problems) {
    let text = name.value.as_str();
    // Training knows its factors anyway.
    // Of those that serve, `requests` is both a setting and what was counted.
    let open = matches!(draft.workload, Some(DraftWorkload::Command(_)) | None);
    let taken = open && (METRICS.contains(&text) || COLUMNS.contains(&text));
    let message = if !is_plain(text) || text.contains(['{', '}']) {
        "the name of a factor must consist of visible characters, without braces".to_owned()
    } else if taken {
        format!("a factor cannot be called `{text}`: the results have a column with this name")
    } else {
        return;
    };
    problems.push(Diagnostic::at(name.span.clone(), message).label("choose a different name"));
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(source::screen::is_hidden)
}

/// A command may tell metrics of its own that nothing here can know.
fn check_metrics(draft: &Draft, problems: &mut Problems) {
    let open = matches!(draft.workload, Some(DraftWorkload::Command(_)));
    let columns = draft.import.iter().flat_map(|import| &import.metrics);
    let imported: Vec<&str> = columns
        .map(|c| super::import::metric_name(&c.column, &c.means.value))
        .collect();
    for (index, metric) in draft.head.metrics.iter().enumerate() {
        let name = metric.value.as_str();
        let known = METRICS.iter().chain(&imported).copied();
        if !open && !known.clone().any(|k| k == name) {
            problems.push(Diagnostic::unknown(
                "metric",
                name,
                metric.span.clone(),
                known,
            ));
        }
        if draft.head.metrics[..index]
            .iter()
            .any(|earlier| earlier.value == name)
        {
            problems.push(Diagnostic::at(
                metric.span.clone(),
                format!("metric `{name}` is listed twice"),
            ));
        }
    }
}
