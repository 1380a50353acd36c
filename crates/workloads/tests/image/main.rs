//! Images built from programs of this system, and read back by the specification.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod base;
mod contents;
mod layout;
mod refusals;
mod support;
