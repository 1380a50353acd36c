//! Checks a study file and interprets it: all errors at once, each with its position.
//!
//! Levels that are invalid on their own are reported and skipped; contradictions are then searched
//! among the remaining scenarios, so that one error does not hide another.

mod command;
mod contradictions;
mod design;
mod design_list;
mod design_names;
mod environments;
mod exclusions;
mod hosts;
mod import;
mod levels;
mod money;
mod names;
mod networks;
mod scales;
mod serving;

use std::path::PathBuf;

pub use names::is_study_name;
pub(crate) use scales::check as check_scales;

use std::collections::BTreeMap;

use diagnostics::screen::grouped;
use diagnostics::{Diagnostic, Located, Problems, Span};
use model::{CommandWorkload, Factor, Level, ServeWorkload, Study, TrainWorkload, Until, Workload};

use crate::read::{Draft, DraftCommand, DraftServe, DraftWorkload, FieldValue, ReadOptions};
use crate::{serve, train};

pub(crate) const MAX_RUNS: u64 = 1_000_000;
pub(crate) const MAX_SCENARIOS: u64 = 100_000;
/// Enough to see the spread; more where the differences are small.
pub(crate) const DEFAULT_REPETITIONS: u32 = 3;
pub(crate) const DEFAULT_SEED: u64 = 1;

/// What must be right before contradictions can be looked for: a default in its place would
/// complain of what nobody wrote.
const DECISIVE: &[&str] = &[
    "environment",
    "network",
    "dataset",
    "data_dir",
    "image",
    "images",
    "held_out",
    "batch",
    "optimizer",
    "device",
    "workers",
];

/// None where too little is right to say what the study means.
pub(crate) fn check(draft: &Draft, options: &ReadOptions, problems: &Problems) -> Option<Study> {
    let mut networks = networks::Networks::new(options);
    names::check(draft, problems);
    check_until(draft, options, problems);
    let mut factors = levels::check(draft, &mut networks, problems);
    let design = design::check(draft, &mut factors, problems);
    let environments = environments::check(draft, problems);
    let exclude = exclusions::check(draft, problems);
    let currency = money::check(draft, problems);
    let mut decided = true;
    let workload = match draft.workload.as_ref()? {
        DraftWorkload::Train(train) => {
            let usable = levels::check_train(draft, train, &mut networks, problems);
            let is_usable = |value: &FieldValue| usable.iter().any(|u| u.field == value.field);
            let mut values = train.values.iter();
            decided = values.all(|v| is_usable(v) || !DECISIVE.contains(&v.field));
            let mut workload = train_workload(draft, &usable);
            workload.keep_model = train.keep_model.unwrap_or(workload.keep_model);
            Workload::Train(workload)
        }
        DraftWorkload::Serve(serve) => {
            let usable = levels::check_serve(draft, serve, &mut networks, problems);
            serving::check(draft, serve, problems);
            Workload::Serve(serve_workload(serve, &usable))
        }
        DraftWorkload::Command(command) => {
            command::check(draft, command, problems);
            Workload::Command(command_workload(command))
        }
    };
    serving::check_services(draft, matches!(workload, Workload::Serve(_)), problems);
    let import = import::check(draft, problems);
    decided &= design.is_some();
    let design = design.unwrap_or_default();
    let small_enough = check_size(draft, design::scenario_count(&design, &factors), problems);
    let study = Study {
        // Without a name there is an error already, and no study will come of this.
        name: draft
            .head
            .name
            .as_ref()
            .map(|n| n.value.clone())
            .unwrap_or_default(),
        objective: draft.head.objective.clone(),
        repetitions: draft
            .head
            .repetitions
            .as_ref()
            .map_or(DEFAULT_REPETITIONS, |r| r.value),
        seed: draft.head.seed.unwrap_or(DEFAULT_SEED),
        order: draft.head.order.unwrap_or_default(),
        budget: draft.head.budget.as_ref().map(|b| b.value),
        currency,
        rates: draft.rates.clone(),
        factors,
        exclude,
        design,
        workload,
        environments,
        measure: draft.measure.clone(),
        metrics: draft.head.metrics.iter().map(|m| m.value.clone()).collect(),
        target_accuracy_percent: draft.head.target_accuracy,
        roles: draft
            .head
            .roles
            .iter()
            .map(|(name, role)| (name.value.clone(), *role))
            .collect(),
        equal_within_percent: draft.head.equal_within,
        pareto: draft.head.pareto.iter().map(|m| m.value.clone()).collect(),
        carbon: draft.head.carbon.clone(),
        until: draft.head.until.as_ref().map(|until| until.value.clone()),
        goal: None,
        import,
        network_files: BTreeMap::new(),
        scale: None,
    };
    check_until_metric(draft, &study, problems);
    if small_enough && decided {
        check_scenarios(draft, &study, &networks, problems);
    }
    Some(study)
}

fn train_workload(draft: &Draft, values: &[&FieldValue]) -> TrainWorkload {
    let mut workload = train::defaults();
    // A factor decides for each scenario; until then it is the kind that has all the constants.
    let varied = draft.factor("optimizer").is_some();
    if varied {
        train::apply(&mut workload, "optimizer", &Level::from("sgd"));
    }
    for value in values.iter().filter(|v| !varied || v.field != "optimizer") {
        train::apply(&mut workload, value.field, &value.level.value);
    }
    workload
}

fn serve_workload(draft: &DraftServe, values: &[&FieldValue]) -> ServeWorkload {
    let mut workload = serve::defaults();
    for value in values {
        serve::apply(&mut workload, value.field, &value.level.value);
    }
    let own = command_workload(&draft.command);
    ServeWorkload {
        command: own.command,
        env: own.env,
        inputs: own.inputs,
        ..workload
    }
}

fn command_workload(command: &DraftCommand) -> CommandWorkload {
    let variables = command
        .env
        .iter()
        .map(|v| (v.name.clone(), v.value.value.clone()));
    CommandWorkload {
        command: command
            .command
            .iter()
            .map(|word| word.value.clone())
            .collect(),
        env: variables.collect(),
        directory: command.directory.as_ref().map(|d| PathBuf::from(&d.value)),
        log: command.log.clone(),
        inputs: command.inputs.iter().map(|i| i.value.clone()).collect(),
    }
}

/// A reduced scale may have fewer repetitions than there is a choice of.
fn check_until(draft: &Draft, options: &ReadOptions, problems: &Problems) {
    let repetitions = draft.head.repetitions.as_ref();
    let repetitions = repetitions.map_or(DEFAULT_REPETITIONS, |r| r.value);
    let until = draft.head.until.as_ref();
    if let Some(until) = until.filter(|_| repetitions <= Until::MINIMUM && options.scale.is_none())
    {
        let wrong = until.wrong(format!(
            "`until` needs `repetitions` above {} as the maximum",
            Until::MINIMUM
        ));
        problems.push(wrong.label("set repetitions = 10, for example"));
    }
}

/// Of measurements made elsewhere nobody knows what they hold.
fn check_until_metric(draft: &Draft, study: &Study, problems: &Problems) {
    let Some(until) = draft.head.until.as_ref().filter(|_| draft.import.is_none()) else {
        return;
    };
    if let Err(mut wrong) = crate::check_until(&until.value, study) {
        wrong.span = Some(until.span.clone());
        problems.push(*wrong);
    }
}

/// Before anything is multiplied out.
fn check_size(draft: &Draft, scenarios: Option<u128>, problems: &Problems) -> bool {
    let repetitions = draft
        .head
        .repetitions
        .as_ref()
        .map_or(DEFAULT_REPETITIONS, |r| r.value);
    let most = grouped(u128::from(MAX_SCENARIOS));
    let message = if scenarios.is_none_or(|count| count > u128::from(MAX_SCENARIOS)) {
        let count = scenarios.map_or("more than 10^38".to_owned(), grouped);
        format!("{count} scenarios: a study can have at most {most}")
    } else if let Some(scenarios) = scenarios
        && scenarios * u128::from(repetitions) > u128::from(MAX_RUNS)
    {
        let (scenarios, runs) = (grouped(scenarios), grouped(u128::from(MAX_RUNS)));
        format!(
            "{scenarios} scenarios × {repetitions} repetitions: a study can have at most {runs} runs"
        )
    } else {
        return true;
    };
    let diagnostic = match draft.factors.first() {
        Some(factor) => factor.name.wrong(message),
        None => Diagnostic::whole(message),
    };
    problems.push(
        diagnostic.note("use fewer levels, fewer factors, a smaller [design], or several studies"),
    );
    false
}

fn check_scenarios(
    draft: &Draft,
    study: &Study,
    networks: &networks::Networks,
    problems: &Problems,
) {
    let is_unusable = |factor: &Factor| factor.levels.is_empty();
    if study
        .factors
        .iter()
        .any(|f| is_unusable(f) && DECISIVE.contains(&f.name.as_str()))
    {
        return;
    }
    let mut study = study.clone();
    study.factors.retain(|f| !is_unusable(f));
    let scenarios = crate::scenarios(&study);
    if scenarios.is_empty() {
        let last = draft.head.exclude.last().map(|rule| rule.span.clone());
        let message = "the exclusions remove every scenario";
        let diagnostic = match last {
            Some(span) => Diagnostic::at(span, message),
            None => Diagnostic::whole(message),
        };
        problems.push(diagnostic.label("after this exclusion no scenario is left"));
    }
    contradictions::check(draft, &study, &scenarios, networks, problems);
    hosts::check(draft, &study, &scenarios, problems);
}

/// Where a value of a scenario comes from.
pub(crate) struct Origin {
    /// ``level `image = 8` `` of a factor, `` `image = 8` `` of the workload.
    pub(crate) words: String,
    /// `None` for a default.
    pub(crate) span: Option<Span>,
    pub(crate) is_factor: bool,
    /// As an exclusion would say it: `network = "rede2"`.
    pub(crate) condition: String,
}

pub(crate) fn origin(draft: &Draft, field: &str, value: &Level) -> Origin {
    let from_factor = draft.factor(field).and_then(|f| f.find(value));
    let from_workload = || draft.value(field).map(|v| &v.level);
    let found: Option<&Located<Level>> = from_factor.or_else(from_workload);
    let words = format!("`{field} = {value}`");
    Origin {
        words: if from_factor.is_some() {
            format!("level {words}")
        } else {
            words
        },
        span: found.map(|level| level.span.clone()),
        is_factor: from_factor.is_some(),
        condition: match value {
            Level::Text(text) => format!("{field} = \"{text}\""),
            other => format!("{field} = {other}"),
        },
    }
}
