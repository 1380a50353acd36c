//! Facts that are reported, not computed: the study, its totals, the machines, the warnings.

use std::collections::{BTreeMap, BTreeSet};

use messages::message;
use model::run::{Origin, metric};
use model::{LoadShape, Plan, RunId, ServeWorkload, Status, Study, TrainWorkload, Workload};

use crate::analysis::{
    EnvironmentFacts, FactorFacts, LevelFacts, MachineUse, OutcomeGroup, SamplerCost, StudyFacts,
    Totals,
};
use crate::lists::{entry, push_new};
use crate::options::run_options;
use crate::scenarios::level_facts;
use crate::sequence::is_imported;
use crate::smaller::scale_facts;
use crate::stopping::StoppingFacts;
use crate::table::{Row, Table};
use crate::words::format;
use crate::{CONFIDENCE, Input, energy, frameworks, inputs, prices, profile};

pub(crate) fn study_facts(table: &Table, plan: &Plan, repriced: Option<&str>) -> StudyFacts {
    let study = table.study;
    StudyFacts {
        name: study.name.clone(),
        objective: study.objective.clone(),
        repetitions: study.repetitions,
        seed: study.seed,
        order: study.order,
        // Beside what was spent, and so in its currency where there is a rate.
        budget: study
            .budget
            .map(|budget| cost::convert(budget, table.currency, &study.rates).unwrap_or(budget)),
        currency: table.currency.code().to_owned(),
        factors: study
            .factors
            .iter()
            .map(|f| FactorFacts {
                name: f.name.clone(),
                role: study.role(&f.name),
                levels: f.levels.iter().map(|l| l.to_string()).collect(),
            })
            .collect(),
        workload: workload_sentence(table),
        import_only: is_import_only(study) || is_elsewhere(table),
        run_options: run_options(table, plan),
        environments: study
            .environments
            .iter()
            .map(|e| EnvironmentFacts {
                name: e.name.clone(),
                limits: e.limits.clone(),
                device: e.device.clone(),
                price: e.price.clone(),
            })
            .collect(),
        interval_seconds: study.measure.interval_seconds,
        timeout_seconds: study.measure.timeout_seconds,
        excluded_rules: study.exclude.len(),
        metrics: table
            .asked()
            .map(|column| table.columns[column].name.clone())
            .collect(),
        confidence: CONFIDENCE,
        scale: scale_facts(study),
        repriced: repriced.map(str::to_owned),
    }
}

/// No command: the study is there to read what was measured elsewhere.
fn is_import_only(study: &Study) -> bool {
    matches!(&study.workload, Workload::Command(command) if command.command.is_empty())
}

/// All that is known was measured elsewhere, whatever the study could run.
fn is_elsewhere(table: &Table) -> bool {
    !table.runs.is_empty() && table.runs.iter().all(is_imported)
}

/// Only what no factor varies is said; the factors have their own table.
fn workload_sentence(table: &Table) -> String {
    let study = table.study;
    match &study.workload {
        // Stack, clients and load were those of whoever measured.
        Workload::Serve(serve) if is_elsewhere(table) => {
            let serving = serving_subject(study, serve);
            message!("work-served-elsewhere", serving)
        }
        _ if is_elsewhere(table) => message!("work-elsewhere"),
        Workload::Train(train) => training_sentence(study, train),
        Workload::Serve(serve) => serving_sentence(study, serve),
        Workload::Command(command) if command.command.is_empty() => message!("work-elsewhere"),
        Workload::Command(command) => {
            message!("work-command", command = command.command.join(" "))
        }
    }
}

fn serving_subject(study: &Study, serve: &ServeWorkload) -> String {
    let model = &serve.model;
    let subject = match study.factor("model") {
        None if model.is_empty() => "none",
        None => "one",
        Some(_) => "each",
    };
    message!("work-serving", subject, model)
}

fn serving_sentence(study: &Study, serve: &ServeWorkload) -> String {
    let fixed = |name: &str| study.factor(name).is_none();
    let mut text = serving_subject(study, serve);
    if let Some(side) = serve.image.filter(|_| fixed("image")) {
        text += &message!("work-at-pixels", side = side.to_string());
    }
    if fixed("stack") {
        text += &message!("work-by-stack", stack = serve.stack.to_string());
    }
    if fixed("load") {
        text += &match serve.load {
            LoadShape::Warm | LoadShape::Cold | LoadShape::RealTime => {
                message!("work-series", load = serve.load.word())
            }
            LoadShape::Clients => match fixed("clients") {
                true => message!("work-clients", clients = serve.clients),
                false => message!("work-several-clients"),
            },
            LoadShape::Rate => message!("work-rate"),
            LoadShape::Poisson => message!("work-poisson"),
            LoadShape::Trace => message!("work-trace"),
            LoadShape::Search => message!("work-search"),
        };
    }
    text
}

fn training_sentence(study: &Study, train: &TrainWorkload) -> String {
    let fixed = |name: &str| study.factor(name).is_none();
    let each = !fixed("network");
    let mut text = message!("work-training", each, network = train.network);
    if fixed("dataset") {
        text += &message!("work-on", dataset = train.dataset);
    }
    if fixed("epochs") {
        text += &message!("work-epochs", epochs = train.epochs);
    }
    if let Some(images) = train.images.filter(|_| fixed("images")) {
        text += &message!("work-images", images);
    }
    if fixed("batch") {
        text += &message!("work-batch", batch = train.batch.to_string());
    }
    if fixed("framework") {
        text += &match train.framework.as_str() {
            "engine" => message!("work-engine"),
            framework => message!("work-framework", framework),
        };
    }
    text
}

pub(crate) fn totals(table: &Table, input: &Input, stopping: Option<&StoppingFacts>) -> Totals {
    let Input {
        plan, superseded, ..
    } = *input;
    let mut totals = Totals {
        scenarios: plan.scenarios.len(),
        planned: plan.runs.len(),
        ..Totals::default()
    };
    for row in &table.runs {
        let record = row.record;
        totals.runs.add(row.status());
        totals.predicted += usize::from(record.prediction().is_some());
        totals.imported += usize::from(matches!(record.origin, Origin::Imported { .. }));
        let seconds = Some(record.seconds)
            .filter(|s| s.is_finite())
            .unwrap_or(0.0);
        totals.seconds += seconds;
        let bill = record.bill.as_ref();
        totals.capped_losses += usize::from(bill.is_some_and(|bill| bill.is_lower_bound()));
        let ended = record
            .started
            .as_second()
            .saturating_add(seconds.ceil() as i64);
        if record.is_dated() {
            let first = totals.first_started.unwrap_or(record.started);
            totals.first_started = Some(first.min(record.started));
            totals.last_ended = totals
                .last_ended
                .max(model::Timestamp::from_second(ended).ok());
        }
    }
    if let (Some(first), Some(last)) = (totals.first_started, totals.last_ended) {
        totals.span_seconds = Some((last.as_second() - first.as_second()) as f64);
    }
    totals.missing = match stopping {
        Some(stopping) => stopping.wanted.len(),
        // A search leaves out what does not serve its goal.
        None if table.study.goal.is_some() => 0,
        None => missing(table, plan),
    };
    totals.spent = prices::spent(table);
    totals.cost_total = prices::sums(&totals.spent);
    let counted = prices::counted(table, superseded);
    totals.spent_total = counted.spent;
    totals.spent_again = counted.again;
    totals
}

fn missing(table: &Table, plan: &Plan) -> usize {
    if is_import_only(table.study) {
        return 0;
    }
    // Rows are sorted by run.
    let kept = |run: &RunId| {
        table
            .runs
            .binary_search_by_key(run, |row| row.record.run)
            .is_ok()
    };
    plan.runs.iter().filter(|run| !kept(run)).count()
}

pub(crate) fn machines(table: &Table) -> Vec<MachineUse> {
    let mut uses: Vec<MachineUse> = Vec::new();
    for row in &table.runs {
        // An imported run happened on a machine that nobody described.
        if row.record.machine == Default::default() {
            continue;
        }
        let new = || MachineUse {
            machine: row.record.machine.clone(),
            environments: Vec::new(),
            limits_by: Vec::new(),
            runs: 0,
        };
        let used = entry(&mut uses, |u| u.machine == row.record.machine, new);
        used.runs += 1;
        let environment = &row.record.environment;
        let names = [
            (&mut used.environments, &environment.name),
            (&mut used.limits_by, &environment.limits_by),
        ];
        for (known, name) in names {
            if !name.is_empty() {
                push_new(known, name.clone());
            }
        }
    }
    uses
}

pub(crate) fn outcomes(table: &Table) -> Vec<OutcomeGroup> {
    let mut groups: BTreeMap<(u32, Status), OutcomeGroup> = BTreeMap::new();
    let is_not_ok = |row: &&Row| row.record.outcome.status != Status::Ok;
    for row in table.runs.iter().filter(is_not_ok) {
        let record = row.record;
        let status = record.outcome.status;
        let group = groups
            .entry((record.run.scenario, status))
            .or_insert_with(|| OutcomeGroup {
                scenario: record.run.scenario,
                phrase: scenario_phrase(table.study, row),
                status,
                runs: Vec::new(),
                detail: record.outcome.detail.clone(),
                cause: record.outcome.in_a_line(),
            });
        group.runs.push(record.run);
    }
    groups.into_values().collect()
}

fn scenario_phrase(study: &Study, row: &Row) -> String {
    LevelFacts::phrase_of(&level_facts(study, &row.record.scenario))
}

pub(crate) fn sampler(table: &Table) -> Option<SamplerCost> {
    let column = table.column(model::run::metric::SAMPLER_CPU_SECONDS)?;
    let measured = table
        .runs
        .iter()
        .filter_map(|row| Some((row.values[column]?, row.record.seconds)));
    let (cpu, wall) = measured.fold((0.0, 0.0), |(cpu, wall), (c, w)| (cpu + c, wall + w));
    (wall > 0.0).then(|| SamplerCost {
        cpu_seconds: cpu,
        share: cpu / wall,
    })
}

/// Answers of one scenario that were computed in several ways have no common mean.
pub(crate) fn several_runtimes(table: &Table) -> Option<String> {
    let mut known: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for row in &table.runs {
        let serving = row.record.serving.as_ref();
        if let Some(runtime) = serving.and_then(|serving| serving.runtime.as_deref()) {
            let of_scenario = known.entry(row.record.run.scenario).or_default();
            of_scenario.insert(runtime);
        }
    }
    let (scenario, runtimes) = known.into_iter().find(|(_, runtimes)| runtimes.len() > 1)?;
    let runtimes: Vec<String> = runtimes.into_iter().map(str::to_owned).collect();
    let scenario = format!("C{scenario}");
    let runtimes = format::listed(&runtimes, 3);
    Some(message!("note-runtimes", scenario, runtimes))
}

/// One note for all files: there may be one a run.
fn imported(table: &Table) -> Option<String> {
    let file = |row: &Row| match &row.record.origin {
        Origin::Imported { file, .. } => Some(file.clone()),
        Origin::Measured { .. } | Origin::Predicted { .. } => None,
    };
    let files: Vec<String> = table.runs.iter().filter_map(file).collect();
    let runs = files.len();
    let known: Vec<String> = BTreeSet::from_iter(files).into_iter().collect();
    let names = format::listed(&known, 2);
    let files = known.len();
    (files > 0).then(|| message!("note-imported", runs, files, names))
}

pub(crate) fn notes(table: &Table) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(imported(table));
    notes.extend(crate::predicted::notes(table));
    notes.extend(several_runtimes(table));
    notes.extend(crate::percentiles::notes(table));
    for metric in &table.unknown_metrics {
        notes.push(message!("note-unknown-metric", metric));
    }
    let tells_accuracy = |row: &Row| row.record.metrics.contains_key(metric::ACCURACY);
    if let Some(target) = table.study.target_accuracy_percent
        && !table.runs.is_empty()
        && !table.runs.iter().any(tells_accuracy)
        // That it is not predicted is said already.
        && !table.runs.iter().all(|row| row.record.prediction().is_some())
    {
        let target = messages::number(&target.to_string());
        notes.push(message!("note-no-accuracy", target));
    }
    let other_currency = table
        .runs
        .iter()
        .filter(|r| r.record.bill.is_some() && r.cost.is_none())
        .count();
    if other_currency > 0 {
        let currency = table.currency.code();
        notes.push(message!("note-no-rate", bills = other_currency, currency));
    }
    notes.extend(energy::notes(table));
    notes.extend(inputs::notes(table));
    notes.extend(prices::notes(table));
    notes.extend(prices::other_machines(table));
    notes.extend(frameworks::notes(table));
    notes.extend(profile::notes(table));
    notes
}
