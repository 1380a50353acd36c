//! SageMaker endpoints, real-time and serverless, with signed requests: created, invoked, their
//! metrics read from CloudWatch, deleted. No SDK: ten operations are needed, and AWS's SDK has
//! hundreds and an async runtime.
//!
//! - Signatures are pure functions of request, credentials and a time that is passed in (`sign`).
//! - Credentials come from the usual chain ([`find_credentials`]). They are never printed or stored: no type
//!   that holds one displays it, and they are removed from error messages.
//! - Whatever a set-up created is deleted if the set-up fails or is stopped.
//! - An invocation is tried once: a retry would hide a refusal in the latency.
//!
//! ```no_run
//! use load::sagemaker::{Client, EndpointSpec, Kind, Patience, Variables, set_up, tear_down};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Variables::of_process(), None)?;
//! let spec = EndpointSpec {
//!     name: "retina-2048".to_owned(),
//!     image: "123456789012.dkr.ecr.us-east-1.amazonaws.com/retina:1".to_owned(),
//!     model_data: Some("s3://bucket/model.tar.gz".to_owned()),
//!     role_arn: "arn:aws:iam::123456789012:role/endpoints".to_owned(),
//!     tags: Default::default(),
//!     kind: Kind::Serverless { memory_mb: 2048, max_concurrency: 5 },
//! };
//! let endpoint = set_up(&client, &spec, &Patience::default(), &mut || true)?;
//! let answer = client.invoker(&endpoint.name, "image/jpeg").invoke(b"...")?;
//! println!("{} bytes", answer.len());
//! let torn_down = tear_down(&client, &endpoint.name, &Patience::default());
//! assert!(torn_down.is_clean(), "{torn_down}");
//! # Ok(())
//! # }
//! ```

mod address;
mod backoff;
mod client;
mod cloudwatch;
mod credentials;
mod error;
mod guard;
mod hmac;
mod http;
mod operations;
mod refusal;
mod runtime;
mod secret;
mod set_up;
mod sign;
mod spec;
mod tear_down;
mod variables;

use crate::Header;
pub use address::Service;
pub use backoff::Backoff;
pub use client::{Call, Client, Repeat};
pub use cloudwatch::{Metric, Point, Window};
pub use credentials::{Credentials, CredentialsError, find_credentials};
pub use error::AwsError;
pub use operations::{EndpointStatus, Resource, VARIANT};
pub use refusal::Refusal;
pub use runtime::{Invoker, SIGNATURE_LASTS};
pub use secret::Secret;
pub use set_up::{Endpoint, Patience, SetUpError, set_up};
pub use spec::{EndpointSpec, Kind};
pub use tear_down::{Left, TornDown, tear_down};
pub use variables::Variables;
