//! `bancada init`: the gallery, and questions on a terminal.

use std::fs;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use host::terminal::{PseudoTerminal, Window, wait_readable};

use crate::common::Bench;

#[test]
fn every_template_of_the_gallery_is_a_study() {
    let bench = Bench::new();
    let list = bench.bancada(&["init", "--list"]).ends_with(0);
    assert_eq!(list.out.lines().count(), plan::TEMPLATES.len() + 1);
    for template in plan::TEMPLATES {
        assert!(list.out.contains(template.about), "{}", list.out);
        let file = format!("{}.toml", template.name);
        bench
            .bancada(&["init", &file, "--from", template.name])
            .ends_with(0)
            .says(&format!("Wrote {file}: {}", template.about));
        bench.bancada(&["check", &file, "--elsewhere"]).ends_with(0);
    }
    bench
        .bancada(&["init", "--from", "trian"])
        .ends_with(2)
        .says("train, serve, command, cores, batch, serverless, cluster");
    // Without a terminal nobody is asked.
    bench
        .bancada(&["init"])
        .ends_with(0)
        .says("Wrote study.toml: training time");
    bench
        .bancada(&["init"])
        .ends_with(1)
        .says("it already exists");
}

#[test]
fn templates_run_as_they_are() {
    let bench = Bench::new();
    for name in ["command", "serve"] {
        let file = format!("{name}.toml");
        bench.bancada(&["init", &file, "--from", name]).ends_with(0);
        bench.bancada(&["run", &file, "--quiet"]).ends_with(0);
    }
}

/// A person at a terminal: what was shown so far, and a hand to type with.
struct Person {
    terminal: File,
    child: host::Group,
    seen: String,
}

impl Person {
    fn at(bench: &Bench, arguments: &[&str]) -> Self {
        let window = Window {
            rows: 50,
            columns: 120,
        };
        let terminal = PseudoTerminal::open(Some(window), std::io::stdin()).unwrap();
        let mut command = bench.command(arguments);
        for_terminal(&mut command, &terminal);
        let (child, terminal) = terminal.spawn(command).unwrap();
        Person {
            terminal,
            child,
            seen: String::new(),
        }
    }

    /// Waits for a question, and answers it.
    fn answers(&mut self, question: &str, answer: &str) {
        self.waits_for(question);
        self.seen.clear();
        writeln!(self.terminal, "{answer}").unwrap();
    }

    fn waits_for(&mut self, words: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.seen.contains(words) {
            assert!(Instant::now() < deadline, "no `{words}` in\n{}", self.seen);
            if wait_readable(&[self.terminal.as_fd()], Duration::from_millis(100))[0] {
                let mut bytes = [0; 4096];
                let read = self.terminal.read(&mut bytes).unwrap_or(0);
                self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        }
    }

    fn leaves(mut self) -> Option<i32> {
        let ended = self
            .child
            .wait_until(Instant::now() + Duration::from_secs(60));
        ended.unwrap().and_then(|status| status.code())
    }
}

fn for_terminal(command: &mut std::process::Command, terminal: &PseudoTerminal) {
    command
        .env("TERM", "xterm")
        .stdin(terminal.stream().unwrap())
        .stdout(terminal.stream().unwrap())
        .stderr(terminal.stream().unwrap());
}

#[test]
fn questions_lead_to_a_study_of_a_training() {
    let bench = Bench::new();
    let mut person = Person::at(&bench, &["init", "mine.toml"]);
    person.answers("What is measured", "");
    person.answers("The question", "which network is worth it?");
    person.answers("Metrics", "");
    person.answers("Prices of which provider", "azure");
    person.answers("Budget", "20");
    person.answers("is not an amount", "20 USD");
    person.answers("Networks", "rede1, redee2");
    // A mistake is shown as in a file, and asked again.
    person.answers("did you mean `rede2`?", "?");
    person.answers("mobilenet", "rede1, rede2");
    person.answers("2 scenarios × 3 repetitions = 6 runs, about", "");
    person.answers("Image sizes", "32, 64");
    person.answers("4 scenarios", "engine");
    person.answers("Batch sizes", "");
    person.answers("Epochs", "2");
    person.answers("Repetitions", "5");
    person.answers("4 scenarios × 5 repetitions = 20 runs", "1");
    person.answers("Machines: numbers", "1, 99");
    person.answers("there is no number 99", "1, 2");
    person.waits_for("8 scenarios × 5 repetitions = 40 runs");
    person.waits_for("Wrote mine.toml");
    assert_eq!(person.leaves(), Some(0));
    let text = fs::read_to_string(bench.path().join("mine.toml")).unwrap();
    for line in [
        "name = \"mine\"",
        "objective = \"which network is worth it?\"",
        "budget = \"20 USD\"",
        "network = [\"rede1\", \"rede2\"]",
        "image = [32, 64]",
        "dataset = \"digits\"",
        "epochs = 2",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    bench
        .bancada(&["check", "mine.toml"])
        .ends_with(0)
        .says("8 scenarios × 5 repetitions = 40 runs");
}

#[test]
fn questions_lead_to_a_study_of_a_command() {
    let bench = Bench::new();
    let mut person = Person::at(&bench, &["init"]);
    person.answers("What is measured", "3");
    person.answers("The question", "");
    person.answers("Metrics", "");
    person.answers("Prices of which provider", "");
    person.answers("Budget", "");
    person.answers("What varies", "n=1,2");
    person.answers("Command line", "seq {m}");
    person.answers("unknown factor in braces `m`", "seq {n} | wc -l");
    person.answers("2 scenarios", "4");
    person.answers("Where", "1");
    person.answers("Machines", "0.2 USD/h");
    person.waits_for("Wrote study.toml");
    assert_eq!(person.leaves(), Some(0));
    bench
        .bancada(&["run", "study.toml", "--quiet"])
        .ends_with(0)
        .says("8 runs (8 ok) of 2 scenarios");
}

#[test]
fn who_leaves_gets_no_file() {
    let bench = Bench::new();
    let mut person = Person::at(&bench, &["init"]);
    person.waits_for("What is measured");
    // Ctrl-D.
    person.terminal.write_all(&[4]).unwrap();
    person.waits_for("Nothing was written");
    assert_eq!(person.leaves(), Some(130));
    assert!(!bench.path().join("study.toml").exists());
}

#[test]
fn a_gpu_is_offered_to_who_can_use_it() {
    let machines = |frameworks: &str, place: &str| {
        let bench = Bench::new();
        let mut person = Person::at(&bench, &["init"]);
        for question in ["What is measured", "The question", "Metrics"] {
            person.answers(question, "");
        }
        person.answers("Prices of which provider", "azure");
        for question in ["Budget", "Networks", "Datasets", "Image sizes"] {
            person.answers(question, "");
        }
        person.answers("Frameworks", frameworks);
        for question in ["Batch sizes", "Epochs", "Repetitions"] {
            person.answers(question, "");
        }
        person.answers("Where", place);
        person.waits_for("Machines: numbers");
        let offered = person.seen.clone();
        // GPUs differ by an order of magnitude: no time is made up for them.
        let is_timed = offered
            .lines()
            .any(|line| line.contains("T4") && line.contains(" s "));
        assert!(!is_timed, "{offered}");
        person.answers("Machines: numbers", "azure/Standard_NC4as_T4_v3@eastus");
        person.waits_for("Wrote study.toml");
        let text = fs::read_to_string(bench.path().join("study.toml")).unwrap();
        (offered.contains("T4"), text.contains("device = \"cuda:0\""))
    };
    assert_eq!(machines("pytorch", "2"), (true, true));
    assert_eq!(machines("engine, pytorch", "2"), (false, false));
    assert_eq!(machines("pytorch", "1"), (false, false));
}

#[test]
fn machines_beyond_the_budget_are_marked_and_every_answer_can_be_changed() {
    let bench = Bench::new();
    let mut person = Person::at(&bench, &["init"]);
    let asked = [
        ("What is measured", "training"),
        ("The question", ""),
        ("Metrics", ""),
        ("Prices of which provider", "azure"),
        ("Budget", "5 USD"),
        ("Networks", "vgg19, resnet18"),
        ("Datasets", "cifar10"),
        ("Image sizes", "32, 64"),
        ("Frameworks", "pytorch,engine"),
        ("Batch sizes", "128"),
        ("Epochs", "2"),
        ("Repetitions", "3"),
        ("Where", "2"),
    ];
    person.answers("What is measured", "back");
    person.waits_for("this is the first question");
    for (question, answer) in asked {
        person.answers(question, answer);
    }
    person.waits_for("Machines: numbers, or names of the catalog:");
    assert!(person.seen.contains("over the budget"), "{}", person.seen);
    assert!(
        person
            .seen
            .contains("No machine of the catalog is estimated to keep the budget")
    );
    person.answers("Machines: numbers", "none");
    person.waits_for("a machine to rent");
    // To the budget and forth again, with all other answers.
    for (question, _) in [("Machines: numbers", "")]
        .iter()
        .chain(asked[5..].iter().rev())
    {
        person.answers(question, "back");
    }
    person.answers("Budget", "100000 USD");
    for (question, answer) in &asked[5..] {
        person.answers(question, answer);
    }
    person.waits_for("Machines: numbers, or names of the catalog [1]:");
    assert!(!person.seen.contains("over the budget"), "{}", person.seen);
    person.answers("Machines: numbers", "1");
    person.waits_for("Wrote study.toml");
    assert_eq!(person.leaves(), Some(0));
    let text = fs::read_to_string(bench.path().join("study.toml")).unwrap();
    assert!(
        text.contains("budget = \"100000 USD\"") && text.contains("rent ="),
        "{text}"
    );
}
