//! A window that moves over an image: how often it fits, and how much padding that takes.

use crate::description::PaddingRule;
use crate::graph::{Image, Padding, Shape, Window};
use crate::layer::too_large;
use crate::shapes::Refusal;

pub(crate) struct Moved {
    pub(crate) height: u32,
    pub(crate) width: u32,
    pub(crate) padding: Padding,
}

impl Moved {
    pub(crate) fn image(&self, channels: u32) -> Shape {
        Shape::Image(Image {
            channels,
            height: self.height,
            width: self.width,
        })
    }
}

struct Axis {
    output: u64,
    before: u64,
    after: u64,
}

impl Window<PaddingRule> {
    pub(crate) fn over(&self, image: Image) -> Result<Moved, Refusal> {
        let sides = match self.padding {
            PaddingRule::Explicit(p) | PaddingRule::Ceil(p) => {
                Some([(p.top, p.bottom), (p.left, p.right)])
            }
            PaddingRule::Same => None,
        };
        let ceil = matches!(self.padding, PaddingRule::Ceil(_));
        let axis = |index: usize, size: u32| {
            let (kernel, stride) = (self.kernel[index].into(), self.stride[index].into());
            match sides {
                Some(sides) => {
                    let (before, after) = sides[index];
                    let padded = Axis {
                        output: 0,
                        before: before.into(),
                        after: after.into(),
                    };
                    padded.slide(size.into(), kernel, stride, ceil)
                }
                None => Some(Axis::same(size.into(), kernel, stride)),
            }
        };
        match (axis(0, image.height), axis(1, image.width)) {
            (Some(vertical), Some(horizontal)) => moved(&vertical, &horizontal),
            _ => Err(self.too_small(image)),
        }
    }

    fn too_small(&self, image: Image) -> Refusal {
        let padding = match self.padding {
            PaddingRule::Explicit(padding) | PaddingRule::Ceil(padding) => padding,
            PaddingRule::Same => Padding::default(),
        };
        let least = |kernel: u32, before: u32, after: u32| {
            kernel.saturating_sub(before).saturating_sub(after).max(1)
        };
        let height = least(self.kernel[0], padding.top, padding.bottom);
        let width = least(self.kernel[1], padding.left, padding.right);
        Refusal {
            message: format!(
                "gets {}×{} but needs at least {height}×{width}",
                image.height, image.width
            ),
            hint: None,
            too_small: true,
        }
    }
}

fn moved(vertical: &Axis, horizontal: &Axis) -> Result<Moved, Refusal> {
    let narrow = |number: u64| u32::try_from(number).map_err(|_| too_large());
    Ok(Moved {
        height: narrow(vertical.output)?,
        width: narrow(horizontal.output)?,
        padding: Padding {
            top: narrow(vertical.before)?,
            bottom: narrow(vertical.after)?,
            left: narrow(horizontal.before)?,
            right: narrow(horizontal.after)?,
        },
    })
}

/// Every product here is about the padded size, below 2³⁴: nothing overflows.
impl Axis {
    fn same(size: u64, kernel: u64, stride: u64) -> Axis {
        let output = size.div_ceil(stride);
        let total = ((output - 1) * stride + kernel).saturating_sub(size);
        Axis {
            output,
            before: total / 2,
            after: total - total / 2,
        }
    }

    /// `None` if not even one window fits.
    fn slide(self, size: u64, kernel: u64, stride: u64, ceil: bool) -> Option<Axis> {
        let padded = size + self.before + self.after;
        let room = padded.checked_sub(kernel)?;
        if !ceil {
            return Some(Axis {
                output: room / stride + 1,
                ..self
            });
        }
        let mut output = room.div_ceil(stride) + 1;
        // A window that begins in the padding after the image would hold no pixel.
        if (output - 1) * stride >= size + self.before {
            output -= 1;
        }
        let hanging = ((output - 1) * stride + kernel).saturating_sub(padded);
        Some(Axis {
            output,
            after: self.after + hanging,
            ..self
        })
    }
}
