//! Learning curves: time and cost to a target accuracy or loss.
