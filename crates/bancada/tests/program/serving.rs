//! `bancada serve`, asked over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::common::{Bench, Ran, with_own_cache};

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// Until it told its address.
    pub(crate) said: String,
}

impl Server {
    pub(crate) fn start(mut command: Command) -> Server {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (mut address, mut said) = (None, String::new());
        while address.is_none() {
            let line = lines.next().unwrap().unwrap();
            said.push_str(&line);
            let told = line.split_once(" on http://").map(|(_, rest)| rest);
            let end = |c: char| !c.is_ascii_digit() && c != '.' && c != ':';
            let told = told.and_then(|rest| rest.split(end).next());
            address = told.map(|address| address.trim_end_matches(':').to_owned());
        }
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Server {
            child,
            address: address.unwrap(),
            said,
        }
    }

    pub(crate) fn ask(&self, head: &str, body: &[u8]) -> serde_json::Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head =
            format!("{head}\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{answer}");
        serde_json::from_str(body).unwrap()
    }

    pub(crate) fn predict(&self, path: &str, picture: &[u8]) -> Vec<f64> {
        let answer = self.ask(&format!("POST {path} HTTP/1.1"), picture);
        let numbers = answer["probabilities"].as_array().unwrap().iter();
        numbers.map(|number| number.as_f64().unwrap()).collect()
    }

    pub(crate) fn end(mut self) {
        // SAFETY: it is our child, which has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

pub(crate) fn picture(side: u32) -> Vec<u8> {
    let pixels = (0..side * side * 3).map(|place| (place * 7 % 256) as u8);
    let picture = data::picture::Picture {
        width: side,
        height: side,
        channels: 3,
        pixels: pixels.collect(),
    };
    data::picture::encode(&picture).unwrap()
}

#[test]
fn a_zoo_network_is_served_without_anything_installed() {
    let bench = Bench::new();
    let mut command = bench.command(&[
        "serve",
        "rede1",
        "small=lenet5",
        "--runtime",
        "engine",
        "--port",
        "0",
    ]);
    command.arg("--classes=4");
    let server = Server::start(command);
    assert!(server.said.contains("rede1: its weights are random"));
    let answer = server.ask("POST /invocations HTTP/1.1", &picture(40));
    assert_eq!(answer["weights"], "untrained");
    let probabilities = server.predict("/invocations", &picture(40));
    assert_eq!(probabilities.len(), 4);
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-6);
    server.predict("/models/small/invocations", &picture(9));
    let models = server.ask("GET /models HTTP/1.1", b"");
    assert_eq!(models["models"][1]["name"], "small");
    assert_eq!(models["models"][1]["ready"], true);
    server.end();
}

#[test]
fn a_server_is_started_on_demand_and_billed() {
    let bench = Bench::new();
    let mut command = bench.command(&["serverless", "--port", "0", "--memory", "1024"]);
    command.args(["--", env!("CARGO_BIN_EXE_bancada"), "serve", "rede1"]);
    command.args(["--runtime", "engine", "--port", "{port}"]);
    command.stdout(Stdio::piped());
    let mut emulator = Server::start(command);
    assert_eq!(emulator.predict("/invocations", &picture(40)).len(), 10);
    let workers = emulator.ask("GET /bancada/workers HTTP/1.1", b"");
    assert_eq!(workers["workers"][0]["state"], "free");
    let bill = emulator.ask("GET /bancada/bill HTTP/1.1", b"");
    assert_eq!(bill["price_per_second"], "0.00002");
    assert_eq!(bill["cold_starts"], 1);
    let mut stdout = emulator.child.stdout.take().unwrap();
    emulator.end();
    let mut told = String::new();
    stdout.read_to_string(&mut told).unwrap();
    let billed = format!("{} ms billed in steps of 1 ms", bill["billed_ms"]);
    assert!(told.contains(&billed), "{told}");
    assert!(told.contains("1 requests, 0 of them failed"), "{told}");
}

#[test]
fn what_no_serverless_service_has_is_refused() {
    let check = |arguments: &[&str], code, words: &str| {
        let bench = Bench::new();
        let arguments = [&["serverless"], arguments, &["--", "true"]].concat();
        bench.bancada(&arguments).ends_with(code).says(words);
    };
    check(
        &["--memory", "1500"],
        2,
        "no workers of 1500 MB; the nearest are 1024: choose 1024",
    );
    check(&["--idle=-1"], 2, "--idle -1 is not a time in seconds");
    check(&["--grace", "1e18"], 2, "is not a time in seconds");
    check(&["--mb-per-cpu", "0"], 2, "it must be above 0");
    check(&["--concurrency", "0"], 2, "a whole number of at least 1");
}

#[test]
fn a_load_that_makes_no_sense_is_a_wrong_command_line() {
    let bench = Bench::new();
    bench.write("trace.txt", "0\n0.1\n");
    bench.write("none.txt", "\n");
    let check = |arguments: &[&str], words: &str| {
        let arguments = [&["load", "http://127.0.0.1:1/"], arguments].concat();
        bench.bancada(&arguments).ends_with(2).says(words);
    };
    check(&["--seconds=-1"], "--seconds -1 is not a time in seconds");
    check(&["--rate", "0"], "rate is not above zero");
    check(&["--clients", "0"], "without clients");
    check(&["--under", "0"], "--under 0 is not a latency");
    check(&["--header", "x"], "write name: value");
    check(&["--trace", "none.txt"], "none.txt: it contains no times");
    check(
        &["--trace", "trace.txt", "--requests", "3"],
        "3 requests were requested, but the trace has 2",
    );
    bench
        .bancada(&["load", "nowhere"])
        .ends_with(2)
        .says("`nowhere` is not a valid address");
}

#[test]
fn a_run_serves_what_it_trained() {
    let bench = Bench::new();
    let study = "[study]\nname = \"digits\"\nrepetitions = 1\n[factors]\nnetwork = [\"lenet5\"]\n[workload]\n\
                 kind = \"train\"\ndataset = \"digits\"\nimage = 32\nimages = 512\nheld_out = 64\nbatch = 32\nepochs = 3\n";
    bench.write("study.toml", study);
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(0);
    let run = "results/digits/runs/C1-r1";
    let server =
        Server::start(bench.command(&["serve", run, "--runtime", "engine", "--port", "0"]));
    // A digit of the held-out set as the training saw it.
    let request = data::DataRequest {
        dataset: "digits".to_owned(),
        data_dir: None,
        image: 32,
        images: Some(512),
        held_out: Some(64),
        seed: 1,
    };
    let held_out = data::load(&request).unwrap().held_out;
    let right = (0..held_out.len()).filter(|&place| {
        let picture = data::picture::Picture {
            width: 32,
            height: 32,
            channels: 1,
            pixels: held_out.image(place).to_vec(),
        };
        let body = data::picture::encode(&picture).unwrap();
        let probabilities = server.predict("/invocations", &body);
        let best = (0..10).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
        best == Some(usize::from(held_out.labels[place]))
    });
    let accuracy = right.count() as f64 / held_out.len() as f64;
    let answer = server.ask("POST /invocations HTTP/1.1", &picture(32));
    assert!(answer.get("weights").is_none(), "{answer}");
    assert!(!server.said.contains("random"), "{}", server.said);
    let record = bench.record("digits", "C1-r1");
    let told = record["metrics"]["accuracy_percent"]["value"]
        .as_f64()
        .unwrap()
        / 100.0;
    assert!(
        (accuracy - told).abs() < 0.02,
        "{accuracy} served, {told} at the end of training"
    );
    server.end();
}

#[test]
fn what_cannot_be_served_is_told() {
    let bench = Bench::new();
    bench.write("broken.onnx", "no model");
    let serve =
        |arguments: &[&str]| bench.bancada(&[&["serve", "--port", "0"], arguments].concat());
    serve(&["nowhere"])
        .ends_with(1)
        .says("there is no model at nowhere");
    serve(&["broken.onnx", "--runtime", "engine"])
        .ends_with(1)
        .says("not broken.onnx");
    serve(&["rede1", "rede1"])
        .ends_with(1)
        .says("two models are called `rede1`");
    serve(&["rede1", "--output", "scores"])
        .ends_with(2)
        .says("expected NAME=MEANING");
    serve(&["rede1", "--output", "scores=sums"])
        .ends_with(2)
        .says("`sums` is not raw, logits or probabilities");
    serve(&["rede1", "rede2", "--output", "y=raw"])
        .ends_with(2)
        .says("--output works with one model only");
    serve(&["rede1", "--output", "y=logits", "--runtime", "engine"])
        .ends_with(1)
        .says("rede1: it has no output `y`; its outputs are probabilities (FP32, any×10)");
    serve(&["broken.onnx", "--library", "none.so"])
        .ends_with(1)
        .says("cannot be loaded from none.so");
}

#[test]
fn an_image_is_made_of_programs_and_libraries() {
    let bench = Bench::new();
    let build = |more: &[&str]| {
        let all = [&["image", "build", "--name", "a:1", "--to", "image"], more].concat();
        bench.bancada(&all)
    };
    bench.write("server", "no program");
    bench.write("library", "no library");
    build(&["--server", "server", "--library", "library"])
        .ends_with(1)
        .says("server");
    assert!(!bench.path().join("image").exists());
    bench
        .bancada(&["image", "build", "--name", "a:1"])
        .ends_with(2);
    bench
        .bancada(&["image", "build", "--name", "A B"])
        .ends_with(2);
}

/// Where ONNX Runtime's library is found, it answers as the engine does, for every kind of network in the zoo.
#[test]
#[ignore = "needs ONNX Runtime: .ci/frameworks runs it"]
fn installed_onnx_runtime_answers_as_the_engine_does() {
    let bench = Bench::new();
    let serve = |network: &str, runtime: &str| {
        let mut command = bench.command(&[
            "serve",
            network,
            "--image",
            "64",
            "--classes",
            "10",
            "--port",
            "0",
        ]);
        command.args(["--runtime", runtime, "--channels", "3"]);
        with_own_cache(&mut command);
        command
    };
    for network in [
        "rede1",
        "lenet5",
        "keras-cifar",
        "alexnet",
        "googlenet",
        "mobilenet",
        "resnet18",
    ] {
        let body = picture(64);
        let [onnx, engine] =
            ["onnx", "engine"].map(|runtime| Server::start(serve(network, runtime)));
        let (onnx, engine) = (
            onnx.predict("/invocations", &body),
            engine.predict("/invocations", &body),
        );
        let largest = onnx
            .iter()
            .zip(&engine)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(largest < 1e-5, "{network} differs by {largest}");
        eprintln!("asked ONNX Runtime for {network}: within {largest:.1e}");
    }
}

/// A file tells what its outputs mean and that its weights are untrained, also to other servers.
#[test]
#[ignore = "needs ONNX Runtime: .ci/frameworks runs it"]
fn installed_onnx_runtime_serves_a_written_model_as_it_says() {
    let bench = Bench::new();
    let written = bench.bancada(&["network", "onnx", "lenet5", "--to", "net.onnx"]);
    written.ends_with(0);
    let serve = |more: &[&str]| {
        let mut command = bench.command(&["serve", "net.onnx", "--port", "0"]);
        with_own_cache(&mut command);
        command.args(more);
        command
    };
    let output = serve(&["--runtime", "onnx", "--prepare"]).output().unwrap();
    Ran::new(output).ends_with(0);
    let server = Server::start(serve(&[]));
    assert!(server.said.contains("net: its weights are random"));
    let answer = server.ask("POST /invocations HTTP/1.1", &picture(28));
    assert_eq!(answer["weights"], "untrained");
    assert_eq!(answer["probabilities"].as_array().unwrap().len(), 10);
    assert_eq!(answer["other_classes"]["count"], 5);
    assert_eq!(answer["outputs"][0]["name"], "logits");
    assert_eq!(answer["outputs"][0]["shape"], serde_json::json!([1, 10]));
    server.end();
    let server = Server::start(serve(&["--output", "logits=logits"]));
    let alone = server.ask("POST /invocations HTTP/1.1", &picture(28));
    assert!(alone.get("outputs").is_none(), "{alone}");
    let apart = |place: usize| {
        let [a, b] = [&answer, &alone].map(|one| one["probabilities"][place].as_f64().unwrap());
        (a - b).abs()
    };
    assert!((0..10).all(|place| apart(place) < 1e-6), "{answer} {alone}");
    server.end();
}
