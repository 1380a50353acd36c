//! The `terraform` or `tofu` program.
//!
//! It is not ended with this program: one that creates a machine and is killed forgets the machine.
//! It goes on, writes its state, and whoever comes next waits for its lock.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use host::FileLock;
use serde::Deserialize;
use serde_json::Value;

use crate::error::InfraError;

/// How long another Terraform is waited for, which may still be creating the machine.
const LOCK: &str = "-lock-timeout=1800s";
const LONGEST: Duration = Duration::from_secs(3600);
const QUICK: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(20);
/// Of what it printed last, for an error.
const LAST_BYTES: i64 = 4000;
const LAST_LINES: usize = 20;

/// One configuration with its state, in a private folder.
pub(crate) struct Terraform<'a> {
    pub(crate) program: PathBuf,
    /// Has `module`, `variables.tfvars.json`, `terraform.tfstate` and `terraform.log`.
    pub(crate) folder: &'a Path,
    /// Where downloaded providers are kept for all machines.
    pub(crate) plugins: PathBuf,
}

/// `BANCADA_TERRAFORM`, else `terraform`, else `tofu`.
pub(crate) fn find_program() -> Result<PathBuf, InfraError> {
    if let Some(named) = env::var_os("BANCADA_TERRAFORM").filter(|name| !name.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let found = ["terraform", "tofu"].into_iter().find_map(|name| {
        let mut places = folders.iter().map(|folder| folder.join(name));
        places.find(|place| place.is_file())
    });
    found.ok_or_else(|| {
        InfraError::Refused(
            "rented machines need Terraform or OpenTofu: neither `terraform` nor `tofu` is on PATH (BANCADA_TERRAFORM names the program)"
                .to_owned(),
        )
    })
}

/// What the state says exists.
#[derive(Debug, Deserialize)]
struct State {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Debug, Deserialize)]
struct Resource {
    #[serde(default)]
    mode: String,
}

impl Terraform<'_> {
    /// Downloads the providers where they are not there yet.
    pub(crate) fn init(&self) -> Result<(), InfraError> {
        let cannot = InfraError::io("create", &self.plugins);
        host::create_private_folder(&self.plugins).map_err(cannot)?;
        // Two that download into one cache at once spoil it.
        let lock = FileLock::wait(&self.plugins.join(".lock"));
        let _lock = lock.map_err(|_| InfraError::Io("cannot lock the plugin cache".to_owned()))?;
        self.run("init", &[], LONGEST)
    }

    /// Writes what would be done to `plan` in the folder.
    pub(crate) fn plan(&self) -> Result<Value, InfraError> {
        let file = self.folder.join("plan");
        let mut out = OsString::from("-out=");
        out.push(&file);
        self.run("plan", &self.arguments(&out), LONGEST)?;
        self.json(&["show", "-json", "-no-color"], Some(&file))
    }

    pub(crate) fn apply(&self) -> Result<(), InfraError> {
        let arguments = self.arguments(OsStr::new("-auto-approve"));
        self.run("apply", &arguments, LONGEST)
    }

    /// Returns when Terraform has destroyed everything and its state is empty.
    pub(crate) fn destroy(&self) -> Result<(), InfraError> {
        let arguments = self.arguments(OsStr::new("-auto-approve"));
        self.run("destroy", &arguments, LONGEST)?;
        match self.resources()? {
            0 => Ok(()),
            left => Err(InfraError::Terraform(format!(
                "Terraform reported success, but its state still has {left} resources"
            ))),
        }
    }

    /// Names and values.
    pub(crate) fn outputs(&self) -> Result<Value, InfraError> {
        self.json(&["output", "-json", "-no-color"], None)
    }

    /// That the state knows to exist, without what was only read.
    pub(crate) fn resources(&self) -> Result<usize, InfraError> {
        let path = self.state();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(InfraError::io("read", &path)(error)),
        };
        if bytes.is_empty() {
            return Ok(0);
        }
        let state: State = serde_json::from_slice(&bytes)
            .map_err(|e| InfraError::Io(format!("{}: {e}", path.display())))?;
        Ok(state.resources.iter().filter(|r| r.mode != "data").count())
    }

    fn state(&self) -> PathBuf {
        self.folder.join("terraform.tfstate")
    }

    fn arguments(&self, more: &OsStr) -> Vec<OsString> {
        let mut state = OsString::from("-state=");
        state.push(self.state());
        let mut variables = OsString::from("-var-file=");
        variables.push(self.folder.join("variables.tfvars.json"));
        vec![LOCK.into(), state, variables, more.to_owned()]
    }

    fn command(&self) -> Command {
        // Files that Terraform writes hold what is in its variables: nobody else may read them.
        // A terminal that is closed must not end it.
        let script = "umask 077; trap '' HUP; exec \"$@\"";
        let mut command = Command::new("sh");
        let mut module = OsString::from("-chdir=");
        module.push(self.folder.join("module"));
        command
            .args(["-c", script, "sh"])
            .arg(&self.program)
            .arg(module)
            .env("TF_DATA_DIR", self.folder.join("terraform"))
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env("CHECKPOINT_DISABLE", "1")
            .env_remove("TF_CLI_ARGS")
            .env_remove("TF_WORKSPACE")
            // A log of everything would hold the variables.
            .env_remove("TF_LOG")
            .env_remove("TF_LOG_PATH");
        if env::var_os("TF_PLUGIN_CACHE_DIR").is_none() {
            command.env("TF_PLUGIN_CACHE_DIR", &self.plugins);
        }
        command
    }

    fn run(
        &self,
        what: &'static str,
        arguments: &[OsString],
        patience: Duration,
    ) -> Result<(), InfraError> {
        let path = self.folder.join("terraform.log");
        let mut options = OpenOptions::new();
        let options = options.create(true).append(true).read(true).mode(0o600);
        let cannot = || InfraError::io("write", &path);
        let mut log = options.open(&path).map_err(cannot())?;
        let begin = log.metadata().map_err(cannot())?.len();
        let copy = || log.try_clone().map_err(cannot());
        let mut command = self.command();
        command
            .args([what, "-input=false", "-no-color"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(copy()?)
            .stderr(copy()?)
            // A Ctrl-C for this program is not for Terraform.
            .process_group(0);
        let status = wait(&mut command, patience).map_err(|error| self.cannot_start(&error))?;
        match status {
            Some(status) if status.success() => Ok(()),
            Some(_) => Err(InfraError::Terraform(format!(
                "`{} {what}` failed:\n{}\n  = all of it: {}",
                self.program_name(),
                last_lines(&mut log, begin),
                path.display()
            ))),
            None => Err(InfraError::Terraform(format!(
                "`{} {what}` is still running after {} s: see {}",
                self.program_name(),
                patience.as_secs(),
                path.display()
            ))),
        }
    }

    fn json(&self, words: &[&str], file: Option<&Path>) -> Result<Value, InfraError> {
        let mut command = self.command();
        command.args(words);
        match file {
            Some(file) => command.arg(file),
            None => {
                let mut state = OsString::from("-state=");
                state.push(self.state());
                command.arg(state)
            }
        };
        let answer = host::ask(&mut command, QUICK).map_err(|error| self.cannot_start(&error))?;
        if !answer.success() {
            let why = String::from_utf8_lossy(&answer.stderr);
            return Err(InfraError::Terraform(format!(
                "`{} {}` failed:\n{}",
                self.program_name(),
                words.first().unwrap_or(&""),
                indented(why.trim().lines())
            )));
        }
        serde_json::from_slice(&answer.stdout).map_err(|e| {
            InfraError::Terraform(format!("the answer of Terraform cannot be read: {e}"))
        })
    }

    fn program_name(&self) -> String {
        let name = self.program.file_name();
        name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    fn cannot_start(&self, error: &std::io::Error) -> InfraError {
        InfraError::Refused(format!("cannot start {}: {error}", self.program.display()))
    }
}

/// None where it still runs when `patience` is over; it is left to itself then.
fn wait(command: &mut Command, patience: Duration) -> std::io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let deadline = Instant::now() + patience;
    loop {
        let ended = child.try_wait()?;
        if ended.is_some() || Instant::now() >= deadline {
            return Ok(ended);
        }
        thread::sleep(POLL);
    }
}

/// Of what was written since `begin`: from the first line that says what is wrong, or the last ones.
fn last_lines(log: &mut File, begin: u64) -> String {
    let mut text = Vec::new();
    let length = log.metadata().map_or(0, |about| about.len());
    let from = begin.max(length.saturating_add_signed(-LAST_BYTES));
    if log.seek(SeekFrom::Start(from)).is_ok() {
        // What can be read is shown.
        _ = log.read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let first = lines.iter().position(|line| line.contains("Error:"));
    let begin = first.unwrap_or(lines.len().saturating_sub(LAST_LINES));
    indented(lines.into_iter().skip(begin).take(LAST_LINES))
}

fn indented<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let lines: Vec<String> = lines.map(|line| format!("  {line}")).collect();
    lines.join("\n")
}
