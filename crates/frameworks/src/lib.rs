//! The frameworks: what each needs ([`Framework`], from `frameworks.toml`), how a study names one
//! ([`Spec`]), and where its environment and its adapter lie on this machine ([`Home`]).

mod adapters;
mod digest;
mod home;
mod marker;
mod registry;
mod spec;

pub use home::{Home, HomeError, Installed, NotSetUp, WhyNot};
pub use marker::Marker;
pub use registry::{Framework, Kind, Need, Recipe, Stage, all, find, names};
pub use spec::{Spec, SpecError};
