//! Environments of several hosts: whether any scenario needs more than the first.

use diagnostics::{Diagnostic, Problems};
use model::{Scenario, Study, Workload};

use crate::read::{Draft, DraftEnvironment};
use crate::resolve::{Resolved, resolve};

pub(super) fn check(draft: &Draft, study: &Study, scenarios: &[Scenario], problems: &Problems) {
    for environment in &draft.environments {
        let Some(hosts) = &environment.hosts else {
            continue;
        };
        let span = hosts.span.clone();
        if let Workload::Command(_) = study.workload {
            let message =
                "`hosts` is for training: a command must start its other processes itself";
            problems.push(Diagnostic::at(span, message).label("remove it"));
        } else if !scenarios.is_empty() && !is_used(environment, study, scenarios) {
            let message = format!(
                "`hosts` of environment `{}` without workers: every run is one process, on this machine",
                environment.name.value
            );
            let label = format!("add workers = {} to [workload]", hosts.value.names.len());
            problems.push(Diagnostic::at(span, message).label(label));
        }
    }
}

fn is_used(draft: &DraftEnvironment, study: &Study, scenarios: &[Scenario]) -> bool {
    let has_several = |scenario: &Scenario| {
        let Resolved {
            environment,
            workload,
        } = resolve(study, scenario);
        let Workload::Train(train) = workload else {
            return false;
        };
        environment.name == draft.name.value && train.workers > 1
    };
    scenarios.iter().any(has_several)
}
