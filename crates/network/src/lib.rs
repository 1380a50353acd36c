//! One description of a network → shapes, parameters, FLOPs, memory; the zoo; initial weights.

pub mod graph;

pub use graph::{Graph, Node, Op, Padding, Parameter, Shape};
