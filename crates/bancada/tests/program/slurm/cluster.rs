//! The cluster that `.ci/places-slurm` started: its daemons ended and started again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use model::location::Slurm;
use place::{Runs, Sbatch};

use super::{command_line, kill, own_processes, parent};

const BANCADA: &str = env!("CARGO_BIN_EXE_bancada");
pub(super) const NODES: [&str; 3] = ["n1", "n2", "n3"];

pub(super) enum Daemon {
    Controller,
    Node(String),
}

pub(super) struct Cluster {
    /// Of its daemons.
    root: PathBuf,
    /// Of one test.
    pub(super) folder: PathBuf,
}

impl Cluster {
    /// With all nodes idle.
    pub(super) fn healthy(test: &str) -> Cluster {
        let root = std::env::var_os("BANCADA_SLURM");
        let root = PathBuf::from(root.unwrap());
        let folder = root.join("shared").join(test);
        _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("root")).unwrap();
        let cluster = Cluster { root, folder };
        cluster.heal();
        cluster
    }

    /// Another one on the same folder is a coordinator that came back.
    pub(super) fn place(&self, slurm: &Slurm) -> Runs<Sbatch> {
        let program = Path::new(BANCADA);
        let launcher = Sbatch::new(program, slurm);
        Runs::new(program, &self.folder, &self.folder.join("root"), launcher)
    }

    pub(super) fn run(&self, program: &str, words: &[&str]) -> String {
        let output = Command::new(program).args(words).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {words:?}: {complaint}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn ask(&self, program: &str, words: &[&str]) -> String {
        let output = Command::new(program).args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn pid(&self, daemon: &Daemon) -> Option<i32> {
        let (name, program) = match daemon {
            Daemon::Controller => ("slurmctld.pid".to_owned(), "slurmctld"),
            Daemon::Node(node) => (format!("slurmd.{node}.pid"), "slurmd"),
        };
        let pid = fs::read_to_string(self.root.join(name)).ok()?;
        let pid = pid.trim().parse().ok()?;
        command_line(pid).contains(program).then_some(pid)
    }

    pub(super) fn end(&self, daemon: &Daemon, signal: i32) {
        let Some(pid) = self.pid(daemon) else {
            return;
        };
        kill(pid, signal);
        let deadline = Instant::now() + Duration::from_secs(15);
        while self.pid(daemon).is_some() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
        }
        if self.pid(daemon).is_some() {
            kill(pid, libc::SIGKILL);
            thread::sleep(Duration::from_millis(100));
        }
    }

    pub(super) fn start(&self, daemon: &Daemon) {
        if self.pid(daemon).is_some() {
            return;
        }
        let conf = self.root.join("slurm.conf");
        let mut command = match daemon {
            Daemon::Controller => Command::new("slurmctld"),
            Daemon::Node(node) => {
                let mut command = Command::new("slurmd");
                command.args(["-N", node]);
                command
            }
        };
        let started = command.arg("-f").arg(conf).status().unwrap();
        assert!(started.success());
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.pid(daemon).is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Workers and workloads on a node, and what started them.
    pub(super) fn processes(&self, node: &str) -> Vec<i32> {
        let of_cluster = own_processes(&format!(
            "SLURM_CONF={}",
            self.root.join("slurm.conf").display()
        ));
        let on_node = own_processes(&format!("SLURMD_NODENAME={node}"));
        on_node
            .into_iter()
            .filter(|pid| of_cluster.contains(pid))
            .collect()
    }

    pub(super) fn workers(&self, node: &str) -> Vec<i32> {
        let mut workers = self.processes(node);
        workers.retain(|pid| command_line(*pid).contains(" work "));
        workers
    }

    /// As when somebody pulls the plug: steps outlive their daemon otherwise.
    pub(super) fn kill_node(&self, node: &str) {
        self.end(&Daemon::Node(node.to_owned()), libc::SIGKILL);
        let processes = self.processes(node);
        let parents = processes.iter().filter_map(|pid| parent(*pid));
        let steps: Vec<i32> = parents
            .filter(|pid| command_line(*pid).contains("slurmstepd"))
            .collect();
        for pid in steps.into_iter().chain(processes) {
            kill(pid, libc::SIGKILL);
        }
    }

    /// Waits until the job runs.
    pub(super) fn node_of(&self, job: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(30);
        let claim = self.folder.join("root/runs").join(job).join("worker.json");
        while Instant::now() < deadline {
            let text = fs::read_to_string(&claim).unwrap_or_default();
            let claim: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(node) = claim["node"].as_str() {
                return node.to_owned();
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{job} does not begin: {}", self.ask("squeue", &[]));
    }

    pub(super) fn heal_once(&self) {
        self.start(&Daemon::Controller);
        for node in NODES {
            self.start(&Daemon::Node(node.to_owned()));
        }
        let broken = self.ask("sinfo", &["-h", "-N", "-p", "p", "-o", "%N %T"]);
        for line in broken.lines() {
            if let Some((node, state)) = line.split_once(' ')
                && (state.starts_with("drain") || state.starts_with("down"))
            {
                let node = format!("NodeName={node}");
                self.ask("scontrol", &["update", &node, "State=RESUME"]);
            }
        }
    }

    pub(super) fn heal(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            self.heal_once();
            let idle = self.ask("sinfo", &["-h", "-p", "p", "-t", "idle", "-o", "%D"]);
            let responding = self.ask("sinfo", &["-h", "-p", "p", "-o", "%T"]);
            if idle == "3" && responding == "idle" {
                return;
            }
            assert!(Instant::now() < deadline, "{}", self.ask("sinfo", &[]));
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// No job, no process and no folder of any order.
    pub(super) fn check_nothing_is_left(&self) {
        let deadline = Instant::now() + Duration::from_secs(40);
        loop {
            let queue = self.ask("squeue", &["-h", "-o", "%i %j %T"]);
            let processes: Vec<String> = NODES
                .iter()
                .flat_map(|node| self.processes(node))
                .map(command_line)
                .collect();
            if queue.is_empty() && processes.is_empty() {
                break;
            }
            assert!(Instant::now() < deadline, "{queue}\n{processes:?}");
            thread::sleep(Duration::from_millis(200));
        }
        let left = fs::read_dir(self.folder.join("root/runs"));
        let left: Vec<_> = left
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
