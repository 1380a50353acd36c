//! `bancada ui`, as a browser meets it: over HTTP, and in a real browser (`.ci/ui`).

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod browser;
#[path = "../program/common.rs"]
#[expect(dead_code, reason = "written for the other tests of the program")]
mod common;
mod devtools;
mod protocol;
mod server;
