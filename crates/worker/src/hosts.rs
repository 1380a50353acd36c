//! Workers on several hosts: who is where, and whether the hosts can do it before anything runs.

use std::fs;
use std::io::{self, Write as _};
use std::net::{IpAddr, TcpListener, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use host::Answer;
use model::job::{WorkerHosts, WorkerPlace};
use model::{Hosts, TrainJob};

/// For a host to answer; a first connection by SSH takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a host says last when it has looked for everything.
const DONE: &str = "bancada: looked for everything";

/// Where each worker is; none where all are on this machine.
pub(crate) fn of_workers(hosts: Option<&Hosts>, workers: u32) -> Option<WorkerHosts> {
    let hosts = hosts?;
    let shares = hosts.shares(workers);
    if shares.len() < 2 {
        return None;
    }
    let mut places = Vec::new();
    for (number, (host, share)) in hosts.names.iter().zip(shares).enumerate() {
        let launch = match number {
            0 => Vec::new(),
            _ => hosts.launch_on(host),
        };
        places.extend((0..share).map(|local_rank| WorkerPlace {
            host: host.clone(),
            local_rank,
            launch: launch.clone(),
        }));
    }
    Some(WorkerHosts {
        first: address_of(hosts.names.first()?).to_owned(),
        places,
        variables: Vec::new(),
    })
}

/// Of the first host, which has the most.
pub(crate) fn workers_here(hosts: &WorkerHosts) -> u32 {
    let here = hosts.places.iter().filter(|place| place.launch.is_empty());
    u32::try_from(here.count()).unwrap_or(u32::MAX)
}

/// `user@node1` is reached at `node1`.
fn address_of(host: &str) -> &str {
    host.rsplit('@').next().unwrap_or(host)
}

/// What a run over hosts needs to find on all of them.
pub(crate) struct Needs<'a> {
    pub(crate) hosts: &'a Hosts,
    pub(crate) job: &'a TrainJob,
    /// Python and adapter.
    pub(crate) command: &'a [String],
    /// Folders that all must share.
    pub(crate) folders: [&'a Path; 2],
}

/// Asks every host that gets workers; says what is missing where.
pub(crate) fn check(needs: &Needs<'_>) -> Result<(), HostError> {
    let Some(placed) = &needs.job.hosts else {
        return Ok(());
    };
    let hosts = needs.hosts;
    check_first(&placed.first)?;
    let mut probes = Vec::new();
    for folder in needs.folders {
        probes.push(Probe::leave(folder)?);
    }
    let programs = needs.command.iter().map(PathBuf::from);
    let wanted: Vec<PathBuf> = programs
        .chain(probes.iter().map(|probe| probe.path.clone()))
        .collect();
    let used = hosts.machines(needs.job.workers) as usize;
    for host in hosts.names.iter().take(used).skip(1) {
        check_host(hosts, host, &wanted)?;
    }
    Ok(())
}

fn check_first(name: &str) -> Result<(), HostError> {
    let found = (name, 0).to_socket_addrs();
    let addresses: Vec<IpAddr> = found
        .map_err(|source| HostError::Unknown {
            host: name.to_owned(),
            source,
        })?
        .map(|address| address.ip())
        .collect();
    // An address can be listened at only where it is one's own.
    match addresses
        .iter()
        .any(|ip| TcpListener::bind((*ip, 0)).is_ok())
    {
        true => Ok(()),
        false => Err(HostError::NotHere(name.to_owned())),
    }
}

fn check_host(hosts: &Hosts, host: &str, wanted: &[PathBuf]) -> Result<(), HostError> {
    let launch = hosts.launch_on(host);
    let unreached = |why: String| HostError::Unreached {
        host: host.to_owned(),
        launch: launch.join(" "),
        why,
    };
    let answer = ask(&launch, &script(wanted)).map_err(|error| unreached(error.to_string()))?;
    let [said, complained] = [&answer.stdout, &answer.stderr].map(|b| String::from_utf8_lossy(b));
    let lines = || said.lines().map(str::trim);
    if let Some(path) = lines().find_map(|line| line.strip_prefix("missing ")) {
        return Err(HostError::Missing {
            host: host.to_owned(),
            path: path.to_owned(),
        });
    }
    match lines().any(|line| line == DONE) {
        true => Ok(()),
        false if answer.timed_out => Err(unreached(format!(
            "no response within {} s",
            PATIENCE.as_secs()
        ))),
        false => Err(unreached(last_line(&complained))),
    }
}

fn last_line(text: &str) -> String {
    let mut lines = text.lines().rev().map(str::trim);
    let last = lines.find(|line| !line.is_empty());
    last.unwrap_or("it said nothing").to_owned()
}

/// For a shell: tells each path that is not there.
fn script(wanted: &[PathBuf]) -> String {
    let paths: Vec<String> = wanted
        .iter()
        .map(|path| host::shell::quoted(&path.to_string_lossy()))
        .collect();
    format!(
        "for path in {}; do test -r \"$path\" || echo \"missing $path\"; done; echo '{DONE}'\n",
        paths.join(" ")
    )
}

/// A file that no other folder of the same name has.
struct Probe {
    path: PathBuf,
}

impl Probe {
    fn leave(folder: &Path) -> Result<Probe, HostError> {
        let name = format!(".hosts-{}-{:?}", std::process::id(), Instant::now());
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        let path = std::path::absolute(folder).map(|folder| folder.join(name));
        let written = path.and_then(|path| fs::write(&path, b"").map(|()| path));
        match written {
            Ok(path) => Ok(Probe { path }),
            Err(source) => Err(HostError::Unwritable {
                folder: folder.display().to_string(),
                source,
            }),
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.path);
    }
}

/// A shell started by these words, with this to do.
fn ask(launch: &[String], script: &str) -> io::Result<Answer> {
    let Some((program, arguments)) = launch.split_first() else {
        return Err(io::Error::other("`launch` is empty"));
    };
    let (input, mut writer) = io::pipe()?;
    // On a thread of its own, because a pipe holds little. The shell may have ended already; what
    // it said tells why.
    let script = script.to_owned();
    thread::spawn(move || writer.write_all(script.as_bytes()));
    let mut command = Command::new(program);
    host::ask_with(command.args(arguments).arg("sh"), input.into(), PATIENCE)
}

/// Why workers cannot be spread over the hosts.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error(
        "the first of `hosts`, {host}, cannot be resolved here ({source}): use the name by which the others reach this machine"
    )]
    Unknown { host: String, source: io::Error },
    /// The first host is another machine.
    #[error(
        "the first of `hosts` must be this machine, but {0} is a different one: start bancada there, or put this machine first"
    )]
    NotHere(String),
    #[error(
        "host {host} cannot be reached by `{launch}`: {why}\n  = `launch` of the environment is the command that starts a shell there"
    )]
    Unreached {
        host: String,
        launch: String,
        why: String,
    },
    #[error(
        "host {host} does not see {path}: results and cache must be on a file system shared by all hosts, at the same path (set with --out and BANCADA_CACHE)"
    )]
    Missing { host: String, path: String },
    #[error("cannot write in {folder}: {source}")]
    Unwritable { folder: String, source: io::Error },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(names: &[&str], launch: &[&str]) -> Hosts {
        let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Hosts {
            names: texts(names),
            launch: texts(launch),
        }
    }

    #[test]
    fn workers_get_their_places_in_the_order_of_the_hosts() {
        let hosts = hosts(&["me@node1", "node2"], &["ssh", "{host}"]);
        assert_eq!(of_workers(None, 3), None);
        assert_eq!(of_workers(Some(&hosts), 1), None);
        let placed = of_workers(Some(&hosts), 3).unwrap();
        assert_eq!(placed.first, "node1");
        assert_eq!(workers_here(&placed), 2);
        let shown = placed.places.iter();
        let shown: Vec<String> = shown
            .map(|p| format!("{} {} {:?}", p.host, p.local_rank, p.launch))
            .collect();
        assert_eq!(
            shown,
            [
                "me@node1 0 []",
                "me@node1 1 []",
                "node2 0 [\"ssh\", \"node2\"]"
            ]
        );
    }

    /// Hosts that are shells of this machine.
    fn told(launch: &[&str], wanted: &[&Path]) -> String {
        let hosts = hosts(&["127.0.0.1", "node2"], launch);
        let wanted: Vec<PathBuf> = wanted.iter().map(|path| path.to_path_buf()).collect();
        match check_host(&hosts, "node2", &wanted) {
            Ok(()) => "fine".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_host_is_asked_for_what_its_workers_need() {
        let folder =
            std::env::temp_dir().join(format!("bancada it's hosts {}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [here, missing] = ["here", "not here"].map(|name| folder.join(name));
        fs::write(&here, "").unwrap();
        // What starts a shell without a word of where is a shell itself.
        let launch = ["env", "HOST={host}"];
        assert_eq!(told(&launch, &[&here]), "fine");
        let said = told(&launch, &[&here, &missing]);
        assert!(
            said.contains(&format!("host node2 does not see {}", missing.display())),
            "{said}"
        );
        let said = told(
            &["sh", "-c", "echo no route to $0 >&2; exit 255", "{host}"],
            &[&here],
        );
        assert!(said.contains("no route to node2"), "{said}");
        let said = told(&["/no/such/program", "{host}"], &[&here]);
        assert!(
            said.contains("host node2 cannot be reached by `/no/such/program node2`"),
            "{said}"
        );
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_first_host_is_this_machine() {
        assert!(check_first("127.0.0.1").is_ok());
        // Of the block for documentation (RFC 5737): nobody's.
        assert!(matches!(
            check_first("192.0.2.1"),
            Err(HostError::NotHere(_))
        ));
        assert!(matches!(
            check_first("no such host"),
            Err(HostError::Unknown { .. })
        ));
    }
}
