//! The network's text file, for training and for testing.

use crate::{Graph, Image, Node, Op, Shape};

use super::FORMAT;
use super::names::{ACCURACY, DATA, LABEL, LOSS, Names, names};
use super::plan::{Test, Training, settings};
use super::text::Text;
use super::values::{BlobUse, Values};
use super::window::{Ours, Window};
use crate::formats::error::FormatError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainNet {
    pub text: String,
    /// What a user should know before starting: sentences.
    pub notes: Vec<String>,
}

/// Every layer of the network between layers that read the images, in the order of their lists,
/// and the loss; where there are held-out images also the share of right answers.
pub fn train_prototxt(graph: &Graph, training: &Training) -> Result<TrainNet, FormatError> {
    let names = names(graph);
    let values = Values::of(graph, &names);
    let mut net = Net {
        graph,
        text: Text::about(&format!("{} for Caffe, written by bancada.", graph.name)),
    };
    net.text.text("name", &graph.name);
    net.images(training)?;
    let layers = graph.nodes.get(..=graph.logits);
    let layers =
        layers.ok_or_else(|| FormatError::graph("its logits are not one of its layers"))?;
    for (place, layer) in layers.iter().enumerate() {
        if values.places[place] != BlobUse::Passes {
            let placed = Placed::of(layer, place, &names, &values)?;
            net.layer(&placed)?;
        }
    }
    let logits = values.blobs.last().cloned().unwrap_or_default();
    net.answers(&logits, training.test);
    Ok(TrainNet {
        notes: notes(training),
        text: net.text.finish(),
    })
}

pub(super) struct Net<'g> {
    graph: &'g Graph,
    pub(super) text: Text,
}

/// One of our layers with its names in Caffe.
pub(super) struct Placed<'g> {
    pub(super) layer: &'g Node,
    pub(super) names: &'g Names,
    pub(super) bottoms: Vec<&'g str>,
    pub(super) top: &'g str,
}

impl<'g> Placed<'g> {
    fn of(
        layer: &'g Node,
        place: usize,
        names: &'g [Names],
        values: &'g Values,
    ) -> Result<Self, FormatError> {
        let damaged =
            || FormatError::graph(format!("the input of `{}` is a later layer", layer.name));
        let before = &values.blobs[..place];
        let blob = |&input: &usize| before.get(input).map(String::as_str);
        let bottoms: Option<Vec<&str>> = layer.inputs.iter().map(blob).collect();
        Ok(Placed {
            layer,
            names: names.get(place).ok_or_else(damaged)?,
            bottoms: bottoms.filter(|all| !all.is_empty()).ok_or_else(damaged)?,
            top: &values.blobs[place],
        })
    }
}

impl Net<'_> {
    fn images(&mut self, training: &Training) -> Result<(), FormatError> {
        let is_color = match self.graph.nodes.first().map(|node| node.shape) {
            Some(Shape::Image(Image { channels: 1, .. })) => false,
            Some(Shape::Image(Image { channels: 3, .. })) => true,
            _ => {
                return Err(settings(
                    "its image layer reads only images of one or three channels".to_owned(),
                ));
            }
        };
        let files = &training.files;
        let test = training
            .test
            .map(|test| (&files.test_list, test.batch, "TEST"));
        for (list, batch, phase) in [(&files.train_list, training.batch, "TRAIN")]
            .into_iter()
            .chain(test)
        {
            self.text.message("layer", |layer| {
                layer
                    .text("name", DATA)
                    .text("type", "ImageData")
                    .text("top", DATA)
                    .text("top", LABEL)
                    .message("include", |rule| _ = rule.field("phase", phase))
                    .message("transform_param", |change| {
                        // As everywhere: from −1, black, to 1, white.
                        change
                            .field("mean_value", 127.5)
                            .field("scale", 1.0 / 127.5);
                    })
                    .message("image_data_param", |images| {
                        images
                            .text("source", list)
                            .text("root_folder", &files.images)
                            .field("batch_size", batch)
                            .field("shuffle", false)
                            .field("is_color", is_color);
                    });
            });
        }
        Ok(())
    }

    fn layer(&mut self, placed: &Placed<'_>) -> Result<(), FormatError> {
        match &placed.layer.op {
            Op::Input => {}
            Op::Conv { .. } => self.convolution(placed)?,
            Op::MaxPool(_) | Op::AvgPool(_) => self.pool(placed)?,
            Op::BatchNorm { epsilon, momentum } => {
                self.batch_norm(placed, *epsilon, *momentum)?;
            }
            Op::GlobalAvgPool => self.global_average(placed),
            Op::Lrn { .. } => self.normalisation(placed)?,
            Op::Relu => self.plain(placed, "ReLU"),
            Op::Flatten => self.plain(placed, "Flatten"),
            Op::Softmax => self.plain(placed, "Softmax"),
            Op::Concat => self.plain(placed, "Concat"),
            Op::Add => self.write(placed, "Eltwise", |layer| {
                layer.message("eltwise_param", |sum| _ = sum.field("operation", "SUM"));
            }),
            Op::Dropout { rate } => self.write(placed, "Dropout", |layer| {
                layer.message("dropout_param", |drop| {
                    _ = drop.field("dropout_ratio", rate)
                });
            }),
            Op::Dense { output, bias } => self.write(placed, "InnerProduct", |layer| {
                layer.message("inner_product_param", |product| {
                    product.field("num_output", output).field("bias_term", bias);
                });
            }),
        }
        Ok(())
    }

    pub(super) fn plain(&mut self, placed: &Placed<'_>, kind: &str) {
        self.write(placed, kind, |_| {});
    }

    fn write(&mut self, placed: &Placed<'_>, kind: &str, fill: impl FnOnce(&mut Text)) {
        self.text.message("layer", |layer| {
            layer.text("name", &placed.names.layer).text("type", kind);
            for bottom in &placed.bottoms {
                layer.text("bottom", bottom);
            }
            layer.text("top", placed.top);
            fill(layer);
        });
    }

    pub(super) fn window(&self, placed: &Placed<'_>) -> Result<Window, FormatError> {
        let layer = placed.layer;
        let no_window = || FormatError::graph(format!("`{}` has no window", layer.name));
        let ours = Ours {
            graph: self.graph,
            layer,
            moves: layer.op.window().ok_or_else(no_window)?,
        };
        match layer.op {
            Op::MaxPool(_) => ours.max_pool(),
            Op::AvgPool(_) => ours.avg_pool(),
            _ => ours.convolution(),
        }
    }

    fn convolution(&mut self, placed: &Placed<'_>) -> Result<(), FormatError> {
        let Op::Conv {
            output,
            groups,
            bias,
            ..
        } = placed.layer.op
        else {
            return Ok(());
        };
        let window = self.window(placed)?;
        self.write(placed, "Convolution", |layer| {
            layer.message("convolution_param", |settings| {
                settings
                    .field("num_output", output)
                    .field("bias_term", bias)
                    .field("group", groups);
                window.write(settings);
            });
        });
        Ok(())
    }

    /// Gathers what it sees as we do where its counter starts at 1 / momentum, as in the weights.
    fn batch_norm(
        &mut self,
        placed: &Placed<'_>,
        epsilon: f64,
        momentum: f64,
    ) -> Result<(), FormatError> {
        if momentum <= 0.0 {
            let what = "with a momentum of 0 it accumulates nothing, but Caffe's always does; use a momentum above 0";
            return Err(FormatError::layer(FORMAT, placed.layer, what));
        }
        self.write(placed, "BatchNorm", |layer| {
            // What is gathered is not trained; older Caffes want to be told.
            for _ in ["mean", "variance", "counter"] {
                layer.message("param", |param| {
                    param.field("lr_mult", 0).field("decay_mult", 0);
                });
            }
            layer.message("batch_norm_param", |settings| {
                settings
                    .field("moving_average_fraction", 1.0 - momentum)
                    .field("eps", epsilon);
            });
        });
        let scale = placed.names.other.as_deref().unwrap_or_default();
        self.text.message("layer", |layer| {
            layer
                .text("name", scale)
                .text("type", "Scale")
                .text("bottom", placed.top)
                .text("top", placed.top)
                .message("scale_param", |settings| {
                    settings.field("bias_term", true);
                });
        });
        Ok(())
    }

    /// `(k + alpha / n · Σ x²)^beta`, as ours.
    fn normalisation(&mut self, placed: &Placed<'_>) -> Result<(), FormatError> {
        let Op::Lrn {
            size,
            alpha,
            beta,
            k,
        } = placed.layer.op
        else {
            return Ok(());
        };
        if size.is_multiple_of(2) {
            let what = format!("its window of {size} channels has no centre; use an odd size");
            return Err(FormatError::layer(FORMAT, placed.layer, what));
        }
        self.write(placed, "LRN", |layer| {
            layer.message("lrn_param", |settings| {
                settings
                    .field("local_size", size)
                    .field("alpha", alpha)
                    .field("beta", beta)
                    .field("k", k)
                    .field("norm_region", "ACROSS_CHANNELS");
            });
        });
        Ok(())
    }

    fn answers(&mut self, logits: &str, test: Option<Test>) {
        let mut last = |name: &str, kind: &str, phase: Option<&str>| {
            self.text.message("layer", |layer| {
                layer
                    .text("name", name)
                    .text("type", kind)
                    .text("bottom", logits)
                    .text("bottom", LABEL)
                    .text("top", name);
                if let Some(phase) = phase {
                    layer.message("include", |rule| _ = rule.field("phase", phase));
                }
            });
        };
        last(LOSS, "SoftmaxWithLoss", None);
        if test.is_some() {
            last(ACCURACY, "Accuracy", Some("TEST"));
        }
    }
}

fn notes(training: &Training) -> Vec<String> {
    let left_out = training.iterations.left_out;
    let note = (left_out > 0).then(|| {
        format!(
            "Caffe's batches all have the same size: the last {left_out} images of every epoch do not fill a batch and are skipped"
        )
    });
    note.into_iter().collect()
}
