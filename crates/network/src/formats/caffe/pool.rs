//! Pools: as Caffe counts their windows, then cropped to those that the network has.

use crate::Op;

use super::names::CropNames;
use super::net::{Net, Placed};
use crate::formats::error::FormatError;

impl Net<'_> {
    pub(super) fn pool(&mut self, placed: &Placed<'_>) -> Result<(), FormatError> {
        let window = self.window(placed)?;
        let kind = match placed.layer.op {
            Op::MaxPool(_) => "MAX",
            _ => "AVE",
        };
        let crop = placed.names.crop.as_ref();
        let crop = crop.filter(|_| window.crop != [None; 2]);
        let (name, top) = match crop {
            Some(crop) => (crop.whole.as_str(), crop.whole.as_str()),
            None => (placed.names.layer.as_str(), placed.top),
        };
        self.text.message("layer", |layer| {
            layer.text("name", name).text("type", "Pooling");
            for bottom in &placed.bottoms {
                layer.text("bottom", bottom);
            }
            layer.text("top", top).message("pooling_param", |settings| {
                settings.field("pool", kind);
                window.write(settings);
            });
        });
        if let Some(crop) = crop {
            self.crop(placed, crop, window.crop);
        }
        Ok(())
    }

    /// The first rows and columns of a pool; the rest goes nowhere.
    fn crop(&mut self, placed: &Placed<'_>, names: &CropNames, [rows, columns]: [Option<u32>; 2]) {
        let last = (placed.names.layer.as_str(), placed.top);
        let between = match columns {
            Some(_) => (names.rows.as_str(), names.rows.as_str()),
            None => last,
        };
        if let Some(rows) = rows {
            self.slice(2, rows, &names.whole, [between.0, between.1, &names.below]);
        }
        if let Some(columns) = columns {
            let from = if rows.is_some() {
                between.1
            } else {
                &names.whole
            };
            self.slice(3, columns, from, [last.0, last.1, &names.right]);
        }
        self.text.message("layer", |layer| {
            layer.text("name", &names.silence).text("type", "Silence");
            for (cut, rest) in [(rows, &names.below), (columns, &names.right)] {
                if cut.is_some() {
                    layer.text("bottom", rest);
                }
            }
        });
    }

    /// What comes before `point` on an axis, and the rest.
    fn slice(&mut self, axis: u32, point: u32, bottom: &str, [name, top, rest]: [&str; 3]) {
        self.text.message("layer", |layer| {
            layer
                .text("name", name)
                .text("type", "Slice")
                .text("bottom", bottom)
                .text("top", top)
                .text("top", rest)
                .message("slice_param", |settings| {
                    settings.field("axis", axis).field("slice_point", point);
                });
        });
    }

    /// Caffe's gives one number a channel as an image of one pixel; Flatten makes it a vector.
    pub(super) fn global_average(&mut self, placed: &Placed<'_>) {
        let pooled = placed.names.other.as_deref().unwrap_or_default();
        self.text.message("layer", |layer| {
            layer.text("name", pooled).text("type", "Pooling");
            for bottom in &placed.bottoms {
                layer.text("bottom", bottom);
            }
            layer
                .text("top", pooled)
                .message("pooling_param", |settings| {
                    settings.field("pool", "AVE").field("global_pooling", true);
                });
        });
        self.plain(
            &Placed {
                bottoms: vec![pooled],
                ..*placed
            },
            "Flatten",
        );
    }
}
