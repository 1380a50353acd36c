//! Caffe without Caffe: a script that takes its arguments, reads its solver, and logs as it does.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::common::{Bench, Ran};

/// Fails where what Caffe reads is not there; then goes on as each test wants.
const HEAD: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "caffe version 1.0.0"; exit 0; fi
[ "$1" = train ] || exit 11
for a in "$@"; do
  case "$a" in --solver=*) solver=${a#--solver=} ;; --weights=*) weights=${a#--weights=} ;; esac
done
of() { sed -n "s/^$1: \"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" "$solver"; }
max=$(of max_iter) prefix=$(of snapshot_prefix) net=$(of net)
test -s "$weights" || { echo "no weights" >&2; exit 12; }
scratch=$(dirname "$solver")
grep -q SoftmaxWithLoss "$net" || exit 13
log() { echo "I0515 10:11:12.123456  4242 $1] $2" >&2; }
"#;

const TRAINS: &str = r#"
echo "$*" > "$HERE/arguments"
head -n 1 "$scratch/train.txt" > "$HERE/first"
wc -l < "$scratch/train.txt" > "$HERE/lines"
cp "$scratch/images/$(cut -d' ' -f1 "$HERE/first")" "$HERE/first.pnm" || exit 14
echo "$OMP_NUM_THREADS" > "$HERE/threads"
log caffe.cpp:217 "Using CPU"
echo "max_iter: $max" >&2
log caffe.cpp:251 "Starting Optimization"
log solver.cpp:279 "Solving rede1"
i=0
while [ $i -lt $max ]; do
  log solver.cpp:239 "Iteration $i (4 iter/s, 0.25s/1 iters), loss = 1.$i"
  log solver.cpp:258 "    Train net output #0: loss = 1.$i (* 1 = 1.$i loss)"
  i=$((i + 1))
done
log solver.cpp:464 "Snapshotting to binary proto file ${prefix}_iter_$max.caffemodel"
cp "$weights" "${prefix}_iter_$max.caffemodel"
: > "${prefix}_iter_$max.solverstate"
log solver.cpp:327 "Iteration $max, loss = 0.5"
log solver.cpp:347 "Iteration $max, Testing net (#0)"
log solver.cpp:414 "    Test net output #0: accuracy = 0.75"
log solver.cpp:414 "    Test net output #1: loss = 0.6 (* 1 = 0.6 loss)"
log solver.cpp:332 "Optimization Done."
log caffe.cpp:254 "Optimization Done."
"#;

const FULL: &str = r#"
log caffe.cpp:251 "Starting Optimization"
echo "F0506 16:29:05.468179 19928 syncedmem.cpp:71] Check failed: error == cudaSuccess (2 vs. 0)  out of memory" >&2
echo "*** Check failure stack trace: ***" >&2
kill -ABRT $$
"#;

const REFUSES: &str = r#"
echo "F0506 16:29:05.468179 19928 common.cpp:66] Cannot use GPU in CPU-only Caffe: check mode." >&2
kill -ABRT $$
"#;

/// Ends only when it is told to.
const HANGS: &str = r#"
echo $$ > "$HERE/pid"
log caffe.cpp:251 "Starting Optimization"
log solver.cpp:239 "Iteration 0 (0 iter/s, 0.25s/1 iters), loss = 1"
trap 'echo told > "$HERE/ended"; exit 0' TERM
while :; do sleep 0.05; done
"#;

struct Caffe {
    bench: Bench,
}

impl Caffe {
    fn new(script: &str, workload: &str) -> Self {
        let bench = Bench::new();
        let here = format!("HERE='{}'\n", bench.path().display());
        let path = bench.write("my-caffe", &format!("{HEAD}{here}{script}"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let study = format!(
            "[study]\nname = \"c\"\nrepetitions = 1\nseed = 5\n\n[factors]\nframework = [\"caffe\"]\n\n\
             [workload]\nimages = 36\nheld_out = 20\nepochs = 2\nbatch = 8\nthreads = 1\n{workload}\n\n\
             [measure]\ninterval = \"50ms\"\ntimeout = \"10s\"\ngrace = \"2s\"\n"
        );
        bench.write("study.toml", &study);
        Caffe { bench }
    }

    fn run(&self) -> Ran {
        let mut command = self.bench.command(&["run", "study.toml", "--no-pilot"]);
        command.env("BANCADA_CAFFE", self.bench.path().join("my-caffe"));
        Ran::new(command.output().unwrap())
    }

    fn record(&self) -> serde_json::Value {
        self.bench.record("c", "C1-r1")
    }

    fn folder(&self) -> PathBuf {
        self.bench.path().join("results/c/runs/C1-r1")
    }

    fn said(&self, name: &str) -> String {
        let text = fs::read_to_string(self.bench.path().join(name)).unwrap();
        text.trim().to_owned()
    }
}

#[test]
fn caffe_trains_from_the_same_description_images_and_weights() {
    let caffe = Caffe::new(TRAINS, "network = \"rede1\"\nimage = 28");
    caffe.run().ends_with(0);
    let record = caffe.record();
    assert_eq!(record["outcome"]["status"], "ok", "{record:#}");
    assert_eq!(record["framework"]["name"], "caffe");
    assert_eq!(record["framework"]["version"], "1.0.0");
    // 36 images fill four batches of eight; the rest is left out, and the log says so.
    let log = fs::read_to_string(caffe.folder().join("events.jsonl")).unwrap();
    assert!(log.contains("the last 4 images of every epoch"), "{log}");
    let check = |metric: &str, expected: f64| {
        assert_eq!(record["metrics"][metric]["value"], expected, "{metric}");
    };
    check("accuracy_percent", 75.0);
    check("step_seconds", 0.25);
    check("epoch_seconds", 1.0);
    let losses: Vec<f64> = record["epochs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|epoch| epoch["loss"].as_f64().unwrap())
        .collect();
    assert_eq!(losses, [1.15, 1.55]);
    let phases: Vec<&str> = record["phases"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|phase| phase["name"].as_str())
        .collect();
    let expected = [
        "startup",
        "load-data",
        "start",
        "train",
        "save",
        "verify",
        "shutdown",
    ];
    assert_eq!(phases, expected);
    // What Caffe was given.
    assert_eq!(caffe.said("lines"), "64");
    assert_eq!(caffe.said("threads"), "1");
    let picture = fs::read(caffe.bench.path().join("first.pnm")).unwrap();
    assert!(picture.starts_with(b"P5\n28 28\n255\n"));
    assert_eq!(picture.len(), 13 + 28 * 28);
    let order = data_order();
    assert_eq!(caffe.said("first").split(' ').next(), Some(order.as_str()));
    check_kept(&caffe.folder());
}

/// The first image of the first epoch for the run's seed: every framework begins with it.
fn data_order() -> String {
    let first = data::epoch_order(5, 1, 36)[0];
    format!("train-{first}.pnm")
}

/// The model in all its formats stays, and the two texts that say what was trained.
fn check_kept(folder: &Path) {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    assert_eq!(
        names(&folder.join("caffe")),
        ["solver.prototxt", "train.prototxt"]
    );
    for name in ["model.caffemodel", "model.safetensors", "model.onnx"] {
        assert!(folder.join(name).exists(), "{:?}", names(folder));
    }
    let kept = fs::read(folder.join("model.safetensors")).unwrap();
    let weights = network::Weights::from_bytes(&kept).unwrap();
    let description = network::load("rede1").unwrap();
    let input = network::InputSpec::square(1, 28, 10);
    let graph = description.instantiate(input).unwrap();
    // The script saves what it was given: the weights that all frameworks begin with.
    let initial = network::initial_weights(&graph, 5);
    assert!(weights == initial, "not the initial weights");
}

#[test]
fn caffe_that_finds_no_memory_is_a_result() {
    let caffe = Caffe::new(FULL, "network = \"rede1\"");
    caffe.run().ends_with(0);
    let record = caffe.record();
    assert_eq!(record["outcome"]["status"], "out-of-memory", "{record:#}");
}

#[test]
fn caffe_that_gives_up_says_why() {
    let caffe = Caffe::new(REFUSES, "network = \"rede1\"");
    caffe.run().ends_with(5);
    let record = caffe.record();
    assert_eq!(record["outcome"]["status"], "failed");
    let detail = record["outcome"]["detail"].as_str().unwrap();
    assert!(
        detail.contains("error: caffe failed: Cannot use GPU in CPU-only Caffe"),
        "{detail}"
    );
}

#[test]
fn caffe_ends_with_its_run() {
    let caffe = Caffe::new(HANGS, "network = \"rede1\"");
    caffe.run().ends_with(0);
    assert_eq!(caffe.record()["outcome"]["status"], "timed-out");
    assert_eq!(caffe.said("ended"), "told");
    let pid = caffe.said("pid");
    assert!(!Path::new("/proc").join(pid).exists(), "Caffe is left");
    assert!(!caffe.folder().join("caffe/images").exists());
}

#[test]
fn what_caffe_cannot_do_is_a_sentence() {
    let check = |workload: &str, expected: &str| {
        let caffe = Caffe::new(TRAINS, workload);
        let ran = caffe.run();
        let record = match ran.code {
            5 => caffe.record().to_string(),
            _ => ran.err,
        };
        assert!(record.contains(expected), "{workload}: {record}");
    };
    check(
        "network = \"mobilenet\"\nimage = 32",
        "Caffe cannot express the layer `conv1`: its padding is 0 above, 1 below",
    );
    check(
        "network = \"rede1\"\nprecision = \"mixed\"",
        "contradicts level `framework = caffe`: it computes in 32 bits",
    );
    check(
        "network = \"rede1\"\ndevice = \"cuda:0,cuda:1\"",
        "its image layer would give every worker the same images",
    );
}

#[test]
fn without_caffe_the_run_says_what_to_do() {
    let caffe = Caffe::new(TRAINS, "network = \"rede1\"");
    let mut command = caffe.bench.command(&["run", "study.toml", "--no-pilot"]);
    command.env_remove("BANCADA_CAFFE").env("PATH", "/nowhere");
    Ran::new(command.output().unwrap())
        .ends_with(1)
        .says("no package index provides Caffe: build it, and put the program `caffe` on PATH or set BANCADA_CAFFE");
    assert!(caffe.bench.bundles("c").is_empty(), "nothing ran");
}

#[test]
fn a_caffe_run_that_is_killed_leaves_no_images() {
    let caffe = Caffe::new("kill -KILL $PPID\n", "network = \"rede1\"");
    caffe.run().ends_with(5);
    assert_eq!(caffe.record()["outcome"]["signal"], 9);
    let folder = caffe.folder().join("caffe");
    let mut left: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["solver.prototxt", "train.prototxt"]);
}

/// Logs what `debug_info` makes Caffe log, the values taken from a file of the test.
const DEBUGS: &str = r#"
grep -q '^debug_info: true' "$solver" || exit 15
log caffe.cpp:251 "Starting Optimization"
while read -r kind layer blob value; do
  case "$kind" in
  top) log net.cpp:591 "    [Forward] Layer $layer, top blob $blob data: $value" ;;
  gradient) log net.cpp:620 "    [Backward] Layer $layer, param blob $blob diff: $value" ;;
  loss) log solver.cpp:239 "Iteration $layer (4 iter/s, 0.25s/1 iters), loss = $value" ;;
  last) log solver.cpp:327 "Iteration $layer, loss = $value" ;;
  esac
done < "$HERE/values"
log solver.cpp:332 "Optimization Done."
"#;

/// What the embedded engine says of the same question, written as Caffe's own values.
fn values(engine: &serde_json::Value) -> String {
    let means = &engine["mean_absolutes"];
    let digits = |value: &serde_json::Value| format!("{:.6e}", value.as_f64().unwrap());
    let mut text = String::new();
    let mut blob = "data".to_owned();
    for layer in means["layers"].as_array().unwrap() {
        let name = layer["layer"].as_str().unwrap();
        // ReLUs write over what they get.
        if !name.starts_with("relu") {
            blob = name.to_owned();
        }
        text += &format!("top {name} {blob} {}\n", digits(&layer["value"]));
    }
    for (name, value) in means["gradients"].as_object().unwrap() {
        let (layer, kind) = name.rsplit_once('.').unwrap();
        let blob = usize::from(kind == "bias");
        text += &format!("gradient {layer} {blob} {}\n", digits(value));
    }
    let losses = engine["losses"].as_array().unwrap();
    for (step, loss) in losses.iter().enumerate() {
        text += &format!("loss {step} - {}\n", digits(loss));
    }
    text + &format!("last {} - {}\n", losses.len(), digits(&engine["last_loss"]))
}

#[test]
fn verify_compares_caffe_by_means_of_absolute_values() {
    let caffe = Caffe::new(DEBUGS, "network = \"rede1\"");
    let verify = |arguments: &[&str]| {
        let mut command = caffe
            .bench
            .command(&["verify", "rede1", "--image", "28", "--json"]);
        command.args(["--channels", "1", "--classes", "10", "--steps", "2"]);
        command.args(arguments);
        command.env("BANCADA_CAFFE", caffe.bench.path().join("my-caffe"));
        Ran::new(command.output().unwrap())
    };
    let answers = |ran: &Ran| -> serde_json::Value { serde_json::from_str(&ran.out).unwrap() };
    let alone = verify(&["--framework", "engine"]).ends_with(0);
    let engine = answers(&alone)["answers"][0]["report"].clone();
    caffe.bench.write("values", &values(&engine));
    // Asked without being named: the machine has it.
    let same = verify(&[]).ends_with(0);
    let found = &answers(&same)["answers"][1];
    assert_eq!(found["framework"], "caffe", "{found:#}");
    assert_eq!(found["differs_at"], serde_json::Value::Null, "{found:#}");
    assert_eq!(found["report"]["parameters"], engine["parameters"]);
    let layers = engine["mean_absolutes"]["layers"].as_array().unwrap().len();
    let seen = &found["report"]["mean_absolutes"]["layers"];
    assert_eq!(seen.as_array().unwrap().len(), layers, "{seen:#}");

    let check = |from: &str, to: &str, expected: &str| {
        let text = values(&engine);
        let line = text.lines().find(|line| line.starts_with(from)).unwrap();
        caffe.bench.write("values", &text.replace(line, to));
        let ran = verify(&["--framework", "caffe"]).ends_with(5);
        let found = answers(&ran)["answers"][1].clone();
        assert_eq!(found["differs_at"], expected, "{found:#}");
    };
    check("top conv1", "top conv1 conv1 9", "conv1");
    check("loss 0", "loss 0 - 9", "the loss");
    check("last", "last 2 - nan", "the optimiser's steps");
    check(
        "gradient conv1 0",
        "gradient conv1 0 9",
        "the gradient of conv1.weight",
    );
    check("gradient conv1 1", "top x x 1", "the number of parameters");
}

#[test]
fn verify_leaves_caffe_out_where_it_has_no_layer() {
    let caffe = Caffe::new(DEBUGS, "network = \"mobilenet\"\nimage = 32");
    let mut command = caffe.bench.command(&["verify", "--study", "study.toml"]);
    command.env("BANCADA_CAFFE", caffe.bench.path().join("my-caffe"));
    Ran::new(command.output().unwrap())
        .ends_with(0)
        .says("caffe is skipped: Caffe cannot express the layer `conv1`: its padding is");
}

/// A file that Caffe cannot read: the reason stands in a line of another library.
const MISREADS: &str = r#"
echo '[libprotobuf ERROR google/protobuf/text_format.cc:307] Error parsing text-format caffe.NetParameter: 63:16: Message type "caffe.PoolingParameter" has no field named "round_mode".' >&2
echo "F0506 16:29:05.468179 19928 upgrade_proto.cpp:90] Check failed: ReadProtoFromTextFile(param_file, param) Failed to parse NetParameter file: train.prototxt" >&2
kill -ABRT $$
"#;

#[test]
fn the_true_cause_of_a_file_that_cannot_be_read_is_shown() {
    let caffe = Caffe::new(MISREADS, "network = \"rede1\"");
    caffe.run().ends_with(5);
    let record = caffe.record();
    let detail = record["outcome"]["detail"].as_str().unwrap();
    assert!(
        detail.contains("has no field named \"round_mode\". (Check failed: ReadProto"),
        "{detail}"
    );
}

#[test]
fn a_caffe_without_opencv_says_what_to_build() {
    let script = "echo 'F0506 16:29:05.468179 1 layer_factory.hpp:81] Check failed: registry.count(type) == 1 \
                  (0 vs. 1) Unknown layer type: ImageData (known types: AbsVal, Accuracy)' >&2\nkill -ABRT $$\n";
    let caffe = Caffe::new(script, "network = \"rede1\"");
    caffe.run().ends_with(5);
    let record = caffe.record();
    let detail = record["outcome"]["detail"].as_str().unwrap();
    assert!(
        detail.contains("Unknown layer type: ImageData; this Caffe was built without OpenCV"),
        "{detail}"
    );
    let mut doctor = caffe.bench.command(&["doctor", "caffe"]);
    doctor.env("BANCADA_CAFFE", caffe.bench.path().join("my-caffe"));
    Ran::new(doctor.output().unwrap())
        .ends_with(1)
        .says("a training step fails: caffe failed")
        .says("do: this Caffe was built without OpenCV");
}

#[test]
fn caffe_without_memory_for_a_product_is_out_of_memory() {
    let script = "echo 'OpenBLAS: malloc failed in gemm_driver' >&2\nexit 1\n";
    let caffe = Caffe::new(script, "network = \"rede1\"");
    caffe.run().ends_with(0);
    assert_eq!(caffe.record()["outcome"]["status"], "out-of-memory");
}

/// Caffe takes a comma in `--weights` for the end of a name.
#[test]
fn names_that_caffe_gets_have_no_folders() {
    let caffe = Caffe::new(TRAINS, "network = \"rede1\"\nimage = 28");
    let mut command = caffe.bench.command(&["run", "study.toml", "--no-pilot"]);
    command
        .args(["--out", "one,two"])
        .env("BANCADA_CAFFE", "./my-caffe");
    Ran::new(command.output().unwrap()).ends_with(0);
    assert_eq!(
        caffe.said("arguments"),
        "train --solver=solver.prototxt --weights=initial.caffemodel"
    );
    let folder = caffe.bench.path().join("one,two/runs/C1-r1");
    assert!(folder.join("model.caffemodel").exists());
    for name in ["train.prototxt", "solver.prototxt"] {
        let text = fs::read_to_string(folder.join("caffe").join(name)).unwrap();
        let absolute = text.lines().find(|line| line.contains(": \"/"));
        assert_eq!(absolute, None, "{name}");
    }
}
