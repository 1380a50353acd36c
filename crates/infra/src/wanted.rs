//! What a study wants to rent.

use std::path::{Path, PathBuf};

use host::Digest;
use model::location::{MachineAt, RentedMachine};
use model::{Money, Study};
use serde::{Deserialize, Serialize};

/// Letters of the study's and of the environment's name in a machine's name.
const NAME_PART: usize = 12;
/// Of a tag: what Google takes of a label.
const TAG_LENGTH: usize = 63;

/// One machine for one environment of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    pub study: String,
    pub environment: String,
    /// Where the study file lies: the same name elsewhere is a different study.
    pub folder: PathBuf,
    pub rented: RentedMachine,
    /// As the study prices it.
    pub per_hour: Option<Money>,
}

impl Wanted {
    /// The machines that a study rents, one for each environment that says so.
    pub fn of_study(study: &Study, folder: &Path) -> Vec<Wanted> {
        let wanted = study.environments.iter().filter_map(|environment| {
            match &environment.location.machine {
                MachineAt::Rented(rented) => Some(Wanted {
                    study: study.name.clone(),
                    environment: environment.name.clone(),
                    folder: folder.to_owned(),
                    rented: (**rented).clone(),
                    per_hour: environment.price.as_ref().map(|price| price.per_hour),
                }),
                MachineAt::Here | MachineAt::Ssh(_) => None,
            }
        });
        wanted.collect()
    }

    /// The machine's name everywhere: folder, journal, provider, SSH. Lower-case letters, digits and
    /// hyphens only, whatever the study calls itself; the digest keeps two apart.
    pub fn id(&self) -> String {
        let folder = self.folder.to_string_lossy();
        let whole = format!("{folder}\0{}\0{}", self.study, self.environment);
        let part = |name: &str| slug(name, NAME_PART);
        format!(
            "bancada-{}-{}-{:.8}",
            part(&self.study),
            part(&self.environment),
            Digest::of(whole)
        )
    }

    pub(crate) fn time_limit(&self) -> jiff::SignedDuration {
        let seconds = i64::try_from(self.rented.time_limit_seconds);
        jiff::SignedDuration::from_secs(seconds.unwrap_or(i64::MAX))
    }

    pub(crate) fn tag(name: &str) -> String {
        slug(name, TAG_LENGTH)
    }

    /// `aws/c7i.xlarge@us-east-1`, spot.
    pub fn machine_words(&self) -> String {
        let RentedMachine {
            provider,
            machine_type,
            region,
            spot,
            module,
            ..
        } = &self.rented;
        let spot = if *spot { " (spot)" } else { "" };
        match (module, machine_type.is_empty()) {
            (Some(module), true) => format!("{}{spot}", module.display()),
            _ => format!("{provider}/{machine_type}@{region}{spot}"),
        }
    }
}

fn slug(name: &str, length: usize) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
        if slug.len() == length {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    match slug.is_empty() {
        true => "x".to_owned(),
        false => slug.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(study: &str, environment: &str) -> Wanted {
        Wanted {
            study: study.to_owned(),
            environment: environment.to_owned(),
            folder: PathBuf::from("/studies"),
            rented: RentedMachine::default(),
            per_hour: None,
        }
    }

    #[test]
    fn names_of_machines_are_safe_everywhere() {
        let is_safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        for hostile in [
            "training-cost",
            "",
            "../../etc/passwd",
            "${file(\"/etc/shadow\")}",
            "$(touch x)",
            "\"; rm -rf /",
            "estudo de ção e ü",
            "a\nb\0c",
            &"x".repeat(500),
            "---",
        ] {
            let id = wanted(hostile, hostile).id();
            assert!(id.chars().all(is_safe) && id.len() <= 42, "{id}");
            assert!(id.starts_with("bancada-") && !id.contains("--"), "{id}");
            assert!(Wanted::tag(hostile).len() <= 63);
        }
        assert_ne!(wanted("a b", "c").id(), wanted("a-b", "c").id());
        assert_ne!(wanted("a", "b-c").id(), wanted("a-b", "c").id());
    }
}
