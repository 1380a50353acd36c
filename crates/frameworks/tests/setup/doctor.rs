use std::path::PathBuf;

use frameworks::{Condition, Doctor, FrameworkReport};

use crate::support::{Bench, spec};

fn examine(bench: &Bench, name: &str) -> FrameworkReport {
    let adapters = bench.home.adapters().unwrap();
    let doctor = Doctor {
        home: &bench.home,
        machine: &bench.machine,
        adapters: &adapters,
    };
    doctor.examine(&spec(name))
}

#[test]
fn what_works_and_what_does_not() {
    let bench = Bench::new(&["3.11"], true);
    let check = |name: &str, condition, problem: Option<&str>, advice: Option<&str>| {
        let report = examine(&bench, name);
        assert_eq!(report.condition, condition, "{report:?}");
        assert_eq!(report.problem.as_deref(), problem);
        assert_eq!(report.advice.as_deref(), advice);
        report
    };
    check("engine", Condition::Works, None, None);
    check(
        "pytorch",
        Condition::NotSetUp,
        None,
        Some("bancada setup pytorch"),
    );

    bench.set_up("pytorch").unwrap();
    let report = check("pytorch", Condition::Works, None, None);
    assert_eq!(report.version.as_deref(), Some("2.15.0"));
    assert_eq!(report.import_seconds, Some(0.5));
    let last = bench.calls().pop().unwrap();
    assert!(last.ends_with(" torch adapt_pytorch"), "{last}");

    let again = Some("bancada setup --remove pytorch, then bancada setup pytorch");
    bench.provoke("broken-adapt_pytorch");
    let problem = "`import adapt_pytorch` fails: ImportError: no adapt_pytorch";
    check("pytorch", Condition::Broken, Some(problem), again);
    bench.provoke("crash-torch");
    let problem = "`import torch` ends its Python: Illegal instruction";
    check("pytorch", Condition::Broken, Some(problem), again);
    std::fs::remove_file(bench.folder("pytorch-2.15.0/bin/python")).unwrap();
    let report = examine(&bench, "pytorch");
    let problem = report.problem.unwrap();
    assert!(
        problem.starts_with("its Python does not start"),
        "{problem}"
    );
}

#[test]
fn what_is_half_there_is_told() {
    let bench = Bench::new(&["3.11"], true);
    bench.provoke("full-disk");
    bench.set_up("jax").unwrap_err();
    let report = examine(&bench, "jax");
    assert_eq!(report.condition, Condition::Unfinished);
    assert_eq!(
        report.advice.as_deref(),
        Some("to go on: bancada setup jax")
    );
    bench.put_right("full-disk");

    bench.set_up("tinygrad").unwrap();
    let report = examine(&bench, "tinygrad");
    assert_eq!(report.condition, Condition::Broken);
    assert_eq!(report.problem.as_deref(), Some("needs clang"));
    assert_eq!(report.advice.as_deref(), Some("apt-get install clang"));
}

#[test]
fn what_cannot_be_had_is_no_fault() {
    let mut bench = Bench::new(&["3.11"], false);
    let report = examine(&bench, "theano");
    assert_eq!(report.condition, Condition::CannotBeHad);
    assert_eq!(report.problem.as_deref(), Some("it needs Python 3.8"));
    bench.machine.platform = "plan9-mips".to_owned();
    let report = examine(&bench, "pytorch");
    assert_eq!(report.condition, Condition::CannotBeHad);

    assert_eq!(examine(&bench, "caffe").condition, Condition::NotSetUp);
    bench.machine.caffe = Some(PathBuf::from("/nowhere/caffe"));
    assert_eq!(examine(&bench, "caffe").condition, Condition::Broken);
}

#[test]
fn surroundings_are_looked_at() {
    let bench = Bench::new(&["3.8", "3.11"], true);
    let adapters = bench.home.adapters().unwrap();
    bench.set_up("pytorch@2.2.0").unwrap();
    let doctor = Doctor {
        home: &bench.home,
        machine: &bench.machine,
        adapters: &adapters,
    };
    let around = doctor.surroundings();
    let pythons: Vec<&str> = around.pythons.iter().map(|p| p.version.as_str()).collect();
    assert_eq!(pythons, ["3.8.7", "3.11.7"]);
    assert_eq!(around.uv.unwrap().version.as_deref(), Some("uv 0.0.0"));
    let folders: Vec<&str> = around.folders.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(folders, ["adapters", "frameworks"]);
    assert!(around.free_bytes.is_some());
    let names: Vec<String> = doctor.specs().iter().map(ToString::to_string).collect();
    assert_eq!(names.first().map(String::as_str), Some("engine"));
    assert_eq!(names.last().map(String::as_str), Some("pytorch@2.2.0"));
}
