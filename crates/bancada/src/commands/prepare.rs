//! `run --prepare`: what the runs need and this machine lacks, brought here before the first.

use std::collections::BTreeMap;

use frameworks::{Home, Kind, Spec};
use model::{Scenario, Study, Workload};

use super::{data, setup};
use crate::exit::Failure;
use crate::printer::Printer;

pub(super) fn prepare(
    study: &Study,
    scenarios: &[&Scenario],
    home: &Home,
    printer: &Printer,
) -> Result<(), Failure> {
    let mut lacks = Lacks::default();
    for scenario in scenarios {
        lacks.look_at(study, scenario, home);
    }
    for Missing { spec, gpu } in lacks.environments.values() {
        setup::set_up_one(spec, *gpu, home, printer)?;
    }
    for dataset in &lacks.datasets {
        data::fetch_one(dataset, home.path(), printer)?;
    }
    Ok(())
}

/// What is not here, each once.
#[derive(Default)]
struct Lacks {
    environments: BTreeMap<String, Missing>,
    datasets: Vec<String>,
}

struct Missing {
    spec: Spec,
    /// Whether a run asks for a GPU.
    gpu: bool,
}

impl Lacks {
    fn look_at(&mut self, study: &Study, scenario: &Scenario, home: &Home) {
        let resolved = plan::resolve(study, scenario);
        match &resolved.workload {
            Workload::Train(train) => {
                let device = resolved
                    .environment
                    .device
                    .as_ref()
                    .unwrap_or(&train.device);
                self.environment(&train.framework, device != "cpu", home);
                let has_own_folder = train.data_dir.is_some();
                let dataset = &train.dataset;
                let is_known = fetch::wanted_bytes(dataset).is_some();
                if is_known
                    && !has_own_folder
                    && !fetch::is_here(dataset, home.path())
                    && !self.datasets.contains(dataset)
                {
                    self.datasets.push(dataset.clone());
                }
            }
            Workload::Serve(serve) => self.environment(&serve.stack, false, home),
            Workload::Command(_) => {}
        }
    }

    /// A name that needs none, such as the engine's, lacks none.
    fn environment(&mut self, name: &str, gpu: bool, home: &Home) {
        let Ok(spec) = Spec::parse(name) else {
            return;
        };
        let is_made = matches!(spec.framework.kind, Kind::Python | Kind::Stack);
        if is_made && home.interpreter(&spec).is_err() {
            let missing = self.environments.entry(spec.to_string());
            missing.or_insert(Missing { spec, gpu: false }).gpu |= gpu;
        }
    }
}
