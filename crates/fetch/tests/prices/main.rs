//! Documents in the providers' formats, written for these tests, with the traps that real ones
//! have; and the ways they come: pages, broken downloads, hosts that do not answer.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use fetch::Limits;

mod aws;
mod azure;
mod files;
mod gcp;
mod hostile;
#[expect(dead_code, reason = "files of datasets need more of it")]
#[path = "../../src/server_tests.rs"]
mod server;
mod skypilot;
mod support;
mod update;
