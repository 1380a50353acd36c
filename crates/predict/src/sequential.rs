//! When to stop repeating.
