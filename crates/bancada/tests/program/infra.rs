//! Rented machines with a real Terraform: the module of the tests makes machines out of namespaces of
//! this one. `.ci/places-infra` runs what needs root, Terraform and OpenSSH.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran};

const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../infra/tests/module");
const TOKEN: &str = "planted-token-7f3a9c";

/// A study that rents, its state, and no machine left when the test is over.
struct Rented {
    bench: Bench,
}

impl Drop for Rented {
    fn drop(&mut self) {
        _ = self.command(&["infra", "destroy", "--all"]).output();
    }
}

impl Rented {
    fn new(more: &str) -> Rented {
        let bench = Bench::new();
        bench.write(
            "study.toml",
            &format!(
                "[study]\nname = \"rented\"\nrepetitions = 1\n[factors]\nn = [1]\n[workload]\n\
                 command = [\"echo\", \"{{n}}\"]\n[environments.gpu]\nprice = \"0.36 USD/h\"\n\
                 rent = {{ module = \"{MODULE}\", spot = true{more} }}\n"
            ),
        );
        Rented { bench }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(arguments);
        command
            .env("BANCADA_CALLER", "10.231.0.1")
            .env("AWS_SECRET_ACCESS_KEY", TOKEN);
        command
    }

    fn bancada(&self, arguments: &[&str]) -> Ran {
        Ran::new(self.command(arguments).output().unwrap())
    }

    fn listed(&self) -> Vec<serde_json::Value> {
        let list = self.bancada(&["infra", "list", "--json"]).ends_with(0);
        let list: serde_json::Value = serde_json::from_str(&list.out).unwrap();
        list["machines"].as_array().unwrap().clone()
    }

    fn machines(&self) -> PathBuf {
        self.bench.path().join("state/infra/machines")
    }

    /// The one machine's name, from its folder.
    fn name(&self) -> String {
        let mut entries = fs::read_dir(self.machines()).unwrap();
        entries
            .next()
            .unwrap()
            .unwrap()
            .file_name()
            .into_string()
            .unwrap()
    }

    fn ssh(&self, script: &str) -> Ran {
        let name = self.name();
        let config = self.machines().join(&name).join("ssh_config");
        let mut command = Command::new("ssh");
        command.arg("-F").arg(config).args([&name, script]);
        Ran::new(command.output().unwrap())
    }

    /// Whether the network, and with it perhaps the machine, exists.
    fn exists(&self) -> bool {
        self.names().iter().any(|name| {
            let names = Command::new("ip").args(["netns", "list"]).output().unwrap();
            String::from_utf8_lossy(&names.stdout).contains(name.as_str())
        })
    }

    fn names(&self) -> Vec<String> {
        let Ok(journal) = fs::read_to_string(self.bench.path().join("state/infra/journal.jsonl"))
        else {
            return Vec::new();
        };
        let lines = journal.lines();
        let parsed = lines.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        parsed
            .map(|line| line["machine"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[test]
fn a_study_without_rented_machines_creates_none() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        &crate::common::shell_study("plain", "true", 1, ""),
    );
    let caller = ["--caller", "10.0.0.1"];
    for word in ["plan", "apply"] {
        let arguments = [&["infra", word, "study.toml"][..], &caller].concat();
        bench
            .bancada(&arguments)
            .ends_with(3)
            .says("rents no machine");
    }
    bench
        .bancada(&["infra", "list"])
        .ends_with(0)
        .says("No rented machine is on.");
    bench.bancada(&["infra", "destroy", "--all"]).ends_with(0);
    bench.bancada(&["infra", "destroy"]).ends_with(2);
}

#[test]
fn modules_are_written_for_a_reader() {
    let bench = Bench::new();
    for name in ["aws", "azure", "gcp", "sagemaker"] {
        bench.bancada(&["infra", "module", name, name]).ends_with(0);
        let text = fs::read_to_string(bench.path().join(name).join("main.tf")).unwrap();
        assert!(text.contains("required_providers"), "{name}");
        bench
            .bancada(&["infra", "module", name, name])
            .ends_with(2)
            .says("exists");
    }
}

#[test]
#[ignore = "needs root, Terraform and OpenSSH: .ci/places runs it"]
fn installed_rented_machine_lives_and_ends() {
    let rented = Rented::new(", time_limit = \"10min\"");
    rented
        .bancada(&["infra", "plan", "study.toml"])
        .ends_with(0)
        .says("at most US$ 0.060");
    assert_eq!(rented.listed().len(), 0, "a plan creates nothing");
    rented
        .bancada(&["infra", "apply", "study.toml", "--patience", "30"])
        .ends_with(0)
        .says("1 machine is on, US$ 0.36/h until destroyed: bancada infra destroy study.toml");
    let [machine] = rented.listed().try_into().unwrap();
    assert_eq!(machine["phase"], "ready");
    assert!(machine["boot_seconds"].as_f64().unwrap() > 0.5, "{machine}");
    rented
        .bancada(&["run", "study.toml", "--keep-machines"])
        .ends_with(0)
        .says("1 rented machine is on (US$ 0.36/h)");
    // Its user, a program that is brought there, and the notice that the provider takes it back.
    rented.ssh("id -un").ends_with(0).says("bancada");
    let program = env!("CARGO_BIN_EXE_bancada");
    let watch = format!(
        "rm -f notice.json; timeout 20 {program} watch-notice --provider aws \
         --endpoint http://127.0.0.1:8169 --to notice.json & sleep 3; test ! -e notice.json || exit 9; \
         touch /tmp/notice; wait; cat notice.json"
    );
    rented
        .ssh(&watch)
        .ends_with(0)
        .says("\"action\":\"terminate\"");
    // A different key is refused, from the first connection on.
    let known = rented.machines().join(rented.name()).join("known_hosts");
    let right = fs::read_to_string(&known).unwrap();
    let other = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(rented.bench.path().join("other"))
        .status();
    assert!(other.unwrap().success());
    let wrong = fs::read_to_string(rented.bench.path().join("other.pub")).unwrap();
    fs::write(&known, format!("{} {wrong}", rented.name())).unwrap();
    rented.ssh("true").ends_with(255);
    fs::write(&known, right).unwrap();
    // Again is the same machine, a different wish is refused.
    rented
        .bancada(&["infra", "apply", "study.toml", "--patience", "30"])
        .ends_with(0);
    assert_eq!(rented.ssh("ls notice.json").code, 0);
    let study = rented.bench.path().join("study.toml");
    let text = fs::read_to_string(&study).unwrap();
    fs::write(&study, text.replace("spot = true", "spot = false")).unwrap();
    rented
        .bancada(&["infra", "apply", "study.toml"])
        .ends_with(2)
        .says("a different machine is on");
    rented
        .bancada(&["infra", "destroy", "study.toml"])
        .ends_with(0)
        .says("is destroyed after");
    assert!(!rented.exists() && rented.listed().is_empty());
    assert!(
        fs::read_dir(rented.machines()).unwrap().next().is_none(),
        "its keys are gone"
    );
}

/// Create, install, run, fetch, destroy, and all of it on the bill.
#[test]
#[ignore = "needs root, Terraform and OpenSSH: .ci/places runs it"]
fn installed_rented_machine_by_run_alone() {
    let rented = Rented::new(", time_limit = \"10min\"");
    let ran = rented.bancada(&["run", "study.toml"]).ends_with(0);
    let ran = ran.says("ready after").says("is destroyed after");
    assert!(
        !rented.exists() && rented.listed().is_empty(),
        "{}",
        ran.err
    );
    let record = rented.bench.record("rented", "C1-r1");
    assert_eq!(record["outcome"]["status"], "ok", "{record:#}");
    let rental = record["rental"]["id"].as_str().unwrap();
    assert!(rental.starts_with("bancada-rented-gpu-"), "{rental}");
    // The machine was on for longer than the run: its start and its end are paid.
    let bill = rented.bancada(&[
        "export",
        "study.toml",
        "--format",
        "csv",
        "--table",
        "bills",
    ]);
    let bill = bill.ends_with(0);
    assert!(bill.out.contains("startup"), "{}", bill.out);
}

/// A machine that has spent the budget while it booted runs nothing, and is not rented again.
#[test]
#[ignore = "needs root, Terraform and OpenSSH: .ci/places runs it"]
fn installed_rented_machine_counts_from_its_creation() {
    const BUDGET: i32 = 4;
    let rented = Rented::new(", time_limit = \"10min\"");
    let path = rented.bench.path().join("study.toml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("[factors]", "budget = \"0.0001 USD\"\n[factors]");
    fs::write(&path, text).unwrap();
    let ran = rented.bancada(&["run", "study.toml", "--no-pilot"]);
    let ran = ran.ends_with(BUDGET).says("is destroyed after");
    assert!(!ran.err.contains("C1-r1"), "{}", ran.err);
    assert!(rented.listed().is_empty());
    let again = rented.bancada(&["run", "study.toml", "--no-pilot"]);
    let again = again.ends_with(BUDGET).says("is spent");
    assert!(!again.err.contains("creating"), "{}", again.err);
}

#[test]
#[ignore = "needs root, Terraform and OpenSSH: .ci/places runs it"]
fn installed_rented_machine_ends_itself() {
    let rented = Rented::new(", time_limit = \"1min\"");
    let begin = Instant::now();
    rented
        .bancada(&["infra", "apply", "study.toml", "--patience", "30"])
        .ends_with(0);
    while rented.ssh("true").code == 0 {
        assert!(begin.elapsed() < Duration::from_secs(80), "it is still on");
        thread::sleep(Duration::from_secs(1));
    }
    let seconds = begin.elapsed().as_secs();
    assert!((55..80).contains(&seconds), "it ended after {seconds} s");
    assert_eq!(rented.listed().len(), 1, "nobody has seen it destroyed");
    rented.bancada(&["infra", "destroy", "--all"]).ends_with(0);
    assert!(rented.listed().is_empty());
}

/// Wherever the coordinator is killed: what exists is listed, and destroyed when that is asked for.
#[test]
#[ignore = "needs root, Terraform and OpenSSH: .ci/places runs it"]
fn installed_rented_coordinator_killed_at_every_step() {
    let mut seen = Vec::new();
    for milliseconds in [10, 60, 150, 300, 700, 1300, 2000, 2600, 3500] {
        let rented = Rented::new("");
        let mut command = rented.command(&["infra", "apply", "study.toml", "--patience", "30"]);
        command
            .env("TEST_PAUSE_BEFORE", "1")
            .env("TEST_PAUSE_AFTER", "1");
        let mut child = command.spawn().unwrap();
        thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        let (listed, exists) = (rented.listed(), rented.exists());
        assert!(
            !exists || listed.len() == 1,
            "{milliseconds} ms: {listed:?}"
        );
        let phase = listed
            .first()
            .map_or("nothing", |machine| machine["phase"].as_str().unwrap());
        seen.push(format!("{milliseconds} ms: {phase}"));
        rented.bancada(&["infra", "destroy", "--all"]).ends_with(0);
        assert!(
            !rented.exists() && rented.listed().is_empty(),
            "{milliseconds} ms"
        );
    }
    for milliseconds in [10, 100, 400, 900, 1300] {
        let rented = Rented::new("");
        rented
            .bancada(&["infra", "apply", "study.toml", "--patience", "30"])
            .ends_with(0);
        let mut command = rented.command(&["infra", "destroy", "--all"]);
        let mut child = command.env("TEST_PAUSE_DESTROY", "1").spawn().unwrap();
        thread::sleep(Duration::from_millis(milliseconds));
        _ = child.kill();
        child.wait().unwrap();
        let (listed, exists) = (rented.listed(), rented.exists());
        assert!(
            !exists || listed.len() == 1,
            "destroy {milliseconds} ms: {listed:?}"
        );
        let phase = listed
            .first()
            .map_or("gone", |machine| machine["phase"].as_str().unwrap());
        seen.push(format!("destroy {milliseconds} ms: {phase}"));
        rented.bancada(&["infra", "destroy", "--all"]).ends_with(0);
        assert!(
            !rented.exists() && rented.listed().is_empty(),
            "{milliseconds} ms"
        );
    }
    println!("{}", seen.join("\n"));
}

/// The power fails: Terraform is killed with everything else while the machine starts, and its state
/// does not know the machine.
#[test]
#[ignore = "needs root, Terraform and OpenSSH: .ci/places runs it"]
fn installed_rented_machine_that_terraform_lost() {
    let rented = Rented::new("");
    let mut command = rented.command(&["infra", "apply", "study.toml"]);
    let mut child = command.env("TEST_PAUSE_AFTER", "30").spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_up(&rented) {
        assert!(Instant::now() < deadline, "the machine never started");
        thread::sleep(Duration::from_millis(50));
    }
    kill_with_terraform(&rented, &mut child);
    let state = rented
        .machines()
        .join(rented.name())
        .join("terraform.tfstate");
    let state = fs::read_to_string(state).unwrap_or_default();
    assert!(!state.contains("\"name\": \"machine\""), "{state}");
    assert_eq!(rented.listed().len(), 1);
    // As at a real provider the network cannot be deleted while the machine uses it.
    let mut command = rented.command(&["infra", "destroy", "--all"]);
    let refused = Ran::new(command.env("TEST_LOST_BLOCKS", "1").output().unwrap());
    refused
        .ends_with(1)
        .says("is in use")
        .says("still on the list");
    assert_eq!(rented.listed().len(), 1);
    assert!(!processes_of_machine(&rented).is_empty());
    // A provider that deletes what is in a group with it, as Azure does.
    rented.bancada(&["infra", "destroy", "--all"]).ends_with(0);
    assert!(!rented.exists() && rented.listed().is_empty());
    assert!(processes_of_machine(&rented).is_empty());
}

/// Whether it has come as far as its SSH server: one that is killed before is not lost, but gone.
fn is_up(rented: &Rented) -> bool {
    let inside = processes_of_machine(rented);
    let lines = command_lines();
    let mut own = lines.iter().filter(|(pid, _)| inside.contains(pid));
    own.any(|(_, command)| command.contains("sshd"))
}

fn processes_of_machine(rented: &Rented) -> Vec<String> {
    let Some(name) = rented.names().pop() else {
        return Vec::new();
    };
    let pids = Command::new("ip")
        .args(["netns", "pids", &name])
        .output()
        .unwrap();
    let pids = String::from_utf8_lossy(&pids.stdout);
    pids.lines().map(str::to_owned).collect()
}

/// All whose arguments name this test's state, but the machine itself, which is elsewhere.
fn kill_with_terraform(rented: &Rented, child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
    let state = rented.machines().display().to_string();
    let inside = processes_of_machine(rented);
    for (pid, command) in command_lines() {
        let is_waiting = command.contains("machine.sh create");
        if (command.contains(&state) || is_waiting)
            && !inside.contains(&pid)
            && !command.contains("machine.sh init")
        {
            _ = Command::new("kill").args(["-9", &pid]).status();
        }
    }
    thread::sleep(Duration::from_millis(300));
}

fn command_lines() -> Vec<(String, String)> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| {
        let pid = entry.file_name().into_string().ok()?;
        pid.parse::<u32>().ok()?;
        let bytes = fs::read(entry.path().join("cmdline")).ok()?;
        Some((pid, String::from_utf8_lossy(&bytes).replace('\0', " ")))
    });
    lines.collect()
}

#[test]
#[ignore = "needs root, Terraform and OpenSSH: .ci/places runs it"]
fn installed_rented_secrets_stay_in_private_files() {
    let rented = Rented::new("");
    let mut command = rented.command(&["infra", "apply", "study.toml", "--patience", "30"]);
    let child = command
        .env("TEST_PAUSE_AFTER", "1")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = thread::spawn(move || child.wait_with_output().unwrap());
    let mut lines = Vec::new();
    while !output.is_finished() {
        lines.extend(command_lines());
        thread::sleep(Duration::from_millis(20));
    }
    let ran = Ran::new(output.join().unwrap()).ends_with(0);
    let machine = rented.machines().join(rented.name());
    let secret = |name: &str| {
        let text = fs::read_to_string(machine.join(name)).unwrap();
        text.lines().nth(1).unwrap().to_owned()
    };
    let keys = [secret("host"), secret("client")];
    let mut forbidden = vec![TOKEN.to_owned()];
    forbidden.extend(keys.iter().cloned());
    for secret in &forbidden {
        assert!(!ran.out.contains(secret) && !ran.err.contains(secret));
        let shown = lines.iter().find(|(_, line)| line.contains(secret));
        assert_eq!(shown, None, "in the list of processes");
    }
    let mut with_key = Vec::new();
    for path in files_below(rented.bench.path()) {
        let bytes = fs::read(&path).unwrap();
        let has = |secret: &String| bytes.windows(secret.len()).any(|w| w == secret.as_bytes());
        assert!(!has(&forbidden[0]), "the token is in {}", path.display());
        if keys.iter().any(has) {
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}", path.display());
            assert!(path.starts_with(&machine), "{}", path.display());
            with_key.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    with_key.sort();
    println!("private keys are in {with_key:?}");
    let mode = fs::metadata(&machine).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
    rented.bancada(&["infra", "destroy", "--all"]).ends_with(0);
    for path in files_below(rented.bench.path()) {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        assert!(
            !forbidden.iter().any(|s| text.contains(s)),
            "{}",
            path.display()
        );
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        match kind.is_dir() {
            true => found.extend(files_below(&path)),
            false if kind.is_file() => found.push(path),
            false => {}
        }
    }
    found
}

/// What a study says reaches Terraform as text, and no shell or expression.
#[test]
#[ignore = "needs Terraform: .ci/places runs it"]
fn installed_rented_names_are_only_text() {
    let bench = Bench::new();
    fs::create_dir(bench.path().join("module")).unwrap();
    bench.write(
        "module/main.tf",
        "variable \"machine_type\" { type = string }\nvariable \"region\" { type = string }\n\
         variable \"tags\" { type = map(string) }\nvariable \"name\" { type = string }\n\
         output \"address\" { value = \"127.0.0.1\" }\noutput \"user\" { value = \"nobody\" }\n\
         output \"boot\" { value = \"${var.machine_type} ${var.region} ${var.name} ${jsonencode(var.tags)}\" }\n",
    );
    let study = |machine: &str, region: &str| {
        format!(
            "[study]\nname = \"hostile\"\n[factors]\nn = [1]\n[workload]\ncommand = [\"echo\", \"{{n}}\"]\n\
             [environments.\"a b/../$(touch pwned)\"]\n\
             rent = {{ module = \"module\", machine = \"{machine}\", region = \"{region}\" }}\n"
        )
    };
    let expression = study("${file(\\\"/etc/hostname\\\")}", "$(touch${IFS}pwned)`id`");
    bench.write("study.toml", &expression);
    bench
        .bancada(&["check", "study.toml"])
        .ends_with(3)
        .says("is not a valid machine")
        .says("is not a valid region");
    bench.write("study.toml", &study("%{if}a", "*(b)|c&d"));
    let mut command = bench.command(&["infra", "apply", "study.toml", "--patience", "1"]);
    let ran = Ran::new(command.env("BANCADA_CALLER", "10.0.0.1").output().unwrap());
    let ran = ran.ends_with(1).says("did not answer");
    let folder = bench.path().join("state/infra/machines");
    let name = fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .file_name();
    let outputs = fs::read_to_string(folder.join(&name).join("outputs.json")).unwrap();
    let outputs: serde_json::Value = serde_json::from_str(&outputs).unwrap();
    let boot = outputs["boot"]["value"].as_str().unwrap();
    assert!(boot.contains("%{if}a *(b)|c&d"), "{boot}");
    assert!(boot.contains("a-b-touch-pwned"), "{boot}");
    assert!(
        !files_below(bench.path())
            .iter()
            .any(|p| p.ends_with("pwned")),
        "{}",
        ran.err
    );
    bench.bancada(&["infra", "destroy", "--all"]).ends_with(0);
}
