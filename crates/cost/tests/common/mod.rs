//! Runs for tests.

use std::collections::BTreeMap;

use cost::{BillRequest, bill};
use model::run::{BUNDLE_SCHEMA, EnvironmentRecord, Origin};
use model::{
    Currency, Inventory, Limits, Outcome, Phase, Price, RunId, RunRecord, Scenario, Timestamp,
};

/// A run of so many seconds, of which the last ten are saving.
pub(crate) fn run(
    scenario: u32,
    repetition: u32,
    seconds: f64,
    price: Option<&Price>,
) -> RunRecord {
    let phase = |name: &str, begin_seconds, seconds| Phase {
        name: name.to_owned(),
        begin_seconds,
        seconds,
    };
    let phases = vec![
        phase("train", 0.0, seconds - 10.0),
        phase("save", seconds - 10.0, 10.0),
    ];
    let billed = price.map(|price| {
        let request = BillRequest {
            phases: &phases,
            total_seconds: seconds,
            requests: None,
            started: None,
            price,
            study_currency: Currency::USD,
            rates: &[],
        };
        bill(&request).bill
    });
    RunRecord {
        schema: BUNDLE_SCHEMA,
        study: "s".to_owned(),
        run: RunId {
            scenario,
            repetition,
        },
        scenario: Scenario {
            number: scenario,
            levels: Vec::new(),
        },
        fingerprint: String::new(),
        inputs: Vec::new(),
        origin: Origin::Measured {
            bancada: "0".to_owned(),
        },
        outcome: Outcome::ok(),
        started: Timestamp::UNIX_EPOCH,
        seconds,
        phases,
        epochs: Vec::new(),
        metrics: BTreeMap::new(),
        environment: EnvironmentRecord {
            name: "cpu".to_owned(),
            limits: Limits::default(),
            limits_by: "none".to_owned(),
            device: None,
        },
        command: Vec::new(),
        machine: Inventory::default(),
        price: price.cloned().map(Into::into),
        rental: None,
        bill: billed.map(Into::into),
        warnings: Vec::new(),
        framework: None,
        serving: None,
        profile: Vec::new(),
        machine_profile: None,
    }
}
