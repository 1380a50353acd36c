//! Stacks set up, models prepared for them, starts described.

use std::fs;
use std::path::{Path, PathBuf};

use frameworks::{
    Condition, Doctor, Front, StackError, StackModel, StackNetwork, StackStart, StackWish, Stacks,
};

use crate::support::{Bench, spec};

const TENSORFLOW: &str = "fastapi-tensorflow";
const ONNXRUNTIME: &str = "fastapi-onnxruntime";

fn wish(model: &Path, front: Front) -> StackWish<'_> {
    StackWish {
        model,
        port: 8123,
        workers: Some(2),
        threads: None,
        front,
        folder: None,
    }
}

fn stacks(bench: &Bench) -> Stacks<'_> {
    Stacks {
        home: &bench.home,
        machine: &bench.machine,
    }
}

fn start(bench: &Bench, name: &str, front: Front) -> Result<StackStart, StackError> {
    stacks(bench).start(&spec(name), &wish(Path::new("/models/a"), front))
}

fn network() -> Result<StackNetwork, String> {
    Ok(StackNetwork {
        graph: "graph ".to_owned(),
        weights: b"weights".to_vec(),
    })
}

fn prepare(bench: &Bench, name: &str, onnx: &Path, graph: bool) -> Result<PathBuf, StackError> {
    let network: &dyn Fn() -> Result<StackNetwork, String> = &network;
    let model = StackModel {
        name: "small",
        onnx,
        description: r#"{"name": "small"}"#,
        network: graph.then_some(network),
    };
    stacks(bench).prepare(&spec(name), &model)
}

#[test]
fn a_start_is_a_command_and_its_variables() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up(ONNXRUNTIME).unwrap();
    let bare = start(&bench, ONNXRUNTIME, Front::Bare).unwrap();
    assert_eq!(bare.version, "1.31.1");
    assert!(bare.command[1].ends_with("/stack_fastapi_onnxruntime.py"));
    assert!(Path::new(&bare.command[1]).is_file());
    assert_eq!(bare.command[2], "serve");
    assert!(bare.differences[0].starts_with("without NGINX: "));
    let check = |name: &str, expected: &str| {
        let found = bare.env.iter().rfind(|(set, _)| set == name);
        assert_eq!(
            found.map(|(_, value)| value.as_str()),
            Some(expected),
            "{name}"
        );
    };
    check("SM_MODEL_DIR", "/models/a");
    check("SAGEMAKER_BIND_TO_PORT", "8123");
    check("BANCADA_HOST", "127.0.0.1");
    check("BANCADA_STACK_FRONT", "none");
    check("MODEL_SERVER_WORKERS", "2");
    check("BANCADA_STACK_THREADS", "");
    check("PYTHONNOUSERSITE", "1");
}

#[test]
fn what_cannot_be_started_is_a_sentence() {
    let bench = Bench::new(&["3.11"], true);
    let check = |name: &str, expected: &str| {
        let error = start(&bench, name, Front::Nginx).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("pytorch", "known: fastapi-tensorflow, fastapi-onnxruntime");
    check(TENSORFLOW, "bancada setup fastapi-tensorflow");
    bench.set_up(TENSORFLOW).unwrap();
    check(TENSORFLOW, "needs nginx: apt-get install nginx-light");
}

#[test]
fn a_model_is_prepared_once() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up(TENSORFLOW).unwrap();
    bench.set_up(ONNXRUNTIME).unwrap();
    let onnx = bench.state("some.onnx");
    fs::write(&onnx, "onnx").unwrap();

    let folder = prepare(&bench, ONNXRUNTIME, &onnx, false).unwrap();
    assert_eq!(
        fs::read_to_string(folder.join("model.onnx")).unwrap(),
        "onnx"
    );
    let description = fs::read_to_string(folder.join("model.json")).unwrap();
    assert_eq!(description, r#"{"name": "small"}"#);

    let error = prepare(&bench, TENSORFLOW, &onnx, false).unwrap_err();
    assert!(error.to_string().contains("is only an ONNX file"));
    let keras = prepare(&bench, TENSORFLOW, &onnx, true).unwrap();
    let made = fs::read_to_string(keras.join("model.keras")).unwrap();
    assert_eq!(made, "graph weights");
    assert!(
        !keras.join("model.safetensors").exists(),
        "it is not needed"
    );
    let calls = bench.calls();
    let call = "to_keras graph.json model.json model.safetensors adapters=adapters";
    assert!(calls.iter().any(|line| line == call), "{calls:?}");

    assert_eq!(prepare(&bench, TENSORFLOW, &onnx, true).unwrap(), keras);
    assert_eq!(bench.calls(), calls, "nothing is done twice");
    fs::write(&onnx, "another").unwrap();
    assert_ne!(prepare(&bench, TENSORFLOW, &onnx, true).unwrap(), keras);
}

#[test]
fn a_conversion_that_fails_leaves_nothing() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up(TENSORFLOW).unwrap();
    bench.provoke("broken-to_keras");
    let onnx = bench.state("some.onnx");
    fs::write(&onnx, "onnx").unwrap();
    let error = prepare(&bench, TENSORFLOW, &onnx, true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "small cannot be prepared for fastapi-tensorflow\n  │ no such layer"
    );
    let left = fs::read_dir(bench.home.path().join("stack-models")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn the_doctor_imports_the_server_too() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up(ONNXRUNTIME).unwrap();
    let adapters = bench.home.adapters().unwrap();
    let doctor = Doctor {
        home: &bench.home,
        machine: &bench.machine,
        adapters: &adapters,
        trial: &bench.trial,
    };
    let report = doctor.examine(&spec(ONNXRUNTIME));
    assert_eq!(report.condition, Condition::Works, "it can do without");
    assert_eq!(report.problem.as_deref(), Some("needs nginx"));
    assert_eq!(
        report.advice.as_deref(),
        Some("apt-get install nginx-light, or start it with --no-nginx")
    );
    let last = bench.calls().pop().unwrap();
    let modules = " onnxruntime gunicorn uvicorn_worker stack_app stack_fastapi_onnxruntime";
    assert!(last.ends_with(modules), "{last}");
}
