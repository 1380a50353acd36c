//! What a network file means: every block written out, every `from` resolved, no sizes yet.

use diagnostics::{Diagnostic, Problems, Span};
use serde::{Deserialize, Serialize};

use crate::error::ShapeProblem;
use crate::graph::{Graph, Op, Padding};

/// Reads a network file. All errors come together, in the order of the file.
///
/// A layer is a word, `"relu"`, or a table with its kind as key, `{ conv = { k = 3, p = 1, o = 32 } }`,
/// beside which `name`, `from` (names, `"input"`, `"previous"`) and `times` may stand. A
/// `[block.NAME]` with `needs`, `default` and `layers` makes a layer kind of its own: where a
/// setting in it is the name of a parameter in quotes, the value given by the use stands there.
///
/// ```
/// let text = r#"
/// name = "residual"
/// layers = [
///   { conv = { k = 3, p = 1, o = 16 } },
///   { around = { o = 16 }, times = 2 },
///   "global-avg-pool",
///   { dense = { o = "classes" } },
/// ]
///
/// [block.around]
/// needs = ["o"]
/// layers = [
///   { conv = { k = 3, p = 1, o = "o" } },
///   "relu",
///   { add = {}, from = ["previous", "input"] },
/// ]
/// "#;
/// let network = network::parse(text).unwrap();
/// let graph = network.instantiate(network::InputSpec::square(1, 28, 10)).unwrap();
/// assert_eq!(graph.parameters(), 160 + 2 * 2_320 + 170);
/// ```
pub fn parse(text: &str) -> Result<Description, Vec<Diagnostic>> {
    let problems = Problems::default();
    let typed = crate::typed::read(text, &problems);
    match crate::expand::expand(typed, &problems) {
        Some(description) if problems.is_empty() => Ok(description),
        _ => Err(problems.into_sorted()),
    }
}

/// A network before its input is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    pub name: String,
    /// Where the network comes from and how this description differs from it.
    pub about: Option<String>,
    /// What it was published for; the one to show when nothing else is asked.
    pub input: Option<InputSpec>,
    /// Every input comes before its users.
    pub layers: Vec<Layer>,
}

impl Description {
    /// Shapes, parameters and FLOPs for images of this size, or everything that does not fit.
    pub fn instantiate(&self, input: InputSpec) -> Result<Graph, Vec<ShapeProblem>> {
        crate::shapes::instantiate(self, input)
    }
}

/// What is given from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputSpec {
    pub channels: u32,
    pub height: u32,
    pub width: u32,
    pub classes: u32,
}

impl InputSpec {
    pub fn square(channels: u32, side: u32, classes: u32) -> Self {
        InputSpec {
            channels,
            height: side,
            width: side,
            classes,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Unique: `conv1`, or `inception2.reduce` for a layer of a block.
    pub name: String,
    pub op: LayerOp,
    /// 0 is the network's input, n is `layers[n - 1]`: the indices of the graph's nodes.
    pub inputs: Vec<usize>,
    /// The place in the file; of a layer of a block, its place in the block.
    pub span: Span,
}

/// What depends on the input is left open.
pub type LayerOp = Op<Count, PaddingRule>;

/// A number, or the name of one that comes with the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Fixed(u32),
    /// `"classes"`: the number of classes.
    Classes,
    /// `"channels"`: as many as arrive.
    Channels,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaddingRule {
    Explicit(Padding),
    /// The same, and a last window that hangs over the edge counts too.
    Ceil(Padding),
    /// `"same"`: the output is the input divided by the stride, rounded up; what cannot be shared
    /// evenly goes to the bottom and the right.
    Same,
}
