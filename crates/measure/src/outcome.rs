//! How a run ended, from all that is known of it.

use model::run::{Outcome, Status};

use crate::client::Verdict;
use crate::process::Usage;

/// Lines of the log shown with what went wrong.
const SHOWN_LINES: usize = 10;
/// Lines of the log in which a word of memory is looked for.
const SEARCHED_LINES: usize = 40;

/// What programs say when they get no memory: Rust, Python, C++, PyTorch, TensorFlow, CUDA, C.
const MEMORY_SIGNS: [&str; 10] = [
    "memory allocation of ",
    "MemoryError",
    "bad_alloc",
    "can't allocate memory",
    "Cannot allocate memory",
    "OOM when allocating",
    "CUDA out of memory",
    "CUDA_ERROR_OUT_OF_MEMORY",
    "OutOfMemoryError",
    "Out of memory",
];

/// Why this program ended the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ended {
    TimedOut {
        after_seconds: f64,
    },
    Interrupted,
    /// Its time is known.
    Foreseen,
    /// Nobody asks any more.
    ClientThrough,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Evidence<'a> {
    pub(crate) usage: Usage,
    pub(crate) ended: Option<Ended>,
    /// Of a server.
    pub(crate) client: Option<&'a Verdict>,
    /// A server was healthy once, so that its client began to ask.
    pub(crate) was_asked: bool,
    /// It is a training, and reported no step.
    pub(crate) lacks_steps: bool,
    /// The workload said itself that memory ran out.
    pub(crate) reported_out_of_memory: Option<&'a str>,
    /// Processes of the run's cgroup that the kernel ended for want of memory.
    pub(crate) group_kills: u64,
    pub(crate) memory_limit_bytes: Option<u64>,
    /// The whole machine ran out of memory meanwhile.
    pub(crate) machine_was_full: bool,
    /// Of a container: why it is not the workload that failed.
    pub(crate) engine_error: Option<&'a str>,
    pub(crate) log_end: &'a str,
    /// Why it failed, by its own word.
    pub(crate) reported_error: Option<&'a str>,
}

impl Evidence<'_> {
    pub(crate) fn outcome(&self) -> Outcome {
        let (status, sentence) = self.status();
        // Who asked says what was wrong better than the server's last line; of one that could not be
        // asked, only the server knows. What was ended from here has no cause in its log.
        let client_knows = self.was_asked && matches!(self.client, Some(Verdict::Failed(_)));
        let speaks_for_itself =
            status == Status::Interrupted || (status == Status::Failed && client_knows);
        let reported = self.reported_error.filter(|_| status == Status::Failed);
        let sentence = match (sentence, reported) {
            (Some(sentence), Some(reported)) => Some(format!("{sentence}: {reported}")),
            (sentence, _) => sentence,
        };
        let lines = match speaks_for_itself {
            true => String::new(),
            false => last_lines(self.log_end, SHOWN_LINES),
        };
        let detail = sentence.map(|sentence| match lines.as_str() {
            "" => sentence,
            lines => format!("{sentence}; the log ends:\n{lines}"),
        });
        let Usage {
            exit_code, signal, ..
        } = self.usage;
        Outcome {
            status,
            detail,
            exit_code,
            signal,
        }
    }

    fn status(&self) -> (Status, Option<String>) {
        let limit = self.memory_limit_bytes.map_or(String::new(), |bytes| {
            format!(" with a limit of {} MB", bytes / 1_000_000)
        });
        let full = |how: &str| {
            (
                Status::OutOfMemory,
                Some(format!("ran out of memory{limit}: {how}")),
            )
        };
        if let Some(detail) = self.reported_out_of_memory {
            return full(if detail.is_empty() {
                "reported by the workload"
            } else {
                detail
            });
        }
        match self.ended {
            Some(Ended::TimedOut { after_seconds }) => {
                let sentence = match self.client.is_some() && !self.was_asked {
                    true => format!(
                        "the server was not healthy after {after_seconds} s and was stopped"
                    ),
                    false => format!("exceeded {after_seconds} s and was stopped"),
                };
                return (Status::TimedOut, Some(sentence));
            }
            Some(Ended::Interrupted) => {
                return (Status::Interrupted, Some("was interrupted".to_owned()));
            }
            Some(Ended::Foreseen) => return (Status::Ok, None),
            Some(Ended::ClientThrough) | None => {}
        }
        if self.did_its_work() {
            return (Status::Ok, None);
        }
        if self.group_kills > 0 {
            return full("the kernel killed it");
        }
        if self.was_killed() && self.machine_was_full {
            return full("the whole machine's memory was full and the kernel killed it");
        }
        if let Some(line) = memory_sign(self.log_end) {
            return full(line);
        }
        (Status::Failed, Some(self.failure()))
    }

    /// How a server ends after its client is its own business.
    fn did_its_work(&self) -> bool {
        match self.client {
            Some(verdict) => *verdict == Verdict::Through,
            None => self.usage.exit_code == Some(0) && !self.lacks_steps,
        }
    }

    /// By SIGKILL, or so says a shell of its child.
    fn was_killed(&self) -> bool {
        let by_shell = self.usage.exit_code == Some(128 + libc::SIGKILL);
        self.usage.signal == Some(libc::SIGKILL) || by_shell
    }

    fn failure(&self) -> String {
        if let Some(error) = self.engine_error {
            return error.to_owned();
        }
        match self.client {
            Some(Verdict::Failed(words)) => return words.clone(),
            Some(Verdict::CutShort) => {
                let when = match self.was_asked {
                    true => ", while requests were in progress",
                    false => " before it was healthy",
                };
                return format!("the server {}{when}", self.end_of_process());
            }
            Some(Verdict::Through) | None => {}
        }
        match self.usage.exit_code {
            Some(0) => "ended without reporting a single step".to_owned(),
            _ => self.end_of_process(),
        }
    }

    fn end_of_process(&self) -> String {
        match (self.usage.exit_code, self.usage.signal) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(signal)) => match signal_name(signal) {
                Some(name) => format!("was killed by signal {signal} ({name})"),
                None => format!("was killed by signal {signal}"),
            },
            (None, None) => "ended for an unknown reason".to_owned(),
        }
    }
}

/// The line that says that memory ran out.
fn memory_sign(log_end: &str) -> Option<&str> {
    let found = |line: &&str| MEMORY_SIGNS.iter().any(|sign| line.contains(sign));
    log_end
        .lines()
        .rev()
        .take(SEARCHED_LINES)
        .find(found)
        .map(str::trim)
}

/// The last lines that say something.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let mut lines: Vec<&str> = text
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .take(count)
        .collect();
    lines.reverse();
    lines.join("\n")
}

fn signal_name(signal: i32) -> Option<&'static str> {
    let names = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    names
        .iter()
        .find(|(number, _)| *number == signal)
        .map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(exit_code: Option<i32>, signal: Option<i32>) -> Evidence<'static> {
        Evidence {
            usage: Usage {
                exit_code,
                signal,
                ..Usage::default()
            },
            ..Evidence::default()
        }
    }

    fn check(evidence: &Evidence<'_>, status: Status, detail: Option<&str>) {
        let outcome = evidence.outcome();
        assert_eq!(outcome.status, status, "{evidence:?}");
        assert_eq!(outcome.detail.as_deref(), detail);
    }

    #[test]
    fn a_failure_says_its_cause_and_what_the_log_ends_with() {
        let evidence = Evidence {
            reported_error: Some("no GPU is seen"),
            log_end: "no GPU is seen\n=====\n",
            ..evidence(Some(1), None)
        };
        let outcome = evidence.outcome();
        assert_eq!(
            outcome.detail.as_deref(),
            Some("ended with exit code 1: no GPU is seen; the log ends:\nno GPU is seen\n=====")
        );
        assert_eq!(
            outcome.in_a_line().as_deref(),
            Some("ended with exit code 1: no GPU is seen")
        );
    }

    #[test]
    fn plain_ends() {
        check(&evidence(Some(0), None), Status::Ok, None);
        check(
            &evidence(Some(3), None),
            Status::Failed,
            Some("ended with exit code 3"),
        );
        let segfault = Some("was killed by signal 11 (SIGSEGV)");
        check(&evidence(None, Some(11)), Status::Failed, segfault);
        check(
            &evidence(None, Some(60)),
            Status::Failed,
            Some("was killed by signal 60"),
        );
    }

    #[test]
    fn the_log_ends_the_sentence() {
        let log = (1..=12)
            .map(|n| format!("line {n}\n\n"))
            .collect::<String>();
        let failed = Evidence {
            log_end: &log,
            ..evidence(Some(1), None)
        };
        let detail = failed.outcome().detail.unwrap();
        assert!(detail.starts_with("ended with exit code 1; the log ends:\nline 3\nline 4\n"));
        assert!(detail.ends_with("line 12"));
    }

    #[test]
    fn a_training_without_a_step_has_failed() {
        let silent = Evidence {
            lacks_steps: true,
            log_end: "what now?\n",
            ..evidence(Some(0), None)
        };
        let expected = "ended without reporting a single step; the log ends:\nwhat now?";
        check(&silent, Status::Failed, Some(expected));
        let crashed = Evidence {
            lacks_steps: true,
            ..evidence(Some(3), None)
        };
        check(&crashed, Status::Failed, Some("ended with exit code 3"));
        let full = Evidence {
            log_end: "MemoryError",
            ..silent
        };
        assert_eq!(full.outcome().status, Status::OutOfMemory);
    }

    #[test]
    fn what_this_program_ended_is_not_a_failure() {
        let killed = evidence(None, Some(9));
        let timed_out = Evidence {
            ended: Some(Ended::TimedOut { after_seconds: 1.5 }),
            ..killed.clone()
        };
        check(
            &timed_out,
            Status::TimedOut,
            Some("exceeded 1.5 s and was stopped"),
        );
        let ended = Some(Ended::Interrupted);
        let clean = Evidence {
            ended,
            ..evidence(Some(0), None)
        };
        check(&clean, Status::Interrupted, Some("was interrupted"));
    }

    #[test]
    fn want_of_memory_is_recognised() {
        let check_memory = |evidence: Evidence<'_>, expected: &str| {
            let outcome = evidence.outcome();
            assert_eq!(outcome.status, Status::OutOfMemory, "{evidence:?}");
            let detail = outcome.detail.unwrap();
            assert!(detail.contains(expected), "{detail}");
        };
        let killed = evidence(None, Some(9));
        let limit = Some(64_000_000);
        check_memory(
            Evidence {
                group_kills: 1,
                memory_limit_bytes: limit,
                ..killed.clone()
            },
            "ran out of memory with a limit of 64 MB: the kernel killed it",
        );
        check_memory(
            Evidence {
                machine_was_full: true,
                ..evidence(Some(137), None)
            },
            "the whole machine's memory was full",
        );
        check_memory(
            Evidence {
                reported_out_of_memory: Some("batch 512"),
                ..evidence(Some(0), None)
            },
            "ran out of memory: batch 512",
        );
        for line in [
            "memory allocation of 1048576 bytes failed",
            "MemoryError: Unable to allocate 3 GiB",
            "terminate called after throwing an instance of 'std::bad_alloc'",
            "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB",
        ] {
            let log_end = format!("step 1\n{line}\nAborted\n");
            check_memory(
                Evidence {
                    log_end: &log_end,
                    ..evidence(Some(1), None)
                },
                line,
            );
        }
    }

    #[test]
    fn a_server_is_judged_by_its_client() {
        let check_client = |verdict: &Verdict, usage: Evidence<'_>, status, detail| {
            let evidence = Evidence {
                client: Some(verdict),
                was_asked: true,
                ..usage
            };
            check(&evidence, status, detail);
        };
        check_client(
            &Verdict::Through,
            evidence(None, Some(15)),
            Status::Ok,
            None,
        );
        let words = Verdict::Failed("no healthy ping within 240 s".to_owned());
        let said = Some("no healthy ping within 240 s");
        check_client(&words, evidence(Some(0), None), Status::Failed, said);
        let alone = Some("the server ended with exit code 3, while requests were in progress");
        check_client(
            &Verdict::CutShort,
            evidence(Some(3), None),
            Status::Failed,
            alone,
        );
        let full = Evidence {
            group_kills: 1,
            ..evidence(None, Some(9))
        };
        let kernel = Some("ran out of memory: the kernel killed it");
        check_client(&Verdict::CutShort, full, Status::OutOfMemory, kernel);
    }

    #[test]
    fn a_server_that_was_never_healthy_is_said_to_be() {
        let never = |client: &'static Verdict, usage: Evidence<'static>| Evidence {
            client: Some(client),
            log_end: "no module named app",
            ..usage
        };
        let late = Evidence {
            ended: Some(Ended::TimedOut {
                after_seconds: 20.0,
            }),
            ..never(&Verdict::CutShort, evidence(None, Some(15)))
        };
        let reported = "the server was not healthy after 20 s and was stopped; the log ends:\nno module named app";
        check(&late, Status::TimedOut, Some(reported));
        let died = never(&Verdict::CutShort, evidence(Some(1), None));
        let reported = "the server ended with exit code 1 before it was healthy; the log ends:\nno module named app";
        check(&died, Status::Failed, Some(reported));
        let words = Verdict::Failed("no healthy ping within 240 s".to_owned());
        let unhealthy = Evidence {
            client: Some(&words),
            log_end: "no module named app",
            ..evidence(None, Some(15))
        };
        let reported = "no healthy ping within 240 s; the log ends:\nno module named app";
        check(&unhealthy, Status::Failed, Some(reported));
        let asked = Evidence {
            was_asked: true,
            ..late
        };
        let reported = "exceeded 20 s and was stopped; the log ends:\nno module named app";
        check(&asked, Status::TimedOut, Some(reported));
    }

    #[test]
    fn a_run_that_ended_well_had_enough() {
        let survived = Evidence {
            group_kills: 1,
            log_end: "MemoryError",
            ..evidence(Some(0), None)
        };
        check(&survived, Status::Ok, None);
    }
}
