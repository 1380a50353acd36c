//! No file and no size makes the crate panic.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::collections::BTreeSet;

use diagnostics::{Source, Style};
use network::{Description, Graph, InputSpec, Op};
use proptest::prelude::*;

/// Reads, shows what is wrong, and tries what is right.
fn exercise(text: &str, input: InputSpec) {
    match network::parse(text) {
        Ok(network) => try_input(&network, input),
        Err(problems) => {
            assert!(!problems.is_empty());
            let name = "net.toml";
            Source { name, text }.render_all(&problems, Style::Plain);
        }
    }
}

fn try_input(network: &Description, input: InputSpec) {
    match network.instantiate(input) {
        Ok(graph) => {
            check_graph(&graph);
            graph.training_memory(u32::MAX, u32::MAX);
            let lines = network::render_summary(&graph).lines().count();
            assert_eq!(lines, graph.nodes.len() + 2);
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(!problem.to_string().is_empty());
            }
        }
    }
}

/// Names are unique, and every input comes before its users.
fn check_graph(graph: &Graph) {
    let names: BTreeSet<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names.len(), graph.nodes.len());
    for (index, node) in graph.nodes.iter().enumerate() {
        assert_eq!(index == 0, node.op == Op::Input);
        assert_eq!(index == 0, node.inputs.is_empty());
        assert!(node.inputs.iter().all(|&input| input < index));
    }
    assert!(graph.logits < graph.nodes.len());
}

fn zoo_text() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(network::names().collect::<Vec<_>>())
        .prop_map(|name| network::find(name).unwrap())
}

fn side() -> impl Strategy<Value = u32> {
    prop_oneof![
        1u32..300,
        any::<u32>(),
        Just(0),
        Just(1 << 24),
        Just(u32::MAX)
    ]
}

fn input() -> impl Strategy<Value = InputSpec> {
    (side(), side(), side(), side()).prop_map(|(channels, height, width, classes)| InputSpec {
        channels,
        height,
        width,
        classes,
    })
}

/// Pieces that look like a network file.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "name = \"n\"\n",
        "layers = [",
        "]",
        "{",
        "}",
        "conv",
        "relu",
        "\"relu\",",
        "max-pool",
        " = ",
        "{ k = 3, o = 8 }",
        "{ k = 2 }",
        "\"flatten\",",
        "dense",
        "{ o = \"classes\" }",
        "from",
        "times",
        "[\"previous\", \"input\"]",
        ",",
        "\n[block.b]\n",
        "needs = [\"o\"]\n",
        "default = { k = 1 }\n",
        "{ b = { o = 4 } },",
        "{ conv = { k = 3, p = 1, o = \"channels\" } },",
        "99999999999",
        "-1",
        "{ add = {}, from = [\"previous\", \"input\"] },",
        "{ b = {}, times = 3 },",
        "é",
        "\"",
        "#",
    ];
    proptest::sample::select(words.map(str::to_owned).to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        exercise(&text, InputSpec::square(3, 32, 10));
    }

    #[test]
    fn any_pieces(pieces in proptest::collection::vec(piece(), 0..40)) {
        exercise(&pieces.concat(), InputSpec::square(3, 32, 10));
    }

    #[test]
    fn any_layers(pieces in proptest::collection::vec(piece(), 0..12), input in input()) {
        let text = format!("name = \"n\"\nlayers = [{}]\n[block.b]\nneeds = [\"o\"]\nlayers = [\"relu\"]\n", pieces.concat());
        exercise(&text, input);
    }

    #[test]
    fn damaged_zoo(text in zoo_text(), at in any::<prop::sample::Index>(), length in 0usize..20, put in piece()) {
        let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
        let first = at.index(starts.len());
        let end = starts.get(first + length).copied().unwrap_or(text.len());
        let damaged = format!("{}{put}{}", &text[..starts[first]], &text[end..]);
        exercise(&damaged, InputSpec::square(3, 64, 10));
    }

    #[test]
    fn any_size(text in zoo_text(), input in input()) {
        try_input(&network::parse(text).unwrap(), input);
    }

    /// Every number of a window, with values where sums would overflow.
    #[test]
    fn any_window(
        kernel in side(), stride in side(), padding in side(), output in side(),
        ceil: bool, same: bool, input in input(),
    ) {
        let padding = if same { "\"same\"".to_owned() } else { padding.to_string() };
        let text = format!(
            "name = \"n\"\nlayers = [
                {{ conv = {{ k = {kernel}, s = {stride}, p = {padding}, o = {output} }} }},
                {{ avg-pool = {{ k = {kernel}, s = {stride}, p = {padding}, ceil = {ceil} }}, times = 3 }},
                \"global-avg-pool\", {{ dense = {{ o = \"classes\" }} }}]"
        );
        exercise(&text, input);
    }

    /// A window never stands on padding alone, and the graph's own padding gives its own shape.
    #[test]
    fn padding_and_shape_agree(
        kernel in 1u32..9, stride in 1u32..6, padding in 0u32..9, side in 1u32..60, ceil: bool,
    ) {
        let text = format!(
            "name = \"n\"\nlayers = [{{ max-pool = {{ k = {kernel}, s = {stride}, p = {padding}, ceil = {ceil} }} }}, \"global-avg-pool\"]"
        );
        let network = network::parse(&text).unwrap();
        if let Ok(graph) = network.instantiate(InputSpec::square(4, side, 4)) {
            let padding = graph.nodes[1].op.window().unwrap().padding;
            let network::Shape::Image(network::Image { height, .. }) = graph.nodes[1].shape else { panic!() };
            let padded = side + padding.top + padding.bottom;
            prop_assert_eq!(height, (padded - kernel) / stride + 1);
            let last = (height - 1) * stride;
            prop_assert!(last < side + padding.top);
        } else {
            prop_assert!(padding >= kernel || side + 2 * padding < kernel);
        }
    }
}
