//! Models for serving.

use std::fs;

use crate::common::Bench;

#[test]
fn a_network_is_written_as_onnx() {
    let bench = Bench::new();
    let arguments = [
        "network",
        "onnx",
        "lenet5",
        "--image",
        "28",
        "--channels",
        "1",
    ];
    let onnx = |more: &[&str]| {
        let all: Vec<&str> = arguments.iter().chain(more).copied().collect();
        bench.bancada(&all)
    };
    let ran = onnx(&["--to", "a.onnx"])
        .ends_with(0)
        .says("untrained weights, seed 1");
    assert_eq!(ran.out.trim(), "a.onnx");
    let read = |name: &str| fs::read(bench.path().join(name)).unwrap();
    let input = network::InputSpec::square(1, 28, 10);
    let graph = network::load("lenet5").unwrap().instantiate(input).unwrap();
    let weights = network::initial_weights(&graph, 1);
    assert!(read("a.onnx") == network::formats::untrained_onnx(&graph, &weights, 1).unwrap());
    // Of a run's weights.
    let trained = network::initial_weights(&graph, 9);
    fs::write(bench.path().join("t.safetensors"), trained.to_bytes()).unwrap();
    onnx(&["--weights", "t.safetensors", "--to", "b.onnx"])
        .ends_with(0)
        .says("t.safetensors");
    assert!(read("b.onnx") == network::formats::onnx(&graph, &trained).unwrap());

    onnx(&[
        "--weights",
        "t.safetensors",
        "--classes",
        "5",
        "--to",
        "c.onnx",
    ])
    .ends_with(1)
    .says("they were saved for a different input or number of classes");
    onnx(&["--weights", "none", "--to", "c.onnx"])
        .ends_with(1)
        .says("cannot use the weights none");
    onnx(&["--to", "no/c.onnx"])
        .ends_with(1)
        .says("cannot write no/c.onnx");
    onnx(&[]).ends_with(2);
}
