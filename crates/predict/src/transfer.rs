//! A workload measured on one machine, carried over to another one that was probed.
