//! What other machines are given before their first run, for a person to read before that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use frameworks::{Kind, Spec};
use model::location::MachineAt;
use model::{Environment, RunId};
use runner::InputReader;

use crate::error::Error;
use crate::here::Here;
use crate::open::Opened;
use crate::places::files_of;

#[derive(Debug, Default, PartialEq)]
pub struct Given {
    /// Names and bytes: this program, files of the study, datasets that this machine has.
    pub sent: Vec<(String, u64)>,
    /// Frameworks and datasets that `run --prepare` sets up there.
    pub set_up: BTreeSet<String>,
}

/// None where all of these runs are on this machine.
pub fn given_elsewhere(
    opened: &Opened,
    here: &Here,
    runs: &[RunId],
) -> Result<Option<Given>, Error> {
    let Opened { study, plan, .. } = opened;
    let is_elsewhere = |e: &Environment| !matches!(e.location.machine, MachineAt::Here);
    let reader = InputReader::new(&opened.folder);
    let cache = here.home.path();
    let mut given = Given::default();
    let mut sent: BTreeMap<String, u64> = BTreeMap::new();
    let mut is_any = false;
    for scenario in runner::scenarios_of(plan, runs) {
        let resolved = plan::resolve(study, scenario);
        if !is_elsewhere(&resolved.environment) {
            continue;
        }
        is_any = true;
        let inputs = reader.read(study, scenario).map_err(Error::other)?;
        sent.extend(inputs.into_iter().map(|input| (input.path, input.bytes)));
        let framework = resolved.workload.framework();
        let spec = framework.and_then(|name| Spec::parse(name).ok());
        let made = spec.filter(|spec| matches!(spec.framework.kind, Kind::Python | Kind::Stack));
        given.set_up.extend(made.map(|spec| spec.to_string()));
        let train = resolved.workload.as_train();
        let Some(train) = train.filter(|train| train.data_dir.is_none()) else {
            continue;
        };
        let dataset = &train.dataset;
        if fetch::is_here(dataset, cache) {
            let files = files_of(cache, &data::fetched_folder(cache, dataset));
            let bytes = files.iter().map(|file| fs::metadata(cache.join(file)));
            let bytes = bytes.flatten().map(|file| file.len()).sum();
            sent.insert(dataset.clone(), bytes);
        } else if fetch::wanted_bytes(dataset).is_some() {
            given.set_up.insert(dataset.clone());
        }
    }
    let program = fs::metadata(&here.program).map_or(0, |file| file.len());
    given.sent = vec![("bancada".to_owned(), program)];
    given.sent.extend(sent);
    Ok(is_any.then_some(given))
}
