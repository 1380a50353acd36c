//! Price lists of cloud providers: read from their own formats, fetched, and kept in Bancada's
//! cache folder.
//!
//! Parsers are functions over text or a reader. They find the one row among many that is meant (a
//! Linux machine, on demand or spot, by the hour) and count every other with the reason why it is
//! not used: nothing becomes a wrong price without a word.

mod age;
mod aws;
pub mod aws_offer;
pub mod aws_products;
mod aws_regions;
pub mod azure;
mod azure_shapes;
mod cache;
mod collect;
mod file;
pub mod gcp;
mod gcp_shapes;
mod kind;
pub mod skypilot;
mod source;
mod update;
mod whole;
mod work;

pub use self::source::{Addresses, Source, UpdateError};
pub use age::{age, age_days};
pub use cache::{Kept, Loaded, catalog_file, keep, load};
pub use collect::{About, PriceList, Unreadable};
pub use file::{FileError, Given, ReadFiles, read_files};
pub use kind::{HEAD_BYTES, Kind, kind_of};
pub use update::{Fetching, Progress};
