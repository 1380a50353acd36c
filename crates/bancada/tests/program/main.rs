//! The program as a whole.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod answers;
mod architecture;
mod asking;
mod aws;
mod caffe;
mod cli;
mod common;
mod compare;
mod completion;
mod container;
mod data;
mod designs;
mod documents;
mod endpoints;
mod energy;
mod fewer_runs;
mod frameworks;
mod growth;
mod hosts;
mod import;
mod infra;
mod init;
mod inputs;
mod kill;
mod limits;
mod logs;
mod onnx;
mod places;
mod predicted;
mod price;
mod probe;
mod published;
mod quantise;
mod reconcile;
mod serving;
mod setup;
mod slurm;
mod ssh;
mod ssh_faults;
mod ssh_studies;
mod stacks;
mod timing;
mod training;
mod watch;
mod what_if;
