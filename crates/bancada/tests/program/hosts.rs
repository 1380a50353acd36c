//! Workers on several hosts: namespaces of the network, each with its own address and nothing else
//! in common but the file system, as on a cluster.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use crate::common::{Bench, Ran};
use crate::frameworks::{installed_with_workers, set_up, with_real_cache};

/// Two namespaces and a cable between them; gone with the test.
struct Namespaces {
    names: [String; 2],
}

const FIRST_ADDRESS: &str = "10.77.9.1";

impl Namespaces {
    /// Or why there can be none.
    fn lay() -> Result<Namespaces, String> {
        let names = ["a", "b"].map(|end| format!("bancada-{}-{end}", std::process::id()));
        let [a, b] = &names;
        ip(&["netns", "add", a])?;
        ip(&["netns", "add", b])?;
        let laid = Namespaces {
            names: names.clone(),
        };
        let cable = format!("link add veth-a netns {a} type veth peer name veth-b netns {b}");
        ip(&cable.split(' ').collect::<Vec<_>>())?;
        for (name, end, address) in [(a, "veth-a", "10.77.9.1/24"), (b, "veth-b", "10.77.9.2/24")] {
            ip(&["-n", name, "addr", "add", address, "dev", end])?;
            ip(&["-n", name, "link", "set", end, "up"])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
        }
        Ok(laid)
    }

    /// The command, started in the first namespace.
    fn in_first(&self, command: &Command) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.names[0]]);
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            inside.current_dir(folder);
        }
        inside.stdin(Stdio::null());
        inside
    }

    /// What went to the second host over the cable.
    fn received_bytes(&self) -> u64 {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[1], "cat", "/proc/net/dev"]);
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let mut lines = text.lines().map(str::trim);
        let cable = lines.find_map(|line| line.strip_prefix("veth-b:")).unwrap();
        cable.split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            _ = ip(&["netns", "delete", name]);
        }
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(arguments).output();
    let output = output.map_err(|error| format!("ip cannot be started: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

fn study(name: &str, framework: &str, workers: &str, hosts: &str) -> String {
    format!(
        "[study]\nname = \"{name}\"\nrepetitions = 1\n\n[factors]\nworkers = [{workers}]\n\n[workload]\n\
         framework = \"{framework}\"\nnetwork = \"rede1\"\nimages = 64\nheld_out = 16\nepochs = 2\nbatch = 16\n\
         threads = 1\noptimizer = \"sgd\"\nlearning_rate = 0.01\nmomentum = 0.9\n\n[environments.cluster]\n{hosts}\n"
    )
}

#[test]
#[ignore = "needs frameworks that are set up and network namespaces: .ci/frameworks runs it"]
fn installed_frameworks_train_alike_on_one_host_and_on_two() {
    let namespaces = Namespaces::lay().unwrap();
    let bench = Bench::new();
    let hosts = format!(
        "hosts = [\"{FIRST_ADDRESS}\", \"{}\"]\nlaunch = [\"ip\", \"netns\", \"exec\", \"{{host}}\"]",
        namespaces.names[1]
    );
    for framework in installed_with_workers(&bench) {
        let name = format!("hosts-{framework}");
        bench.write("study.toml", &study(&name, framework, "1, 2", &hosts));
        let before = namespaces.received_bytes();
        let mut command = bench.command(&["run", "study.toml", "--no-pilot"]);
        with_real_cache(&mut command);
        let output = namespaces.in_first(&command).output().unwrap();
        Ran::new(output).ends_with(0);
        let [one, two] = ["C1-r1", "C2-r1"].map(|run| bench.record(&name, run));
        for epoch in 0..2 {
            let loss = |record: &serde_json::Value| record["epochs"][epoch]["loss"].as_f64();
            let (one, two) = (loss(&one).unwrap(), loss(&two).unwrap());
            assert!((one / two - 1.0).abs() < 1e-3, "{name}: {one} and {two}");
        }
        // The gradients of rede1's 105,866 parameters in eight steps.
        let gradients = 8 * 4 * 105_866;
        let received = namespaces.received_bytes() - before;
        assert!(received > gradients, "{name}: {received} bytes");
        eprintln!("trained {framework} on two hosts ({received} bytes)");
    }
}

#[test]
fn what_a_host_lacks_is_said_before_anything_runs() {
    let bench = Bench::new();
    set_up(&bench, "pytorch", "2.15.0", "exit 1");
    let check = |hosts: &str, words: &str| {
        bench.write("study.toml", &study("lacking", "pytorch", "2", hosts));
        bench
            .bancada(&["run", "study.toml", "--no-pilot"])
            .ends_with(1)
            .says(words);
        assert!(bench.bundles("lacking").is_empty());
    };
    let elsewhere = "launch = [\"chroot\", \"/nowhere/{host}\"]";
    check(
        &format!("hosts = [\"127.0.0.1\", \"node2\"]\n{elsewhere}"),
        "host node2 cannot be reached by `chroot /nowhere/node2`",
    );
    check(
        "hosts = [\"192.0.2.1\", \"node2\"]",
        "the first of `hosts` must be this machine, but 192.0.2.1 is a different one",
    );
    // A shell that sees nothing of ours.
    bench.write("blind", "#!/bin/sh\nsed 's/test -r/false/' | sh\n");
    let blind = bench.path().join("blind");
    let blind = format!("launch = [\"sh\", \"{}\", \"{{host}}\"]", blind.display());
    check(
        &format!("hosts = [\"127.0.0.1\", \"node2\"]\n{blind}"),
        "must be on a file system shared by all hosts",
    );
}

/// The part of an adapter that starts workers, without a framework.
const WORKER: &str = r#"
import os, sys, time
sys.path.insert(0, "ADAPTERS")
import workers

class Hosts:
    first, variables = "127.0.0.1", ["PATH", "ODD"]
    places = [{"host": "a", "local_rank": 0, "launch": []},
              {"host": "a", "local_rank": 1, "launch": []},
              {"host": "b", "local_rank": 0, "launch": ["env", "HOST=b"]}]

os.environ.setdefault("ODD", "it's $ODD\" \\")
workers.lead(3, Hosts)
rank = os.environ["RANK"]
# One write, so that what several tell is not mixed.
os.write(1, f"{rank} {os.environ['BANCADA_WORKERS']} {os.environ['ODD']}\n".encode())
if sys.argv[1] == "fails" and rank == "2":
    sys.exit(3)
time.sleep(60)
print("outlived", flush=True)
"#;

/// The first of three workers.
fn started(bench: &Bench, how: &str) -> Child {
    let adapters = concat!(env!("CARGO_MANIFEST_DIR"), "/../frameworks/adapters");
    let script = bench.write("a worker.py", &WORKER.replace("ADAPTERS", adapters));
    let mut command = Command::new("python3");
    command.arg(script).arg(how).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
#[ignore = "needs python3: .ci/frameworks runs it"]
fn installed_python_workers_of_another_host_end_with_the_first() {
    let bench = Bench::new();
    let mut first = started(&bench, "waits");
    let mut said = BufReader::new(first.stdout.take().unwrap());
    let mut told: Vec<String> = said.by_ref().lines().take(3).map(Result::unwrap).collect();
    told.sort();
    for (rank, line) in told.iter().enumerate() {
        let (addresses, odd) = line[2..].split_once(' ').unwrap();
        assert!(line.starts_with(&rank.to_string()), "{told:?}");
        assert_eq!(addresses.split(',').count(), 3, "{told:?}");
        assert!(told[0][2..].starts_with(addresses), "{told:?}");
        assert_eq!(odd, "it's $ODD\" \\");
    }
    // Killed, so that it can tell nobody; the pipe closes when the last of them is gone.
    first.kill().unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    first.wait().unwrap();
}

#[test]
#[ignore = "needs python3: .ci/frameworks runs it"]
fn installed_python_workers_end_when_one_of_another_host_fails() {
    let bench = Bench::new();
    let first = started(&bench, "fails");
    let ran = Ran::new(first.wait_with_output().unwrap());
    ran.ends_with(1)
        .says("worker 2 on b failed with exit code 3: stopping the others");
}
