//! What `caffe train` tells in its log, line by line.

use crate::formats::glog::{self, Severity};

#[derive(Debug, Clone, PartialEq)]
pub enum LogEvent {
    /// The program was started; in a log that was added to, once more.
    Begins,
    /// The network is built, the first iteration begins.
    Starts,
    /// The loss before the weights were changed for the time `iteration` + 1.
    Iteration {
        iteration: u64,
        /// Not finite where training diverged.
        loss: f64,
        /// How long the iterations since the last such line took, by newer versions.
        timed: Option<Timed>,
    },
    /// Held-out images are gone through.
    Testing {
        iteration: u64,
    },
    /// One of the numbers of a test.
    Tested {
        name: String,
        value: f64,
    },
    /// Weights are saved.
    Saving {
        file: String,
    },
    OutOfMemory {
        detail: String,
    },
    /// A check failed; Caffe ends.
    Fatal {
        detail: String,
    },
    /// Ended before its last iteration, as it was asked to.
    StoppedEarly,
    Done,
    /// A setting as Caffe prints it before it begins: `max_iter: 1000`, `batch_size: 64`.
    Setting {
        name: String,
        value: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    pub iterations: u64,
    pub seconds: f64,
}

impl LogEvent {
    /// Whether a test's number is the share of right answers: `accuracy`, `acc`, `top-1`.
    pub fn is_accuracy(name: &str) -> bool {
        let name = name.to_lowercase();
        let is_first = !name.ends_with('5');
        is_first && (name.contains("acc") || name.contains("top1") || name.contains("top-1"))
    }
}

/// What is written before anything is built: by the logger, which is not in a copy of stderr, by
/// the program and by its solver.
const BEGINNINGS: [&str; 7] = [
    "Log file created at: ",
    "Use CPU.",
    "Use GPU with device ID",
    "Using GPUs ",
    "Initializing solver from parameters",
    "Resuming from ",
    "Restoring previous solver status from ",
];

/// `None` for what says nothing of the training.
pub fn log_line(line: &str) -> Option<LogEvent> {
    let head = glog::line(line);
    let message = head.map_or(line, |head| head.message).trim();
    if says_out_of_memory(message) {
        return Some(LogEvent::OutOfMemory {
            detail: message.to_owned(),
        });
    }
    if BEGINNINGS.iter().any(|words| message.starts_with(words)) {
        return Some(LogEvent::Begins);
    }
    let Some(head) = head else {
        return setting(message);
    };
    if head.severity == Severity::Fatal {
        return Some(LogEvent::Fatal {
            detail: message.to_owned(),
        });
    }
    if let Some(rest) = message.strip_prefix("Iteration ") {
        return iteration(rest);
    }
    if let Some(rest) = message.strip_prefix("Test net output #") {
        return tested(rest);
    }
    if let Some(rest) = message.strip_prefix("Snapshotting to ") {
        let file = rest.split_once(" file ").map_or(rest, |(_, file)| file);
        return Some(LogEvent::Saving {
            file: file.trim().to_owned(),
        });
    }
    match message {
        "Starting Optimization" => Some(LogEvent::Starts),
        "Optimization Done." => Some(LogEvent::Done),
        "Optimization stopped early." => Some(LogEvent::StoppedEarly),
        _ => None,
    }
}

/// `20 (5.1 iter/s, 3.9s/20 iters), loss = 2.30`, `20, loss = 2.30`, `20, Testing net (#0)`.
fn iteration(rest: &str) -> Option<LogEvent> {
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let (iteration, rest) = rest.split_at(digits);
    let iteration = iteration.parse().ok()?;
    if rest.starts_with(", Testing net") {
        return Some(LogEvent::Testing { iteration });
    }
    let (before, loss) = rest.split_once("loss = ")?;
    let loss = loss.split_ascii_whitespace().next()?.parse().ok()?;
    Some(LogEvent::Iteration {
        iteration,
        loss,
        timed: timed(before),
    })
}

/// ` (5.1 iter/s, 3.9s/20 iters), `.
fn timed(text: &str) -> Option<Timed> {
    let (_, rest) = text.split_once("iter/s, ")?;
    let (seconds, rest) = rest.split_once("s/")?;
    let (iterations, _) = rest.split_once(" iter")?;
    let seconds: f64 = seconds.parse().ok()?;
    Some(Timed {
        iterations: iterations.parse().ok()?,
        seconds: (seconds.is_finite() && seconds >= 0.0).then_some(seconds)?,
    })
}

/// `0: accuracy = 0.98`, `1: loss = 0.05 (* 1 = 0.05 loss)`.
fn tested(rest: &str) -> Option<LogEvent> {
    let (_, rest) = rest.split_once(": ")?;
    let (name, value) = rest.split_once(" = ")?;
    let value = value.split_ascii_whitespace().next()?.parse().ok()?;
    Some(LogEvent::Tested {
        name: name.to_owned(),
        value,
    })
}

/// The few that say how long the training is; the rest of the printed settings is long.
fn setting(line: &str) -> Option<LogEvent> {
    let (name, value) = line.split_once(": ")?;
    let is_known = ["max_iter", "batch_size", "solver_mode", "display"].contains(&name);
    is_known.then(|| LogEvent::Setting {
        name: name.to_owned(),
        value: value.trim().to_owned(),
    })
}

fn says_out_of_memory(message: &str) -> bool {
    let message = message.to_lowercase();
    let words = [
        "out of memory",
        "std::bad_alloc",
        "cannot allocate memory",
        "cudnn_status_alloc_failed",
        // OpenBLAS: malloc failed in gemm_driver
        "malloc failed",
    ];
    words.iter().any(|word| message.contains(word))
        || (message.contains("host allocation of size") && message.contains("failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<LogEvent>) {
        assert_eq!(log_line(line), expected, "{line}");
    }

    /// As Caffe writes it, with severity, time and thread before it.
    fn logged(message: &str, expected: Option<LogEvent>) {
        check(&format!("I0515 10:11:12.123456  4242 {message}"), expected);
    }

    fn tested(name: &str, value: f64) -> Option<LogEvent> {
        let name = name.to_owned();
        Some(LogEvent::Tested { name, value })
    }

    fn iteration(iteration: u64, loss: f64, timed: Option<(u64, f64)>) -> Option<LogEvent> {
        let timed = timed.map(|(iterations, seconds)| Timed {
            iterations,
            seconds,
        });
        Some(LogEvent::Iteration {
            iteration,
            loss,
            timed,
        })
    }

    #[test]
    fn iterations_of_old_and_new_versions() {
        logged(
            "solver.cpp:239] Iteration 20 (5.1 iter/s, 3.9s/20 iters), loss = 2.30",
            iteration(20, 2.3, Some((20, 3.9))),
        );
        logged(
            "solver.cpp:228] Iteration 0, loss = 7.1",
            iteration(0, 7.1, None),
        );
        logged(
            "solver.cpp:218] Iteration 0 (-4.2e-45 iter/s, 0.071s/1 iters), loss = 87.3365",
            iteration(0, 87.3365, Some((1, 0.071))),
        );
        logged("sgd_solver.cpp:106] Iteration 20, lr = 0.01", None);
        logged(
            "solver.cpp:337] Iteration 500, Testing net (#0)",
            Some(LogEvent::Testing { iteration: 500 }),
        );
        let diverged = log_line("I0515 10:11:12.1 1 solver.cpp:228] Iteration 9, loss = -nan");
        assert!(
            matches!(diverged, Some(LogEvent::Iteration { loss, .. }) if loss.is_nan()),
            "{diverged:?}"
        );
        // The same words in a line that Caffe did not write.
        check("Iteration 20, loss = 2.30", None);
        logged("solver.cpp:228] Iteration x, loss = 1", None);
        logged("solver.cpp:228] Iteration 1, loss =", None);
    }

    #[test]
    fn tests_and_ends() {
        logged(
            "solver.cpp:404]     Test net output #0: accuracy = 0.98",
            tested("accuracy", 0.98),
        );
        logged(
            "solver.cpp:404]     Test net output #1: loss = 0.05 (* 1 = 0.05 loss)",
            tested("loss", 0.05),
        );
        logged(
            "solver.cpp:244]     Train net output #0: accuracy = 0.5",
            None,
        );
        logged(
            "solver.cpp:454] Snapshotting to binary proto file /a b/x_iter_80.caffemodel",
            Some(LogEvent::Saving {
                file: "/a b/x_iter_80.caffemodel".into(),
            }),
        );
        logged(
            "sgd_solver.cpp:273] Snapshotting solver state to binary proto file /x.solverstate",
            None,
        );
        logged(
            "caffe.cpp:251] Starting Optimization",
            Some(LogEvent::Starts),
        );
        logged("solver.cpp:332] Optimization Done.", Some(LogEvent::Done));
        logged(
            "solver.cpp:308] Optimization stopped early.",
            Some(LogEvent::StoppedEarly),
        );
        for begins in [
            "Log file created at: 2017/05/15 10:11:12",
            "I0515 10:11:12.123456  4242 caffe.cpp:211] Use CPU.",
            "I0515 10:11:12.123456  4242 caffe.cpp:217] Using GPUs 0, 1",
            "I0515 10:11:12.123456  4242 solver.cpp:44] Initializing solver from parameters: ",
            "I0515 10:11:12.123456  4242 caffe.cpp:242] Resuming from lenet_iter_500.solverstate",
        ] {
            check(begins, Some(LogEvent::Begins));
        }
        check(
            "max_iter: 450000",
            Some(LogEvent::Setting {
                name: "max_iter".into(),
                value: "450000".into(),
            }),
        );
        check("    batch_size: 64", log_line("batch_size: 64"));
        check("momentum: 0.9", None);
        check("", None);
    }

    #[test]
    fn the_ends_of_memory_and_of_checks() {
        let memory = |detail: &str| {
            Some(LogEvent::OutOfMemory {
                detail: detail.to_owned(),
            })
        };
        check(
            "F0506 16:29:05.468179 19928 syncedmem.cpp:71] Check failed: error == cudaSuccess (2 vs. 0)  out of memory",
            memory("Check failed: error == cudaSuccess (2 vs. 0)  out of memory"),
        );
        check(
            "F0506 16:29:05.468179 19928 syncedmem.hpp:33] Check failed: *ptr host allocation of size 4096 failed",
            memory("Check failed: *ptr host allocation of size 4096 failed"),
        );
        check(
            "terminate called after throwing an instance of 'std::bad_alloc'",
            memory("terminate called after throwing an instance of 'std::bad_alloc'"),
        );
        check(
            "OpenBLAS: malloc failed in gemm_driver",
            memory("OpenBLAS: malloc failed in gemm_driver"),
        );
        check(
            "F0506 16:29:05.468179 19928 common.cpp:66] Cannot use GPU in CPU-only Caffe: check mode.",
            Some(LogEvent::Fatal {
                detail: "Cannot use GPU in CPU-only Caffe: check mode.".into(),
            }),
        );
    }

    #[test]
    fn accuracy_by_its_usual_names() {
        let check = |name: &str, expected: bool| {
            assert_eq!(LogEvent::is_accuracy(name), expected, "{name}");
        };
        check("accuracy", true);
        check("acc", true);
        check("loss3/top-1", true);
        check("accuracy_top1", true);
        check("loss3/top-5", false);
        check("accuracy_top5", false);
        check("loss", false);
    }
}
