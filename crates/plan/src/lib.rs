//! Study file → checked study → ordered runs.
//!
//! Data flow: the TOML text is read as typed (`read`), with the position of everything; checked
//! (`check`), so that all errors are reported together; and turned into a [`model::Study`]. From it
//! [`plan`] makes scenarios and the order of their runs, and [`resolve`] determines what one
//! scenario does and where.
//!
//! No I/O: files that a study names are read through callbacks in [`ReadOptions`]. No clock, and
//! no randomness except from the study's seed.

mod alternatives;
mod asked;
mod capacity;
mod check;
mod differences;
mod digest;
mod edit;
mod field;
mod goal;
mod keys;
mod placeholder;
mod read;
mod recognise;
mod reference;
mod resolve;
mod scenarios;
mod schema;
mod serve;
mod template;
mod train;
mod values;

pub use alternatives::{Alternative, alternatives, design_title};
pub use asked::check_until;
pub use capacity::{Machine, beyond_capacity};
pub use check::is_study_name;
pub use differences::differences;
pub use digest::{digest, fingerprint, scenario_fingerprint};
pub use edit::{TypedFactor, typed_factors, with_typed_levels};
pub use goal::read_goal;
pub use placeholder::{escaped, with_levels};
pub use read::{ReadOptions, Sent, WhatIf, read_study};
pub use recognise::Recognizer;
pub use reference::reference;
pub use resolve::{Resolved, resolve};
pub use scenarios::{plan, same_level, scenarios};
pub use schema::schema;
pub use template::{TEMPLATES, Template};
pub use values::{duration_seconds, joules, price_per_hour};
