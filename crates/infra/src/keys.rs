//! SSH key pairs, made by `ssh-keygen` for one machine and gone with it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::error::InfraError;

const PATIENCE: Duration = Duration::from_secs(30);

/// An ed25519 pair in `path` and `path.pub`, both readable by their owner alone. One that is there is
/// kept: a repeated apply must not change the machine. Returns the public half.
pub(crate) fn pair(path: &Path) -> Result<String, InfraError> {
    let public = path.with_extension("pub");
    if !public.is_file() {
        // Half a pair, of a program that was killed.
        _ = fs::remove_file(path);
        let mut command = Command::new("ssh-keygen");
        command
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
            .arg(path);
        let answer = host::ask(&mut command, PATIENCE).map_err(|error| {
            InfraError::Refused(format!(
                "cannot start ssh-keygen: {error} (install OpenSSH's client)"
            ))
        })?;
        if !answer.success() {
            let why = String::from_utf8_lossy(&answer.stderr);
            return Err(InfraError::Io(format!("ssh-keygen failed: {}", why.trim())));
        }
    }
    let text = fs::read_to_string(&public).map_err(InfraError::io("read", &public))?;
    Ok(text.trim().to_owned())
}
