//! `bancada quantise`: a model in 8 bits, served.

use crate::common::{Bench, Ran, with_own_cache};
use crate::serving::{Server, picture};

#[test]
fn what_is_missing_is_told() {
    let bench = Bench::new();
    let quantise =
        |arguments: &[&str]| bench.bancada(&[&["quantise", "--to", "a.onnx"], arguments].concat());
    quantise(&["rede1"])
        .ends_with(1)
        .says("onnx-tools is not set up: bancada setup onnx-tools");
    quantise(&["rede1", "--dataset", "minst"])
        .ends_with(2)
        .says("known: digits, ");
    quantise(&["nowhere.onnx"])
        .ends_with(1)
        .says("there is no model at nowhere.onnx");
    assert!(!bench.path().join("a.onnx").exists());
}

#[test]
#[ignore = "needs onnx-tools: .ci/frameworks runs it"]
fn installed_tools_quantise_what_is_served() {
    let bench = Bench::new();
    let run = |arguments: &[&str]| {
        Ran::new(
            with_own_cache(&mut bench.command(arguments))
                .output()
                .unwrap(),
        )
    };
    let settings = ["--images", "20", "--held-out", "50", "--classes", "10"];
    let quantise = |more: &[&str]| {
        run(&[&["quantise", "mobilenet", "--image", "64"], more, &settings].concat())
    };
    let made = quantise(&["--to", "small.onnx"]);
    made.ends_with(0)
        .says("accuracy is meaningless")
        .says("same class");
    let told = quantise(&["--to", "again.onnx", "--json"]).ends_with(0);
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    let size = |name: &str| bench.path().join(name).metadata().unwrap().len();
    assert_eq!(told["quantised"]["bytes"], size("small.onnx"));
    assert_eq!(size("again.onnx"), size("small.onnx"), "it was kept");
    assert!(told["quantised"]["full_bytes"].as_u64().unwrap() > 3 * size("small.onnx"));
    assert!(told["quantised"]["comparison"]["accuracy"].is_null());
    assert_eq!(told["quantised"]["comparison"]["agreement"]["of"], 50);
    run(&[
        "quantise",
        "small.onnx",
        "--to",
        "b.onnx",
        "--dataset",
        "digits",
    ])
    .ends_with(1)
    .says("it is already quantised");
    run(&["quantise", "small.onnx", "--to", "b.onnx"])
        .ends_with(1)
        .says("--dynamic");

    let serve = |model: &[&str]| {
        let mut command =
            bench.command(&[&["serve", "--runtime", "onnx", "--port", "0"], model].concat());
        with_own_cache(&mut command);
        Server::start(command)
    };
    let full = ["mobilenet", "--image", "64", "--classes", "10"];
    let (full, small) = (serve(&full), serve(&["small.onnx"]));
    let [full, small] = [full, small].map(|server| {
        let probabilities = server.predict("/invocations", &picture(64));
        server.end();
        probabilities
    });
    let apart = full.iter().zip(&small).map(|(a, b)| (a - b).abs());
    let apart = apart.fold(0.0, f64::max);
    // Sums of bytes are not those of floats, but near.
    assert!(apart > 0.0 && apart < 0.02, "{apart}: {full:?} {small:?}");
    eprintln!("asked both: within {apart:.1e}");
}
