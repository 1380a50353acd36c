use std::path::PathBuf;

use frameworks::{Condition, Doctor, FrameworkReport};

use crate::support::{Bench, spec};

fn examine(bench: &Bench, name: &str) -> FrameworkReport {
    let adapters = bench.home.adapters().unwrap();
    let doctor = Doctor {
        home: &bench.home,
        machine: &bench.machine,
        adapters: &adapters,
        trial: &bench.trial,
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
    assert!(report.trial_seconds.is_some() && report.import_seconds.is_none());
    let last = bench.calls().pop().unwrap();
    assert_eq!(last, "train KERAS_BACKEND= PYTHONPATH= adapt_pytorch");

    let again = Some("bancada setup --remove pytorch, then bancada setup pytorch");
    bench.provoke("broken-adapt_pytorch");
    let problem = "a training step fails: RuntimeError: adapt_pytorch cannot compile";
    check("pytorch", Condition::Broken, Some(problem), again);
    bench.put_right("broken-adapt_pytorch");
    bench.provoke("crash-adapt_pytorch");
    let problem = "a training step fails: Illegal instruction";
    check("pytorch", Condition::Broken, Some(problem), again);
    std::fs::remove_file(bench.folder("pytorch-2.15.0/bin/python")).unwrap();
    let report = examine(&bench, "pytorch");
    let problem = report.problem.unwrap();
    assert!(problem.starts_with("it does not start"), "{problem}");
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
        Some("to continue: bancada setup jax")
    );
    bench.put_right("full-disk");

    // A need that is missing matters where the step fails.
    bench.set_up("tinygrad").unwrap();
    assert_eq!(examine(&bench, "tinygrad").condition, Condition::Works);
    bench.provoke("broken-adapt_tinygrad");
    let report = examine(&bench, "tinygrad");
    assert_eq!(report.condition, Condition::Broken);
    assert_eq!(
        report.problem.as_deref(),
        Some("needs clang; a training step fails: RuntimeError: adapt_tinygrad cannot compile")
    );
    assert_eq!(report.advice.as_deref(), Some("apt-get install clang"));
}

/// Trains by this program, as runs do: a `caffe` that only answers is not enough.
#[test]
fn caffe_trains_a_step() {
    let mut bench = Bench::new(&[], false);
    bench.program("caffe", "echo caffe version 1.0.0");
    bench.machine.caffe = bench.machine.program("caffe");
    bench.program(
        "bancada",
        "[ \"$1\" = caffe-train ] && grep -q '\"framework\":\"caffe\"' \"$BANCADA_JOB\"",
    );
    let report = examine(&bench, "caffe");
    assert_eq!(report.condition, Condition::Works, "{report:?}");
    assert_eq!(report.version.as_deref(), Some("1.0.0"));
    assert!(bench.set_up("caffe").is_ok());

    let unknown = "caffe gave up: Check failed: registry.count(type) == 1 (0 vs. 1) Unknown layer \
                   type: ImageData (known types: AbsVal, Accuracy)";
    bench.program("bancada", &format!("echo 'error: {unknown}' >&2; exit 1"));
    let report = examine(&bench, "caffe");
    assert_eq!(report.condition, Condition::Broken);
    assert_eq!(
        report.problem,
        Some(format!("a training step fails: {unknown}"))
    );
    let advice = report.advice.unwrap();
    assert!(advice.contains("built without OpenCV"), "{advice}");
    let problem = bench.problem("caffe");
    assert!(
        problem.contains("Unknown layer type: ImageData"),
        "{problem}"
    );
    assert!(problem.contains("-DUSE_OPENCV=ON"), "{problem}");
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
        trial: &bench.trial,
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
