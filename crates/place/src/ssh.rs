//! An agent on a host of the user's own SSH configuration, through the user's own `ssh` program: keys,
//! agents, jump hosts and shared connections are as they are in a terminal.
//!
//! The host needs no installation: this program copies itself there, once, under its digest.

mod binary;
mod master;
mod probe;
mod words;

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use host::Answer;

use crate::error::PlaceError;
use crate::remote::Connector;
use crate::runs::file_name;
use binary::Binary;
use probe::Probe;

/// For one short command, login included.
const SHORT: Duration = Duration::from_secs(60);
/// For copying this program over a slow line.
const LONG: Duration = Duration::from_secs(3600);
/// A host that does not answer so long is not there.
const CONNECT_SECONDS: u32 = 15;
/// What `ssh` itself ends with, whatever the remote command ends with.
const SSH_FAILED: i32 = 255;

/// What is needed to reach an agent on a host.
#[derive(Debug, Clone)]
pub struct SshOptions {
    /// The `ssh` program, or a wrapper with its arguments.
    pub program: PathBuf,
    /// Instead of the user's own configuration: that of a machine that was rented.
    pub config: Option<PathBuf>,
    /// This program, which is copied to the host.
    pub bancada: PathBuf,
    /// Tells apart the studies and results folders that share a host: any text.
    pub place: String,
    /// What runs are started in, as the agent takes it.
    pub within: Option<String>,
    /// The provider that may take the machine back: the agent waits for its notice.
    pub notices_of: Option<String>,
}

/// A host by SSH.
#[derive(Debug)]
pub struct Ssh {
    host: String,
    options: SshOptions,
    installed: Mutex<Option<Installed>>,
}

#[derive(Debug, Clone)]
struct Installed {
    /// Paths on the host.
    program: String,
    root: String,
}

impl Ssh {
    /// Nothing is connected yet.
    pub fn new(host: &str, options: SshOptions) -> Result<Self, PlaceError> {
        let is_plain = |c: char| c.is_alphanumeric() || "._-@:%[]".contains(c);
        let name = host.strip_prefix("ssh://").unwrap_or(host);
        if name.is_empty() || name.starts_with(['-', '.']) || !name.chars().all(is_plain) {
            let why = format!("`{}` is not the name of a host", host.escape_debug());
            return Err(PlaceError::Refused(why));
        }
        Ok(Ssh {
            host: host.to_owned(),
            options,
            installed: Mutex::default(),
        })
    }

    /// The words of `ssh` up to the host. No word of a study reaches an option: the host's name was
    /// checked, and `--` ends them.
    fn ssh(&self) -> Command {
        let mut command = Command::new(&self.options.program);
        if let Some(config) = &self.options.config {
            command.arg("-F").arg(config);
        }
        command
            .args(["-T", "-o", "BatchMode=yes"])
            .args(["-o", &format!("ConnectTimeout={CONNECT_SECONDS}")])
            // What a person's configuration does for terminals.
            .args(["-o", "RemoteCommand=none", "-o", "RequestTTY=no"])
            .args(["-o", "ClearAllForwardings=yes", "-o", "ForwardAgent=no"])
            .args(["-o", "ForwardX11=no"]);
        command
    }

    /// A command line for the login shell there, which may be any shell: all words are quoted.
    fn command(&self, words: &[&str]) -> Result<Command, PlaceError> {
        let mut command = self.ssh();
        command.args(self.shared()?).arg("--").arg(&self.host);
        let words = host::shell::joined(words.iter().copied());
        command.arg(format!("exec {words}"));
        Ok(command)
    }

    fn shell(&self, script: &str) -> Result<Command, PlaceError> {
        self.command(&["/bin/sh", "-c", script])
    }

    /// Options by which connections share one login.
    fn shared(&self) -> Result<Vec<OsString>, PlaceError> {
        let configured = master::Configured::ask(self.ssh(), &self.host)?;
        let mut options = configured.keep_alive();
        options.extend(configured.sharing(&self.host)?);
        if configured.can_share() {
            let mut starting = self.ssh();
            starting.args(&options);
            master::ensure(starting, &self.host).map_err(|words| self.unreachable(&words))?;
        }
        Ok(options)
    }

    fn installed(&self) -> Result<Installed, PlaceError> {
        let mut installed = self
            .installed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(installed) = &*installed {
            return Ok(installed.clone());
        }
        let binary = Binary::read(&self.options.bancada)?;
        let probe = self.probe(&binary)?;
        probe.complaint(&binary).map_or(Ok(()), |why| {
            Err(PlaceError::Refused(format!("{}: {why}", self.host)))
        })?;
        if !probe.has_program {
            self.copy(&binary, &probe)?;
        }
        let place = format!("places/{}", file_name(&self.options.place));
        let new = Installed {
            program: format!("{}/bin/{}", probe.cache, binary.digest),
            root: format!("{}/{place}", probe.cache),
        };
        *installed = Some(new.clone());
        Ok(new)
    }

    fn probe(&self, binary: &Binary) -> Result<Probe, PlaceError> {
        let mut command = self.shell(&probe::script(&binary.digest))?;
        let answer = host::ask(&mut command, SHORT);
        let answer = answer.map_err(|error| self.cannot_start(&error))?;
        if answer.status.code() == Some(SSH_FAILED) || answer.timed_out {
            return Err(self.unreachable(&text(&answer.stderr)));
        }
        let found = Probe::read(&text(&answer.stdout));
        found.ok_or_else(|| {
            let stderr = text(&answer.stderr);
            let why = words::choose(&stderr).unwrap_or("its shell printed nothing we know");
            PlaceError::Refused(format!("{} cannot be used: {why}", self.host))
        })
    }

    /// Under another name first: half a program is never started.
    fn copy(&self, binary: &Binary, probe: &Probe) -> Result<(), PlaceError> {
        let failed = |why: &str| {
            let host = &self.host;
            PlaceError::Refused(format!("cannot copy Bancada to {host}: {why}"))
        };
        let path = &self.options.bancada;
        let file = File::open(path).map_err(|error| PlaceError::io("read", path, &error))?;
        let mut command = self.shell(&probe::copy_script(&probe.cache, &binary.digest))?;
        let answer: Answer = host::ask_with(&mut command, Stdio::from(file), LONG)
            .map_err(|error| self.cannot_start(&error))?;
        match answer.success() {
            true => Ok(()),
            false => {
                let stderr = text(&answer.stderr);
                Err(failed(
                    words::choose(&stderr).unwrap_or("it did not arrive"),
                ))
            }
        }
    }

    fn cannot_start(&self, error: &std::io::Error) -> PlaceError {
        PlaceError::io("start", &self.options.program, error)
    }

    /// Before the first connection nothing was lost: it is a sentence for whoever set it up.
    fn unreachable(&self, stderr: &str) -> PlaceError {
        let host = &self.host;
        let words = words::choose(stderr).unwrap_or("it does not answer");
        let hint = words::hint(words, host);
        let sentence = format!("cannot reach {host} by SSH: {words}{hint}");
        let was_there = self.installed.try_lock().is_ok_and(|known| known.is_some());
        match was_there && !words::is_final(words) {
            true => PlaceError::Lost(sentence),
            false => PlaceError::Refused(sentence),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Connector for Ssh {
    fn connect(&self) -> Result<Command, PlaceError> {
        let Installed { program, root } = self.installed()?;
        let files = format!("{root}/files");
        let mut words = vec![program.as_str(), "agent", &root, "--files", &files];
        if let Some(within) = &self.options.within {
            words.extend(["--within", within]);
        }
        if let Some(provider) = &self.options.notices_of {
            words.extend(["--notices-of", provider]);
        }
        self.command(&words)
    }

    fn judge(&self, printed: &str, exit_code: Option<i32>) -> PlaceError {
        match exit_code {
            Some(SSH_FAILED) => self.unreachable(printed),
            Some(126 | 127) => {
                // Somebody cleared the cache there: the next connection copies the program again.
                let mut installed = self
                    .installed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                *installed = None;
                PlaceError::Lost(format!("{}: the agent is not there any more", self.host))
            }
            _ => {
                let words = words::choose(printed).unwrap_or(printed).to_owned();
                PlaceError::Lost(format!("{}: {words}", self.host))
            }
        }
    }
}

/// The `ssh` that a person's variable `BANCADA_SSH` names, or the one in `PATH`.
pub fn program(variable: Option<OsString>) -> PathBuf {
    let named = variable.filter(|name| !name.is_empty());
    named.map_or_else(|| Path::new("ssh").to_owned(), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_hosts_are_refused() {
        let options = || SshOptions {
            program: "ssh".into(),
            config: None,
            bancada: "bancada".into(),
            place: "x".into(),
            within: None,
            notices_of: None,
        };
        for good in [
            "node1",
            "user@10.0.0.1",
            "ssh://u@h:22",
            "fe80::1%eth0",
            "é",
        ] {
            assert!(Ssh::new(good, options()).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-oProxyCommand=id",
            "a b",
            "a;id",
            "$(id)",
            "a\nb",
            "`id`",
            "a'b",
            "../a",
        ] {
            assert!(Ssh::new(bad, options()).is_err(), "{bad}");
        }
    }
}
