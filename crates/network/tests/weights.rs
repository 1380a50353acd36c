//! Initial weights, and weights as bytes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use network::{Graph, InputSpec, Tensor, Weights, WeightsError, initial_weights};
use proptest::prelude::*;

fn graph(layers: &str) -> Graph {
    let network = network::parse(&format!("name = \"n\"\nlayers = [{layers}]")).unwrap();
    network.instantiate(InputSpec::square(1, 8, 4)).unwrap()
}

const SMALL: &str = r#"
  { name = "a", conv = { k = 3, o = 8 } }, { name = "n", batch-norm = {} }, "relu",
  "flatten", { name = "b", dense = { o = "classes" } }"#;

#[test]
fn every_parameter_gets_its_weights() {
    for name in ["rede1", "rede2", "keras-cifar", "mobilenet"] {
        let network = network::load(name).unwrap();
        let graph = network.instantiate(InputSpec::square(3, 32, 10)).unwrap();
        initial_weights(&graph, 1).check(&graph).unwrap();
    }
}

#[test]
fn weights_lie_within_their_bounds_and_fill_them() {
    let weights = initial_weights(&graph(SMALL), 3);
    let check = |name: &str, bound: f64| {
        let values = &weights.get(name).unwrap().values;
        let largest = values.iter().fold(0f32, |m, v| m.max(v.abs()));
        assert!(f64::from(largest) <= bound, "{name}: {largest}");
        assert!(f64::from(largest) > 0.9 * bound, "{name}: {largest}");
    };
    // He, through the batch-norm to the ReLU: nine inputs. Glorot: 288 inputs, 4 outputs.
    check("a.weight", (6.0f64 / 9.0).sqrt());
    check("b.weight", (6.0f64 / 292.0).sqrt());
    let same = |name: &str, value: f32| {
        let tensor = weights.get(name).unwrap();
        assert!(tensor.values.iter().all(|&v| v == value), "{name}");
    };
    same("a.bias", 0.0);
    same("b.bias", 0.0);
    same("n.gamma", 1.0);
    same("n.beta", 0.0);
    same("n.mean", 0.0);
    same("n.variance", 1.0);
}

#[test]
fn the_seed_decides() {
    let graph = graph(SMALL);
    assert_eq!(initial_weights(&graph, 7), initial_weights(&graph, 7));
    assert_ne!(initial_weights(&graph, 7), initial_weights(&graph, 8));
}

/// These numbers must not change with a machine or a version: results would no longer repeat.
#[test]
fn the_numbers_are_fixed() {
    let weights = initial_weights(&graph(SMALL), 2024);
    let bits: Vec<u32> = weights.tensors[0].values[..4]
        .iter()
        .map(|v| v.to_bits())
        .collect();
    assert_eq!(
        bits,
        [3_200_521_550, 1_061_703_917, 1_053_446_996, 3_194_550_461]
    );
}

#[test]
fn a_layer_more_leaves_the_others_alone() {
    let more = format!(r#"{{ name = "new", conv = {{ k = 1, o = 1 }} }}, "relu", {SMALL}"#);
    let [before, after] = [SMALL, &more].map(|layers| initial_weights(&graph(layers), 5));
    for name in ["a.weight", "b.weight"] {
        assert_eq!(before.get(name), after.get(name), "{name}");
    }
}

#[test]
fn weights_come_back_from_bytes() {
    let weights = initial_weights(&graph(SMALL), 1);
    assert_eq!(Weights::from_bytes(&weights.to_bytes()), Ok(weights));
    let none = Weights::default();
    assert_eq!(Weights::from_bytes(&none.to_bytes()), Ok(none));
}

/// A file laid out as the format's description shows it.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

#[test]
fn files_of_others_are_read() {
    let header = r#"{"__metadata__":{"format":"pt"},
        "z":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
        "a":{"dtype":"F32","shape":[],"data_offsets":[8,12]}}  "#;
    let data: Vec<u8> = [1.0f32, -2.5, 3.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let tensor = |name: &str, shape: &[u32], values: &[f32]| Tensor {
        name: name.to_owned(),
        shape: shape.to_vec(),
        values: values.to_vec(),
    };
    let expected = Weights {
        tensors: vec![tensor("z", &[2], &[1.0, -2.5]), tensor("a", &[], &[3.0])],
    };
    assert_eq!(Weights::from_bytes(&file(header, &data)), Ok(expected));
}

#[test]
fn files_that_are_not_whole_are_refused() {
    let check = |bytes: &[u8], expected: &str| {
        let error = Weights::from_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let entry = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"t":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#)
    };
    check(b"1234", "shorter than eight bytes");
    check(&u64::MAX.to_le_bytes(), "longer than the file");
    check(&file("[", b""), "its header is invalid");
    check(&file(&entry("F32", "[1]", "[0,4]"), b""), "beyond its end");
    check(&file(&entry("F32", "[1]", "[4,8]"), &[0; 8]), "begins at");
    check(
        &file(&entry("F32", "[1]", "[0,4]"), &[0; 8]),
        "follow the last",
    );
    check(
        &file(&entry("F32", "[2]", "[0,4]"), &[0; 4]),
        "its shape [2]",
    );
    check(
        &file(&entry("F32", "[1]", "[4,0]"), &[0; 4]),
        "its shape [1]",
    );
    check(
        &file(&entry("F16", "[2]", "[0,4]"), &[0; 4]),
        "has type F16",
    );
    let huge = "[4294967296,4294967296,4294967296]";
    check(&file(&entry("F32", huge, "[0,0]"), b""), "its shape");
    let zero = "[0,4294967296]";
    check(
        &file(&entry("F32", zero, "[0,0]"), b""),
        "too large for this machine",
    );
    check(&file(r#"{"t":3}"#, b""), "description of `t`");
}

#[test]
fn weights_of_another_network_are_refused() {
    let graph = graph(SMALL);
    let whole = initial_weights(&graph, 1);
    let check = |change: fn(&mut Weights), expected: WeightsError| {
        let mut weights = whole.clone();
        change(&mut weights);
        assert_eq!(weights.check(&graph), Err(expected));
    };
    check(
        |w| drop(w.tensors.remove(0)),
        WeightsError::Missing("a.weight".to_owned()),
    );
    check(
        |w| {
            w.tensors.push(Tensor {
                name: "q".to_owned(),
                shape: vec![],
                values: vec![0.0],
            })
        },
        WeightsError::Surplus("q".to_owned()),
    );
    check(
        |w| w.tensors[1].shape = vec![2, 4],
        WeightsError::Shape {
            name: "a.bias".to_owned(),
            expected: vec![8],
            got: vec![2, 4],
        },
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Weights::from_bytes(&bytes);
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(at in 0usize..600, byte: u8, cut in 0usize..2000) {
        let mut bytes = initial_weights(&graph(SMALL), 1).to_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len().saturating_sub(cut));
        let _ = Weights::from_bytes(&bytes);
    }

    /// Tensors without numbers lie in one place, so their order is not kept.
    #[test]
    fn any_names_and_values_come_back(
        names in proptest::collection::btree_set("\\PC{1,12}", 0..6),
        values in proptest::collection::vec(-1e30f32..1e30, 1..20),
    ) {
        let tensor = |name: String| Tensor {
            name,
            shape: vec![values.len() as u32, 1],
            values: values.clone(),
        };
        let weights = Weights { tensors: names.into_iter().map(tensor).collect() };
        let back = Weights::from_bytes(&weights.to_bytes()).unwrap();
        prop_assert_eq!(back, weights);
    }
}
