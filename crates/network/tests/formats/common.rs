//! What the tests of binary formats share: a decoder of Protocol Buffers, and networks.

use network::{Graph, InputSpec, Tensor, Weights};

/// A message by its fields, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wire(Vec<(u32, Value)>);

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Int(u64),
    Four([u8; 4]),
    Bytes(Vec<u8>),
}

impl Wire {
    pub(crate) fn read(mut bytes: &[u8]) -> Wire {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let value = match tag & 7 {
                0 => Value::Int(varint(&mut bytes)),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (value, rest) = bytes.split_at(length);
                    bytes = rest;
                    Value::Bytes(value.to_vec())
                }
                5 => {
                    let (value, rest) = bytes.split_first_chunk::<4>().unwrap();
                    bytes = rest;
                    Value::Four(*value)
                }
                other => panic!("wire type {other}"),
            };
            fields.push(((tag >> 3) as u32, value));
        }
        Wire(fields)
    }

    fn of(&self, field: u32) -> impl Iterator<Item = &Value> {
        self.0
            .iter()
            .filter(move |(number, _)| *number == field)
            .map(|(_, value)| value)
    }

    pub(crate) fn ints(&self, field: u32) -> Vec<u64> {
        let int = |value: &Value| match value {
            Value::Int(int) => *int,
            other => panic!("field {field} is {other:?}"),
        };
        self.of(field).map(int).collect()
    }

    /// The only value of the field.
    pub(crate) fn int(&self, field: u32) -> u64 {
        let ints = self.ints(field);
        assert_eq!(ints.len(), 1, "field {field} of {self:?}");
        ints[0]
    }

    pub(crate) fn float(&self, field: u32) -> f32 {
        match self.of(field).collect::<Vec<_>>()[..] {
            [Value::Four(bytes)] => f32::from_le_bytes(*bytes),
            ref other => panic!("field {field} is {other:?}"),
        }
    }

    pub(crate) fn blobs(&self, field: u32) -> Vec<&[u8]> {
        let mut found = Vec::new();
        for value in self.of(field) {
            match value {
                Value::Bytes(bytes) => found.push(bytes.as_slice()),
                other => panic!("field {field} is {other:?}"),
            }
        }
        found
    }

    /// Checks the length and both ends of the numbers; millions of them would take long.
    pub(crate) fn check_floats(&self, field: u32, expected: &[f32]) {
        let blobs = self.blobs(field);
        assert_eq!(blobs.len(), 1, "field {field}");
        let (numbers, rest) = blobs[0].as_chunks::<4>();
        assert!(rest.is_empty());
        assert_eq!(numbers.len(), expected.len());
        let ends = (0..100).chain(numbers.len().saturating_sub(100)..numbers.len());
        for place in ends.filter(|&place| place < numbers.len()) {
            assert_eq!(f32::from_le_bytes(numbers[place]), expected[place]);
        }
    }

    pub(crate) fn texts(&self, field: u32) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        self.blobs(field).into_iter().map(text).collect()
    }

    pub(crate) fn text(&self, field: u32) -> String {
        let texts = self.texts(field);
        assert_eq!(texts.len(), 1, "field {field}: {texts:?}");
        texts.into_iter().next().unwrap()
    }

    pub(crate) fn messages(&self, field: u32) -> Vec<Wire> {
        self.blobs(field).into_iter().map(Wire::read).collect()
    }

    pub(crate) fn message(&self, field: u32) -> Wire {
        let messages = self.messages(field);
        assert_eq!(messages.len(), 1, "field {field}");
        messages.into_iter().next().unwrap()
    }

    pub(crate) fn has(&self, field: u32) -> bool {
        self.of(field).next().is_some()
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().expect("a varint is cut");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return value;
        }
    }
    panic!("a varint of more than ten bytes");
}

/// Numbers that tell tensors and places apart, cheaply.
pub(crate) fn some_weights(graph: &Graph) -> Weights {
    let parameters = graph.nodes.iter().flat_map(|node| &node.parameters);
    let tensor = |(index, parameter): (usize, &network::Parameter)| {
        let mut values = vec![0.0; parameter.elements() as usize];
        values[0] = 0.25;
        if let Some(last) = values.last_mut() {
            *last = index as f32;
        }
        Tensor {
            name: parameter.name.clone(),
            shape: parameter.shape.clone(),
            values,
        }
    };
    Weights {
        tensors: parameters.enumerate().map(tensor).collect(),
    }
}

/// A network of the zoo on the smallest usual image that it takes, its widest layers narrowed:
/// their millions of numbers are of no other kind.
pub(crate) fn zoo(name: &str) -> Graph {
    let text = network::find(name).unwrap().replace("o = 4096", "o = 64");
    let description = network::parse(&text).unwrap();
    let published = description.input.unwrap_or(InputSpec::square(1, 28, 10));
    let sides = [28, 32, 64, published.height];
    let made = sides.into_iter().find_map(|side| {
        let input = InputSpec::square(published.channels, side, 10);
        description.instantiate(input).ok()
    });
    made.unwrap_or_else(|| panic!("{name} fits no image"))
}

pub(crate) fn made(text: &str, input: InputSpec) -> Graph {
    let description = network::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    description.instantiate(input).unwrap()
}
