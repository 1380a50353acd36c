//! Rows with their scenarios to run records.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::run::{BUNDLE_SCHEMA, EnvironmentRecord, Origin};
use model::{Inventory, Limits, Outcome, RunId, RunRecord, Scenario, Status, Study};

use crate::cumulative;
use crate::levels::Placed;
use crate::rows::{Ended, Row};
use crate::summary;
use crate::times;
use crate::{ImportSpec, RowKind, RowProblem};

pub(crate) struct Made {
    pub(crate) records: Vec<RunRecord>,
    pub(crate) rows_used: usize,
}

pub(crate) fn records(
    rows: Vec<Placed<'_>>,
    spec: &ImportSpec,
    study: &Study,
    problems: &mut Vec<RowProblem>,
) -> Made {
    let groups = match spec.row() {
        RowKind::Run => rows.into_iter().map(Group::of_one).collect(),
        RowKind::Request | RowKind::Step | RowKind::Sample => grouped(rows, problems),
    };
    let mut numbered = number(groups, problems);
    for (_, group) in &mut numbered {
        cumulative::settle(&mut group.rows, spec, problems);
    }
    let rows_used = numbered.iter().map(|(_, group)| group.rows.len()).sum();
    let maker = Maker { spec, study };
    let mut records: Vec<RunRecord> = numbered
        .iter()
        .map(|(run, group)| maker.record(*run, group, problems))
        .collect();
    records.sort_by_key(|record| record.run);
    Made { records, rows_used }
}

/// The rows of one run, never empty.
struct Group<'p> {
    scenario: &'p Scenario,
    first: Row,
    rows: Vec<Row>,
}

impl<'p> Group<'p> {
    fn of_one(placed: Placed<'p>) -> Self {
        Group {
            scenario: placed.scenario,
            first: placed.row.clone(),
            rows: vec![placed.row],
        }
    }
}

/// One run for each scenario and repetition, or where no repetition is reported, for each scenario
/// and file; in the order of appearance. One whose rows are of several files is reported: it may be
/// several runs that have one number by mistake.
fn grouped<'p>(rows: Vec<Placed<'p>>, problems: &mut Vec<RowProblem>) -> Vec<Group<'p>> {
    #[derive(PartialEq, Eq, Hash)]
    enum Part {
        Repetition(u32),
        File(String),
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<(u32, Part), usize> = HashMap::new();
    for placed in rows {
        let part = match placed.row.repetition {
            Some(repetition) => Part::Repetition(repetition),
            None => Part::File(placed.row.file.clone()),
        };
        let place = *places
            .entry((placed.scenario.number, part))
            .or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => {
                let last = group.rows.last().map_or("", |row| row.file.as_str());
                if last != placed.row.file {
                    problems.push(joined(group, &placed.row));
                }
                group.rows.push(placed.row);
            }
            None => groups.push(Group::of_one(placed)),
        }
    }
    groups
}

fn joined(group: &Group<'_>, row: &Row) -> RowProblem {
    let run = run_id(group, row.repetition.unwrap_or_default());
    row.problem(format!(
        "{run} also has rows in {}: all of them are read as one run. If they are several runs, number them with --repetition or {{repetition}} in --file-pattern",
        group.first.file
    ))
}

fn run_id(group: &Group<'_>, repetition: u32) -> RunId {
    RunId {
        scenario: group.scenario.number,
        repetition,
    }
}

/// Repetitions as told; the others get the numbers left free, in order.
fn number<'p>(groups: Vec<Group<'p>>, problems: &mut Vec<RowProblem>) -> Vec<(RunId, Group<'p>)> {
    let told = |group: &Group<'_>| {
        let repetition = group.first.repetition?;
        Some(run_id(group, repetition))
    };
    let mut taken: BTreeSet<RunId> = groups.iter().filter_map(told).collect();
    let mut given: BTreeMap<RunId, String> = BTreeMap::new();
    let mut next: HashMap<u32, u32> = HashMap::new();
    let mut numbered = Vec::with_capacity(groups.len());
    for group in groups {
        let run = told(&group).unwrap_or_else(|| {
            let repetition = next.entry(group.scenario.number).or_insert(1);
            while taken.contains(&run_id(&group, *repetition)) {
                *repetition += 1;
            }
            run_id(&group, *repetition)
        });
        taken.insert(run);
        if let Some(earlier) = given.get(&run) {
            let what = format!("{run} is already defined at {earlier}; the row is skipped");
            problems.push(group.first.problem(what));
            continue;
        }
        given.insert(run, format!("{}:{}", group.first.file, group.first.line));
        numbered.push((run, group));
    }
    numbered
}

struct Maker<'s> {
    spec: &'s ImportSpec,
    study: &'s Study,
}

impl Maker<'_> {
    fn record(&self, run: RunId, group: &Group<'_>, problems: &mut Vec<RowProblem>) -> RunRecord {
        let mut metrics = summary::metrics(&group.rows, self.spec);
        let times = match self.spec.row() {
            RowKind::Request => times::of_requests(summary::busy_seconds(&group.rows, self.spec)),
            RowKind::Run | RowKind::Step | RowKind::Sample => times::of_run(&mut metrics),
        };
        if let Some(told) = times.told_too_little {
            let sum = times.seconds;
            problems.push(group.first.problem(format!(
                "total_seconds is {told}, less than the sum of its phases; the sum {sum} is used"
            )));
        }
        let started = group.rows.iter().filter_map(|row| row.started).min();
        RunRecord {
            schema: BUNDLE_SCHEMA,
            study: self.study.name.clone(),
            run,
            scenario: group.scenario.clone(),
            fingerprint: String::new(),
            inputs: Vec::new(),
            origin: Origin::Imported {
                file: group.first.file.clone(),
                line: group.first.line,
                undated: started.is_none(),
            },
            outcome: self.outcome(group),
            started: started.unwrap_or(self.spec.started_otherwise),
            seconds: times.seconds,
            phases: times.phases,
            epochs: summary::epochs(&group.rows, self.spec),
            metrics,
            environment: self.environment(group.scenario),
            command: Vec::new(),
            machine: Inventory::default(),
            price: None,
            rental: None,
            bill: None,
            warnings: Vec::new(),
            framework: None,
            serving: (self.spec.row() == RowKind::Request)
                .then(|| Box::new(summary::serving(&group.rows, self.spec))),
            profile: Vec::new(),
            machine_profile: None,
        }
    }

    /// A run of requests is ok when one was answered; a run of steps ended as its last row says.
    fn outcome(&self, group: &Group<'_>) -> Outcome {
        let rows = &group.rows;
        let last = rows.last().map_or(group.first.status, |row| row.status);
        let ended = match self.spec.row() {
            RowKind::Request => rows
                .iter()
                .map(|r| r.status)
                .find(|s| s.status == Status::Ok)
                .unwrap_or(last),
            RowKind::Run | RowKind::Step | RowKind::Sample => last,
        };
        let Ended { status, exit_code } = ended;
        let detail =
            (status != Status::Ok).then(|| format!("outcome {status} in {}", group.first.file));
        Outcome {
            status,
            detail,
            exit_code,
            signal: None,
        }
    }

    fn environment(&self, scenario: &Scenario) -> EnvironmentRecord {
        let named = scenario.level("environment").map(ToString::to_string);
        let known = match &named {
            Some(name) => self.study.environment(name),
            None => self.study.environments.first(),
        };
        EnvironmentRecord {
            name: named
                .or_else(|| known.map(|e| e.name.clone()))
                .unwrap_or_else(|| "local".to_owned()),
            limits: known.map_or_else(Limits::default, |e| e.limits.clone()),
            limits_by: "none".to_owned(),
            device: known.and_then(|e| e.device.clone()),
        }
    }
}
