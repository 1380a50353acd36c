//! The questions, along the first three activities of the method: understand what is asked, plan the
//! experiments, set the environment up. After each answer the plan is shown as it is then.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cost::{Catalog, CatalogEntry};
use frameworks::Home;
use model::Money;
use report::format;
use workbench::{Lacks, Opened, ROUGH, rough_forecast};

use super::super::plan::runs_words;
use super::answers::{Answers, Kind, Machine, Where};
use super::asker::{Asker, Gone, Question, words};
use super::machines;

pub(super) struct Interview<'a> {
    asker: Asker<'a>,
    file: PathBuf,
    catalog: Catalog,
    answers: Answers,
    /// Every answer leaves a study that can be read.
    opened: Option<Opened>,
    provider: Option<String>,
    /// Part of the study when something has a price.
    budget: Option<Money>,
}

impl<'a> Interview<'a> {
    pub(super) fn new(asker: Asker<'a>, file: &Path) -> Self {
        Interview {
            asker,
            file: file.to_owned(),
            catalog: workbench::catalog(&|_| ()),
            answers: Answers::default(),
            opened: None,
            provider: None,
            budget: None,
        }
    }

    /// The text of the study file.
    pub(super) fn study(mut self) -> Result<String, Gone> {
        self.asker.say(
            "Enter takes the answer in [brackets], ? explains, Ctrl-C leaves and writes nothing.",
        );
        self.understand()?;
        match self.answers.kind {
            Kind::Train => self.plan_training()?,
            Kind::Serve => self.plan_serving()?,
            Kind::Command => self.plan_command()?,
        }
        self.repetitions()?;
        self.set_up()?;
        Ok(self.answers.study())
    }

    fn understand(&mut self) -> Result<(), Gone> {
        self.asker.say("\n1 understand");
        let kind = Question {
            ask: "What is measured: 1 training, 2 serving a model, 3 a command of yours",
            default: "1",
            help: "1 trains networks in a framework, 2 sends requests to a server, 3 runs any program",
        };
        self.answers.kind = self.asker.ask(kind, |answer| match answer {
            "1" | "training" | "train" => Ok(Kind::Train),
            "2" | "serving" | "serve" => Ok(Kind::Serve),
            "3" | "command" => Ok(Kind::Command),
            _ => Err("1, 2 or 3".to_owned()),
        })?;
        self.first_answers();
        let objective = Question {
            ask: "The question that it should answer, in a sentence",
            default: match self.answers.kind {
                Kind::Train => "how long does the training take, and what does it cost?",
                Kind::Serve => "how fast does the model answer, and what does a request cost?",
                Kind::Command => "how long does the command take, and what does it cost?",
            },
            help: "It heads the report.",
        };
        self.taken(objective, |answers, text| {
            answers.objective = text.to_owned();
            Ok(())
        })?;
        let metrics = Question {
            ask: "Metrics to show first",
            default: match self.answers.kind {
                Kind::Train => "train_seconds, cost",
                Kind::Serve | Kind::Command => "all",
            },
            help: "Names with commas, such as train_seconds, cost, peak_memory_bytes, accuracy; all are\nmeasured anyway (docs/results.md has them).",
        };
        self.taken(metrics, |answers, text| {
            answers.metrics = match text {
                "all" => Vec::new(),
                names => words(names),
            };
            Ok(())
        })?;
        let provider = Question {
            ask: "Prices of which provider: aws, azure, google, any",
            default: "any",
            help: "Machines of the catalog are offered later; `bancada price find` lists all.",
        };
        self.provider = self.asker.ask(provider, |answer| match answer {
            "any" => Ok(None),
            "aws" | "azure" | "google" | "gcp" => Ok(Some(answer.to_owned())),
            _ => Err("aws, azure, google or any".to_owned()),
        })?;
        let budget = Question {
            ask: "Budget",
            default: "none",
            help: "An amount such as 20 USD: no run is started that would exceed it, and machines beyond it\nare not offered.",
        };
        self.budget = self.asker.ask(budget, |answer| match answer {
            "none" => Ok(None),
            text => text.parse().map(Some),
        })?;
        Ok(())
    }

    /// A study of that kind that is complete.
    fn first_answers(&mut self) {
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy();
        self.answers.name = match stem.as_ref() {
            name if plan::is_study_name(name) && name != "study" => name.to_owned(),
            _ => "my-study".to_owned(),
        };
        self.answers.repetitions = 3;
        let defaults: &[(&str, &str)] = match self.answers.kind {
            Kind::Train => &[
                ("framework", "engine"),
                ("dataset", "digits"),
                ("image", "32"),
                ("network", "rede1"),
                ("batch", "32"),
            ],
            Kind::Serve => &[("model", "rede1"), ("load", "warm"), ("requests", "25")],
            Kind::Command => &[],
        };
        for (name, level) in defaults {
            self.answers.set(name, vec![(*level).to_owned()]);
        }
        match self.answers.kind {
            Kind::Train => self.answers.epochs = Some(1),
            Kind::Serve => {}
            Kind::Command => self.answers.command = "true".to_owned(),
        }
    }

    fn plan_training(&mut self) -> Result<(), Gone> {
        self.asker.say(
            "\n2 plan the experiments (several answers with commas make a factor; times are rough)",
        );
        let networks = network::names().collect::<Vec<_>>().join(", ");
        self.levels("network", "Networks", "rede1, rede2", &networks)?;
        let datasets = data::names().collect::<Vec<_>>().join(", ");
        self.levels("dataset", "Datasets", "digits", &datasets)?;
        self.levels("image", "Image sizes in pixels", "32", "Such as 32, 64.")?;
        let frameworks = frameworks::names().collect::<Vec<_>>().join(", ");
        self.levels("framework", "Frameworks", "engine", &frameworks)?;
        self.levels("batch", "Batch sizes", "32", "Such as 32, 64, 128.")?;
        let epochs = Question {
            ask: "Epochs",
            default: "1",
            help: "How often a training sees all images.",
        };
        self.planned(epochs, |answers, text| {
            answers.epochs = Some(text.parse().map_err(|_| not_a_number(text))?);
            Ok(())
        })
    }

    fn plan_serving(&mut self) -> Result<(), Gone> {
        self.asker
            .say("\n2 plan the experiments (several answers with commas make a factor)");
        let networks = network::names().collect::<Vec<_>>().join(", ");
        let models = format!("ONNX files, folders of trained runs, or: {networks}");
        self.levels("model", "Models", "rede1", &models)?;
        let loads = "warm (in series after a warm-up), real-time (without one), clients (as many requests\nat a time as there are clients), cold (each to a new server)";
        self.levels("load", "Loads", "warm", loads)?;
        self.levels(
            "requests",
            "Requests of a run",
            "25",
            "More give better percentiles.",
        )
    }

    fn plan_command(&mut self) -> Result<(), Gone> {
        self.asker.say("\n2 plan the experiments");
        let vary = Question {
            ask: "What varies, as NAME=VALUE,VALUE (several with spaces)",
            default: "nothing",
            help: "Such as batch=32,64 optimizer=sgd,adam; the command then has {batch} and {optimizer}.",
        };
        let varied = self.asker.ask(vary, |answer| match answer {
            "nothing" => Ok(Vec::new()),
            text => text
                .split_whitespace()
                .map(workbench::Vary::parse)
                .collect(),
        })?;
        let command = Question {
            ask: "Command line",
            default: "",
            help: "As you type it in a shell, with {NAME} where a value goes.",
        };
        self.planned(command, |answers, text| {
            if text.is_empty() {
                return Err("a command, such as python3 train.py --batch {batch}".to_owned());
            }
            answers.command = text.to_owned();
            for workbench::Vary { factor, levels } in &varied {
                answers.set(factor, levels.clone());
            }
            Ok(())
        })
    }

    fn repetitions(&mut self) -> Result<(), Gone> {
        let question = Question {
            ask: "Repetitions of each scenario",
            default: "3",
            help: "Three show how far runs differ, five or more tell small differences from chance.",
        };
        self.planned(question, |answers, text| {
            answers.repetitions = text.parse().map_err(|_| not_a_number(text))?;
            Ok(())
        })
    }

    fn set_up(&mut self) -> Result<(), Gone> {
        self.asker.say("\n3 set the environment up");
        let place = Question {
            ask: "Where: 1 this machine, 2 rented machines, ssh HOST, slurm PARTITION",
            default: "1",
            help: "2 creates machines at the provider with Terraform, and destroys them after the last run;\nssh takes a host of your SSH configuration (docs/places.md).",
        };
        let place = self.asker.ask(place, |answer| {
            match answer.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["1"] => Ok(Where::Here),
                ["2"] => Ok(Where::Rented),
                ["ssh", host] => Ok(Where::Host((*host).to_owned())),
                ["slurm", partition] => Ok(Where::Partition((*partition).to_owned())),
                _ => Err("1, 2, ssh HOST or slurm PARTITION".to_owned()),
            }
        })?;
        self.machines(place)?;
        let home = Home::find().ok();
        if let (Some(opened), Some(home)) = (&self.opened, home) {
            let lacks = Lacks::of(&opened.study, &opened.plan.scenarios, &opened.folder, &home);
            let lines = lacks.to_do(&self.file);
            for line in lines {
                self.asker.say(&format!("  · {line}"));
            }
        }
        Ok(())
    }

    fn machines(&mut self, place: Where) -> Result<(), Gone> {
        let budget = self.budget;
        let there = Answers {
            place: place.clone(),
            ..self.answers.clone()
        };
        let with_gpus = there.can_use_gpu();
        let offered = machines::candidates(
            &self.catalog,
            self.provider.as_deref(),
            budget,
            with_gpus,
            |entry| {
                let machine = Machine {
                    price: entry.name(),
                    uses_gpu: with_gpus && entry.shape.gpu.is_some(),
                };
                let answers = Answers {
                    machines: vec![machine],
                    ..there.clone()
                };
                let opened = read(&answers, &self.file, &self.catalog).ok()?;
                rough_forecast(&opened)
            },
        );
        let names: Vec<String> = offered.iter().map(|c| c.entry.name()).collect();
        let table = machines::table(&offered);
        let here = place == Where::Here;
        let entries = self.catalog.entries.iter();
        let has_gpu: BTreeSet<String> = entries
            .filter(|entry| entry.shape.gpu.is_some())
            .map(CatalogEntry::name)
            .collect();
        self.asker.say(match (offered.is_empty(), here) {
            (true, _) => "  No machine of the catalog keeps the budget.",
            (false, true) => "  Machines that this one may be priced as, within the budget:",
            (false, false) => "  Machines within the budget, the cheapest of each size:",
        });
        for line in table.lines().filter(|_| !names.is_empty()) {
            self.asker.say(&format!("    {line}"));
        }
        if offered.iter().any(|candidate| candidate.forecast.is_some()) {
            self.asker.say(&format!("    ({ROUGH})"));
        }
        let question = Question {
            ask: "Machines: numbers, names of the catalog, a price such as 0.2 USD/h, or none",
            default: match names.is_empty() || (here && budget.is_none()) {
                true => "none",
                false => "1",
            },
            help: "Several with commas are compared. The price decides what runs cost; here it does not make\nthis machine faster or slower.",
        };
        self.planned(question, |answers, text| {
            answers.place = place.clone();
            let machine = |price: String| Machine {
                uses_gpu: with_gpus && has_gpu.contains(&price),
                price,
            };
            answers.machines = chosen(text, &names)?.into_iter().map(machine).collect();
            let is_priced = !answers.machines.is_empty();
            answers.budget = budget.filter(|_| is_priced);
            match (&place, answers.machines.is_empty()) {
                (Where::Rented, true) => Err("a machine to rent, by its number or name".to_owned()),
                _ => Ok(()),
            }
        })
    }

    fn levels(&mut self, factor: &str, ask: &str, default: &str, help: &str) -> Result<(), Gone> {
        let question = Question { ask, default, help };
        self.planned(question, |answers, text| {
            answers.set(factor, words(text));
            Ok(())
        })
    }

    /// Asks, and shows what the plan is then.
    fn planned(
        &mut self,
        question: Question<'_>,
        change: impl FnMut(&mut Answers, &str) -> Result<(), String>,
    ) -> Result<(), Gone> {
        self.taken(question, change)?;
        if let Some(opened) = &self.opened {
            let line = plan_line(opened, self.budget);
            self.asker.say(&line);
        }
        Ok(())
    }

    /// Takes an answer that leaves a study without mistakes.
    fn taken(
        &mut self,
        question: Question<'_>,
        mut change: impl FnMut(&mut Answers, &str) -> Result<(), String>,
    ) -> Result<(), Gone> {
        let Interview {
            asker,
            answers,
            file,
            catalog,
            ..
        } = self;
        let (answered, opened) = asker.ask(question, |text| {
            let mut changed = answers.clone();
            change(&mut changed, text)?;
            let opened = read(&changed, file, catalog)?;
            Ok((changed, opened))
        })?;
        self.answers = answered;
        self.opened = Some(opened);
        Ok(())
    }
}

fn not_a_number(text: &str) -> String {
    format!("`{text}` is not a whole number")
}

fn read(answers: &Answers, file: &Path, catalog: &Catalog) -> Result<Opened, String> {
    let opened = workbench::open_text(file, answers.study(), None, catalog);
    opened.map_err(|error| {
        let mistakes = error.rendered(diagnostics::Style::Plain);
        mistakes.unwrap_or_else(|| error.to_string())
    })
}

/// `1, 3` of what was offered; or as the catalog names them.
fn chosen(text: &str, offered: &[String]) -> Result<Vec<String>, String> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let one = |part: &str| match part.parse::<usize>() {
        Ok(number) => {
            let named = number.checked_sub(1).and_then(|index| offered.get(index));
            named
                .cloned()
                .ok_or_else(|| format!("there is no number {number}"))
        }
        Err(_) => Ok(part.to_owned()),
    };
    parts.map(one).collect()
}

/// `→ 8 scenarios × 3 repetitions = 24 runs, about 4 min, US$ 0.01 of US$ 20.00`.
fn plan_line(opened: &Opened, budget: Option<Money>) -> String {
    let mut line = format!("  → {}", runs_words(&opened.study, &opened.plan));
    let forecast = rough_forecast(opened);
    if let Some(forecast) = &forecast {
        line.push_str(&format!(
            ", about {}",
            format::duration(forecast.seconds.value)
        ));
        let money = forecast.money.map(|money| money.value);
        line.push_str(&money.map_or(String::new(), |money| format!(", {money}")));
    }
    if let Some(budget) = budget {
        let word = match machines::exceeds(forecast.as_ref(), Some(budget)) {
            true => "MORE than the budget of",
            false => "budget",
        };
        line.push_str(&format!(" ({word} {budget})"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_chosen_by_number_or_name() {
        let offered = ["azure/a@x".to_owned(), "aws/b@y".to_owned()];
        let check = |text, expected: &[&str]| assert_eq!(chosen(text, &offered).unwrap(), expected);
        check("none", &[]);
        check("2, 1", &["aws/b@y", "azure/a@x"]);
        check("0.2 USD/h", &["0.2 USD/h"]);
        assert!(chosen("3", &offered).is_err() && chosen("0", &offered).is_err());
    }
}
