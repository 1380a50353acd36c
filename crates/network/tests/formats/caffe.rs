//! Caffe's files, read back: the text against its schema, the weights by a decoder.

use std::collections::BTreeSet;

use model::Optimizer;
use network::formats::FormatError;
use network::formats::caffe::{
    Device, Files, Iterations, Test, TrainNet, Training, caffemodel, read_caffemodel,
    solver_prototxt, train_prototxt,
};
use network::{Graph, InputSpec};

use crate::common::{Wire, made, some_weights, zoo};
use crate::prototxt::{Message, read};

fn training() -> Training {
    Training {
        batch: 16,
        iterations: Iterations::of(1024, 16, 2).unwrap(),
        test: Test::of(100, 16),
        optimizer: Optimizer::Sgd {
            learning_rate: 0.01,
            momentum: 0.9,
        },
        device: Device::Cpu,
        seed: 7,
        files: Files {
            net: "train.prototxt".into(),
            train_list: "train.txt".into(),
            test_list: "held \"out\".txt".into(),
            images: "images/".into(),
            snapshot_prefix: "model".into(),
        },
        debug: false,
    }
}

fn net(graph: &Graph) -> Result<TrainNet, FormatError> {
    train_prototxt(graph, &training())
}

fn layers(graph: &Graph) -> Vec<Message> {
    let made = net(graph).unwrap_or_else(|e| panic!("{}: {e}", graph.name));
    let message = read(&made.text, "NetParameter");
    assert_eq!(message.text("name"), graph.name);
    message.messages("layer").into_iter().cloned().collect()
}

fn layer<'m>(layers: &'m [Message], name: &str) -> &'m Message {
    let found = layers.iter().find(|layer| layer.text("name") == name);
    found.unwrap_or_else(|| panic!("no layer `{name}`"))
}

#[test]
fn networks_of_the_zoo_are_caffe_networks_or_say_why_not() {
    for name in network::names() {
        let graph = zoo(name);
        // Strides of two with `same` padding on even sides pad only below and on the right.
        if name.starts_with("mobilenet") {
            let error = net(&graph).unwrap_err().to_string();
            assert!(error.contains("Caffe pads both sides equally"), "{error}");
            continue;
        }
        let layers = layers(&graph);
        check_blobs(&layers);
        let model = caffemodel(&graph, &some_weights(&graph)).unwrap();
        check_weights_fit(&layers, &Wire::read(&model));
    }
}

/// In each phase, every blob is there before it is used, and the data layers come once.
fn check_blobs(layers: &[Message]) {
    for phase in ["TRAIN", "TEST"] {
        let is_there = |layer: &&Message| {
            let rules = layer.messages("include");
            rules.is_empty() || rules.iter().any(|rule| rule.word("phase") == phase)
        };
        let mut blobs: BTreeSet<&str> = BTreeSet::new();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for layer in layers.iter().filter(is_there) {
            let name = layer.text("name");
            assert!(names.insert(name), "`{name}` twice");
            for bottom in layer.texts("bottom") {
                assert!(blobs.contains(bottom), "`{name}` wants `{bottom}`");
            }
            for top in layer.texts("top") {
                let in_place = layer.texts("bottom").contains(&top);
                assert!(blobs.insert(top) || in_place, "`{top}` twice");
            }
        }
        assert!(blobs.contains("loss"));
        assert_eq!(blobs.contains("accuracy"), phase == "TEST");
    }
}

/// Every layer with weights is in the text, and has as many blobs as Caffe gives it.
fn check_weights_fit(layers: &[Message], model: &Wire) {
    for stored in model.messages(100) {
        let written = layer(layers, &stored.text(1));
        assert_eq!(written.text("type"), stored.text(2));
        let blobs = stored.messages(7).len();
        let expected = match written.text("type") {
            "BatchNorm" => 3,
            "Scale" => 2,
            "Convolution" => 1 + has_bias(written.message("convolution_param")),
            "InnerProduct" => 1 + has_bias(written.message("inner_product_param")),
            other => panic!("{other} has no weights"),
        };
        assert_eq!(blobs, expected, "`{}`", stored.text(1));
    }
    let kinds = ["BatchNorm", "Scale", "Convolution", "InnerProduct"];
    let with_weights = layers.iter().filter(|l| kinds.contains(&l.text("type")));
    assert_eq!(with_weights.count(), model.messages(100).len());
}

fn has_bias(settings: &Message) -> usize {
    usize::from(settings.word("bias_term") == "true")
}

const ALL_KINDS: &str = r#"
name = "all"
layers = [
  { name = "loss", conv = { k = [3, 2], s = 2, p = [1, 0], o = 6, groups = 3, bias = false } },
  { name = "norm", batch-norm = { epsilon = 0.002, momentum = 0.25 } },
  "relu",
  { name = "lrn", lrn = { size = 3, alpha = 0.5, beta = 0.7, k = 2.0 } },
  { name = "side", conv = { k = 1, o = 6 } },
  { name = "sum", add = {}, from = ["previous", "lrn"] },
  { name = "after", relu = {} },
  { name = "both", concat = {}, from = ["after", "lrn"] },
  { name = "most", max-pool = { k = 3, s = 2, p = 1, ceil = true } },
  { name = "average", avg-pool = { k = 2, s = 1 } },
  { name = "mean", global-avg-pool = {} },
  { name = "none", dropout = { rate = 0.0 } },
  { name = "wide", dense = { o = 8 } },
  { name = "wide-relu", relu = {} },
  { name = "off", dropout = { rate = 0.5 } },
  { name = "last", dense = { o = "classes" } },
  "softmax",
]
"#;

fn all_kinds() -> Graph {
    made(ALL_KINDS, InputSpec::square(3, 14, 4))
}

#[test]
fn every_kind_of_layer_is_written() {
    let layers = layers(&all_kinds());
    check_blobs(&layers);
    let check = |name: &str, kind: &str, bottoms: &[&str], top: &str| {
        let layer = layer(&layers, name);
        assert_eq!(layer.text("type"), kind, "{name}");
        assert_eq!(layer.texts("bottom"), bottoms, "{name}");
        assert_eq!(layer.text("top"), top, "{name}");
    };
    // A layer that is called as one of Caffe's own gets another name.
    check("loss_", "Convolution", &["data"], "loss_");
    check("norm", "BatchNorm", &["loss_"], "loss_");
    check("norm.scale", "Scale", &["loss_"], "loss_");
    check("relu1", "ReLU", &["loss_"], "loss_");
    // Its gradient needs what it gave: nothing may be written over it.
    check("lrn", "LRN", &["loss_"], "lrn");
    check("sum", "Eltwise", &["side", "lrn"], "sum");
    check("after", "ReLU", &["sum"], "sum");
    check("both", "Concat", &["sum", "lrn"], "both");
    check("mean.pooled", "Pooling", &["average"], "mean.pooled");
    check("mean", "Flatten", &["mean.pooled"], "mean");
    check("wide", "InnerProduct", &["mean"], "wide");
    check("wide-relu", "ReLU", &["wide"], "wide");
    check("off", "Dropout", &["wide"], "wide");
    check("loss", "SoftmaxWithLoss", &["last", "label"], "loss");
    check("accuracy", "Accuracy", &["last", "label"], "accuracy");
    assert!(layers.iter().all(|layer| layer.text("name") != "none"));

    let conv = layer(&layers, "loss_").message("convolution_param");
    let sizes = [
        "kernel_h", "kernel_w", "stride_h", "pad_h", "pad_w", "group",
    ];
    let sizes = sizes.map(|name| conv.number(name));
    assert_eq!(sizes, [3.0, 2.0, 2.0, 1.0, 0.0, 3.0]);
    let norm = layer(&layers, "norm");
    let settings = norm.message("batch_norm_param");
    assert_eq!(settings.number("moving_average_fraction"), 0.75);
    assert_eq!(settings.number("eps"), 0.002);
    let fixed = norm.messages("param");
    assert!(fixed.len() == 3 && fixed.iter().all(|param| param.number("lr_mult") == 0.0));
    let lrn = layer(&layers, "lrn").message("lrn_param");
    let lrn = ["local_size", "alpha", "beta", "k"].map(|name| lrn.number(name));
    assert_eq!(lrn, [3.0, 0.5, 0.7, 2.0]);
    let most = layer(&layers, "most").message("pooling_param");
    assert_eq!(most.word("pool"), "MAX");
}

#[test]
fn images_are_read_in_their_order() {
    let made = net(&all_kinds()).unwrap();
    let message = read(&made.text, "NetParameter");
    let data: Vec<&Message> = message
        .messages("layer")
        .into_iter()
        .filter(|layer| layer.text("type") == "ImageData")
        .collect();
    let check = |layer: &Message, phase: &str, list: &str, batch: f64| {
        assert_eq!(layer.message("include").word("phase"), phase);
        let images = layer.message("image_data_param");
        assert_eq!(images.text("source"), list);
        assert_eq!(images.text("root_folder"), "images/");
        assert_eq!(images.number("batch_size"), batch);
        assert_eq!(images.word("shuffle"), "false");
        assert_eq!(images.word("is_color"), "true");
        let change = layer.message("transform_param");
        let pixel = |x: f64| (x - change.number("mean_value")) * change.number("scale");
        assert_eq!((pixel(0.0), pixel(255.0)), (-1.0, 1.0));
    };
    check(data[0], "TRAIN", "train.txt", 16.0);
    check(data[1], "TEST", "held \"out\".txt", 10.0);
}

/// Caffe 1.0 counts a last window that hangs over, and knows no setting against it.
#[test]
fn pools_that_do_not_hang_over_are_cropped() {
    let check = |pool: &str, input: InputSpec, expected: &[(&str, &str, &[&str], &[&str])]| {
        let text = format!(
            "name = \"n\"\nlayers = [{{ name = \"pool\", {pool} }}, \"flatten\", \
             {{ dense = {{ o = \"classes\" }} }}]"
        );
        let all = layers(&made(&text, input));
        check_blobs(&all);
        let found = all.iter().filter(|l| l.text("name").starts_with("pool"));
        let found: Vec<(&str, &str, Vec<&str>, Vec<&str>)> = found
            .map(|l| {
                (
                    l.text("name"),
                    l.text("type"),
                    l.texts("bottom"),
                    l.texts("top"),
                )
            })
            .collect();
        let expected: Vec<(&str, &str, Vec<&str>, Vec<&str>)> = expected
            .iter()
            .map(|(name, kind, bottoms, tops)| (*name, *kind, bottoms.to_vec(), tops.to_vec()))
            .collect();
        assert_eq!(found, expected, "{pool}");
        all
    };
    let square = InputSpec::square(3, 7, 2);
    // Both ways of counting agree.
    let plain: [(&str, &str, &[&str], &[&str]); 1] = [("pool", "Pooling", &["data"], &["pool"])];
    check("max-pool = { k = 3, s = 2 }", square, &plain);
    check("max-pool = { k = 2, s = 2, ceil = true }", square, &plain);
    let all = check(
        "max-pool = { k = 2, s = 2 }",
        square,
        &[
            ("pool.whole", "Pooling", &["data"], &["pool.whole"]),
            (
                "pool.rows",
                "Slice",
                &["pool.whole"],
                &["pool.rows", "pool.below"],
            ),
            ("pool", "Slice", &["pool.rows"], &["pool", "pool.right"]),
            (
                "pool.silence",
                "Silence",
                &["pool.below", "pool.right"],
                &[],
            ),
        ],
    );
    let slice = |name: &str| {
        let slice = layer(&all, name).message("slice_param");
        (slice.number("axis"), slice.number("slice_point"))
    };
    assert_eq!(
        (slice("pool.rows"), slice("pool")),
        ((2.0, 3.0), (3.0, 3.0))
    );
    let wide = InputSpec { width: 8, ..square };
    check(
        "avg-pool = { k = 2, s = 2 }",
        wide,
        &[
            ("pool.whole", "Pooling", &["data"], &["pool.whole"]),
            ("pool", "Slice", &["pool.whole"], &["pool", "pool.below"]),
            ("pool.silence", "Silence", &["pool.below"], &[]),
        ],
    );
    let tall = InputSpec {
        height: 8,
        ..square
    };
    check(
        "max-pool = { k = 2, s = 2 }",
        tall,
        &[
            ("pool.whole", "Pooling", &["data"], &["pool.whole"]),
            ("pool", "Slice", &["pool.whole"], &["pool", "pool.right"]),
            ("pool.silence", "Silence", &["pool.right"], &[]),
        ],
    );
}

/// As Caffe 1.0 refuses them: the reader knows its fields only.
#[test]
fn networks_that_needed_a_younger_caffe_are_of_caffe_1_0() {
    let rede2 = network::load("rede2").unwrap();
    let rede2 = rede2.instantiate(InputSpec::square(1, 28, 10)).unwrap();
    for graph in [rede2, zoo("keras-cifar"), zoo("resnet18")] {
        let layers = layers(&graph);
        check_blobs(&layers);
        assert!(
            layers.iter().any(|l| l.text("type") == "Silence"),
            "{} is cropped",
            graph.name
        );
        assert!(net(&graph).unwrap().notes.is_empty(), "{}", graph.name);
    }
}

#[test]
fn what_caffe_cannot_do_is_a_sentence() {
    let check = |layers: &str, input: InputSpec, expected: &str| {
        let text = format!(
            "name = \"n\"\nlayers = [{layers}, \"flatten\", {{ dense = {{ o = \"classes\" }} }}]"
        );
        let error = net(&made(&text, input)).unwrap_err().to_string();
        assert!(error.contains(expected), "{layers}: {error}");
    };
    let input = InputSpec::square(3, 8, 2);
    check(
        r#"{ name = "c", conv = { k = 3, s = 2, p = "same", o = 4 } }"#,
        input,
        "Caffe cannot express the layer `c`: its padding is 0 above, 1 below, 0 left and 1 right",
    );
    check(
        r#"{ name = "a", avg-pool = { k = 3, s = 2, p = 1 } }"#,
        input,
        "Caffe's average includes padding; use p = 0",
    );
    check(
        r#"{ name = "m", max-pool = { k = 2, s = 1, p = "same" } }"#,
        input,
        "`m`: its padding is 0 above, 1 below, 0 left and 1 right, which Caffe cannot",
    );
    check(
        r#"{ name = "b", batch-norm = { momentum = 0.0 } }"#,
        input,
        "Caffe's always does",
    );
    check(r#"{ lrn = { size = 4 } }"#, input, "has no centre");
    check(
        r#""relu""#,
        InputSpec::square(2, 8, 2),
        "only images of one or three channels",
    );
    let error = Iterations::of(10, 16, 1).unwrap_err().to_string();
    assert_eq!(
        error,
        "Caffe cannot train with these settings: its batches all have the same size, and 10 images do not fill a batch of 16: use a smaller batch"
    );
}

#[test]
fn solvers_say_what_is_asked() {
    let check = |training: &Training, expected: &[(&str, &str)], absent: &[&str]| {
        let message = read(&solver_prototxt(training), "SolverParameter");
        for (field, value) in expected {
            assert_eq!(message.word(field), *value, "{field}");
        }
        for field in absent {
            assert!(message.all(field).is_empty(), "{field}");
        }
        message
    };
    let sgd = [
        ("max_iter", "128"),
        ("test_iter", "10"),
        ("test_interval", "128"),
        ("test_initialization", "false"),
        ("base_lr", "0.01"),
        ("momentum", "0.9"),
        ("display", "1"),
        ("random_seed", "7"),
        ("solver_mode", "CPU"),
    ];
    let message = check(&training(), &sgd, &["device_id", "momentum2", "delta"]);
    assert_eq!(message.text("type"), "SGD");
    assert_eq!(message.text("lr_policy"), "fixed");
    assert_eq!(message.text("net"), "train.prototxt");
    let adam = Training {
        optimizer: Optimizer::Adam {
            learning_rate: 0.001,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        },
        device: Device::Gpu(1),
        seed: u64::MAX,
        test: None,
        ..training()
    };
    let expected = [
        ("base_lr", "0.001"),
        ("momentum", "0.9"),
        ("momentum2", "0.999"),
        ("delta", "0.00000001"),
        ("solver_mode", "GPU"),
        ("device_id", "1"),
        ("random_seed", "2147483647"),
    ];
    let message = check(
        &adam,
        &expected,
        &["test_iter", "test_interval", "debug_info"],
    );
    assert_eq!(message.text("type"), "Adam");
    let debug = Training {
        debug: true,
        ..training()
    };
    check(&debug, &[("debug_info", "true")], &[]);
    let left_out = Training {
        iterations: Iterations::of(1000, 16, 2).unwrap(),
        ..training()
    };
    let made = train_prototxt(&all_kinds(), &left_out).unwrap();
    assert!(
        made.notes
            .iter()
            .any(|note| note.contains("the last 8 images"))
    );
}

#[test]
fn weights_are_blobs_and_come_back() {
    let graph = all_kinds();
    let weights = network::initial_weights(&graph, 3);
    let mut weights = weights;
    for tensor in &mut weights.tensors {
        if tensor.name.ends_with("mean") || tensor.name.ends_with("variance") {
            tensor.values = (1..=tensor.values.len()).map(|n| n as f32 / 8.0).collect();
        }
    }
    let bytes = caffemodel(&graph, &weights).unwrap();
    let model = Wire::read(&bytes);
    assert_eq!(model.text(1), "all");
    let stored = model.messages(100);
    let norm = stored.iter().find(|layer| layer.text(1) == "norm").unwrap();
    let blobs = norm.messages(7);
    // Sums over four batches, as a momentum of a quarter keeps.
    let mean: Vec<f32> = weights
        .get("norm.mean")
        .unwrap()
        .values
        .iter()
        .map(|v| v * 4.0)
        .collect();
    blobs[0].check_floats(5, &mean);
    blobs[2].check_floats(5, &[4.0]);
    assert_eq!(blobs[2].message(7).ints(1), [1]);
    let conv = stored
        .iter()
        .find(|layer| layer.text(1) == "loss_")
        .unwrap();
    assert_eq!(conv.messages(7)[0].message(7).ints(1), [6, 1, 3, 2]);
    assert_eq!(read_caffemodel(&graph, &bytes).unwrap(), weights);
}

#[test]
fn a_damaged_caffemodel_is_a_sentence() {
    let graph = zoo("lenet5");
    let bytes = caffemodel(&graph, &some_weights(&graph)).unwrap();
    let check = |bytes: &[u8], expected: &str| {
        let error = read_caffemodel(&graph, bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&bytes[..bytes.len() - 3], "it is truncated");
    check(&[], "the values of `c1` are missing");
    let other = zoo("rede1");
    let other = caffemodel(&other, &some_weights(&other)).unwrap();
    check(&other, "the values of `c1` are missing");
    for cut in 0..200 {
        _ = read_caffemodel(&graph, &bytes[..cut]);
    }
}
