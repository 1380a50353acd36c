//! Whether what was installed works: a training step, or an import of what does not train.

use std::time::Duration;

use super::build::{Build, cannot_start};
use super::{SetupError, Step, Tell, io};
use crate::check::{self, ImportCheck};
use crate::home;
use crate::marker::Marker;
use crate::process::{Ending, tail};
use crate::registry::Kind;
use crate::trial::TRIAL_TIMEOUT;

const IMPORT_TIMEOUT: Duration = Duration::from_secs(600);

impl Build<'_> {
    pub(super) fn check(&self, tell: &mut Tell<'_>) -> Result<(), SetupError> {
        match self.spec.framework.kind {
            Kind::Python => self.train(tell),
            _ => self.import(tell),
        }
    }

    /// In an environment that is whole, and was tried by another framework only.
    pub(super) fn check_again(
        &self,
        marker: Marker,
        tell: &mut Tell<'_>,
    ) -> Result<Marker, SetupError> {
        self.check(tell)?;
        let mut marker = marker;
        marker.tried.push(self.spec.name().to_owned());
        self.write_marker(&marker)?;
        Ok(marker)
    }

    /// One step by the adapter, as a run will do it.
    fn train(&self, tell: &mut Tell<'_>) -> Result<(), SetupError> {
        let framework = self.spec.framework;
        let adapters = self.setup.home.adapters()?;
        let adapter = adapters.join(framework.adapter.as_deref().unwrap_or_default());
        let trial = self.setup.trial;
        let python = self.environment.python();
        let started = trial.of_adapter(self.spec.name(), &python, &adapter);
        let mut command = started.map_err(io("write", &trial.folder))?.command;
        command.envs(home::variables(framework));
        match self.step(Step::Trial, command, Some(TRIAL_TIMEOUT), tell)? {
            Ending::Done => Ok(()),
            _ => Err(self.failed("a training step")),
        }
    }

    /// With the framework's variables, and of all that it is made of.
    fn import(&self, tell: &mut Tell<'_>) -> Result<(), SetupError> {
        let variables: Vec<(String, String)> =
            self.spec.framework.variables.clone().into_iter().collect();
        let python = self.environment.python();
        let owner = self.environment.owner.module.as_deref();
        let mut modules: Vec<&str> = owner.into_iter().collect();
        modules.extend(self.spec.framework.module.as_deref());
        modules.dedup();
        let import = ImportCheck {
            python: &python,
            adapters: None,
            modules,
            variables: &variables,
            folder: self.environment.folder.clone(),
        };
        match self.step(Step::Import, import.command(), Some(IMPORT_TIMEOUT), tell)? {
            Ending::Done => Ok(()),
            _ => {
                let told = check::parse(&tail(&self.environment.log(), 4000));
                let module = told.last().map(|m| m.module.as_str()).unwrap_or("it");
                Err(self.failed(&format!("importing {module}")))
            }
        }
    }

    /// Programs and libraries that the machine does not have, and how to install them.
    pub(super) fn lacking(&self) -> Option<String> {
        let missing = self.setup.machine.missing(&self.spec.framework.needs);
        let needs: Vec<String> = missing.iter().map(ToString::to_string).collect();
        (!needs.is_empty()).then(|| {
            let spec = self.spec;
            format!(
                "{}; then run bancada setup {spec} to continue",
                needs.join("; ")
            )
        })
    }
}

impl super::Setup<'_> {
    /// A training step by the `caffe` program.
    pub(super) fn try_caffe(&self) -> Result<(), SetupError> {
        let trial = self.trial;
        let started = trial.of_caffe().map_err(cannot_start(&trial.bancada))?;
        started
            .run()
            .map_err(|problem| SetupError::CaffeFails { problem })
    }
}
