//! A study made smaller is the same study, and says what was changed.

use model::{Level, Workload};
use plan::{digest, plan};

use crate::support::{good, read_at, shown};

const STUDY: &str = r#"
[study]
name = "sizes"
repetitions = 5

[factors]
environment = ["cpu", "gpu"]
batch = [1, 2, 4, 8]

[workload]
network = "rede1"
images = 2048
epochs = 10

[environments.cpu]

[environments.gpu]
device = "cuda:0"

[scale.small]
repetitions = 1
epochs = 2
held_out = 64
factors = { environment = ["cpu"], batch = [1, 8] }
"#;

#[test]
fn a_smaller_study_has_what_its_scale_says_and_the_rest_unchanged() {
    let study = read_at(STUDY, Some("small")).unwrap_or_else(|m| panic!("{}", shown(STUDY, &m)));
    assert_eq!(study.name, "sizes-small");
    assert_eq!(study.repetitions, 1);
    let Workload::Train(train) = &study.workload else {
        panic!("{:?}", study.workload);
    };
    assert_eq!(
        (train.epochs, train.images, train.held_out),
        (2, Some(2048), Some(64))
    );
    assert_eq!(
        study.factor("batch").unwrap().levels,
        [Level::Int(1), Level::Int(8)]
    );
    assert_eq!(plan(&study).runs.len(), 2);
    let scale = study.scale.unwrap();
    let changes: Vec<String> = scale
        .changes
        .iter()
        .map(|c| format!("{} {:?} {}", c.what, c.from.as_deref(), c.to))
        .collect();
    assert_eq!(
        changes,
        [
            r#"repetitions Some("5") 1"#,
            r#"epochs Some("10") 2"#,
            "held_out None 64",
            r#"environment Some("cpu, gpu") cpu"#,
            r#"batch Some("1, 2, 4, 8") 1, 8"#,
        ]
    );
}

#[test]
fn the_whole_study_does_not_know_of_its_scales() {
    let without = STUDY.split("[scale.small]").next().unwrap();
    let (with, without) = (good(STUDY), good(without));
    assert_eq!(with, without);
    assert_eq!(digest(&with), digest(&without));
}

#[test]
fn an_unknown_scale_names_those_there_are() {
    let mistakes = read_at(STUDY, Some("tiny")).unwrap_err();
    let told = shown(STUDY, &mistakes);
    assert!(
        told.contains("no scale `tiny`") && told.contains("it has: small"),
        "{told}"
    );
}

/// A study of rented machines can be tried anywhere, and nothing is created for that.
#[test]
fn a_scale_brings_all_runs_here_and_says_so() {
    let rented = STUDY
        .replace("[environments.cpu]", "[environments.cpu]\nssh = \"node1\"")
        .replace("repetitions = 1\n", "repetitions = 1\nhere = true\n");
    assert!(!good(&rented).environments[0].location.is_here());
    let small = read_at(&rented, Some("small")).unwrap();
    assert!(small.environments.iter().all(|e| e.location.is_here()));
    let scale = small.scale.unwrap();
    let said = scale.changes.iter().find(|c| c.what == "environment cpu");
    assert_eq!(said.unwrap().from.as_deref(), Some("node1 by SSH"));
    // The same runs as those of a study that never named another machine.
    let plain = STUDY.replace("repetitions = 1\n", "repetitions = 1\nhere = true\n");
    let plain = read_at(&plain, Some("small")).unwrap();
    let small = read_at(&rented, Some("small")).unwrap();
    assert_eq!(digest(&plain), digest(&small));
}
