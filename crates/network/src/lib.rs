//! One description of a network → shapes, parameters, FLOPs, memory; the zoo; initial weights; the
//! same network in the `formats` of other programs.
//!
//! Data flow: a TOML text is read as typed (`typed`), expanded (`expand`) into a [`Description`]
//! (all blocks expanded, still without sizes), and with an [`InputSpec`] becomes a [`Graph`], in
//! which everything is a number. Only `formats` knows other programs.

mod count;
mod description;
mod error;
mod expand;
pub mod formats;
pub mod graph;
mod initial;
mod layer;
mod names;
mod probe;
mod random;
mod settings;
mod shapes;
mod summary;
mod typed;
mod weights;
mod window;
mod work;
mod zoo;

pub use count::TrainingMemory;
pub use description::{Count, Description, InputSpec, Layer, LayerOp, PaddingRule, parse};
pub use error::{NetworkError, ShapeProblem};
pub use graph::{Graph, Image, Node, Op, Padding, Parameter, Shape, Window};
pub use initial::initial_weights;
pub use probe::{ProbedNetwork, probe_networks};
pub use summary::render_summary;
pub use weights::{Tensor, Weights, WeightsError};
pub use work::NotProbed;
pub use zoo::{find, load, names};
