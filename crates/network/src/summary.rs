//! A network as a table for people.

use diagnostics::screen::grouped;

use crate::graph::{Graph, Node, Op, Padding};

/// The table as aligned text, with the sums below.
pub fn render_summary(graph: &Graph) -> String {
    let header = ["layer", "", "output", "parameters", "FLOPs", "from"].map(str::to_owned);
    let mut lines = vec![header];
    lines.extend(graph.nodes.iter().enumerate().map(|(index, node)| {
        let shape = match node.shape {
            crate::Shape::Vector { features } => features.to_string(),
            image => image.to_string(),
        };
        [
            node.name.clone(),
            describe(&node.op),
            shape,
            grouped(node.trained()),
            grouped(node.flops),
            from(graph, index, node),
        ]
    }));
    let total = format!("{} layers", graph.nodes.len().saturating_sub(1));
    let nothing = String::new;
    let (parameters, flops) = (grouped(graph.parameters()), grouped(graph.flops()));
    lines.push([total, nothing(), nothing(), parameters, flops, nothing()]);
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

fn from(graph: &Graph, index: usize, node: &Node) -> String {
    if node.inputs.iter().all(|&input| input + 1 == index) {
        return String::new();
    }
    let inputs = node
        .inputs
        .iter()
        .filter_map(|&input| graph.nodes.get(input));
    let names: Vec<&str> = inputs.map(|input| input.name.as_str()).collect();
    names.join(", ")
}

fn describe(op: &Op) -> String {
    match op {
        Op::Input => "input".to_owned(),
        Op::Conv { groups, bias, .. } => {
            let groups = match groups {
                0 | 1 => String::new(),
                _ => format!(" groups {groups}"),
            };
            let bias = if *bias { "" } else { ", no bias" };
            format!("conv {}{groups}{bias}", window(op))
        }
        Op::MaxPool(_) => format!("max-pool {}", window(op)),
        Op::AvgPool(_) => format!("avg-pool {}", window(op)),
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
fn window(op: &Op) -> String {
    let Some(window) = op.window() else {
        return String::new();
    };
    let pair = |[height, width]: [u32; 2]| match height == width {
        true => height.to_string(),
        false => format!("{height}×{width}"),
    };
    let Padding {
        top,
        bottom,
        left,
        right,
    } = window.padding;
    let padding = match [top, bottom, left, right] {
        [0, 0, 0, 0] => String::new(),
        [a, b, c, d] if [b, c, d] == [a; 3] => format!(" p{a}"),
        [a, b, c, d] => format!(" p{a},{b},{c},{d}"),
    };
    format!("k{} s{}{padding}", pair(window.kernel), pair(window.stride))
}
