//! Whether measured times hold on a machine that runs are to be priced as.

use std::fmt;

use model::{Price, RunRecord};
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
