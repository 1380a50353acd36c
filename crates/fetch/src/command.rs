//! Programs of this machine that can get packages.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::error::FetchError;

/// Runs the program in `folder` until it ends well, or no longer than `limit`.
pub(crate) fn run(
    program: &str,
    arguments: &[&str],
    folder: &Path,
    limit: Duration,
) -> Result<(), FetchError> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    let answer = host::ask(&mut command, limit)
        .map_err(|_| FetchError::new(format!("{program} is not installed")))?;
    if answer.timed_out {
        return Err(FetchError::new(format!(
            "{program} did not end within {} s",
            limit.as_secs()
        )));
    }
    if answer.success() {
        return Ok(());
    }
    let said = [answer.stdout, answer.stderr].concat();
    let complaint = complaint(&String::from_utf8_lossy(&said));
    Err(FetchError::new(format!("{program} failed: {complaint}")))
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

    fn check(program: &str, arguments: &[&str], seconds: u64, expected: &str) {
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
