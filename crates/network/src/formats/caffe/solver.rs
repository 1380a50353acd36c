//! The solver's text file.

use model::Optimizer;

use super::plan::{Device, Training};
use super::text::Text;

/// Tells the loss of every iteration, tests once at the end and saves once at the end.
pub fn solver_prototxt(training: &Training) -> String {
    let mut solver = Text::about("Written by bancada.");
    solver.text("net", &training.files.net);
    if let Some(test) = training.test {
        solver
            .field("test_iter", test.iterations)
            // After the last iteration, and not before the first.
            .field("test_interval", training.iterations.all)
            .field("test_initialization", false);
    }
    optimizer(&mut solver, &training.optimizer);
    solver
        .field("weight_decay", 0)
        .field("display", 1)
        .field("average_loss", 1)
        .field("max_iter", training.iterations.all)
        // It saves after training in any case.
        .field("snapshot", 0)
        .text("snapshot_prefix", &training.files.snapshot_prefix)
        // Its generator takes 32 bits, and a negative number for the clock.
        .field("random_seed", training.seed & 0x7fff_ffff);
    if training.debug {
        solver.field("debug_info", true);
    }
    match training.device {
        Device::Cpu => solver.field("solver_mode", "CPU"),
        Device::Gpu(number) => solver
            .field("solver_mode", "GPU")
            .field("device_id", number),
    };
    solver.finish()
}

fn optimizer(solver: &mut Text, optimizer: &Optimizer) {
    let (kind, learning_rate) = match optimizer {
        Optimizer::Sgd { learning_rate, .. } => ("SGD", learning_rate),
        Optimizer::Adam { learning_rate, .. } => ("Adam", learning_rate),
    };
    solver
        .text("type", kind)
        .field("base_lr", learning_rate)
        .text("lr_policy", "fixed");
    match optimizer {
        Optimizer::Sgd { momentum, .. } => solver.field("momentum", momentum),
        Optimizer::Adam {
            beta1,
            beta2,
            epsilon,
            ..
        } => solver
            .field("momentum", beta1)
            .field("momentum2", beta2)
            .field("delta", epsilon),
    };
}
