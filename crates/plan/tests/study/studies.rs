//! Studies that are right, and what they mean.

use model::study::LogEvent;
use model::{
    Currency, Level, Limits, Money, Optimizer, PaidPhases, RunSequence, Scenario, Study, Workload,
};
use plan::{Resolved, TEMPLATES, digest, resolve};

use crate::support::{DESIGN, good, read, shown};

fn engine_design() -> String {
    DESIGN
        .replace(r#"["mxnet", "pytorch", "tensorflow"]"#, r#"["engine"]"#)
        .replace(
            "batch  = 128",
            "batch  = 128\ndata_dir = \"data/{dataset}\"",
        )
}

fn scenario(study: &Study, number: u32) -> Scenario {
    plan::plan(study).scenario(number).unwrap().clone()
}

fn train(study: &Study, number: u32) -> model::TrainWorkload {
    match resolve(study, &scenario(study, number)).workload {
        Workload::Train(train) => train,
        other => panic!("{other:?}"),
    }
}

fn command(study: &Study, number: u32) -> model::CommandWorkload {
    match resolve(study, &scenario(study, number)).workload {
        Workload::Command(command) => command,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_smallest_study_is_a_name_a_factor_and_a_command() {
    let study = good(
        "[study]\nname = \"s\"\n[factors]\nn = [1, 2]\n[workload]\ncommand = [\"sleep\", \"{n}\"]\n",
    );
    assert_eq!(
        (study.repetitions, study.seed, study.order),
        (3, 1, RunSequence::Blocks)
    );
    assert_eq!(study.currency, Currency::USD);
    assert_eq!(study.environments.len(), 1);
    let here = &study.environments[0];
    assert_eq!(
        (here.name.as_str(), &here.price, &here.limits),
        ("local", &None, &Limits::default())
    );
    assert_eq!(study.measure.interval_seconds, 1.0);
    assert_eq!(
        (study.measure.timeout_seconds, study.measure.grace_seconds),
        (None, 5.0)
    );
    assert_eq!(plan::plan(&study).runs.len(), 6);
    assert_eq!(command(&study, 2).command, ["sleep", "2"]);
}

#[test]
fn without_factors_there_is_one_scenario() {
    let study = good("[study]\nname = \"s\"\n[workload]\ncommand = [\"true\"]\n");
    let plan = plan::plan(&study);
    assert_eq!(
        plan.scenarios,
        [Scenario {
            number: 1,
            levels: vec![]
        }]
    );
    assert_eq!(plan.runs.len(), 3);
}

#[test]
fn the_study_of_the_design_means_what_it_says() {
    let study = good(DESIGN);
    assert_eq!(study.budget, Some("200 USD".parse().unwrap()));
    assert_eq!(
        (study.currency, study.seed, study.repetitions),
        (Currency::BRL, 2024, 5)
    );
    assert_eq!(study.measure.interval_seconds, 10.0);
    assert_eq!(study.measure.timeout_seconds, Some(21600.0));
    let names: Vec<&str> = study.factors.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(
        names,
        ["environment", "framework", "dataset", "image", "network"]
    );

    let Resolved { environment, .. } = resolve(&study, &scenario(&study, 1));
    assert_eq!(
        (environment.name.as_str(), environment.limits.cores),
        ("cpu", Some(4.0))
    );
    let price = environment.price.unwrap();
    assert_eq!(price.per_hour, "0.169 USD".parse::<Money>().unwrap());
    let last = train(&study, 48);
    assert_eq!(
        (last.network.as_str(), last.image, last.device.as_str()),
        ("rede2", Some(64), "cuda:0")
    );
    assert_eq!((last.epochs, last.batch), (10, 128));
    assert_eq!(last.framework, "tensorflow");
    let with_folder = good(&engine_design());
    let folder = train(&with_folder, 16).data_dir.unwrap();
    assert_eq!(folder.to_str(), Some("data/cifar10"));
}

#[test]
fn study_a_is_numbered_as_it_was_published() {
    // The same factors for a command, which may mean anything by them.
    let text = DESIGN.replace(
        "kind   = \"train\"\nepochs = 10\nbatch  = 128",
        "command = [\"train\", \"{framework}\", \"{dataset}\", \"{image}\", \"{network}\"]",
    );
    let study = good(&text);
    let plan = plan::plan(&study);
    assert_eq!((plan.scenarios.len(), plan.runs.len()), (48, 240));
    let check = |number: u32, expected: &str| {
        assert_eq!(
            plan.scenario(number).unwrap().levels_label(),
            expected,
            "C{number}"
        );
    };
    check(1, "cpu · mxnet · mnist · 32 · rede1");
    check(2, "cpu · mxnet · mnist · 32 · rede2");
    check(3, "cpu · mxnet · mnist · 64 · rede1");
    check(5, "cpu · mxnet · cifar10 · 32 · rede1");
    check(9, "cpu · pytorch · mnist · 32 · rede1");
    check(24, "cpu · tensorflow · cifar10 · 64 · rede2");
    check(25, "gpu · mxnet · mnist · 32 · rede1");
    check(48, "gpu · tensorflow · cifar10 · 64 · rede2");
}

#[test]
fn levels_take_the_place_of_the_workloads_values() {
    let study = good(
        r#"
[study]
name = "s"
[factors]
optimizer = ["adam", "sgd"]
learning_rate = [0.1, 1]
cores = { from = 1, to = 2 }
memory = ["512 MiB"]
images = { powers_of = 2, from = 64, to = 128 }
[workload]
network = "nets/small.toml"
momentum = 0.5
epochs = 2
threads = 3
[environments.lab]
cores = 8
"#,
    );
    let first = train(&study, 1);
    assert_eq!(first.network, "nets/small.toml");
    assert_eq!(
        (first.images, first.epochs, first.threads),
        (Some(64), 2, Some(3))
    );
    let adam = Optimizer::Adam {
        learning_rate: 0.1,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
    };
    assert_eq!(first.optimizer, adam);
    let last = plan::plan(&study).scenarios.len() as u32;
    assert_eq!(last, 16);
    assert_eq!(
        train(&study, last).optimizer,
        Optimizer::Sgd {
            learning_rate: 1.0,
            momentum: 0.5
        }
    );
    let environment = resolve(&study, &scenario(&study, last)).environment;
    assert_eq!(environment.name, "lab");
    assert_eq!(
        environment.limits,
        Limits {
            cores: Some(2.0),
            memory_bytes: Some(536_870_912)
        }
    );
}

#[test]
fn a_command_gets_its_levels_in_arguments_variables_and_directory() {
    let study = good(
        r#"
[study]
name = "s"
[factors]
batch = [32, 64]
rate = [0.1, 1]
fast = [true, false]
"image size" = ["a b"]
[workload]
command = ["python3", "train.py", "--batch={batch}", "{image size}", "{{batch}}", "${HOME}"]
env = { RATE = "{rate}", THREADS = 2 }
directory = "work/{fast}"
[[workload.log]]
event = "step"
pattern = 'step (?<step>\d+) loss (?<loss>\S+)'
[[workload.log]]
event = "metric"
name = "perplexity"
pattern = 'ppl (\S+)'
"#,
    );
    let last = command(&study, 8);
    assert_eq!(
        last.command,
        [
            "python3",
            "train.py",
            "--batch=64",
            "a b",
            "{batch}",
            "${HOME}"
        ]
    );
    assert_eq!(last.env["RATE"], "1");
    assert_eq!(last.env["THREADS"], "2");
    assert_eq!(last.directory.unwrap().to_str(), Some("work/false"));
    assert_eq!(last.log.len(), 2);
    assert_eq!(
        (last.log[1].event, last.log[1].name.as_deref()),
        (LogEvent::Metric, Some("perplexity"))
    );
    assert_eq!(
        study.factor("rate").unwrap().levels,
        [Level::Float(0.1), Level::Float(1.0)]
    );
}

#[test]
fn prices_come_from_the_catalog_the_study_or_a_purchase() {
    let study = good(
        r#"
[study]
name = "s"
currency = "EUR"
budget = "5 EUR"
[factors]
environment = ["catalog", "amount", "lab", "bought", "override"]
[workload]
network = "rede1"
[environments.catalog]
price = "azure/Standard_F4s_v2"
billing = { step = "60s", paid = ["train"] }
[environments.amount]
price = "0.00002 USD/s"
price_source = "the provider's page"
price_date = 2024-03-01
[environments.lab]
price = "lab"
[environments.bought]
own = { purchase = "8766 USD", years = 4, watts = 500, electricity = "0.30 USD/kWh" }
[environments.override]
price = "azure/Standard_NC4as_T4_v3@eastus"
[prices]
"azure/Standard_NC4as_T4_v3@eastus" = "0.4 USD/h"
[prices.lab]
per_hour = "0.25 USD"
source = "our own sums"
date = "2024"
billing = { minimum = "10min" }
[[rates]]
from = "EUR"
to = "USD"
rate = 1.0_8
date = "2024-03-01"
"#,
    );
    let price = |name: &str| study.environment(name).unwrap().price.clone().unwrap();
    let check = |name, machine, per_hour: &str| {
        assert_eq!(price(name).machine, machine);
        assert_eq!(
            price(name).per_hour,
            per_hour.parse::<Money>().unwrap(),
            "{name}"
        );
    };
    check("catalog", "azure/Standard_F4s_v2@eastus", "0.169 USD");
    check("amount", "own", "0.072 USD");
    check("lab", "lab", "0.25 USD");
    check("bought", "own", "0.4 USD");
    check("override", "azure/Standard_NC4as_T4_v3@eastus", "0.4 USD");
    assert_eq!(price("catalog").billing.step_seconds, 60);
    assert_eq!(
        price("catalog").billing.paid,
        PaidPhases::Only(vec!["train".to_owned()])
    );
    assert_eq!(
        (
            price("amount").source.as_str(),
            price("amount").date.as_str()
        ),
        ("the provider's page", "2024-03-01")
    );
    assert_eq!(
        (
            price("lab").source.as_str(),
            price("lab").billing.minimum_seconds
        ),
        ("our own sums", 600)
    );
    assert_eq!(study.rates[0].rate.to_string(), "1.08");
}

#[test]
fn every_template_is_a_study_that_can_be_run_at_once() {
    for template in TEMPLATES {
        let study = good(template.text);
        assert!(plan::plan(&study).scenarios.len() > 1, "{}", template.name);
        assert!(study.objective.is_some(), "{}", template.name);
    }
}

/// Every commented setting of the template is one that the reader knows.
#[test]
fn the_templates_comments_are_settings_too() {
    let open = |line: &str| {
        let setting = line.strip_prefix("# ").filter(|rest| {
            let key = rest.split_once(" = ").map(|(key, _)| key);
            key.is_some_and(|key| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        });
        setting
            .unwrap_or(line.strip_prefix("# [[").map_or(line, |_| &line[2..]))
            .to_owned()
    };
    let text: Vec<String> = TEMPLATES[0].text.lines().map(open).collect();
    let mistakes = read(&text.join("\n")).unwrap_err();
    let shown = shown(&text.join("\n"), &mistakes);
    assert!(
        !shown.contains("unknown key") && !shown.contains("not TOML"),
        "{shown}"
    );
    assert!(
        text.iter().filter(|line| line.starts_with("# ")).count() < 6,
        "{text:#?}"
    );
}

#[test]
fn the_digest_is_of_the_question_alone() {
    let base = engine_design();
    let of = |text: &str| digest(&good(text));
    let same = |from: &str, to: &str| assert_eq!(of(&base), of(&base.replace(from, to)), "{to}");
    let other = |from: &str, to: &str| assert_ne!(of(&base), of(&base.replace(from, to)), "{to}");
    same("repetitions = 5", "repetitions = 6");
    same("200 USD", "300 USD");
    same("currency = \"BRL\"", "currency = \"USD\"");
    same("training-cost", "another-name");
    same("interval = \"10s\"", "interval = \"1s\"");
    same(
        "price = \"azure/Standard_F4s_v2@eastus\"",
        "price = \"1 USD/h\"",
    );
    other("seed = 2024", "seed = 2025");
    other("[32, 64]", "[32, 48]");
    other("batch  = 128", "batch  = 64");
    other("cores = 4", "cores = 2");
    other("cuda:0", "cuda:1");
    let on_hosts = |more: &str| {
        let hosts = "cores = 4\nhosts = [\"node1\", \"node2\"]\n";
        base.replace("cores = 4", &format!("{hosts}{more}"))
            .replace("batch  = 128", "batch  = 128\nworkers = 2")
            .replace("\"engine\"", "\"jax\"")
    };
    let [ssh, other_hosts] = [on_hosts(""), on_hosts("").replace("node2", "node3")];
    assert_eq!(
        of(&ssh),
        of(&on_hosts("launch = [\"srun\", \"-w\", \"{host}\"]"))
    );
    assert_ne!(of(&ssh), of(&other_hosts));
    other("[factors]", "exclude = [{ image = 64 }]\n[factors]");
    // Written down: results of today must be found by the version of tomorrow.
    assert_eq!(
        of(
            "[study]\nname = \"s\"\n[factors]\nn = [1, 2]\n[workload]\ncommand = [\"sleep\", \"{n}\"]\n"
        ),
        "51ed3b326a46f5df"
    );
}

#[test]
fn models_are_kept_unless_told_otherwise_and_that_is_the_same_question() {
    let study = |line: &str| {
        good(&format!(
            "[study]\nname = \"s\"\n[workload]\nnetwork = \"rede1\"\n{line}\n"
        ))
    };
    let check = |line: &str, expected: bool| {
        assert_eq!(train(&study(line), 1).keep_model, expected, "{line}");
        assert_eq!(digest(&study(line)), digest(&study("")), "{line}");
    };
    check("", true);
    check("keep_model = true", true);
    check("keep_model = false", false);
}

#[test]
fn workers_on_several_hosts_are_paid_by_host() {
    let study = good(
        "[study]\nname = \"s\"\n[factors]\nworkers = [1, 2, 4]\n[workload]\nframework = \"jax\"\nnetwork = \"rede1\"\n\
         [environments.cluster]\nprice = \"0.5 USD/h\"\nhosts = [\"node1\", \"node2\"]\n",
    );
    let hosts = study.environments[0].hosts.clone().unwrap();
    assert_eq!(hosts.launch, ["ssh", "-o", "BatchMode=yes", "{host}"]);
    let check = |number: u32, hourly: &str, machine: &str| {
        let environment = resolve(&study, &scenario(&study, number)).environment;
        let price = environment.price.unwrap();
        assert_eq!(price.per_hour.to_string(), hourly);
        assert_eq!(price.machine, machine);
    };
    check(1, "US$ 0.50", "own");
    check(2, "US$ 1.00", "2 × own");
    check(3, "US$ 1.00", "2 × own");
}
