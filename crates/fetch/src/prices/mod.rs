//! Price lists of cloud providers: parsed from their own formats, downloaded, and stored in Bancada's
//! cache folder.
//!
//! Parsers are functions over text or a reader. They select the relevant rows (Linux machines,
//! on-demand or spot, per hour) and count all others with the reason why they are skipped.

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

pub use self::source::{Addresses, Source};
pub use age::{age, age_days};
pub use cache::{Kept, Loaded, catalog_file, keep, load};
pub use collect::{About, PriceList};
pub use file::{Given, ReadFiles, read_files};
pub use kind::{HEAD_BYTES, Kind, kind_of};
pub use update::{Fetching, Progress};
