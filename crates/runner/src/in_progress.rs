//! A run in progress, as the coordinator knows it.

use std::time::Instant;

use cost::BillRequest;
use model::money::{PaidPhases, RentalScope};
use model::run::{RunInput, phase};
use model::{Environment, Event, EventKind, Order, Phase, RentalPart, RunRecord};

use crate::budget::Ledger;
use crate::inputs::{self, InputChange, InputReader};

/// The life of a run so far.
pub(crate) struct InProgress {
    /// With the price that the run is billed by.
    pub(crate) environment: Environment,
    pub(crate) rental: RentalPart,
    pub(crate) seconds: f64,
    /// Names of phases and when they were heard to begin.
    begun: Vec<Begun>,
    /// That the whole run takes, by what it prints.
    total_seconds: Option<f64>,
}

/// A whole run, while its beginning is in progress.
pub(crate) struct Recognised {
    pub(crate) phases: Vec<Phase>,
    pub(crate) seconds: f64,
}

#[derive(Clone)]
struct Begun {
    phase: String,
    seconds: f64,
}

impl InProgress {
    /// `rental` names the machine that is rented for it; `last_ended` is when the run before it there
    /// ended.
    pub(crate) fn new(
        order: &Order,
        environment: &Environment,
        rental: String,
        last_ended: Option<Instant>,
    ) -> Self {
        let mut environment = environment.clone();
        // An endpoint at a provider is made for this run and deleted after it.
        if order.makes_endpoint()
            && let Some(price) = &mut environment.price
        {
            price.billing.rental = RentalScope::Run;
        }
        let idle = last_ended.map(|ended| ended.elapsed().as_secs_f64());
        InProgress {
            environment,
            rental: RentalPart {
                id: rental,
                idle_seconds: idle.unwrap_or(0.0),
            },
            seconds: 0.0,
            begun: Vec::new(),
            total_seconds: None,
        }
    }

    pub(crate) fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Phase { phase } => self.begun.push(Begun {
                phase: phase.clone(),
                seconds: self.seconds,
            }),
            EventKind::Recognised { left, .. } => {
                self.total_seconds = left.map(|left| self.seconds + left.seconds);
            }
            _ => {}
        }
    }

    /// As if it went on to its end, by what it prints.
    pub(crate) fn recognised(&self) -> Option<Recognised> {
        let seconds = self.total_seconds?;
        let mut phases = self.phases();
        if let Some(last) = phases.last_mut() {
            last.seconds += (seconds - self.seconds).max(0.0);
        }
        Some(Recognised { phases, seconds })
    }

    /// What it costs is known at its end, by its requests.
    pub(crate) fn is_billed_by_request(&self) -> bool {
        let price = self.environment.price.as_ref();
        price.is_some_and(|price| price.billing.paid == PaidPhases::Requests)
    }

    /// What it has cost by now.
    pub(crate) fn add_to(&self, ledger: &mut Ledger) {
        let Some(price) = &self.environment.price else {
            return;
        };
        let request = BillRequest {
            phases: &self.phases(),
            total_seconds: self.seconds,
            // What is billed of requests is known at the end; until then, the most it can be.
            requests: Some(cost::Requests {
                count: 0,
                as_billed: true,
                seconds: self.seconds,
            }),
            started: None,
            price,
            study_currency: price.per_hour.currency,
            rates: &[],
        };
        ledger.add_request(&self.environment.name, &request, &self.rental);
    }

    /// A run that has reported no phase is one, `train`, as it is when measured.
    fn phases(&self) -> Vec<Phase> {
        let first = match self.begun.is_empty() {
            true => phase::TRAIN,
            false => phase::STARTUP,
        };
        let first = Begun {
            phase: first.to_owned(),
            seconds: 0.0,
        };
        let all: Vec<Begun> = [first].into_iter().chain(self.begun.clone()).collect();
        let ends = all.iter().skip(1).map(|b| b.seconds).chain([self.seconds]);
        let lasting = all.iter().zip(ends);
        lasting
            .map(|(begun, end)| Phase {
                name: begun.phase.clone(),
                begin_seconds: begun.seconds,
                seconds: end - begun.seconds,
            })
            .collect()
    }
}

/// The inputs of a run, as they were when it began.
pub(crate) struct UsedInputs {
    pub(crate) inputs: Vec<RunInput>,
    /// Against those of runs that are kept.
    pub(crate) changes: Vec<InputChange>,
}

impl UsedInputs {
    pub(crate) fn write_to(&self, record: &mut RunRecord, reader: &InputReader) {
        let settled = reader.settle(self.inputs.clone());
        record.inputs = settled.inputs;
        let is_kept = |change: &&InputChange| record.inputs.iter().any(|i| i.path == change.path);
        let changes: Vec<InputChange> = self.changes.iter().filter(is_kept).cloned().collect();
        let warning = inputs::warning(&changes, settled.changed);
        record.warnings.extend(warning);
    }
}
