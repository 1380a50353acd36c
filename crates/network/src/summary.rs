//! A network as a table for people.

use crate::graph::{Graph, Node, Op, Padding};

/// One layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    /// `conv k3 s1 p1`.
    pub layer: String,
    /// The layers it takes from, when that is not the one before.
    pub from: Vec<String>,
    /// `32×28×28`, or `128`.
    pub shape: String,
    pub parameters: u64,
    pub flops: u64,
}

pub fn summary(graph: &Graph) -> Vec<Row> {
    let row = |(index, node): (usize, &Node)| Row {
        name: node.name.clone(),
        layer: describe(&node.op),
        from: from(graph, index, node),
        shape: match node.shape {
            crate::Shape::Vector { features } => features.to_string(),
            image => image.to_string(),
        },
        parameters: node.trained(),
        flops: node.flops,
    };
    graph.nodes.iter().enumerate().map(row).collect()
}

/// The table as aligned text, with the sums below.
pub fn render_summary(graph: &Graph) -> String {
    let rows = summary(graph);
    let header = ["layer", "", "output", "parameters", "FLOPs", "from"].map(str::to_owned);
    let mut lines = vec![header];
    lines.extend(rows.iter().map(|row| {
        [
            row.name.clone(),
            row.layer.clone(),
            row.shape.clone(),
            grouped(row.parameters),
            grouped(row.flops),
            row.from.join(", "),
        ]
    }));
    let total = format!("{} layers", rows.len().saturating_sub(1));
    let sums = [grouped(graph.parameters()), grouped(graph.flops())];
    let [parameters, flops] = sums;
    lines.push([
        total,
        String::new(),
        String::new(),
        parameters,
        flops,
        String::new(),
    ]);
    align(&lines)
}

fn align(lines: &[[String; 6]]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut text = String::new();
    for [name, layer, shape, parameters, flops, from] in lines {
        let line = format!(
            "{name:<w0$}  {layer:<w1$}  {shape:>w2$}  {parameters:>w3$}  {flops:>w4$}  {from}",
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3],
            w4 = widths[4],
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn from(graph: &Graph, index: usize, node: &Node) -> Vec<String> {
    if node.inputs.iter().all(|&input| input + 1 == index) {
        return Vec::new();
    }
    let inputs = node
        .inputs
        .iter()
        .filter_map(|&input| graph.nodes.get(input));
    inputs.map(|input| input.name.clone()).collect()
}

fn describe(op: &Op) -> String {
    match op {
        Op::Input => "input".to_owned(),
        Op::Conv {
            kernel,
            stride,
            padding,
            groups,
            bias,
            ..
        } => {
            let groups = if *groups > 1 {
                format!(" groups {groups}")
            } else {
                String::new()
            };
            let bias = if *bias { "" } else { ", no bias" };
            format!("conv {}{groups}{bias}", window(*kernel, *stride, *padding))
        }
        Op::MaxPool {
            kernel,
            stride,
            padding,
        } => {
            format!("max-pool {}", window(*kernel, *stride, *padding))
        }
        Op::AvgPool {
            kernel,
            stride,
            padding,
        } => {
            format!("avg-pool {}", window(*kernel, *stride, *padding))
        }
        Op::BatchNorm { .. } => "batch-norm".to_owned(),
        Op::Relu => "relu".to_owned(),
        Op::GlobalAvgPool => "global-avg-pool".to_owned(),
        Op::Dense { bias: true, .. } => "dense".to_owned(),
        Op::Dense { bias: false, .. } => "dense, no bias".to_owned(),
        Op::Dropout { rate } => format!("dropout {rate}"),
        Op::Flatten => "flatten".to_owned(),
        Op::Add => "add".to_owned(),
        Op::Concat => "concat".to_owned(),
        Op::Lrn { size, .. } => format!("lrn {size}"),
        Op::Softmax => "softmax".to_owned(),
    }
}

/// `k3 s1 p1`; sides that differ are all given.
fn window(kernel: [u32; 2], stride: [u32; 2], padding: Padding) -> String {
    let pair = |[height, width]: [u32; 2]| match height == width {
        true => height.to_string(),
        false => format!("{height}×{width}"),
    };
    let Padding {
        top,
        bottom,
        left,
        right,
    } = padding;
    let padding = match [top, bottom, left, right] {
        [0, 0, 0, 0] => String::new(),
        [a, b, c, d] if [b, c, d] == [a; 3] => format!(" p{a}"),
        [a, b, c, d] => format!(" p{a},{b},{c},{d}"),
    };
    format!("k{} s{}{padding}", pair(kernel), pair(stride))
}

/// `1,199,882`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
