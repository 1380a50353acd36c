//! A measurement → a run record: the coordinator adds what the study knows.

use std::path::Path;

use model::measurement::{MEASUREMENT_FILE, ORDER_FILE, PROGRESS_FILE};
use model::run::{BUNDLE_SCHEMA, EnvironmentRecord, Origin, RunInput};
use model::{
    Environment, Measurement, Order, RentalPart, RunRecord, Scenario, Status, Study, Timestamp,
};

use crate::finish::price_record;
use crate::lane::Failure;

/// What the runs of a scenario have in common.
pub struct RecordOf<'a> {
    pub study: &'a Study,
    pub scenario: &'a Scenario,
    /// With the price of what the scenario needs.
    pub environment: &'a Environment,
    pub inputs: Vec<RunInput>,
    /// The machine, from the first run on it to the last.
    pub rental: String,
}

impl RecordOf<'_> {
    /// Of a run that was not carried out by a [`crate::StudyRunner`], as that would keep it.
    pub fn record(&self, measurement: Measurement) -> RunRecord {
        let mut record = of_measurement(self.study, self.scenario, self.environment, measurement);
        record.inputs.clone_from(&self.inputs);
        let rental = RentalPart {
            id: self.rental.clone(),
            idle_seconds: 0.0,
        };
        bill(&mut record, rental, self.study);
        record
    }
}

pub(crate) fn of_measurement(
    study: &Study,
    scenario: &Scenario,
    environment: &Environment,
    measurement: Measurement,
) -> RunRecord {
    RunRecord {
        schema: BUNDLE_SCHEMA,
        study: study.name.clone(),
        run: measurement.run,
        scenario: scenario.clone(),
        fingerprint: plan::scenario_fingerprint(study, scenario),
        inputs: Vec::new(),
        origin: Origin::Measured {
            bancada: measurement.bancada,
        },
        outcome: measurement.outcome,
        started: measurement.started,
        seconds: measurement.seconds,
        phases: measurement.phases,
        epochs: measurement.epochs,
        metrics: measurement.metrics,
        environment: EnvironmentRecord {
            name: environment.name.clone(),
            limits: environment.limits.clone(),
            limits_by: measurement.limits_by,
            device: measurement.device,
        },
        command: measurement.command,
        machine: measurement.machine,
        price: environment.price.clone(),
        rental: None,
        bill: None,
        warnings: measurement.warnings,
        framework: measurement.framework,
        serving: measurement.serving.map(Box::new),
        profile: measurement.profile,
        machine_profile: None,
    }
}

/// Whether a run asked a server that it did not start.
pub fn was_elsewhere(record: &RunRecord) -> bool {
    matches!(record.command.as_slice(), [_, word] if word == "ask")
}

/// A run that never began used no machine.
pub(crate) fn bill(record: &mut RunRecord, rental: RentalPart, study: &Study) {
    if record.phases.is_empty() && record.command.is_empty() {
        return;
    }
    record.rental = Some(rental);
    price_record(record, study);
}

/// Of an order of which nothing came home. The time since its start was used, and is paid; `seconds`
/// is none where it could not be started.
pub(crate) fn without_measurement(
    order: &Order,
    failure: &Failure,
    seconds: Option<f64>,
) -> Measurement {
    // A run that its place took with it is not the run's failure, and is repeated.
    let status = match failure.place_is_gone {
        true => Status::Interrupted,
        false => Status::Failed,
    };
    let why = failure.why.clone();
    Measurement::not_left(order, status, why, seconds, Timestamp::now())
}

/// What the record holds, and what nobody needs afterwards.
pub(crate) fn remove_worker_files(folder: &Path) {
    for name in [MEASUREMENT_FILE, ORDER_FILE, PROGRESS_FILE] {
        // What cannot be removed harms nobody.
        _ = std::fs::remove_file(folder.join(name));
    }
}
