//! The steady state of a training: where the warm-up ends, and the time of a step with its interval.
