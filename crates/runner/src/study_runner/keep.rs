//! What came home, made a record and kept.

use std::time::Instant;

use model::run::{Origin, machine_profile_file};
use model::{MachineProfile, Measurement, Money, Order, RunRecord, Status, Timestamp};

use super::lanes::Running;
use super::{Ended, Session, StudyRunner};
use crate::error::RunnerError;
use crate::forecast;
use crate::in_progress::{InProgress, UsedInputs};
use crate::lane::{self, ToLane};
use crate::preview;
use crate::progress::Progress;
use crate::record;
use crate::ticket::Ticket;

/// Of a digest; few machines are in one folder.
const DIGITS_OF_PROFILE: usize = 16;

impl Session<'_> {
    pub(super) fn keep(
        &mut self,
        lane: usize,
        running: Running,
        ended: lane::Ended,
    ) -> Result<(), RunnerError> {
        let Running {
            staging,
            order,
            state,
            inputs,
        } = running;
        let run = order.run;
        let lane::Ended {
            result,
            seconds,
            ticket,
        } = ended;
        let place = self.runner.machines[lane].places.get(&order.environment);
        let outliving = place.copied().filter(|place| place.outlives_coordinator());
        let measurement = match result {
            Ok(measurement) => {
                self.lanes[lane].failures.remove(&order.environment);
                measurement
            }
            Err(failure) => {
                self.place_failed(lane, &order.environment, &failure);
                if failure.place_is_gone && self.can_repeat(run, &order.environment) {
                    // The time until the next run there is idle time of the rental: it stays paid.
                    self.in_progress.remove(&run);
                    self.schedule.again(run);
                    return Ok(());
                }
                self.is_run_lost |= failure.place_is_gone;
                if failure.is_lost && outliving.is_some() {
                    // It goes on there: its ticket stays, and the next session brings it home.
                    return Ok(());
                }
                record::without_measurement(&order, &failure, seconds)
            }
        };
        let length = self.runner.orders.get(&run.scenario);
        let length = length.and_then(|built| built.length);
        let (measurement, prediction) =
            match preview::predict(&order, length, measurement, staging.folder()) {
                Ok(predicted) => (predicted.measurement, Some(predicted.prediction)),
                Err(measurement) => (*measurement, None),
            };
        let mut record = self.record(&order, measurement, &state, &inputs)?;
        if let (Some(prediction), Origin::Measured { bancada }) = (prediction, &record.origin) {
            record.origin = Origin::Predicted {
                bancada: bancada.clone(),
                prediction,
            };
        }
        record::remove_worker_files(staging.folder());
        staging.commit(&record)?;
        match (outliving, ticket) {
            (Some(place), Some(ticket)) => {
                let kept = Ticket {
                    place: place.name(),
                    order: order.clone(),
                    rental: state.rental.id.clone(),
                    when: Timestamp::now(),
                    is_kept: true,
                };
                kept.write(self.runner.store)?;
                let clean_up = ToLane::CleanUp { run, place, ticket };
                // A lane that has ended has told why.
                _ = self.lanes[lane].tasks.send(clean_up);
            }
            (Some(_), None) => self.runner.store.remove_ticket(run)?,
            (None, _) => {}
        }
        if seconds.is_some() {
            self.lanes[lane].run_ended = Some(Instant::now());
        }
        self.in_progress.remove(&run);
        self.ledger.add(&record);
        if self.short_of(&order).is_some() {
            self.beginnings.retain(|earlier| earlier.run != run);
            self.beginnings.push(record.clone());
            if record.prediction().is_some() {
                self.expect(run.scenario, record.phases.clone());
            }
            self.tell_end(record);
            return Ok(());
        }
        self.kept_inputs.add(&record);
        self.records.retain(|earlier| earlier.run != run);
        self.records.push(record.clone());
        let of_scenario = self.records.iter();
        let of_scenario = of_scenario.filter(|r| r.run.scenario == run.scenario);
        self.expected.extend(forecast::from_records(of_scenario));
        self.done += 1;
        self.tell_end(record);
        Ok(())
    }

    fn tell_end(&mut self, record: RunRecord) {
        self.project();
        let spent = self.spent();
        self.tell(Progress::RunEnds {
            record: Box::new(record),
            count: self.count(),
            seconds_left: self.seconds_left(),
            spent,
            allowed: self.ledger.allowed,
            projected: self.projected,
        });
    }

    fn record(
        &self,
        order: &Order,
        measurement: Measurement,
        state: &InProgress,
        inputs: &UsedInputs,
    ) -> Result<RunRecord, RunnerError> {
        let StudyRunner {
            study,
            plan,
            options,
            ..
        } = self.runner;
        let scenario = plan.scenario(order.run.scenario);
        let scenario = scenario.ok_or(RunnerError::NoScenario(order.run))?;
        let profile = self.keep_profile(measurement.machine_profile.as_deref())?;
        let mut record = record::of_measurement(study, scenario, &state.environment, measurement);
        record.machine_profile = profile;
        record.machine.git_commit.clone_from(&options.git_commit);
        let is_stopped = record.outcome.status == Status::Interrupted;
        if self.why_ended == Some(Ended::BudgetSpent) && is_stopped {
            record.outcome.detail = self.ledger.allowed.map(ended_by_budget);
        }
        inputs.write_to(&mut record, &self.reader);
        record::bill(&mut record, state.rental.clone(), study);
        Ok(record)
    }

    /// Once in the folder of the results; its digest is what runs name it by.
    fn keep_profile(
        &self,
        profile: Option<&MachineProfile>,
    ) -> Result<Option<String>, RunnerError> {
        let Some(text) = profile.and_then(|profile| serde_json::to_vec(profile).ok()) else {
            return Ok(None);
        };
        let mut digest = host::Digest::of(&text).to_string();
        digest.truncate(DIGITS_OF_PROFILE);
        let name = machine_profile_file(&digest);
        if self.runner.store.read_file(&name)?.is_none() {
            self.runner.store.save_file(&name, &text)?;
        }
        Ok(Some(digest))
    }
}

/// Nobody interrupted it: its record must not say that somebody did.
fn ended_by_budget(allowed: Money) -> String {
    format!("was stopped because the budget of {allowed} was spent")
}
