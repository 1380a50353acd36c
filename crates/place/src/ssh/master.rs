//! Connections to a host that share one login: the user's way of it where one is configured, else
//! ours.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::Digest;

use super::{SHORT, text};
use crate::error::PlaceError;

const PERSIST_SECONDS: u32 = 60;
const ALIVE_SECONDS: u32 = 5;
const ALIVE_COUNT: u32 = 3;

/// What the user's configuration says about a host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Configured {
    control_path: Option<String>,
    control_master: bool,
    persists: bool,
    is_kept_alive: bool,
}

impl Configured {
    /// `ssh -G` connects nowhere.
    pub(super) fn ask(mut ssh: Command, host: &str) -> Result<Configured, PlaceError> {
        let program = PathBuf::from(ssh.get_program());
        ssh.args(["-G", "--", host]);
        let answer = host::ask(&mut ssh, SHORT);
        let answer = answer.map_err(|error| PlaceError::io("start", &program, &error))?;
        match answer.success() {
            true => Ok(Configured::read(&text(&answer.stdout))),
            false => {
                let stderr = text(&answer.stderr);
                let why = super::words::choose(&stderr).unwrap_or("its configuration is wrong");
                let program = program.display();
                Err(PlaceError::Refused(format!("{program}: {why}")))
            }
        }
    }

    fn read(printed: &str) -> Configured {
        let value = |key: &str| {
            let mut lines = printed.lines().filter_map(|line| line.split_once(' '));
            lines.find_map(|(name, value)| (name == key).then_some(value))
        };
        let is_on = |key: &str| {
            let off = ["no", "false", "none", "0"];
            value(key).is_some_and(|value| !off.contains(&value))
        };
        Configured {
            control_path: value("controlpath")
                .filter(|path| *path != "none")
                .map(str::to_owned),
            control_master: is_on("controlmaster"),
            persists: is_on("controlpersist"),
            is_kept_alive: is_on("serveraliveinterval"),
        }
    }

    /// Whether a shared connection is to be started when there is none.
    pub(super) fn can_share(&self) -> bool {
        self.control_path.is_none() || self.control_master
    }

    /// A connection that is dead is noticed, by the user's setting or ours.
    pub(super) fn keep_alive(&self) -> Vec<OsString> {
        if self.is_kept_alive {
            return Vec::new();
        }
        options(&[
            &format!("ServerAliveInterval={ALIVE_SECONDS}"),
            &format!("ServerAliveCountMax={ALIVE_COUNT}"),
        ])
    }

    /// By the name that was asked for: two names of one host may have different keys and checks.
    pub(super) fn sharing(&self, host: &str) -> Result<Vec<OsString>, PlaceError> {
        let persist = format!("ControlPersist={PERSIST_SECONDS}");
        if self.control_path.is_some() {
            let is_ours = self.control_master && !self.persists;
            return Ok(if is_ours {
                options(&[&persist])
            } else {
                Vec::new()
            });
        }
        let folder = control_folder()?;
        let name = Digest::of(host).to_string();
        let path = format!("ControlPath={}/{}-%C", folder.display(), &name[..8]);
        Ok(options(&["ControlMaster=auto", &path, &persist]))
    }
}

fn options(settings: &[&str]) -> Vec<OsString> {
    let words = settings.iter().flat_map(|setting| ["-o", *setting]);
    words.map(OsString::from).collect()
}

/// Short, because the name of a socket may have some hundred letters only, and our own: whoever can
/// write there can speak through our connections.
fn control_folder() -> Result<PathBuf, PlaceError> {
    // SAFETY: the call takes and changes nothing.
    let user = unsafe { libc::geteuid() };
    let folder = PathBuf::from(format!("/tmp/bancada-ssh-{user}"));
    let failed = |error: io::Error| PlaceError::io("use", &folder, &error);
    host::create_private_folder(&folder).map_err(failed)?;
    let found = fs::symlink_metadata(&folder).map_err(failed)?;
    let is_private = found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0;
    match is_private {
        true => Ok(folder),
        false => Err(PlaceError::Refused(format!(
            "{} must be a folder that only you can open: remove it, or set ControlPath in your ssh \
             configuration",
            folder.display()
        ))),
    }
}

/// Starts a shared connection where there is none. It is a process of its own, so that the end of
/// whoever asked for it first does not end the others' connections. The error is what ssh printed.
pub(super) fn ensure(ssh: Command, host: &str) -> Result<(), String> {
    if is_there(&ssh, host) {
        return Ok(());
    }
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = control_folder().map_err(|error| error.to_string())?;
    let log = folder.join(format!("{}-{number}.log", std::process::id()));
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create_new(true).mode(0o600);
    // Not a pipe: the process in the background would keep it open. Nobody needs its name.
    let mut file = options.open(&log).map_err(|error| error.to_string())?;
    _ = fs::remove_file(&log);
    let errors = file.try_clone().map_err(|error| error.to_string())?;
    let mut starting = again(&ssh);
    starting
        .args(["-f", "-N", "--", host])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors);
    // SAFETY: a system call on the new process alone.
    unsafe {
        starting.pre_exec(|| match libc::setsid() {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    let started = wait(&mut starting);
    let mut printed = String::new();
    // Without the words the failure is reported all the same.
    _ = file
        .rewind()
        .and_then(|()| file.read_to_string(&mut printed));
    match started {
        Ok(true) => Ok(()),
        // Somebody else may have started one at the same time.
        Ok(false) if is_there(&ssh, host) => Ok(()),
        Ok(false) => Err(printed),
        Err(error) => Err(error.to_string()),
    }
}

fn wait(command: &mut Command) -> io::Result<bool> {
    let mut child = command.spawn()?;
    let deadline = Instant::now() + SHORT;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_there(ssh: &Command, host: &str) -> bool {
    let mut check = again(ssh);
    check.args(["-O", "check", "--", host]);
    host::ask(&mut check, SHORT).is_ok_and(|answer| answer.success())
}

fn again(command: &Command) -> Command {
    let mut new = Command::new(command.get_program());
    new.args(command.get_args());
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_sharing_is_used() {
        let check = |printed: &str, can_share: bool, settings: &[&str]| {
            let configured = Configured::read(printed);
            assert_eq!(configured.can_share(), can_share, "{printed}");
            let words: Vec<OsString> = configured.sharing("h1").unwrap();
            let words: Vec<String> = words.iter().map(|w| w.to_string_lossy().into()).collect();
            for setting in settings {
                assert!(
                    words.iter().any(|word| word.starts_with(setting)),
                    "{words:?}"
                );
            }
            assert_eq!(words.len(), 2 * settings.len(), "{words:?}");
        };
        let ours = [
            "ControlMaster=auto",
            "ControlPath=/tmp/",
            "ControlPersist=60",
        ];
        check("controlmaster false\ncontrolpersist no\n", true, &ours);
        check("controlpath none\n", true, &ours);
        let path = "controlpath /x/%C\n";
        check(
            &format!("{path}controlmaster auto\n"),
            true,
            &["ControlPersist=60"],
        );
        check(
            &format!("{path}controlmaster auto\ncontrolpersist 5\n"),
            true,
            &[],
        );
        check(&format!("{path}controlmaster false\n"), false, &[]);
        assert!(
            Configured::read("serveraliveinterval 0\n")
                .keep_alive()
                .len()
                == 4
        );
        assert!(
            Configured::read("serveraliveinterval 9\n")
                .keep_alive()
                .is_empty()
        );
    }
}
