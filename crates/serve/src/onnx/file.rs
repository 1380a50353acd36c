//! What a runtime does not tell of a model's file: which outputs a softmax computes, and what its maker wrote into it.
//!
//! A model is a Protocol Buffers message (onnx/onnx.proto of the ONNX project). It is walked field by field, past
//! the weights, so that a mapped file of a gigabyte takes a few pages.

use std::collections::HashMap;

/// What was found in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnnxFile {
    /// Names.
    pub outputs: Vec<String>,
    /// The only output that is a row for each example and computed by a softmax over it.
    pub softmax: Option<String>,
    /// Bancada writes into its models where their weights come from.
    pub untrained: bool,
}

/// Key and value that mark untrained weights; `network::formats` writes them.
const WEIGHTS: &[u8] = b"bancada.weights";
const UNTRAINED: &[u8] = b"untrained";

mod model {
    pub(super) const GRAPH: u64 = 7;
    pub(super) const OPSET_IMPORT: u64 = 8;
    pub(super) const METADATA_PROPS: u64 = 14;
}
mod graph {
    pub(super) const NODE: u64 = 1;
    pub(super) const OUTPUT: u64 = 12;
}
mod node {
    pub(super) const INPUT: u64 = 1;
    pub(super) const OUTPUT: u64 = 2;
    pub(super) const OP_TYPE: u64 = 4;
    pub(super) const ATTRIBUTE: u64 = 5;
    pub(super) const DOMAIN: u64 = 7;
}
mod attribute {
    pub(super) const NAME: u64 = 1;
    pub(super) const I: u64 = 3;
}
mod value_type {
    pub(super) const TENSOR: u64 = 1;
    pub(super) const SHAPE: u64 = 2;
}
/// Key and value of metadata, domain and version of operators, name and type of outputs; a size is a FIRST of its
/// shape, and a number is a FIRST of its size.
const FIRST: u64 = 1;
const SECOND: u64 = 2;

/// From this operator set on a softmax is over one axis, the last by default; before, over all axes from the given
/// one on, the second by default.
const ONE_AXIS: u64 = 13;

/// Nothing of what is no model, or is another format.
pub(super) fn look(file: &[u8]) -> OnnxFile {
    let mut found = OnnxFile::default();
    let (mut body, mut operators) = (&[][..], ONE_AXIS);
    for field in Fields(file) {
        match (field.number, field.value) {
            (model::GRAPH, Value::Bytes(bytes)) => body = bytes,
            (model::OPSET_IMPORT, Value::Bytes(bytes)) => {
                let is_standard = is_standard(text(bytes, FIRST));
                if let (true, Some(version)) = (is_standard, number(bytes, SECOND)) {
                    operators = version;
                }
            }
            (model::METADATA_PROPS, Value::Bytes(bytes)) => {
                found.untrained |=
                    text(bytes, FIRST) == WEIGHTS && text(bytes, SECOND).starts_with(UNTRAINED);
            }
            _ => {}
        }
    }
    look_into(body, operators, &mut found);
    found
}

fn look_into(body: &[u8], operators: u64, found: &mut OnnxFile) {
    let mut makers: HashMap<&[u8], &[u8]> = HashMap::new();
    let mut outputs = Vec::new();
    for field in Fields(body) {
        match (field.number, field.value) {
            (graph::NODE, Value::Bytes(node)) => _ = makers.insert(text(node, node::OUTPUT), node),
            (graph::OUTPUT, Value::Bytes(output)) => outputs.push(output),
            _ => {}
        }
    }
    let maker = |name: &[u8]| match makers.get(name) {
        // Some exporters put it between.
        Some(node) if text(node, node::OP_TYPE) == b"Identity" => {
            makers.get(text(node, node::INPUT))
        }
        node => node,
    };
    let is_softmax = |output: &&&[u8]| {
        is_row(output) && maker(text(output, FIRST)).is_some_and(|node| is_softmax(node, operators))
    };
    let name = |output: &&[u8]| String::from_utf8_lossy(text(output, FIRST)).into_owned();
    let mut softmax = outputs.iter().filter(is_softmax);
    found.softmax = match (softmax.next(), softmax.next()) {
        (Some(only), None) => Some(name(only)),
        _ => None,
    };
    found.outputs = outputs.iter().map(name).collect();
}

/// Whether an output's shape is that of a row for each example: a softmax over the channels of a mask scores no
/// classes.
fn is_row(output: &[u8]) -> bool {
    let shape = [SECOND, value_type::TENSOR, value_type::SHAPE]
        .into_iter()
        .fold(output, text);
    let sizes: Vec<_> = Fields(shape)
        .filter_map(|field| match field.value {
            Value::Bytes(size) if field.number == FIRST => Some(number(size, FIRST)),
            _ => None,
        })
        .collect();
    matches!(&sizes[..], [_, _, rest @ ..] if rest.iter().all(|size| *size == Some(1)))
}

fn is_softmax(node: &[u8], operators: u64) -> bool {
    let attributes = Fields(node).filter(|field| field.number == node::ATTRIBUTE);
    let mut axes = attributes.filter_map(|field| match field.value {
        Value::Bytes(bytes) if text(bytes, attribute::NAME) == b"axis" => {
            Some(number(bytes, attribute::I).unwrap_or(0) as i64)
        }
        _ => None,
    });
    let default = if operators < ONE_AXIS { 1 } else { -1 };
    // The last of two: who scores classes has a row for each example.
    let is_over_classes = matches!(axes.next().unwrap_or(default), 1 | -1);
    text(node, node::OP_TYPE) == b"Softmax"
        && is_standard(text(node, node::DOMAIN))
        && is_over_classes
}

fn is_standard(domain: &[u8]) -> bool {
    matches!(domain, b"" | b"ai.onnx")
}

/// The first field with that number; empty if it is missing.
fn text(message: &[u8], number: u64) -> &[u8] {
    let mut fields = Fields(message).filter(|field| field.number == number);
    match fields.next().map(|field| field.value) {
        Some(Value::Bytes(bytes)) => bytes,
        _ => &[],
    }
}

fn number(message: &[u8], number: u64) -> Option<u64> {
    let mut fields = Fields(message).filter(|field| field.number == number);
    match fields.next()?.value {
        Value::Number(number) => Some(number),
        Value::Bytes(_) => None,
    }
}

struct Field<'m> {
    number: u64,
    value: Value<'m>,
}

enum Value<'m> {
    Number(u64),
    Bytes(&'m [u8]),
}

/// The fields of a message, until one cannot be read.
struct Fields<'m>(&'m [u8]);

impl<'m> Iterator for Fields<'m> {
    type Item = Field<'m>;

    fn next(&mut self) -> Option<Field<'m>> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Bytes(self.bytes(8)?),
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.bytes(length)?)
            }
            5 => Value::Bytes(self.bytes(4)?),
            _ => return None,
        };
        Some(Field {
            number: key >> 3,
            value,
        })
    }
}

impl<'m> Fields<'m> {
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..10 {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self, length: u64) -> Option<&'m [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
        [&[(number << 3 | 2) as u8, bytes.len() as u8], bytes].concat()
    }

    fn operator(kind: &str, input: &str, output: &str, axis: Option<u8>) -> Vec<u8> {
        let axis = axis.map(|axis| {
            let axis = [&field(attribute::NAME, b"axis")[..], &[3 << 3, axis]].concat();
            field(node::ATTRIBUTE, &axis)
        });
        let operator = [
            field(node::INPUT, input.as_bytes()),
            field(node::OUTPUT, output.as_bytes()),
            field(node::OP_TYPE, kind.as_bytes()),
            axis.unwrap_or_default(),
        ];
        field(graph::NODE, &operator.concat())
    }

    fn output(name: &str, sizes: &[u8]) -> Vec<u8> {
        let size = |&size: &u8| field(FIRST, &[1 << 3, size]);
        let shape: Vec<u8> = sizes.iter().flat_map(size).collect();
        let shape = field(value_type::TENSOR, &field(value_type::SHAPE, &shape));
        let about = [field(FIRST, name.as_bytes()), field(SECOND, &shape)].concat();
        field(graph::OUTPUT, &about)
    }

    fn file(operators: &[Vec<u8>], version: u8, outputs: &[Vec<u8>]) -> Vec<u8> {
        let body = [operators.concat(), outputs.concat()].concat();
        let set = [2 << 3, version];
        [field(model::GRAPH, &body), field(model::OPSET_IMPORT, &set)].concat()
    }

    #[test]
    fn the_output_of_a_softmax_is_found() {
        let check =
            |operators: &[Vec<u8>], version, outputs: &[Vec<u8>], expected: Option<&str>| {
                let found = look(&file(operators, version, outputs));
                assert_eq!(found.softmax.as_deref(), expected);
                assert_eq!(found.outputs.len(), outputs.len());
            };
        let softmax = |axis| operator("Softmax", "x", "y", axis);
        let [x, y, z] = ["x", "y", "z"].map(|name| output(name, &[1, 5]));
        let alone = std::slice::from_ref(&y);
        check(&[softmax(None)], 17, alone, Some("y"));
        check(&[softmax(Some(1))], 17, &[x.clone(), y.clone()], Some("y"));
        check(&[softmax(Some(2))], 17, alone, None);
        check(&[softmax(None)], 9, alone, Some("y"));
        check(&[softmax(Some(0))], 9, alone, None);
        check(&[softmax(None)], 17, &[x], None);
        let after = operator("Identity", "y", "z", None);
        check(
            &[softmax(None), after],
            17,
            std::slice::from_ref(&z),
            Some("z"),
        );
        check(&[operator("Sigmoid", "x", "y", None)], 17, alone, None);
        let other = operator("Softmax", "x", "z", None);
        check(&[softmax(None), other], 17, &[y, z], None);
        check(
            &[softmax(None)],
            17,
            &[output("y", &[1, 5, 1, 1])],
            Some("y"),
        );
        check(&[softmax(Some(1))], 17, &[output("y", &[1, 5, 8, 8])], None);
    }

    #[test]
    fn untrained_weights_are_marked() {
        let marked = |value: &[u8]| {
            let pair = [field(FIRST, WEIGHTS), field(SECOND, value)].concat();
            look(&field(model::METADATA_PROPS, &pair)).untrained
        };
        assert!(marked(b"untrained, drawn with seed 7"));
        assert!(!marked(b"trained"));
    }

    #[test]
    fn what_is_no_model_has_nothing() {
        let outputs = [output("y", &[1, 5])];
        let whole = file(&[operator("Softmax", "x", "y", None)], 17, &outputs);
        for end in 0..whole.len() {
            look(&whole[..end]);
        }
        assert_eq!(look(b"no model at all"), OnnxFile::default());
        assert_eq!(look(&[0xff; 100]), OnnxFile::default());
    }
}
