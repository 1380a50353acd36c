//! The container engine of this machine: which one answers, and what it says.

use std::fs;
use std::io;
use std::process::Command;
use std::time::Duration;

/// In the order in which they are asked.
const ENGINES: [&str; 2] = ["docker", "podman"];
const PATIENCE: Duration = Duration::from_secs(30);
/// Names the worker that started a container, for whoever comes after it.
pub(super) const WORKER_LABEL: &str = "bancada.worker";
pub(super) const ORDER_LABEL: &str = "bancada.order";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Engine {
    pub(crate) name: &'static str,
    pub(crate) version: String,
}

impl Engine {
    /// The wanted one, or the first that answers.
    pub(crate) fn find(wanted: Option<&str>) -> Result<Engine, String> {
        let candidates = ENGINES
            .iter()
            .filter(|name| wanted.is_none_or(|w| w == **name));
        let mut why = Vec::new();
        for name in candidates {
            match Engine::try_one(name) {
                Ok(engine) => return Ok(engine),
                Err(reason) => why.push(reason),
            }
        }
        if why.is_empty() {
            why.push(format!("unknown engine `{}`", wanted.unwrap_or_default()));
        }
        Err(format!("no container engine answers: {}", why.join("; ")))
    }

    /// As [`Engine::find`] named it before.
    pub(crate) fn named(name: &str, version: &str) -> Option<Engine> {
        let name = ENGINES.into_iter().find(|known| *known == name)?;
        let version = version.to_owned();
        Some(Engine { name, version })
    }

    fn try_one(name: &'static str) -> Result<Engine, String> {
        let engine = Engine {
            name,
            version: String::new(),
        };
        let version = match name {
            "docker" => engine.ask(&["version", "--format", "{{.Server.Version}}"]),
            // It has no daemon; this also looks at its runtime.
            _ => engine.ask(&["info", "--format", "{{.Version.Version}}"]),
        };
        let version = version.map_err(|why| match why {
            NoAnswer::NotInstalled => format!("{name} is not installed"),
            NoAnswer::Said(why) if name == "docker" => {
                format!("docker is installed, but its daemon does not answer: {why}")
            }
            NoAnswer::Said(why) => format!("{name} is installed, but does not work: {why}"),
        })?;
        engine.check_is_here()?;
        Ok(Engine { name, version })
    }

    /// Processes can be sampled on this machine only.
    fn check_is_here(&self) -> Result<(), String> {
        let at = match self.name {
            "docker" => {
                let words = [
                    "context",
                    "inspect",
                    "--format",
                    "{{.Endpoints.docker.Host}}",
                ];
                self.ask(&words).unwrap_or_default()
            }
            _ => std::env::var("CONTAINER_HOST").unwrap_or_default(),
        };
        is_here(&at).map_err(|()| {
            format!(
                "{} is on a different machine ({at}), where its containers cannot be measured from here; name that machine with ssh = \"…\"",
                self.name
            )
        })
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.name);
        command.args(words);
        command
    }

    pub(crate) fn ask(&self, words: &[&str]) -> Result<String, NoAnswer> {
        self.ask_for(words, PATIENCE)
    }

    pub(crate) fn ask_for(&self, words: &[&str], patience: Duration) -> Result<String, NoAnswer> {
        ask(&mut self.command(words), patience)
    }

    /// Docker brings one; podman needs a package of its own for it.
    pub(crate) fn has_init(&self, image: &str) -> bool {
        if self.name == "docker" {
            return true;
        }
        let made = self.ask(&["create", "--init", "--network", "none", image, "true"]);
        let made = made.map(|id| self.ask(&["rm", "--force", &id]));
        made.is_ok()
    }

    /// Removes containers whose worker is gone: it was killed, and so was its guard, or the engine
    /// did not answer then.
    pub(crate) fn remove_leftovers(&self) {
        let label = format!("label={WORKER_LABEL}");
        let listed = self.ask(&["ps", "--all", "--quiet", "--filter", &label]);
        let listed = listed.unwrap_or_default();
        if listed.is_empty() {
            return;
        }
        let format = format!("{{{{.Id}}}} {{{{index .Config.Labels \"{WORKER_LABEL}\"}}}}");
        let mut words = vec!["inspect", "--type", "container", "--format", &format];
        words.extend(listed.lines());
        let workers = self.ask(&words).unwrap_or_default();
        let dead = workers.lines().filter_map(|line| {
            let (id, worker) = line.split_once(' ')?;
            Identity::parse(worker)?.is_gone().then_some(id)
        });
        for id in dead {
            // Tried again before the next runs.
            _ = self.ask(&["rm", "--force", "--volumes", id]);
        }
    }
}

fn is_here(endpoint: &str) -> Result<(), ()> {
    let is_local = endpoint.is_empty() || endpoint.starts_with("unix://");
    if is_local { Ok(()) } else { Err(()) }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    NotInstalled,
    /// In the engine's own words.
    Said(String),
}

impl NoAnswer {
    pub(crate) fn words(self) -> String {
        match self {
            NoAnswer::NotInstalled => "it is not installed any more".to_owned(),
            NoAnswer::Said(words) => words,
        }
    }
}

pub(crate) fn ask(command: &mut Command, patience: Duration) -> Result<String, NoAnswer> {
    let answer = host::ask(command, patience).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => NoAnswer::NotInstalled,
        _ => NoAnswer::Said(error.to_string()),
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if answer.timed_out {
        let seconds = patience.as_secs();
        return Err(NoAnswer::Said(format!("no answer within {seconds} s")));
    }
    match answer.success() {
        true => Ok(text(&answer.stdout)),
        false => Err(NoAnswer::Said(said(&text(&answer.stderr)))),
    }
}

/// The last line that says something; clients end with advice on their own use.
fn said(complaint: &str) -> String {
    let mut lines = complaint.lines().rev().map(str::trim);
    let is_advice =
        |line: &str| line.is_empty() || line.starts_with("Run '") || line.starts_with("See '");
    let line = lines.find(|line| !is_advice(line)).unwrap_or("it failed");
    line.trim_start_matches("Error: ").to_owned()
}

/// A worker, told apart from every later process with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    boot: String,
    namespace: String,
    pid: u32,
    start_ticks: u64,
}

impl Identity {
    pub(super) fn own() -> Option<Identity> {
        let pid = std::process::id();
        Some(Identity {
            boot: host::boot_id()?,
            namespace: pid_namespace()?,
            start_ticks: host::start_ticks(pid)?,
            pid,
        })
    }

    pub(super) fn text(&self) -> String {
        let Identity {
            boot,
            namespace,
            pid,
            start_ticks,
        } = self;
        format!("{boot}/{namespace}/{pid}/{start_ticks}")
    }

    fn parse(text: &str) -> Option<Identity> {
        let mut parts = text.split('/');
        Some(Identity {
            boot: parts.next()?.to_owned(),
            namespace: parts.next()?.to_owned(),
            pid: parts.next()?.parse().ok()?,
            start_ticks: parts.next()?.parse().ok()?,
        })
    }

    /// False where that cannot be known from here.
    fn is_gone(&self) -> bool {
        let Some(own) = Identity::own() else {
            return false;
        };
        if self.boot != own.boot {
            return true;
        }
        self.namespace == own.namespace && host::start_ticks(self.pid) != Some(self.start_ticks)
    }
}

/// `4026531836`, of `pid:[4026531836]`.
fn pid_namespace() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    let digits = link.to_str()?.chars().filter(char::is_ascii_digit);
    Some(digits.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_elsewhere_is_refused() {
        let check =
            |endpoint, expected| assert_eq!(is_here(endpoint).is_ok(), expected, "{endpoint}");
        check("", true);
        check("unix:///var/run/docker.sock", true);
        check("tcp://10.0.0.7:2376", false);
        check("ssh://me@there", false);
    }

    #[test]
    fn the_sentence_of_an_engine_is_its_last_that_is_no_advice() {
        let text = "docker: Error response from daemon: no room.\n\nRun 'docker run --help' for more information";
        assert_eq!(said(text), "docker: Error response from daemon: no room.");
        assert_eq!(said("Error: short-name\n"), "short-name");
        assert_eq!(said(""), "it failed");
    }

    #[test]
    fn a_worker_is_known_to_be_gone_or_not() {
        let own = Identity::own().unwrap();
        assert_eq!(Identity::parse(&own.text()), Some(own.clone()));
        assert!(!own.is_gone());
        let later = Identity {
            start_ticks: own.start_ticks + 1,
            ..own.clone()
        };
        assert!(later.is_gone());
        let elsewhere = Identity {
            namespace: "7".to_owned(),
            ..later
        };
        assert!(
            !elsewhere.is_gone(),
            "its processes cannot be seen from here"
        );
        assert_eq!(Identity::parse("nonsense"), None);
    }
}
