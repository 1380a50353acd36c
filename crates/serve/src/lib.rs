//! The inference server: models behind the container contract that managed services ask for (`GET /ping`,
//! `POST /invocations`, SIGTERM drains and ends), one thread for connections, a worker a core.
//!
//! A request's way: `http` receives it within limits, `queue` lets it wait in its order, `work` turns its body
//! into tensors (`body`), asks the model (`model`, `onnx`) and answers (`answer`) by what its outputs mean
//! (`meaning`).

mod answer;
pub mod args;
mod body;
mod description;
mod folder;
mod http;
pub mod library;
mod meaning;
mod metrics;
mod model;
mod onnx;
mod prepared;
mod queue;
mod refusal;
mod served;
mod server;
mod tensor;
mod work;

pub use body::Limits;
pub use description::{Description, InputSize, Layout, Resize};
pub use folder::{FolderError, ModelFile};
pub use meaning::{Meaning, Outputs};
pub use model::{Model, ModelError, Port, Predictor, Signature};
pub use onnx::{OnnxFile, OnnxModel, OnnxRuntime};
pub use prepared::{Keep, checksum, is_whole};
pub use queue::Batching;
pub use served::{Loader, Offer};
pub use server::{NOT_BATCHED, Options, ServeError, Told, UNTRAINED, serve, serve_until};
pub use tensor::{Kind, Tensor, Values};
