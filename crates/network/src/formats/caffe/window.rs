//! Windows of convolutions and pools: ours have padding on each side, Caffe's the same before and
//! after, and pools count the last window in their own way.

use crate::graph::{self, Padding};
use crate::{Graph, Node, Shape};

use super::FORMAT;
use super::text::Text;
use crate::formats::error::FormatError;

/// A window as Caffe moves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    kernel: [u32; 2],
    stride: [u32; 2],
    pad: [u32; 2],
    /// Pools only: rows and columns to cut the output to, where Caffe counts a last window that
    /// hangs over and the network does not.
    pub(super) crop: [Option<u32>; 2],
}

/// What our window does on one axis.
#[derive(Debug, Clone, Copy)]
struct Axis {
    size: u64,
    kernel: u64,
    stride: u64,
    before: u64,
    output: u64,
}

impl Axis {
    fn room(self) -> Option<u64> {
        (self.size + 2 * self.before).checked_sub(self.kernel)
    }

    fn floor(self) -> Option<u64> {
        Some(self.room()? / self.stride + 1)
    }

    /// A last window that hangs over counts too, unless it begins in the padding.
    fn ceil(self, is_padded: bool) -> Option<u64> {
        let output = self.room()?.div_ceil(self.stride) + 1;
        let begins_outside = (output - 1) * self.stride >= self.size + self.before;
        Some(output - u64::from(is_padded && begins_outside))
    }
}

/// What our window is, with the layer it belongs to.
pub(super) struct Ours<'g> {
    pub(super) graph: &'g Graph,
    pub(super) layer: &'g Node,
    pub(super) moves: graph::Window,
}

impl Ours<'_> {
    /// As many windows in the same places, however the padding after them is written.
    pub(super) fn convolution(&self) -> Result<Window, FormatError> {
        let axes = self.axes()?;
        if axes.iter().all(|axis| axis.floor() == Some(axis.output)) {
            return Ok(self.window([None; 2]));
        }
        Err(self.cannot(format!(
            "its padding is {}, but Caffe pads both sides equally; use the same padding on both sides, such as p = {}",
            self.sides(),
            self.moves.kernel[0] / 2
        )))
    }

    pub(super) fn max_pool(&self) -> Result<Window, FormatError> {
        self.pool()
    }

    pub(super) fn avg_pool(&self) -> Result<Window, FormatError> {
        if self.moves.padding.top != 0 || self.moves.padding.left != 0 {
            return Err(self.cannot(format!(
                "its padding is {}, but Caffe's average includes padding; use p = 0",
                self.sides()
            )));
        }
        self.pool()
    }

    /// Caffe 1.0 always counts a last window that hangs over (`round_mode` is younger): its windows
    /// begin where ours do, and those after our last are cut off.
    fn pool(&self) -> Result<Window, FormatError> {
        let axes = self.axes()?;
        let is_padded = axes.iter().any(|axis| axis.before > 0);
        let mut crop = [None; 2];
        for (axis, crop) in axes.iter().zip(&mut crop) {
            match axis.ceil(is_padded) {
                Some(counted) if counted == axis.output => {}
                Some(counted) if counted > axis.output => {
                    *crop = u32::try_from(axis.output).ok();
                }
                _ => {
                    return Err(self.cannot(format!(
                        "its padding is {}, which Caffe cannot reproduce; use the same padding on both sides",
                        self.sides()
                    )));
                }
            }
        }
        Ok(self.window(crop))
    }

    fn window(&self, crop: [Option<u32>; 2]) -> Window {
        Window {
            kernel: self.moves.kernel,
            stride: self.moves.stride,
            pad: [self.moves.padding.top, self.moves.padding.left],
            crop,
        }
    }

    fn axes(&self) -> Result<[Axis; 2], FormatError> {
        let input = self.layer.inputs.first();
        let input = input.and_then(|&place| self.graph.nodes.get(place));
        let (before, after) = match (input.map(|node| node.shape), self.layer.shape) {
            (Some(Shape::Image(before)), Shape::Image(after)) => {
                ([before.height, before.width], [after.height, after.width])
            }
            _ => {
                return Err(FormatError::graph(format!(
                    "`{}` does not make an image of an image",
                    self.layer.name
                )));
            }
        };
        if self.moves.stride.contains(&0) {
            return Err(FormatError::graph(format!(
                "`{}` does not move",
                self.layer.name
            )));
        }
        let padding = [self.moves.padding.top, self.moves.padding.left];
        Ok([0, 1].map(|axis| Axis {
            size: before[axis].into(),
            kernel: self.moves.kernel[axis].into(),
            stride: self.moves.stride[axis].into(),
            before: padding[axis].into(),
            output: after[axis].into(),
        }))
    }

    fn sides(&self) -> String {
        let Padding {
            top,
            bottom,
            left,
            right,
        } = self.moves.padding;
        format!("{top} above, {bottom} below, {left} left and {right} right")
    }

    fn cannot(&self, what: String) -> FormatError {
        FormatError::layer(FORMAT, self.layer, what)
    }
}

impl Window {
    pub(super) fn write(self, settings: &mut Text) {
        let pairs = [
            ("kernel", self.kernel),
            ("stride", self.stride),
            ("pad", self.pad),
        ];
        for (name, [vertical, horizontal]) in pairs {
            settings
                .field(&format!("{name}_h"), vertical)
                .field(&format!("{name}_w"), horizontal);
        }
    }
}
