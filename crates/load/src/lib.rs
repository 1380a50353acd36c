//! The load generator: sends requests to a server, in series, in a closed loop or in an open loop,
//! and measures latencies.
//!
//! - The latency of an open loop counts from the intended send time. If a server stalls, all requests
//!   of that period are late, not only the one being processed (coordinated omission).
//! - Nothing is dropped: timed-out, refused, broken and closed requests are outcomes with counts.
//! - Memory does not grow with the number of requests: times go into histograms of fixed size.
//! - Threads and non-blocking sockets, no async runtime: its timers would be as coarse as some of
//!   the times measured here.
//!
//! [`client`] is the process of a serving run that uses it: it waits for the server, loads it and
//! reports events.
//!
//! ```no_run
//! use load::{Closed, Extent, Load, Options, Request};
//!
//! # fn main() -> Result<(), load::LoadError> {
//! let target = "http://127.0.0.1:8080/invocations".parse()?;
//! let request = Request::post(target, "image/jpeg", vec![b"...".to_vec()]);
//! let load = Load::Closed(Closed {
//!     clients: 4,
//!     warm_up: Extent::Requests(10),
//!     counted: Extent::Requests(1000),
//! });
//! let outcome = load::run(&request, &load, &Options::default())?;
//! println!("{:?}", outcome.latency.quantile(0.99));
//! # Ok(())
//! # }
//! ```

mod answer;
mod body;
pub mod client;
mod clock;
mod complaint;
mod connection;
mod error;
mod header;
mod histogram;
mod limit;
mod load;
mod outcome;
mod pace;
mod plan;
mod poller;
mod prediction;
mod quantile;
mod record;
mod request;
mod run;
pub mod sagemaker;
mod search;
mod target;
mod tls;
mod trace;
mod watch;
mod wire;
mod wish;
mod worker;

pub use body::{UNKNOWN_TYPE, body_files, content_type};
pub use error::LoadError;
pub use header::Header;
pub use histogram::Times;
pub use load::{Arrivals, Closed, Extent, Load, Open, Series};
pub use outcome::{Client, Connections, Counts, End, Outcome, Single};
pub use plan::Options;
pub use quantile::Quantile;
pub use request::Request;
pub use run::{run, run_watched};
pub use search::{Found, Search, Trial, Trials, search_server};
pub use target::Target;
pub use trace::parse_trace;
pub use watch::Watch;
pub use wish::LoadWish;
