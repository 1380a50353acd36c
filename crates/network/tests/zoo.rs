//! The networks of the zoo against what their authors and others have counted.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking"
)]

use network::{Description, Graph, InputSpec, Node, Op, Padding, Shape};

fn described(name: &str) -> Description {
    network::load(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn graph(name: &str, input: InputSpec) -> Graph {
    let made = described(name).instantiate(input);
    made.unwrap_or_else(|problems| panic!("{name}: {problems:?}"))
}

/// On the input it was published for.
fn published(name: &str) -> Graph {
    let input = described(name).input;
    graph(name, input.expect("the zoo says what its networks are for"))
}

#[test]
fn every_network_hangs_together() {
    for name in network::names() {
        let graph = published(name);
        assert_eq!(graph.name, name);
        let features = graph.classes;
        assert_eq!(
            graph.nodes[graph.logits].shape,
            Shape::Vector { features },
            "{name}"
        );
        assert!(described(name).about.is_some(), "{name} says whence it is");
    }
}

#[test]
fn parameters_are_as_published() {
    let check = |name: &str, expected: u64| {
        assert_eq!(published(name).parameters(), expected, "{name}");
    };
    // LeCun et al. 1998 with C3 fully connected: 156 + 2416 + 48120 + 10164 + 850.
    check("lenet5", 61_706);
    // What Keras prints for mnist_cnn.py and cifar10_cnn.py.
    check("keras-mnist", 1_199_882);
    check("keras-cifar", 1_250_858);
    // Caffe's bvlc_alexnet and bvlc_googlenet (deploy), whose files hold 4 bytes a parameter.
    check("alexnet", 60_965_224);
    check("googlenet", 6_998_552);
    // torchvision and Keras agree.
    check("vgg16", 138_357_544);
    check("vgg19", 143_667_240);
    // Keras: "Trainable params".
    check("mobilenet", 4_231_976);
    // torchvision.
    check("resnet18", 11_689_512);
    check("resnet50", 25_557_032);
    // study B of docs/studies.md.
    check("vgg19-retina", 20_107_205);
}

#[test]
fn kept_numbers_hold_the_running_statistics_too() {
    let check = |name: &str, expected: u64| assert_eq!(published(name).kept(), expected, "{name}");
    // Keras: "Total params".
    check("mobilenet", 4_253_864);
    // study B of docs/studies.md.
    check("mobilenet-retina", 3_377_221);
    // 53,120 running means and variances in torchvision.
    check("resnet50", 25_557_032 + 53_120);
    check("vgg16", 138_357_544);
}

/// Of the convolutions and dense layers alone: what papers give.
fn multiply_adds(graph: &Graph) -> f64 {
    let of_node = |node: &Node| match node.op {
        Op::Conv { bias, .. } | Op::Dense { bias, .. } => {
            (node.flops - if bias { node.shape.elements() } else { 0 }) / 2
        }
        _ => 0,
    };
    graph.nodes.iter().map(of_node).sum::<u64>() as f64
}

#[test]
fn multiply_adds_are_as_published() {
    let check = |name: &str, expected: f64, tolerance: f64| {
        let got = multiply_adds(&published(name));
        let off = (got / expected - 1.0).abs();
        assert!(off <= tolerance, "{name}: {got} instead of {expected}");
    };
    // Published to the digits written here.
    check("vgg16", 15.47e9, 0.001);
    check("vgg19", 19.63e9, 0.001);
    check("resnet18", 1.814e9, 0.001);
    check("resnet50", 4.089e9, 0.001);
    // Howard et al. 2017, table 4: 569 million.
    check("mobilenet", 569e6, 0.001);
    // Often given as 724 million for the two-group network.
    check("alexnet", 724e6, 0.001);
    // Szegedy et al. 2015 say "1.5 billion"; others count 1.58.
    check("googlenet", 1.58e9, 0.005);
}

#[test]
fn flops_are_twice_the_multiply_adds_and_a_little() {
    for name in network::names() {
        let graph = published(name);
        let ratio = graph.flops() as f64 / multiply_adds(&graph);
        assert!((2.0..2.1).contains(&ratio), "{name}: {ratio}");
    }
}

fn check_shape(graph: &Graph, node: &str, expected: &str) {
    let found = graph.nodes.iter().find(|n| n.name == node);
    let found = found.unwrap_or_else(|| panic!("{} has no `{node}`", graph.name));
    assert_eq!(found.shape.to_string(), expected, "{} {node}", graph.name);
}

#[test]
fn known_layers_have_their_known_shapes() {
    let alexnet = published("alexnet");
    check_shape(&alexnet, "conv1", "96×55×55");
    check_shape(&alexnet, "max-pool3", "256×6×6");
    let googlenet = published("googlenet");
    check_shape(&googlenet, "max-pool1", "64×56×56");
    check_shape(&googlenet, "3a.concat", "256×28×28");
    check_shape(&googlenet, "4e.concat", "832×14×14");
    check_shape(&googlenet, "5b.concat", "1024×7×7");
    let mobilenet = published("mobilenet");
    check_shape(&mobilenet, "conv1", "32×112×112");
    check_shape(&mobilenet, "separable13.pointwise", "1024×7×7");
    check_shape(&published("resnet50"), "bottleneck12.add", "2048×7×7");
    check_shape(&published("vgg16"), "max-pool5", "512×7×7");
    check_shape(&published("keras-mnist"), "max-pool1", "64×12×12");
}

#[test]
fn padding_is_always_explicit() {
    let padding = |graph: &Graph, name: &str| {
        let node = graph.nodes.iter().find(|node| node.name == name).unwrap();
        node.op.window().expect(name).padding
    };
    // 112 pixels under a window of 3 by steps of 2: the last window hangs over by one.
    let hanging = Padding {
        bottom: 1,
        right: 1,
        ..Padding::default()
    };
    assert_eq!(padding(&published("googlenet"), "max-pool1"), hanging);
    // As Keras pads before a stride of 2 on an even side.
    assert_eq!(padding(&published("mobilenet"), "conv1"), hanging);
    // 227 pixels come out even.
    assert_eq!(
        padding(&published("alexnet"), "max-pool1"),
        Padding::default()
    );
}

#[test]
fn the_redes_work_on_every_size_of_the_studies() {
    for channels in [1, 3] {
        let mut before = 0;
        for side in [28, 32, 64] {
            let input = InputSpec::square(channels, side, 10);
            let [one, two] = ["rede1", "rede2"].map(|name| graph(name, input));
            assert!(two.nodes.len() > one.nodes.len(), "Rede 2 is the deeper");
            let ratio = two.flops() as f64 / one.flops() as f64;
            assert!((1.1..2.0).contains(&ratio), "{side} px: {ratio}");
            assert!(one.flops() > before);
            before = one.flops();
        }
    }
}

#[test]
fn a_graph_reads_back_from_json() {
    for name in network::names() {
        let graph = published(name);
        let text = serde_json::to_string(&graph).unwrap();
        let back: Graph = serde_json::from_str(&text).unwrap();
        assert_eq!(back, graph, "{name}");
    }
}

/// Adapters in Python read it.
#[test]
fn the_json_of_a_layer_is_flat() {
    let graph = published("rede1");
    let pool = graph.nodes.iter().find(|node| node.name == "max-pool1");
    let pool = serde_json::to_value(pool.expect("rede1 has a pool")).unwrap();
    let op = serde_json::json!({
        "kind": "max-pool", "kernel": [2, 2], "stride": [2, 2],
        "padding": { "top": 0, "bottom": 0, "left": 0, "right": 0 },
    });
    assert_eq!(pool["op"], op);
    let shape = serde_json::json!({ "channels": 16, "height": 16, "width": 16 });
    assert_eq!(pool["shape"], shape);
}

#[test]
fn memory_of_training_grows_with_the_batch_and_the_optimizer() {
    let graph = published("rede1");
    let one = graph.training_memory(1, 2);
    let many = graph.training_memory(128, 2);
    assert_eq!(one.weights_bytes, 4 * graph.parameters());
    assert_eq!(one.gradients_bytes, 4 * graph.parameters());
    assert_eq!(one.optimizer_bytes, 8 * graph.parameters());
    assert_eq!(many.activations_bytes, 128 * one.activations_bytes);
    // By hand, for one image: the input; two ReLUs (16×32×32, 32×16×16), which the pools take;
    // the pools' outputs (16×16×16, 32×8×8) and their places; the last ReLU.
    let by_hand = 1024 + 16384 + 8192 + 2 * (4096 + 2048) + 64;
    assert_eq!(one.activations_bytes, 4 * by_hand);
    // Around the first ReLU: its input and output, and their gradients.
    assert_eq!(one.working_bytes, 4 * 4 * 16384);
    let parts = 4 * (4 * graph.parameters() + by_hand + 4 * 16384);
    assert_eq!(one.total_bytes(), parts);
}

#[test]
fn a_summary_is_a_table() {
    let graph = graph("rede1", InputSpec::square(1, 28, 10));
    let expected = "\
layer                        output  parameters      FLOPs  from
input      input            1×28×28           0          0
conv1      conv k3 s1 p1   16×28×28         160    238,336
";
    let text = network::render_summary(&graph);
    let head: String = text.split_inclusive('\n').take(3).collect();
    assert_eq!(head, expected);
    let googlenet = network::render_summary(&published("googlenet"));
    assert!(googlenet.contains("3a.1x1.relu, 3a.3x3.relu, 3a.5x5.relu, 3a.pool.relu"));
    assert!(googlenet.lines().last().unwrap().contains("6,998,552"));
}

#[test]
fn an_unknown_name_is_told_with_what_was_meant() {
    let error = network::load("redee1").unwrap_err().to_string();
    let expected = "unknown network `redee1`; did you mean `rede1`? (known: rede1, rede2, lenet5, ";
    assert!(error.starts_with(expected), "{error}");
    assert!(network::find("rede1").is_some());
    assert!(network::find("bert").is_none());
}
