//! The networks of the zoo against what their authors and others have counted.

use network::{Description, Graph, InputSpec, Op, Shape};

fn described(name: &str) -> Description {
    network::load(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn graph(name: &str, input: InputSpec) -> Graph {
    let made = described(name).instantiate(input);
    made.unwrap_or_else(|problems| panic!("{name}: {problems:?}"))
}

fn published(name: &str) -> Graph {
    let input = described(name)
        .input
        .expect("the zoo says what its networks are for");
    graph(name, input)
}

#[test]
fn every_network_instantiates_as_published() {
    for name in network::names() {
        let graph = published(name);
        assert_eq!(graph.name, name);
        graph.check().unwrap();
        println!(
            "{name:12} parameters {:>11} kept {:>11} multiply-adds {:>14} flops {:>14} nodes {}",
            graph.parameters(),
            graph.kept(),
            graph.multiply_adds(),
            graph.flops(),
            graph.nodes.len()
        );
    }
}
