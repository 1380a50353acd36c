//! Whether measured times hold on a machine that runs are to be priced as.

use std::fmt;

use model::run::metric;
use model::{Price, RunRecord, Study};
use rust_decimal::prelude::ToPrimitive as _;

/// Counting CPU time beside wall time is this far off.
const TOLERANCE: f64 = 1.05;

/// Runs kept more cores busy than a machine has: there they would take longer.
#[derive(Debug, Clone, PartialEq)]
pub struct TooSmall {
    pub machine: String,
    pub vcpus: f64,
    /// The most that one of the runs kept busy.
    pub busy_cores: f64,
    pub runs: usize,
}

impl TooSmall {
    /// None where the machine has as many cores as these runs kept busy, or nothing is known of
    /// either.
    pub fn find<'r>(
        records: impl IntoIterator<Item = &'r RunRecord>,
        price: &Price,
    ) -> Option<TooSmall> {
        let vcpus = price.shape.vcpus?.to_f64()?;
        let busy = records.into_iter().filter_map(RunRecord::cores_kept_busy);
        let above: Vec<f64> = busy.filter(|cores| *cores > vcpus * TOLERANCE).collect();
        let busy_cores = above.iter().copied().reduce(f64::max)?;
        Some(TooSmall {
            machine: price.machine.clone(),
            vcpus,
            busy_cores,
            runs: above.len(),
        })
    }

    /// The machine that a run is priced as. A run on several hosts has more than that one.
    pub fn of_own_price(record: &RunRecord, study: &Study) -> Option<TooSmall> {
        let place = study.environment(&record.environment.name);
        let has_hosts = place.is_some_and(|place| place.hosts.is_some());
        let price = record.price.as_ref().filter(|_| !has_hosts)?;
        TooSmall::find([record], price)
    }

    /// Adds to the entry of the same machine.
    pub fn add_to(self, all: &mut Vec<TooSmall>) {
        match all.iter_mut().find(|known| known.machine == self.machine) {
            Some(known) => {
                known.runs += self.runs;
                known.busy_cores = known.busy_cores.max(self.busy_cores);
            }
            None => all.push(self),
        }
    }
}

/// Takes price and cost off runs that kept more cores busy than the machine that they are priced as
/// has: nothing may be concluded from such a cost. Returns one entry a machine.
pub fn drop_unfounded_costs<'r>(
    records: impl IntoIterator<Item = &'r mut RunRecord>,
    study: &Study,
) -> Vec<TooSmall> {
    let mut dropped = Vec::new();
    for record in records {
        if let Some(too_small) = TooSmall::of_own_price(record, study) {
            too_small.add_to(&mut dropped);
            record.price = None;
            record.bill = None;
            record.metrics.retain(|name, _| !metric::is_of_bills(name));
        }
    }
    dropped
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooSmall {
            machine,
            vcpus,
            busy_cores,
            runs,
        } = self;
        let cores = if *vcpus == 1.0 { "vCPU" } else { "vCPUs" };
        let runs = match runs {
            1 => "1 run".to_owned(),
            runs => format!("{runs} runs"),
        };
        write!(
            f,
            "{machine} has {vcpus} {cores}, and {runs} kept up to {busy_cores:.1} cores busy: \
             times there will be longer, so no cost is given"
        )
    }
}
