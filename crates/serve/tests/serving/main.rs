//! The server over real connections, with a model whose answers are known.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;
mod hostile;
mod requests;
