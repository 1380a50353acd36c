//! The emulator over real connections, in front of a small stack that does as it is told.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;
mod ends;
mod hostile;
mod life;
mod stack;
mod trouble;
