//! Caffe, through the `caffe` program that a user has: the network and the solver as its text
//! files, weights as its binary ones, and its log. Fields and their meaning are those of
//! src/caffe/proto/caffe.proto and src/caffe/layers of the public project (BVLC).

mod debug;
mod log;
mod model;
mod names;
mod net;
mod plan;
mod pool;
mod solver;
mod text;
mod values;
mod window;

pub use debug::{DebugNames, DebugValue, library_error};
pub use log::{LogEvent, Timed, log_line};
pub use model::{caffemodel, read_caffemodel};
pub use net::{TrainNet, train_prototxt};
pub use plan::{Device, Files, Iterations, Test, Training};
pub use solver::solver_prototxt;

pub(crate) const FORMAT: &str = "Caffe";
