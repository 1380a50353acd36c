//! Environments made by an installer and a Python that only pretend, so that every way in which a
//! set-up can go is gone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod doctor;
mod making;
mod removing;
mod stacks;
mod support;
