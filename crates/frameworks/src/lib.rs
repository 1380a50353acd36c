//! The frameworks: what each needs ([`Framework`], from `frameworks.toml`), how a study names one
//! ([`Spec`]), and where its environment and its adapter are on this machine ([`Home`]).

mod adapters;
mod caffe;
mod check;
mod digest;
mod disk;
mod doctor;
mod environment;
mod hashes;
mod home;
mod image;
mod installer;
mod lock;
mod machine;
mod marker;
mod process;
mod registry;
mod setup;
mod spec;
mod stack;
mod trial;

pub use adapters::adapters_digest;
pub use caffe::{caffe_advice, caffe_version};
pub use disk::{Size, free_bytes, size_of};
pub use doctor::{Condition, Doctor, FolderSize, FrameworkReport, MachineReport, Program};
pub use environment::{Environment, State};
pub use home::{Home, HomeError, Installed, NotSetUp, WhyNot};
pub use image::{IMAGE_HOME, InImage, PROGRAM_IN_CONTEXT, dockerfile, in_image};
pub use machine::{Machine, Python};
pub use marker::Marker;
pub use process::last_lines;
pub use registry::{
    Capability, CpuBuilds, Framework, Kind, Need, Recipe, Stage, all, find, names, python_versions,
    stacks,
};
pub use setup::{
    Failed, Progress, Ready, ReadyEnvironment, Removed, Setup, SetupError, Step, Tell, remove,
};
pub use spec::{Spec, SpecError};
pub use stack::{Front, StackError, StackModel, StackNetwork, StackStart, StackWish, Stacks};
pub use trial::Trial;
