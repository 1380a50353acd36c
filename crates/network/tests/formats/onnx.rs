//! The structure of ONNX models, read back by a decoder of its own. That a runtime computes from
//! them what the frameworks do is told in docs/networks.md.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Wire, made, some_weights, zoo};
use network::formats::FormatError;
use network::{Graph, Image, InputSpec, Node, Shape, Weights};

/// A node of the model, by name.
struct Call {
    operator: String,
    inputs: Vec<String>,
    output: String,
    ints: BTreeMap<String, Vec<u64>>,
    floats: BTreeMap<String, f32>,
}

struct Model {
    model: Wire,
    graph: Wire,
    calls: Vec<Call>,
}

fn read(graph: &Graph, weights: &Weights) -> Model {
    let bytes =
        network::formats::onnx(graph, weights).unwrap_or_else(|e| panic!("{}: {e}", graph.name));
    let model = Wire::read(&bytes);
    let body = model.message(7);
    let calls = body.messages(1).iter().map(call).collect();
    Model {
        model,
        graph: body,
        calls,
    }
}

fn call(node: &Wire) -> Call {
    let mut ints = BTreeMap::new();
    let mut floats = BTreeMap::new();
    for attribute in node.messages(5) {
        let name = attribute.text(1);
        match attribute.int(20) {
            1 => _ = floats.insert(name, attribute.float(2)),
            2 => _ = ints.insert(name, attribute.ints(3)),
            7 => _ = ints.insert(name, attribute.ints(8)),
            other => panic!("`{name}` has the type {other}"),
        }
    }
    Call {
        operator: node.text(4),
        inputs: node.texts(1),
        output: node.text(2),
        ints,
        floats,
    }
}

impl Model {
    fn call(&self, output: &str) -> &Call {
        let found = self.calls.iter().find(|call| call.output == output);
        found.unwrap_or_else(|| panic!("nothing gives `{output}`"))
    }
}

#[test]
fn every_network_of_the_zoo_becomes_a_model() {
    for name in network::names() {
        let graph = zoo(name);
        let weights = some_weights(&graph);
        let model = read(&graph, &weights);
        check_head(&graph, &model.model);
        check_values(&model);
        check_initializers(&weights, &model.graph);
        check_windows(&graph, &model);
        assert_eq!(model.call("probabilities").operator, "Softmax");
        assert_eq!(model.call("probabilities").inputs, ["logits"]);
    }
}

fn check_head(graph: &Graph, model: &Wire) {
    assert_eq!(model.int(1), 8, "IR version");
    assert_eq!(model.text(2), "bancada");
    assert!(model.text(6).starts_with(&graph.name));
    let operators = model.message(8);
    assert_eq!((operators.text(1).as_str(), operators.int(2)), ("", 17));
    let pairs: BTreeMap<String, String> = model
        .messages(14)
        .iter()
        .map(|pair| (pair.text(1), pair.text(2)))
        .collect();
    assert_eq!(pairs["network"], graph.name);
    let Shape::Image(Image {
        channels,
        height,
        width,
    }) = graph.nodes[0].shape
    else {
        panic!("the input is no image")
    };
    let body = model.message(7);
    let input = body.message(11);
    let outputs = body.messages(12);
    assert_eq!(
        shape(&input),
        ("input".into(), sides(&[channels, height, width]))
    );
    let classes = sides(&[graph.classes]);
    assert_eq!(
        shape(&outputs[0]),
        ("probabilities".into(), classes.clone())
    );
    assert_eq!(shape(&outputs[1]), ("logits".into(), classes));
}

fn sides(of_one: &[u32]) -> Vec<String> {
    let numbers = of_one.iter().map(ToString::to_string);
    ["batch".to_owned()].into_iter().chain(numbers).collect()
}

fn shape(value: &Wire) -> (String, Vec<String>) {
    let tensor = value.message(2).message(1);
    assert_eq!(tensor.int(1), 1, "float32");
    let side = |dimension: &Wire| match dimension.has(2) {
        true => dimension.text(2),
        false => dimension.int(1).to_string(),
    };
    let sides = tensor.message(2).messages(1).iter().map(side).collect();
    (value.text(1), sides)
}

/// Every value is computed once, and before it is used.
fn check_values(model: &Model) {
    let mut known: BTreeSet<String> = model.graph.messages(5).iter().map(|t| t.text(8)).collect();
    known.insert("input".to_owned());
    for call in &model.calls {
        for input in &call.inputs {
            assert!(known.contains(input), "`{}` wants `{input}`", call.output);
        }
        assert!(known.insert(call.output.clone()), "`{}` twice", call.output);
    }
}

fn check_initializers(weights: &Weights, body: &Wire) {
    let tensors = body.messages(5);
    assert_eq!(tensors.len(), weights.tensors.len());
    for (written, given) in tensors.iter().zip(&weights.tensors) {
        let shape: Vec<u64> = given.shape.iter().map(|&side| side.into()).collect();
        assert_eq!(written.text(8), given.name);
        assert_eq!(written.ints(1), shape);
        assert_eq!(written.int(2), 1, "float32");
        written.check_floats(9, &given.values);
    }
}

/// The rule of ONNX for the size of a window's output gives the shape of the graph.
fn check_windows(graph: &Graph, model: &Model) {
    let size = |node: &Node| match node.shape {
        Shape::Image(image) => [u64::from(image.height), u64::from(image.width)],
        Shape::Vector { .. } => panic!("`{}` gives a vector", node.name),
    };
    for node in &graph.nodes {
        if node.op.window().is_none() {
            continue;
        }
        let call = model.call(&node.name);
        let [kernel, strides, pads] =
            ["kernel_shape", "strides", "pads"].map(|name| &call.ints[name]);
        let before = size(&graph.nodes[node.inputs[0]]);
        let after = [0, 1].map(|axis| {
            (before[axis] + pads[axis] + pads[axis + 2] - kernel[axis]) / strides[axis] + 1
        });
        assert_eq!(after, size(node), "{}: `{}`", graph.name, node.name);
    }
}

const ALL_KINDS: &str = r#"
name = "all"
layers = [
  { name = "logits", conv = { k = [3, 2], s = 2, p = "same", o = 6, bias = false } },
  { name = "norm", batch-norm = { epsilon = 0.002, momentum = 0.3 } },
  "relu",
  { name = "lrn", lrn = { size = 3, alpha = 0.5, beta = 0.7, k = 2.0 } },
  { name = "side", conv = { k = 1, o = 6, groups = 2 } },
  { name = "sum", add = {}, from = ["previous", "lrn"] },
  { name = "both", concat = {}, from = ["sum", "lrn"] },
  { name = "average", avg-pool = { k = 3, s = 2, p = 1, ceil = true } },
  { name = "most", max-pool = { k = 2, s = 1, p = "same" } },
  { name = "mean", global-avg-pool = {} },
  { name = "last", dense = { o = "classes" } },
  { name = "off", dropout = { rate = 0.5 } },
  "softmax",
]
"#;

#[test]
fn every_kind_of_layer_has_its_operator_and_attributes() {
    let graph = made(
        ALL_KINDS,
        InputSpec {
            channels: 3,
            height: 12,
            width: 9,
            classes: 4,
        },
    );
    let model = read(&graph, &some_weights(&graph));
    check_values(&model);
    let check = |output: &str, operator: &str, inputs: &[&str], ints: &[(&str, &[u64])]| {
        let call = model.call(output);
        assert_eq!(call.operator, operator, "{output}");
        assert_eq!(call.inputs, inputs, "{output}");
        let expected: BTreeMap<String, Vec<u64>> = ints
            .iter()
            .map(|(name, values)| ((*name).to_owned(), values.to_vec()))
            .collect();
        assert_eq!(call.ints, expected, "{output}");
    };
    // A layer that is called as an output is called gets another name.
    let first: &[(&str, &[u64])] = &[
        ("kernel_shape", &[3, 2]),
        ("strides", &[2, 2]),
        ("pads", &[0, 0, 1, 1]),
        ("group", &[1]),
    ];
    check("logits_", "Conv", &["input", "logits.weight"], first);
    let gathered = [
        "logits_",
        "norm.gamma",
        "norm.beta",
        "norm.mean",
        "norm.variance",
    ];
    check("norm", "BatchNormalization", &gathered, &[]);
    let norm = &model.call("norm").floats;
    assert_eq!((norm["epsilon"], norm["momentum"]), (0.002, 0.7));
    check("lrn", "LRN", &["relu1"], &[("size", &[3])]);
    let lrn = &model.call("lrn").floats;
    assert_eq!((lrn["alpha"], lrn["beta"], lrn["bias"]), (0.5, 0.7, 2.0));
    check("sum", "Sum", &["side", "lrn"], &[]);
    check("both", "Concat", &["sum", "lrn"], &[("axis", &[1])]);
    let average: &[(&str, &[u64])] = &[
        ("kernel_shape", &[3, 3]),
        ("strides", &[2, 2]),
        ("pads", &[1, 1, 2, 1]),
        ("count_include_pad", &[0]),
    ];
    check("average", "AveragePool", &["both"], average);
    let most: &[(&str, &[u64])] = &[
        ("kernel_shape", &[2, 2]),
        ("strides", &[1, 1]),
        ("pads", &[0, 0, 1, 1]),
    ];
    check("most", "MaxPool", &["average"], most);
    check("mean.pooled", "GlobalAveragePool", &["most"], &[]);
    check("mean", "Flatten", &["mean.pooled"], &[("axis", &[1])]);
    let dense = ["mean", "last.weight", "last.bias"];
    check("last", "Gemm", &dense, &[("transB", &[1])]);
    // Dropout gives what it takes, so the answers need a name of their own.
    check("logits", "Identity", &["last"], &[]);
    check("probabilities", "Softmax", &["logits"], &[("axis", &[1])]);
    assert!(model.calls.iter().all(|call| call.operator != "Dropout"));
}

#[test]
fn what_cannot_be_written_is_a_sentence() {
    let even = r#"
        name = "even"
        layers = [{ name = "n", lrn = { size = 4 } }, "flatten", { dense = { o = "classes" } }]
    "#;
    let graph = made(even, InputSpec::square(3, 4, 2));
    let error = network::formats::onnx(&graph, &some_weights(&graph)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ONNX cannot express the layer `n`: its window of 4 channels has no centre; use an odd size"
    );

    let graph = zoo("lenet5");
    let mut weights = some_weights(&graph);
    weights.tensors[0].values.pop();
    let error = network::formats::onnx(&graph, &weights).unwrap_err();
    assert!(matches!(error, FormatError::Graph { .. }), "{error}");
    weights.tensors.remove(0);
    let error = network::formats::onnx(&graph, &weights).unwrap_err();
    assert!(error.to_string().contains("c1.weight"), "{error}");

    let mut graph = zoo("lenet5");
    let weights = some_weights(&graph);
    graph.nodes[3].inputs = vec![7];
    let error = network::formats::onnx(&graph, &weights).unwrap_err();
    assert!(error.to_string().contains("is a later layer"));
    graph.logits = 1000;
    assert!(network::formats::onnx(&graph, &weights).is_err());
    graph.nodes.clear();
    assert!(network::formats::onnx(&graph, &Weights::default()).is_err());
}

/// The numbers are zeros that nobody touches: they take no memory.
#[test]
fn what_is_too_large_for_the_format_is_a_sentence() {
    let text = r#"
        name = "huge"
        layers = ["flatten", { dense = { o = 200000 } }, { dense = { o = "classes" } }]
    "#;
    let graph = made(text, InputSpec::square(3, 32, 10));
    let error = network::formats::onnx(&graph, &some_weights(&graph)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ONNX files are limited to 2 GB, but this network's weights take 2.5 GB: use a smaller \
         image or narrower layers, or keep the safetensors file"
    );
}
