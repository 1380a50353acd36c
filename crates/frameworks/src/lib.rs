//! The frameworks: what each needs, its adapter, and its environment on this machine.
