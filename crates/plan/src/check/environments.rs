//! Which environments a study uses.

use diagnostics::{Diagnostic, Located, Problems};
use model::{Environment, Level, Shared};

use crate::read::{Draft, DraftEnvironment};
use crate::resolve::{ENVIRONMENT, local};

/// The study's environments: those of the file, or this machine.
pub(super) fn check(draft: &Draft, problems: &Problems) -> Vec<Environment> {
    match draft.factor(ENVIRONMENT) {
        Some(factor) => {
            for environment in &draft.environments {
                let name = &environment.name;
                if factor.find(&Level::Text(name.value.clone())).is_none() {
                    let unused = format!("environment `{}` is never used", name.value);
                    problems.push(
                        name.wrong(unused)
                            .label("remove it, or add it to the factor")
                            .other(factor.name.span.clone(), "the factor"),
                    );
                }
            }
        }
        None => {
            if let [first, second, ..] = draft.environments.as_slice() {
                complain_of_choice(draft, first, second, problems);
            }
        }
    }
    match draft.environments.is_empty() {
        true => vec![local()],
        false => draft.environments.iter().map(environment).collect(),
    }
}

/// What is wrong with a level of the factor `environment`.
pub(super) fn complaint(draft: &Draft, level: &Located<Level>) -> Option<Diagnostic> {
    let here = local().name;
    let implied = draft.environments.is_empty().then_some(here.as_str());
    let declared = draft.environments.iter().map(|e| e.name.value.as_str());
    let known: Vec<&str> = declared.chain(implied).collect();
    let Some(name) = level.value.as_text() else {
        let message = "a level of `environment` must be the name of an environment, in quotes";
        return Some(level.wrong(message));
    };
    if known.contains(&name) {
        return None;
    }
    let unknown = Diagnostic::unknown("environment", name, level.span.clone(), known);
    Some(unknown.note(format!(
        "define the environment as a table: [environments.{name}]"
    )))
}

fn complain_of_choice(
    draft: &Draft,
    first: &DraftEnvironment,
    second: &DraftEnvironment,
    problems: &Problems,
) {
    let names: Vec<String> = draft
        .environments
        .iter()
        .map(|e| format!("\"{}\"", e.name.value))
        .collect();
    let message = format!("{} environments, but no factor selects one", names.len());
    problems.push(
        second
            .name
            .wrong(message)
            .other(first.name.span.clone(), "the first")
            .note(format!(
                "to compare them, add to [factors]: environment = [{}]",
                names.join(", ")
            )),
    );
}

fn environment(draft: &DraftEnvironment) -> Environment {
    Environment {
        name: draft.name.value.clone(),
        price: draft.price.clone().map(Shared::new),
        limits: draft.limits.clone(),
        device: draft.device.clone(),
        service: draft.service.as_ref().map(|service| service.value.clone()),
        hosts: draft.hosts.as_ref().map(|hosts| hosts.value.clone()),
        location: draft.location.clone(),
        power: draft.power.clone(),
        carbon: draft.carbon.clone(),
    }
}
