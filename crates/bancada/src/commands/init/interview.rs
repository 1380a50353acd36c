//! The questions, along the first three activities of the method: understand what is asked, plan the
//! experiments, set the environment up. After each answer the plan is shown as it is then.

use std::path::{Path, PathBuf};

use cost::Catalog;
use frameworks::Home;
use model::Money;
use report::format;
use workbench::{Lacks, Opened, Vary, rough_forecast};

use super::super::plan::runs_words;
use super::answers::{Answers, Kind, Where};
use super::asker::{Asker, Gone, Left, Question, words};
use super::machines;

pub(super) struct Interview<'a> {
    pub(super) asker: Asker<'a>,
    pub(super) file: PathBuf,
    pub(super) catalog: Catalog,
    pub(super) state: State,
}

/// What was answered so far.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) answers: Answers,
    /// Every answer leaves a study that can be read.
    pub(super) opened: Option<Opened>,
    pub(super) provider: Option<String>,
    /// Part of the study when something has a price.
    pub(super) budget: Option<Money>,
    /// Of a command, until there is one.
    varied: Vec<Vary>,
    pub(super) place: Where,
}

/// One question.
type Step<'a> = fn(&mut Interview<'a>) -> Result<(), Left>;

impl<'a> Interview<'a> {
    pub(super) fn new(asker: Asker<'a>, file: &Path) -> Self {
        Interview {
            asker,
            file: file.to_owned(),
            catalog: workbench::catalog(&|_| ()),
            state: State::default(),
        }
    }

    /// The text of the study file.
    pub(super) fn study(mut self) -> Result<String, Gone> {
        self.asker.say(
            "Enter takes the answer in [brackets], ? explains, back returns to the question before, Ctrl-C leaves and writes nothing.",
        );
        // What was known before each question that is answered.
        let mut before = Vec::new();
        while let Some(step) = self.steps().get(before.len()) {
            let known = self.state.clone();
            match step(&mut self) {
                Ok(()) => before.push(known),
                Err(Left::Gone) => return Err(Gone),
                Err(Left::Back) => match before.pop() {
                    Some(known) => self.state = known,
                    None => self.asker.say("    this is the first question"),
                },
            }
        }
        self.lacks();
        Ok(self.state.answers.study())
    }

    fn steps(&self) -> Vec<Step<'a>> {
        let understand: &[Step<'a>] = &[
            Self::kind,
            Self::objective,
            Self::metrics,
            Self::provider,
            Self::budget,
        ];
        let plan: &[Step<'a>] = match self.state.answers.kind {
            Kind::Train => &[
                Self::networks,
                Self::datasets,
                Self::images,
                Self::frameworks,
                Self::batches,
                Self::epochs,
            ],
            Kind::Serve => &[Self::models, Self::loads, Self::requests],
            Kind::Command => &[Self::varied, Self::command],
        };
        let set_up: &[Step<'a>] = &[Self::repetitions, Self::place, Self::machines];
        [understand, plan, set_up].concat()
    }

    fn kind(&mut self) -> Result<(), Left> {
        self.asker.say("\n1 understand");
        let kind = Question {
            ask: "What is measured: 1 training, 2 serving a model, 3 a command of yours",
            default: "1",
            help: "1 trains networks in a framework, 2 sends requests to a server, 3 runs any program",
        };
        self.state.answers.kind = self.asker.ask(kind, |answer| match answer {
            "1" | "training" | "train" => Ok(Kind::Train),
            "2" | "serving" | "serve" => Ok(Kind::Serve),
            "3" | "command" => Ok(Kind::Command),
            _ => Err("1, 2 or 3".to_owned()),
        })?;
        self.first_answers();
        Ok(())
    }

    fn objective(&mut self) -> Result<(), Left> {
        let objective = Question {
            ask: "The question that it should answer, in a sentence",
            default: match self.state.answers.kind {
                Kind::Train => "how long does the training take, and what does it cost?",
                Kind::Serve => "how fast does the model answer, and what does a request cost?",
                Kind::Command => "how long does the command take, and what does it cost?",
            },
            help: "It heads the report.",
        };
        self.taken(objective, |answers, text| {
            answers.objective = text.to_owned();
            Ok(())
        })
    }

    fn metrics(&mut self) -> Result<(), Left> {
        let metrics = Question {
            ask: "Metrics to show first",
            default: match self.state.answers.kind {
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
        })
    }

    fn provider(&mut self) -> Result<(), Left> {
        let provider = Question {
            ask: "Prices of which provider: aws, azure, google, any",
            default: "any",
            help: "Machines of the catalog are offered later; `bancada price find` lists all.",
        };
        self.state.provider = self.asker.ask(provider, |answer| match answer {
            "any" => Ok(None),
            "aws" | "azure" | "google" | "gcp" => Ok(Some(answer.to_owned())),
            _ => Err("aws, azure, google or any".to_owned()),
        })?;
        Ok(())
    }

    fn budget(&mut self) -> Result<(), Left> {
        let budget = Question {
            ask: "Budget",
            default: "none",
            help: "An amount such as 20 USD: no run is started that would exceed it, and machines beyond it\nare marked.",
        };
        self.state.budget = self.asker.ask(budget, |answer| match answer {
            "none" => Ok(None),
            text => text.parse().map(Some),
        })?;
        Ok(())
    }

    /// A study of that kind that is complete.
    fn first_answers(&mut self) {
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy();
        self.state.answers.name = match stem.as_ref() {
            name if plan::is_study_name(name) && name != "study" => name.to_owned(),
            _ => "my-study".to_owned(),
        };
        self.state.answers.repetitions = 3;
        let defaults: &[(&str, &str)] = match self.state.answers.kind {
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
            self.state.answers.set(name, vec![(*level).to_owned()]);
        }
        match self.state.answers.kind {
            Kind::Train => self.state.answers.epochs = Some(1),
            Kind::Serve => {}
            Kind::Command => self.state.answers.command = "true".to_owned(),
        }
    }

    fn networks(&mut self) -> Result<(), Left> {
        self.asker.say(
            "\n2 plan the experiments (several answers with commas make a factor; times are rough)",
        );
        let networks = network::names().collect::<Vec<_>>().join(", ");
        self.levels("network", "Networks", "rede1, rede2", &networks)
    }

    fn datasets(&mut self) -> Result<(), Left> {
        let datasets = data::names().collect::<Vec<_>>().join(", ");
        self.levels("dataset", "Datasets", "digits", &datasets)
    }

    fn images(&mut self) -> Result<(), Left> {
        self.levels("image", "Image sizes in pixels", "32", "Such as 32, 64.")
    }

    fn frameworks(&mut self) -> Result<(), Left> {
        let frameworks = frameworks::names().collect::<Vec<_>>().join(", ");
        self.levels("framework", "Frameworks", "engine", &frameworks)
    }

    fn batches(&mut self) -> Result<(), Left> {
        self.levels("batch", "Batch sizes", "32", "Such as 32, 64, 128.")
    }

    fn epochs(&mut self) -> Result<(), Left> {
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

    fn models(&mut self) -> Result<(), Left> {
        self.asker
            .say("\n2 plan the experiments (several answers with commas make a factor)");
        let networks = network::names().collect::<Vec<_>>().join(", ");
        let models = format!("ONNX files, folders of trained runs, or: {networks}");
        self.levels("model", "Models", "rede1", &models)
    }

    fn loads(&mut self) -> Result<(), Left> {
        let loads = "warm (in series after a warm-up), real-time (without one), clients (as many requests\nat a time as there are clients), cold (each to a new server)";
        self.levels("load", "Loads", "warm", loads)
    }

    fn requests(&mut self) -> Result<(), Left> {
        self.levels(
            "requests",
            "Requests of a run",
            "25",
            "More give better percentiles.",
        )
    }

    fn varied(&mut self) -> Result<(), Left> {
        self.asker.say("\n2 plan the experiments");
        let vary = Question {
            ask: "What varies, as NAME=VALUE,VALUE (several with spaces)",
            default: "nothing",
            help: "Such as batch=32,64 optimizer=sgd,adam; the command then has {batch} and {optimizer}.",
        };
        self.state.varied = self.asker.ask(vary, |answer| match answer {
            "nothing" => Ok(Vec::new()),
            text => text.split_whitespace().map(Vary::parse).collect(),
        })?;
        Ok(())
    }

    fn command(&mut self) -> Result<(), Left> {
        let command = Question {
            ask: "Command line",
            default: "",
            help: "As you type it in a shell, with {NAME} where a value goes.",
        };
        let varied = self.state.varied.clone();
        self.planned(command, |answers, text| {
            if text.is_empty() {
                return Err("a command, such as python3 train.py --batch {batch}".to_owned());
            }
            answers.command = text.to_owned();
            for Vary { factor, levels } in &varied {
                answers.set(factor, levels.clone());
            }
            Ok(())
        })
    }

    fn repetitions(&mut self) -> Result<(), Left> {
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

    fn place(&mut self) -> Result<(), Left> {
        self.asker.say("\n3 set the environment up");
        let place = Question {
            ask: "Where: 1 this machine, 2 rented machines, ssh HOST, slurm PARTITION",
            default: "1",
            help: "2 creates machines at the provider with Terraform, and destroys them after the last run;\nssh takes a host of your SSH configuration (docs/places.md).",
        };
        self.state.place = self.asker.ask(place, |answer| {
            match answer.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["1" | "here"] => Ok(Where::Here),
                ["2" | "rented"] => Ok(Where::Rented),
                ["ssh", host] => Ok(Where::Host((*host).to_owned())),
                ["slurm", partition] => Ok(Where::Partition((*partition).to_owned())),
                _ => Err("1, 2, ssh HOST or slurm PARTITION".to_owned()),
            }
        })?;
        Ok(())
    }

    /// What this machine lacks for it.
    fn lacks(&mut self) {
        let (Some(opened), Ok(home)) = (&self.state.opened, Home::find()) else {
            return;
        };
        let lacks = Lacks::of(&opened.study, &opened.plan.scenarios, &opened.folder, &home);
        for line in lacks.to_do(&self.file) {
            self.asker.say(&format!("  · {line}"));
        }
    }

    fn levels(&mut self, factor: &str, ask: &str, default: &str, help: &str) -> Result<(), Left> {
        let question = Question { ask, default, help };
        self.planned(question, |answers, text| {
            answers.set(factor, words(text));
            Ok(())
        })
    }

    /// Asks, and shows what the plan is then.
    pub(super) fn planned(
        &mut self,
        question: Question<'_>,
        change: impl FnMut(&mut Answers, &str) -> Result<(), String>,
    ) -> Result<(), Left> {
        self.taken(question, change)?;
        if let Some(opened) = &self.state.opened {
            let line = plan_line(opened, self.state.budget);
            self.asker.say(&line);
        }
        Ok(())
    }

    /// Takes an answer that leaves a study without mistakes.
    fn taken(
        &mut self,
        question: Question<'_>,
        mut change: impl FnMut(&mut Answers, &str) -> Result<(), String>,
    ) -> Result<(), Left> {
        let Interview {
            asker,
            state: State { answers, .. },
            file,
            catalog,
        } = self;
        let (answered, opened) = asker.ask(question, |text| {
            let mut changed = answers.clone();
            change(&mut changed, text)?;
            let opened = read(&changed, file, catalog)?;
            Ok((changed, opened))
        })?;
        self.state.answers = answered;
        self.state.opened = Some(opened);
        Ok(())
    }
}

fn not_a_number(text: &str) -> String {
    format!("`{text}` is not a whole number")
}

pub(super) fn read(answers: &Answers, file: &Path, catalog: &Catalog) -> Result<Opened, String> {
    let opened = workbench::open_text(file, answers.study(), None, catalog);
    opened.map_err(|error| {
        let mistakes = error.rendered(diagnostics::Style::Plain);
        mistakes.unwrap_or_else(|| error.to_string())
    })
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
        if forecast.unknown_runs > 0 {
            let unknown = format::counted(forecast.unknown_runs, "run", "runs");
            line.push_str(&format!(" without {unknown} on GPUs, not estimated"));
        }
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
