//! What was answered so far, and the study that it makes.

use std::fmt::Write as _;

use model::Money;
use workbench::toml_text::{key, levels, string, strings};

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    #[default]
    Train,
    Serve,
    Command,
}

/// Where runs happen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Where {
    /// On this machine, priced as those that are named.
    #[default]
    Here,
    Rented,
    /// On a host of the SSH configuration.
    Host(String),
    /// By a partition of a Slurm cluster.
    Partition(String),
}

/// A factor and its levels, as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Varied {
    pub(super) name: String,
    pub(super) levels: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Answers {
    pub(super) name: String,
    pub(super) objective: String,
    pub(super) kind: Kind,
    /// Shown first in the report.
    pub(super) metrics: Vec<String>,
    pub(super) budget: Option<Money>,
    pub(super) varied: Vec<Varied>,
    /// For the shell.
    pub(super) command: String,
    pub(super) epochs: Option<u32>,
    pub(super) repetitions: u32,
    pub(super) place: Where,
    pub(super) machines: Vec<Machine>,
}

/// What runs are billed as.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Machine {
    /// Of the catalog; or a price an hour.
    pub(super) price: String,
    /// Whether trainings use its GPU.
    pub(super) uses_gpu: bool,
}

impl Answers {
    pub(super) fn set(&mut self, name: &str, levels: Vec<String>) {
        self.varied.retain(|varied| varied.name != name);
        self.varied.push(Varied {
            name: name.to_owned(),
            levels,
        });
    }

    /// The study file. A factor with one level is a setting of the workload.
    pub(super) fn study(&self) -> String {
        let mut text = String::from(
            "# Written by `bancada init`. docs/study-file.md has every key; `bancada check` finds mistakes.\n",
        );
        _ = writeln!(text, "\n[study]\nname = {}", string(&self.name));
        if !self.objective.is_empty() {
            _ = writeln!(text, "objective = {}", string(&self.objective));
        }
        _ = writeln!(text, "repetitions = {}", self.repetitions.max(1));
        if let Some(budget) = &self.budget {
            let Money { amount, currency } = budget;
            let budget = format!("{amount} {}", currency.code());
            _ = writeln!(text, "budget = {}", string(&budget));
        }
        if !self.metrics.is_empty() {
            _ = writeln!(text, "metrics = [{}]", strings(&self.metrics));
        }
        let environments = self.environments();
        let factors = self.varied.iter().filter(|varied| self.is_factor(varied));
        let mut factors: Vec<(&str, String)> = factors
            .map(|varied| (varied.name.as_str(), levels(&varied.levels)))
            .collect();
        if environments.len() > 1 {
            let names: Vec<String> = environments.iter().map(|e| e.name.clone()).collect();
            factors.insert(0, ("environment", strings(&names)));
        }
        if !factors.is_empty() {
            text.push_str("\n[factors]                 # every combination is a scenario\n");
        }
        for (name, levels) in factors {
            _ = writeln!(text, "{} = [{levels}]", key(name));
        }
        self.workload(&mut text);
        for environment in environments {
            _ = writeln!(text, "\n[environments.{}]", key(&environment.name));
            text.push_str(&environment.text);
        }
        text
    }

    /// Whether runs could use a GPU: the embedded engine and the server that comes with it do not.
    pub(super) fn can_use_gpu(&self) -> bool {
        let mut frameworks = self
            .varied
            .iter()
            .filter(|varied| varied.name == "framework");
        let has_engine = |varied: &Varied| varied.levels.iter().any(|level| level == "engine");
        let is_elsewhere = self.place != Where::Here;
        is_elsewhere && self.kind == Kind::Train && !frameworks.any(has_engine)
    }

    /// Of a command every factor is one: it has no settings of its own.
    fn is_factor(&self, varied: &Varied) -> bool {
        varied.levels.len() > 1 || self.kind == Kind::Command
    }

    fn workload(&self, text: &mut String) {
        text.push_str("\n[workload]\n");
        match self.kind {
            Kind::Train => text.push_str("kind = \"train\"\n"),
            Kind::Serve => text.push_str("kind = \"serve\"\nstack = \"bancada\"\n"),
            Kind::Command => {
                let words = ["sh", "-c", &self.command].map(string);
                _ = writeln!(text, "command = [{}]", words.join(", "));
            }
        }
        for varied in self.varied.iter().filter(|varied| !self.is_factor(varied)) {
            _ = writeln!(text, "{} = {}", key(&varied.name), levels(&varied.levels));
        }
        if let Some(epochs) = self.epochs {
            _ = writeln!(text, "epochs = {epochs}");
        }
    }

    fn environments(&self) -> Vec<Written> {
        let mut written: Vec<Written> = Vec::new();
        for machine in &self.machines {
            let mut environment = Written {
                name: environment_name(&machine.price),
                text: format!("price = {}\n", string(&machine.price)),
            };
            if machine.uses_gpu {
                environment.text.push_str("device = \"cuda:0\"\n");
            }
            if written.iter().any(|other| other.name == environment.name) {
                environment.name = format!("{}-{}", environment.name, written.len() + 1);
            }
            environment.text.push_str(&self.place_text());
            written.push(environment);
        }
        if written.is_empty() && self.place != Where::Here {
            written.push(Written {
                name: "there".to_owned(),
                text: self.place_text(),
            });
        }
        written
    }

    fn place_text(&self) -> String {
        match &self.place {
            Where::Here => String::new(),
            Where::Rented => {
                "rent = { time_limit = \"12h\" }    # the machine ends itself after this\n"
                    .to_owned()
            }
            Where::Host(host) => format!("ssh = {}\n", string(host)),
            Where::Partition(partition) => {
                format!("slurm = {{ partition = {} }}\n", string(partition))
            }
        }
    }
}

struct Written {
    name: String,
    text: String,
}

/// `azure/Standard_F4s_v2@eastus` → `Standard_F4s_v2`.
fn environment_name(machine: &str) -> String {
    match machine.split_once('/') {
        Some((_, rest)) if !machine.contains(char::is_whitespace) => {
            rest.split('@').next().unwrap_or(rest).to_owned()
        }
        _ => "machine".to_owned(),
    }
}
