//! The inference server: models behind the container contract of managed services (`GET /ping`,
//! `POST /invocations`, SIGTERM drains and exits), one thread for connections, one worker per core.
//!
//! The path of a request: `http` receives it within limits, `queue` queues it, `work` turns its body into tensors
//! (`body`), runs the model (`model`, `onnx`) and builds the response (`answer`) from the meaning of the outputs
//! (`meaning`).

mod answer;
pub mod args;
mod body;
mod description;
mod folder;
mod http;
pub mod library;
pub mod listen;
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
pub use folder::ModelFile;
pub use meaning::{Meaning, Outputs};
pub use model::{Model, ModelError, Port, Predictor, Signature};
pub use onnx::{OnnxFile, OnnxModel, OnnxRuntime};
pub use prepared::{Keep, checksum, is_whole};
pub use queue::Batching;
pub use served::{Loader, Offer};
pub use server::{NOT_BATCHED, Options, ServeError, ServerEvent, UNTRAINED, serve, serve_until};
pub use tensor::{Kind, Tensor, Values};
