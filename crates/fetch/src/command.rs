//! Programs of this machine that can get packages.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::Why;

/// Runs the program in `folder` until it ends well, or no longer than `limit`.
pub(crate) fn run(
    program: &'static str,
    arguments: &[&str],
    folder: &Path,
    limit: Duration,
) -> Result<(), Why> {
    // A file, since a pipe that nobody reads would stall a program that says much.
    let log_path = folder.join(format!("{program}.log"));
    let log = File::create(&log_path).map_err(Why::io(&log_path))?;
    let also = log.try_clone().map_err(Why::io(&log_path))?;
    let started = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(also)
        .spawn();
    let mut child = started.map_err(|_| Why::NoProgram { program })?;
    let began = Instant::now();
    let status = loop {
        match child.try_wait().map_err(Why::io(&log_path))? {
            Some(status) => break status,
            None if began.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                let seconds = limit.as_secs();
                return Err(Why::TimedOut { program, seconds });
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    if status.success() {
        return Ok(());
    }
    let log = fs::read(&log_path).unwrap_or_default();
    Err(Why::Program {
        program,
        said: complaint(&String::from_utf8_lossy(&log)),
    })
}

/// The line of a log that says most: the first that speaks of an error, or the last.
fn complaint(log: &str) -> String {
    let lines = || log.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines().find(|line| {
        let line = line.to_lowercase();
        line.contains("error") || line.starts_with("e:")
    });
    let line = error
        .or(lines().next_back())
        .unwrap_or("it printed nothing");
    line.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(program: &'static str, arguments: &[&str], seconds: u64, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let limit = Duration::from_secs(seconds);
        let told = match run(program, arguments, folder.path(), limit) {
            Ok(()) => "ok".to_owned(),
            Err(why) => why.to_string(),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn programs_end_somehow() {
        check("sh", &["-c", "echo fine"], 60, "ok");
        let words = "echo begin; echo 'E: no such package' >&2; echo end; exit 3";
        check("sh", &["-c", words], 60, "sh failed: E: no such package");
        check("sh", &["-c", "exit 1"], 60, "sh failed: it printed nothing");
        check("sleep", &["600"], 1, "sleep did not end within 1 s");
        let missing = "no-such-program is not installed";
        check("no-such-program", &[], 60, missing);
    }
}
