//! What Caffe logs beside the steps: values of every layer with `debug_info: true`, and complaints of
//! the library that reads its files.

use std::collections::BTreeMap;

use crate::Graph;

use super::model::stored;
use super::names::names;
use super::values::{BlobUse, Values};
use crate::formats::glog;

/// A value that `debug_info` logs, by our names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DebugValue<'n> {
    /// Mean of the absolute values of a layer's output.
    Layer { name: &'n str, mean_absolute: f64 },
    /// Mean of the absolute values of a trained parameter's gradient.
    Gradient { name: &'n str, mean_absolute: f64 },
}

/// Which of our layers and parameters Caffe's are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugNames {
    /// By the layer of Caffe that gives the output and the blob it gives it in.
    layers: BTreeMap<(String, String), String>,
    /// By the layer of Caffe and the number of the blob among its parameters.
    parameters: BTreeMap<(String, usize), String>,
}

impl DebugNames {
    pub fn of(graph: &Graph) -> Self {
        let names = names(graph);
        let values = Values::of(graph, &names);
        let written = graph.nodes.iter().zip(&names);
        let written = written.zip(values.blobs.iter().zip(&values.places));
        let layers = written
            .filter(|(_, (_, place))| **place != BlobUse::Passes)
            .map(|((node, names), (blob, _))| {
                // The last of the layers that one of ours becomes has its output.
                let last = match node.op {
                    crate::Op::BatchNorm { .. } => names.other.as_ref(),
                    _ => None,
                };
                let layer = last.unwrap_or(&names.layer).clone();
                ((layer, blob.clone()), node.name.clone())
            });
        let parameters = stored(graph).into_iter().flat_map(|stored| {
            let named = stored.parameters.into_iter().enumerate();
            named
                .map(|(number, ours)| ((stored.name.clone(), number), ours.to_owned()))
                .collect::<Vec<_>>()
        });
        DebugNames {
            layers: layers.collect(),
            parameters: parameters.collect(),
        }
    }

    /// `None` for all other lines.
    pub fn read(&self, line: &str) -> Option<DebugValue<'_>> {
        let message = glog::line(line)?.message.trim();
        if let Some(rest) = message.strip_prefix("[Forward] Layer ") {
            let (rest, value) = rest.rsplit_once(" data: ")?;
            let (layer, blob) = rest.rsplit_once(", top blob ")?;
            let name = self.layers.get(&(layer.to_owned(), blob.to_owned()))?;
            return Some(DebugValue::Layer {
                name,
                mean_absolute: value.parse().ok()?,
            });
        }
        let rest = message.strip_prefix("[Backward] Layer ")?;
        let (rest, value) = rest.rsplit_once(" diff: ")?;
        let (layer, number) = rest.rsplit_once(", param blob ")?;
        let key = (layer.to_owned(), number.parse().ok()?);
        Some(DebugValue::Gradient {
            name: self.parameters.get(&key)?,
            mean_absolute: value.parse().ok()?,
        })
    }
}

/// The message of `[libprotobuf ERROR google/protobuf/text_format.cc:307] message`: why a file cannot be
/// read. The line that Caffe then writes itself only says that it could not.
pub fn library_error(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("[libprotobuf ")?;
    let is_error = rest.starts_with("ERROR ") || rest.starts_with("FATAL ");
    let (_, message) = rest.split_once("] ")?;
    is_error.then(|| message.trim())
}

#[cfg(test)]
mod tests {
    use crate::InputSpec;

    use super::*;

    const NETWORK: &str = r#"
name = "n"
layers = [
  { name = "loss", conv = { k = 3, o = 6, bias = false } },
  { name = "norm", batch-norm = {} },
  "relu",
  { name = "pool", max-pool = { k = 2, s = 2 } },
  { name = "none", dropout = { rate = 0.0 } },
  { name = "mean", global-avg-pool = {} },
  { name = "last", dense = { o = "classes" } },
]
"#;

    #[test]
    fn values_are_read_by_our_names() {
        let description = crate::parse(NETWORK).unwrap();
        let graph = description.instantiate(InputSpec::square(3, 9, 4)).unwrap();
        let names = DebugNames::of(&graph);
        let check = |message: &str, expected: Option<(&str, &str, f64)>| {
            let line = format!("I0515 10:11:12.123456  4242 net.cpp:591]     {message}");
            let found = names.read(&line).map(|value| match value {
                DebugValue::Layer {
                    name,
                    mean_absolute,
                } => ("layer", name, mean_absolute),
                DebugValue::Gradient {
                    name,
                    mean_absolute,
                } => ("gradient", name, mean_absolute),
            });
            assert_eq!(found, expected, "{message}");
        };
        let layer = |name, value| Some(("layer", name, value));
        let gradient = |name, value| Some(("gradient", name, value));
        check(
            "[Forward] Layer loss_, top blob loss_ data: 0.123",
            layer("loss", 0.123),
        );
        // Of two layers that are one of ours, the last has its output.
        check("[Forward] Layer norm, top blob loss_ data: 0.8", None);
        check(
            "[Forward] Layer norm.scale, top blob loss_ data: 0.79788",
            layer("norm", 0.79788),
        );
        check(
            "[Forward] Layer relu1, top blob loss_ data: 1e-05",
            layer("relu1", 1e-5),
        );
        check(
            "[Forward] Layer pool.whole, top blob pool.whole data: 1",
            None,
        );
        check("[Forward] Layer pool, top blob pool.right data: 1", None);
        check(
            "[Forward] Layer pool, top blob pool data: 2",
            layer("pool", 2.0),
        );
        check(
            "[Forward] Layer mean.pooled, top blob mean.pooled data: 3",
            None,
        );
        check(
            "[Forward] Layer mean, top blob mean data: 3",
            layer("mean", 3.0),
        );
        check("[Forward] Layer loss_, param blob 0 data: 0.1", None);
        check("[Forward] Layer loss, top blob loss data: 2.3", None);
        check(
            "[Backward] Layer loss_, param blob 0 diff: 0.00123",
            gradient("loss.weight", 0.00123),
        );
        check(
            "[Backward] Layer norm.scale, param blob 1 diff: 0.5",
            gradient("norm.beta", 0.5),
        );
        check(
            "[Backward] Layer last, param blob 1 diff: 0.25",
            gradient("last.bias", 0.25),
        );
        check("[Backward] Layer last, param blob 2 diff: 0.25", None);
        check("[Backward] Layer last, bottom blob mean diff: 0.25", None);
        check("[Update] Layer last, param 0 data: 0.1; diff: 0.2", None);
        assert!(
            names
                .read("[Forward] Layer mean, top blob mean data: 3")
                .is_none()
        );
    }

    #[test]
    fn complaints_about_files_are_found() {
        let check = |line: &str, expected: Option<&str>| {
            assert_eq!(library_error(line), expected, "{line}");
        };
        check(
            "[libprotobuf ERROR google/protobuf/text_format.cc:307] Error parsing text-format \
             caffe.NetParameter: 63:16: Message type \"caffe.PoolingParameter\" has no field named \
             \"round_mode\".",
            Some(
                "Error parsing text-format caffe.NetParameter: 63:16: Message type \
                 \"caffe.PoolingParameter\" has no field named \"round_mode\".",
            ),
        );
        check(
            "[libprotobuf WARNING google/protobuf/io/coded_stream.cc:604] Reading dangerously large",
            None,
        );
        check("[libprotobuf ERROR", None);
        check("Error parsing text-format", None);
    }
}
