//! A machine that exists, and how it is reached: by `ssh -F CONFIG NAME`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::error::InfraError;

const ONE_TRY: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(500);
/// Written by the script of the first start when all is there.
const READY_FILE: &str = ".bancada-ready";

/// A host for `ssh`, `scp` and `rsync`, with keys that are this machine's alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Its name in the SSH configuration, and everywhere else.
    pub id: String,
    pub address: String,
    pub user: String,
    pub port: u16,
    /// `ssh -F` takes it.
    pub ssh_config: PathBuf,
    /// What its module wants a person to know.
    pub boot: Option<String>,
}

/// What a machine's start took.
#[derive(Debug, Clone, PartialEq)]
pub struct Booted {
    /// From the first word to Terraform to the first answer by SSH.
    pub boot_seconds: f64,
    /// From there until everything was installed.
    pub install_seconds: f64,
    /// What could not be installed.
    pub note: Option<String>,
}

/// What a module says of its machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outputs {
    pub(crate) address: String,
    pub(crate) user: String,
    pub(crate) port: u16,
    /// Of a machine that did not take the one it was given.
    pub(crate) host_key: Option<String>,
    pub(crate) boot: Option<String>,
}

#[derive(Deserialize)]
struct Output {
    value: Value,
}

impl Outputs {
    /// Terraform's `output -json`. The values come from a module, which may be anybody's, and go
    /// into an SSH configuration: they are what they should be, or refused.
    pub(crate) fn read(all: &Value) -> Result<Outputs, InfraError> {
        let value = |name: &str| -> Option<Value> {
            let output: Output = serde_json::from_value(all.get(name)?.clone()).ok()?;
            Some(output.value).filter(|value| !value.is_null())
        };
        let text = |name: &str| value(name)?.as_str().map(str::to_owned);
        let wrong = |name: &str| {
            let found = value(name).map_or("nothing".to_owned(), |value| value.to_string());
            InfraError::Terraform(format!(
                "the module's output `{name}` is not usable: {}",
                found.escape_debug()
            ))
        };
        let checked = |name: &str, is_right: fn(&str) -> bool| {
            let text = text(name).filter(|text| is_right(text));
            text.ok_or_else(|| wrong(name))
        };
        let port = match value("port") {
            None => 22,
            Some(port) => port
                .as_u64()
                .and_then(|port| u16::try_from(port).ok())
                .ok_or_else(|| wrong("port"))?,
        };
        let host_key = match value("host_key") {
            None => None,
            Some(_) => Some(checked("host_key", is_host_key)?),
        };
        Ok(Outputs {
            address: checked("address", is_address)?,
            user: checked("user", is_user)?,
            port,
            host_key,
            boot: text("boot"),
        })
    }
}

fn is_address(text: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || ".:-".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.len() <= 253
        && text.chars().all(is_known)
}

fn is_user(text: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.len() <= 32
        && text.chars().all(is_known)
}

/// `ssh-ed25519 AAAA…`, perhaps with a comment.
fn is_host_key(text: &str) -> bool {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let mut words = text.split(' ');
    let kind = words.next().is_some_and(|kind| {
        kind.starts_with("ssh-") || kind.starts_with("ecdsa-") || kind.starts_with("sk-")
    });
    kind && words.next().is_some_and(|key| key.chars().all(is_base64))
        && !text.contains(char::is_control)
}

/// Host keys are checked from the first connection on.
pub(crate) fn ssh_config(id: &str, outputs: &Outputs, folder: &Path) -> Result<String, InfraError> {
    let path = |name: &str| -> Result<String, InfraError> {
        let path = folder.join(name);
        let text = path.to_str().filter(|text| {
            let is_odd = |c: char| c == '"' || c == '\\' || c.is_control();
            !text.contains(is_odd)
        });
        let text = text.ok_or_else(|| {
            let path = path.display();
            InfraError::Refused(format!(
                "{path} cannot be written in an SSH configuration: choose a plain folder with BANCADA_STATE"
            ))
        })?;
        // ssh replaces %h and the like in paths.
        Ok(text.replace('%', "%%"))
    };
    let Outputs {
        address,
        user,
        port,
        ..
    } = outputs;
    Ok(format!(
        "Host {id}\n  HostName {address}\n  Port {port}\n  User {user}\n  IdentityFile \"{}\"\n  \
         IdentitiesOnly yes\n  UserKnownHostsFile \"{}\"\n  GlobalKnownHostsFile none\n  \
         HostKeyAlias {id}\n  StrictHostKeyChecking yes\n  UpdateHostKeys no\n  BatchMode yes\n  \
         ConnectTimeout 5\n  ServerAliveInterval 5\n  ServerAliveCountMax 3\n  LogLevel ERROR\n",
        path("client")?,
        path("known_hosts")?
    ))
}

impl Machine {
    /// `ssh` to it; words for the other side follow.
    pub fn ssh(&self) -> Command {
        let mut command = Command::new("ssh");
        command.arg("-F").arg(&self.ssh_config).arg(&self.id);
        command
    }

    /// Waits until it answers, and until its first start is through. `since` is when it was asked
    /// for.
    pub fn wait_until_ready(
        &self,
        since: Timestamp,
        patience: Duration,
    ) -> Result<Booted, InfraError> {
        let deadline = Instant::now() + patience;
        let elapsed = || Timestamp::now().duration_since(since).as_secs_f64();
        let mut first_answer = None;
        let mut last_error = String::new();
        while Instant::now() < deadline {
            let mut command = self.ssh();
            command.args(["cat", READY_FILE]);
            let answer = host::ask(&mut command, ONE_TRY)
                .map_err(|e| InfraError::Refused(format!("cannot start ssh: {e}")))?;
            if answer.success() {
                let text = String::from_utf8_lossy(&answer.stdout);
                return Ok(booted(&text, since, first_answer, elapsed()));
            }
            // 255 is ssh's own: nobody answered, or not the one who was expected.
            if answer.status.code() == Some(255) || answer.timed_out {
                last_error = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
            } else {
                first_answer.get_or_insert_with(elapsed);
            }
            thread::sleep(PAUSE);
        }
        let seconds = patience.as_secs();
        Err(InfraError::Unreachable(match first_answer {
            Some(_) => format!("{} answers, but was not ready after {seconds} s", self.id),
            None => format!(
                "{} ({}) did not answer by SSH within {seconds} s: {last_error}",
                self.id, self.address
            ),
        }))
    }
}

/// `text` is when the first start began and when it was through, by the machine's clock, and a note.
/// Who came when all was ready already knows it from there only.
fn booted(text: &str, since: Timestamp, first_answer: Option<f64>, now: f64) -> Booted {
    let mut words = text.trim().splitn(3, ' ');
    let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
    let (begun, ready) = (number(), number());
    let note = words.next().filter(|note| *note != "ok").map(str::to_owned);
    let of_machine = begun.zip(ready).map(|(begun, ready)| {
        let boot = begun - since.as_second() as f64;
        (boot.clamp(0.0, now), (ready - begun).clamp(0.0, now))
    });
    let (boot_seconds, install_seconds) = match (first_answer, of_machine) {
        (Some(first), _) => (first, now - first),
        (None, Some((boot, install))) if boot + install <= now => (boot, install),
        (None, _) => (now, 0.0),
    };
    Booted {
        boot_seconds,
        install_seconds,
        note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outputs_of_a_module_cannot_break_out_of_the_configuration() {
        let outputs = |address: &str, user: &str, host_key: Option<&str>| {
            let value = |value: Value| json!({ "value": value, "type": "string" });
            Outputs::read(&json!({
                "address": value(json!(address)),
                "user": value(json!(user)),
                "host_key": value(json!(host_key)),
            }))
        };
        let fine = outputs("10.0.0.1", "bancada", Some("ssh-ed25519 AAAAC3Nz= x")).unwrap();
        assert_eq!(fine.port, 22);
        assert!(outputs("2001:db8::1", "ec2-user", None).is_ok());
        for address in ["", "-oProxyCommand=x", "a b", "a\nProxyCommand x", "$(id)"] {
            assert!(outputs(address, "bancada", None).is_err(), "{address}");
        }
        for user in ["", "-l", "a b", "root\nHost *"] {
            assert!(outputs("10.0.0.1", user, None).is_err(), "{user}");
        }
        for key in ["x", "ssh-rsa AAA\n* ssh-rsa B", "ssh-rsa $(id)"] {
            assert!(outputs("10.0.0.1", "bancada", Some(key)).is_err(), "{key}");
        }
        assert!(Outputs::read(&json!({})).is_err());
        let folder = Path::new("/home/a b/50%");
        let config = ssh_config("bancada-x", &fine, folder).unwrap();
        assert!(config.contains("IdentityFile \"/home/a b/50%%/client\""));
        assert!(config.contains("StrictHostKeyChecking yes"));
        assert!(ssh_config("bancada-x", &fine, Path::new("/a\"b")).is_err());
    }

    #[test]
    fn boot_and_install_by_whoever_saw_them() {
        let since: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let at = |seconds: i64| since.as_second() + seconds;
        let check = |text: String, first: Option<f64>, now: f64, boot: f64, install: f64| {
            let found = booted(&text, since, first, now);
            assert_eq!((found.boot_seconds, found.install_seconds), (boot, install));
        };
        check(
            format!("{} {} ok", at(30), at(50)),
            Some(35.0),
            51.0,
            35.0,
            16.0,
        );
        // Everything was there when the first came.
        check(format!("{} {} ok", at(30), at(50)), None, 400.0, 30.0, 20.0);
        // A machine whose clock is wrong, or a module that writes nothing.
        check(
            format!("{} {} ok", at(3000), at(3050)),
            None,
            40.0,
            40.0,
            0.0,
        );
        check(String::new(), None, 40.0, 40.0, 0.0);
        let noted = booted("1 2 no rsync here", since, None, 9.0);
        assert_eq!(noted.note.as_deref(), Some("no rsync here"));
    }
}
