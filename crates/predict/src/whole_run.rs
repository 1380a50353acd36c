//! A whole run from the beginning of one: time by phase, with a prediction interval.
