//! Small ONNX models, written field by field (onnx/onnx.proto of the ONNX project).

/// Element types of tensors.
pub(crate) const FLOAT: u64 = 1;
pub(crate) const INT64: u64 = 7;
pub(crate) const STRING: u64 = 8;
/// With the names of the Open Inference Protocol.
pub(crate) const KINDS: [(u64, &str); 12] = [
    (FLOAT, "FP32"),
    (2, "UINT8"),
    (3, "INT8"),
    (4, "UINT16"),
    (5, "INT16"),
    (6, "INT32"),
    (INT64, "INT64"),
    (9, "BOOL"),
    (10, "FP16"),
    (11, "FP64"),
    (12, "UINT32"),
    (13, "UINT64"),
];

/// An input or output: a name, an element type and sizes, 0 for any number of examples.
pub(crate) type Value<'a> = (&'a str, u64, &'a [u64]);

/// An operator with its inputs and outputs, and a number that it takes.
pub(crate) struct Node<'a> {
    pub(crate) operator: &'a str,
    pub(crate) inputs: &'a [&'a str],
    pub(crate) outputs: &'a [&'a str],
    pub(crate) attribute: Option<(&'a str, u64)>,
}

impl<'a> Node<'a> {
    pub(crate) fn new(operator: &'a str, inputs: &'a [&'a str], outputs: &'a [&'a str]) -> Self {
        Node {
            operator,
            inputs,
            outputs,
            attribute: None,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let attribute = self.attribute.map(|(name, number)| {
            const INT: u64 = 2;
            let about = [text(1, name), varint(3, number), varint(20, INT)].concat();
            bytes(5, &about)
        });
        let all = |number, names: &[&str]| -> Vec<u8> {
            names.iter().flat_map(|name| text(number, name)).collect()
        };
        [
            all(1, self.inputs),
            all(2, self.outputs),
            text(4, self.operator),
            attribute.unwrap_or_default(),
        ]
        .concat()
    }
}

pub(crate) fn model(nodes: &[Node<'_>], inputs: &[Value<'_>], outputs: &[Value<'_>]) -> Vec<u8> {
    let nodes = nodes.iter().flat_map(|node| bytes(1, &node.bytes()));
    let inputs = inputs.iter().flat_map(|input| bytes(11, &value(input)));
    let outputs = outputs.iter().flat_map(|output| bytes(12, &value(output)));
    let graph: Vec<u8> = nodes
        .chain(text(2, "graph"))
        .chain(inputs)
        .chain(outputs)
        .collect();
    let operators = [text(1, ""), varint(2, 17)].concat();
    [varint(1, 8), bytes(7, &graph), bytes(8, &operators)].concat()
}

fn value(&(name, kind, sizes): &Value<'_>) -> Vec<u8> {
    let size = |&size: &u64| match size {
        0 => bytes(1, &text(2, "examples")),
        size => bytes(1, &varint(1, size)),
    };
    let shape: Vec<u8> = sizes.iter().flat_map(size).collect();
    let tensor = [varint(1, kind), bytes(2, &shape)].concat();
    [text(1, name), bytes(2, &bytes(1, &tensor))].concat()
}

fn text(number: u64, text: &str) -> Vec<u8> {
    bytes(number, text.as_bytes())
}

fn bytes(number: u64, bytes: &[u8]) -> Vec<u8> {
    [
        &number_bytes(number << 3 | 2),
        &number_bytes(bytes.len() as u64),
        bytes,
    ]
    .concat()
}

fn varint(number: u64, value: u64) -> Vec<u8> {
    [number_bytes(number << 3), number_bytes(value)].concat()
}

fn number_bytes(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}
