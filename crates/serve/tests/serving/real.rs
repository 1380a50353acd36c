//! Real models in ONNX Runtime (`BANCADA_ONNXRUNTIME` names its library).

use std::fs;

use serde_json::{Value as Json, json};
use serve::{Keep, ModelFile, Offer, OnnxRuntime, Options};

use crate::common::{Server, options};
use crate::onnx::{FLOAT, INT64, KINDS, Node, STRING, Value, model};

/// A server of one model, or why it does not start.
fn served(model: &[u8], description: &str, options: Options) -> Result<Server, String> {
    let library = serve::library::find(&[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("real.onnx"), model).unwrap();
    fs::write(folder.path().join("real.json"), description).unwrap();
    let file = ModelFile::find(folder.path()).unwrap();
    let offer = Offer {
        name: "real".to_owned(),
        description: file.description,
        load: Box::new(move |threads| {
            let runtime = OnnxRuntime::load(&library)?;
            let model = runtime.open(&file.path, &Keep::Nowhere, threads)?;
            drop(folder);
            Ok(Box::new(model))
        }),
    };
    let mut server = Server::starting(vec![offer], options);
    let is_well = server.tells(|told| matches!(told, serve::ServerEvent::Listening { .. }));
    match is_well {
        true => Ok(server),
        false => Err(server.join().unwrap_err().to_string()),
    }
}

fn ask(server: &Server, body: &Json) -> Json {
    let body = body.to_string();
    let answer = server.post("/invocations", "application/json", body.as_bytes());
    serde_json::from_str(&answer.is(200, "").body).unwrap()
}

fn numbers(list: &Json) -> Vec<f64> {
    let list = list.as_array().unwrap().iter();
    list.map(|number| number.as_f64().unwrap()).collect()
}

const SCORES: [Value<'_>; 1] = [("y", FLOAT, &[0, 3])];

fn one_output(operator: &str) -> Vec<u8> {
    let node = Node::new(operator, &["x"], &["y"]);
    model(&[node], &[("x", FLOAT, &[0, 3])], &SCORES)
}

#[test]
#[ignore = "needs ONNX Runtime (BANCADA_ONNXRUNTIME): .ci/serving runs it"]
fn installed_outputs_are_returned_as_they_are_unless_they_score_classes() {
    // exp(1) / (exp(1) + 2), exp(0) / (exp(1) + 2).
    let softmax = [0.576_116_9, 0.211_941_56, 0.211_941_56];
    let check = |operator: &str, description: &str, key: &str, expected: [f64; 3]| {
        let server = served(&one_output(operator), description, options()).unwrap();
        let answer = ask(&server, &json!([[1, 0, 0]]));
        let found = match key {
            "probabilities" => numbers(&answer["probabilities"]),
            _ => {
                assert!(answer.get("probabilities").is_none(), "{answer}");
                let output = &answer["outputs"][0];
                assert_eq!(output["name"], "y");
                assert_eq!(output["shape"], json!([1, 3]));
                numbers(&output["data"])
            }
        };
        let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-6, "{answer}");
    };
    check("Identity", "{}", "outputs", [1.0, 0.0, 0.0]);
    check(
        "Identity",
        r#"{"output": "logits"}"#,
        "probabilities",
        softmax,
    );
    // Its own softmax is the only one.
    check("Softmax", "{}", "probabilities", softmax);
    check("Softmax", r#"{"output": {"y": "raw"}}"#, "outputs", softmax);
    let sigmoid = [0.731_058_6, 0.5, 0.5];
    check(
        "Sigmoid",
        r#"{"output": "probabilities"}"#,
        "probabilities",
        sigmoid,
    );
}

#[test]
#[ignore = "needs ONNX Runtime (BANCADA_ONNXRUNTIME): .ci/serving runs it"]
fn installed_several_inputs_and_outputs() {
    let nodes = [
        Node::new("Add", &["ids", "mask"], &["sum"]),
        Node {
            attribute: Some(("to", FLOAT)),
            ..Node::new("Cast", &["mask"], &["floats"])
        },
        Node::new("Mul", &["floats", "scale"], &["boxes"]),
    ];
    let inputs: [Value<'_>; 3] = [
        ("ids", INT64, &[0, 2]),
        ("mask", INT64, &[0, 2]),
        ("scale", FLOAT, &[0, 1]),
    ];
    let outputs: [Value<'_>; 2] = [("boxes", FLOAT, &[0, 2]), ("sum", INT64, &[0, 2])];
    let bytes = model(&nodes, &inputs, &outputs);
    let server = served(&bytes, "{}", options()).unwrap();
    // More than a float64 holds exactly.
    let large = 9_007_199_254_740_993_i64;
    let expected = json!([
        {"name": "boxes", "datatype": "FP32", "shape": [1, 2], "data": [0.5, 1.0]},
        {"name": "sum", "datatype": "INT64", "shape": [1, 2], "data": [large + 1, 4]},
    ]);
    let named = json!({"inputs": {"ids": [[large, 2]], "mask": [[1, 2]], "scale": [[0.5]]}});
    assert_eq!(ask(&server, &named)["outputs"], expected);
    let protocol = json!({"inputs": [
        {"name": "mask", "datatype": "INT64", "shape": [1, 2], "data": [1, 2]},
        {"name": "scale", "datatype": "FP32", "shape": [1, 1], "data": [0.5]},
        {"name": "ids", "datatype": "INT64", "shape": [1, 2], "data": [large, 2]},
    ]});
    assert_eq!(ask(&server, &protocol)["outputs"], expected);
    server
        .post(
            "/invocations",
            "application/json",
            br#"{"inputs": {"ids": [[1, 2]]}}"#,
        )
        .is(400, "the input `mask` is missing");
    server
        .post("/invocations", "image/png", b"x")
        .is(400, "does not take pictures but ids (INT64, any×2), mask");
    server
        .get("/models")
        .is(200, r#"{"datatype":"INT64","name":"ids","shape":[null,2]}"#);
}

#[test]
#[ignore = "needs ONNX Runtime (BANCADA_ONNXRUNTIME): .ci/serving runs it"]
fn installed_requests_of_several_inputs_are_computed_together() {
    let nodes = [Node::new("Add", &["a", "b"], &["y"])];
    let inputs: [Value<'_>; 2] = [("a", INT64, &[0, 1]), ("b", INT64, &[0, 1])];
    let bytes = model(&nodes, &inputs, &[("y", INT64, &[0, 1])]);
    let together = Options {
        workers: Some(1),
        batching: serve::Batching {
            most: 3,
            linger: std::time::Duration::from_secs(10),
        },
        ..options()
    };
    let server = served(&bytes, "{}", together).unwrap();
    std::thread::scope(|scope| {
        for number in 0..3 {
            let server = &server;
            scope.spawn(move || {
                let body = json!({"inputs": {"a": [[number]], "b": [[10]]}});
                let answer = ask(server, &body);
                assert_eq!(answer["outputs"][0]["data"], json!([number + 10]));
                assert_eq!(answer["outputs"][0]["shape"], json!([1, 1]));
            });
        }
    });
    server
        .get("/metrics")
        .is(200, "bancada_prediction_seconds_count 1\n");
}

#[test]
#[ignore = "needs ONNX Runtime (BANCADA_ONNXRUNTIME): .ci/serving runs it"]
fn installed_every_kind_of_numbers_comes_back() {
    for (kind, name) in KINDS {
        let node = Node::new("Identity", &["x"], &["y"]);
        let bytes = model(&[node], &[("x", kind, &[2])], &[("y", kind, &[2])]);
        let server = served(&bytes, "{}", options()).unwrap();
        let output = &ask(&server, &json!({"inputs": {"x": [1, 0]}}))["outputs"][0];
        assert_eq!(output["datatype"], name);
        let expected = match name {
            "BOOL" => json!([true, false]),
            "FP16" | "FP32" | "FP64" => json!([1.0, 0.0]),
            _ => json!([1, 0]),
        };
        assert_eq!(output["data"], expected, "{name}");
    }
}

#[test]
#[ignore = "needs ONNX Runtime (BANCADA_ONNXRUNTIME): .ci/serving runs it"]
fn installed_models_that_cannot_be_served_are_refused() {
    let check = |bytes: &[u8], description: &str, expected: &str| {
        let served = served(bytes, description, options());
        let problem = served.err().unwrap_or_default();
        assert!(problem.contains(expected), "{problem}");
    };
    let node = Node::new("Identity", &["x"], &["y"]);
    let texts = model(&[node], &[("x", STRING, &[1])], &[("y", STRING, &[1])]);
    check(
        &texts,
        "{}",
        "real: its output `y` has the type Tensor<String>(1); only tensors of numbers and bool can be served",
    );
    let scores = one_output("Identity");
    check(
        &scores,
        r#"{"classes": ["a", "b", "c"]}"#,
        "no output is known to score classes",
    );
    check(
        &scores,
        r#"{"classes": ["a"], "output": "logits"}"#,
        "names 1 classes, but the model has 3",
    );
    check(
        &scores,
        r#"{"output": {"z": "logits"}}"#,
        "it has no output `z`; its outputs are y (FP32, any×3)",
    );
    check(b"no model", "{}", "real: ");
}

/// In 32 bits and with a sum of 32 bits they were off by 1.2e-4.
#[test]
#[ignore = "needs ONNX Runtime (BANCADA_ONNXRUNTIME): .ci/serving runs it"]
fn installed_many_probabilities_sum_to_one() {
    let check = |operator: &str, description: &str| {
        let node = Node::new(operator, &["x"], &["y"]);
        let bytes = model(
            &[node],
            &[("x", FLOAT, &[0, 8210])],
            &[("y", FLOAT, &[0, 8210])],
        );
        let wide = Options {
            limits: serve::Limits {
                body_bytes: 1_000_000,
                ..options().limits
            },
            ..options()
        };
        let server = served(&bytes, description, wide).unwrap();
        let scores: Vec<f64> = (0..8210)
            .map(|class| f64::from(class % 97) / 31.0)
            .collect();
        let answer = ask(&server, &json!([scores]));
        let sum: f64 = numbers(&answer["probabilities"]).iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        let shown = answer["classes"].as_array().unwrap().iter();
        let shown: f64 = shown.map(|one| one["probability"].as_f64().unwrap()).sum();
        let others = answer["other_classes"]["probability"].as_f64().unwrap();
        assert!((shown + others - 1.0).abs() < 1e-6, "{shown} and {others}");
    };
    check("Identity", r#"{"output": "logits"}"#);
    check("Softmax", "{}");
}
