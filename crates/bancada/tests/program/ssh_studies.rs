//! Studies on hosts by SSH, from their files, as a person runs them. `.ci/places-ssh studies`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran};
use crate::ssh::Hosts;

const SECRET: &str = "s3cr3t-planted-7391";

/// The program that copies itself: without the symbols of a debugger it is a third as large.
fn bancada(bench: &Bench, hosts: &Hosts, arguments: &[&str]) -> Command {
    let mut command = Command::new(hosts.file("bancada"));
    command
        .args(arguments)
        .current_dir(bench.path())
        .env("BANCADA_CACHE", bench.path().join("cache"))
        .env("BANCADA_SSH", hosts.file("ssh"))
        .stdin(Stdio::null());
    command
}

fn run(bench: &Bench, hosts: &Hosts, arguments: &[&str]) -> Ran {
    Ran::new(bancada(bench, hosts, arguments).output().unwrap())
}

/// Every file below a folder that has these bytes in it.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let output = Command::new("grep")
        .args(["-r", "-l", "-F", text])
        .arg(folder)
        .output()
        .unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    found.lines().map(str::to_owned).collect()
}

/// A script of the study's folder, on two hosts, with a coordinator that is killed in the middle.
#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_studies_survive_their_coordinator() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    fs::create_dir(bench.path().join("scripts")).unwrap();
    let count = bench.path().join("executed");
    bench.write(
        "scripts/work.sh",
        &format!(
            "test -n \"$TOKEN\" || exit 3\ncat data.txt\nsleep 0.5\necho $1 >> {}\n",
            count.display()
        ),
    );
    bench.write("scripts/data.txt", "olá\n");
    bench.write(
        "study.toml",
        &format!(
            "[study]\nname = \"far\"\nrepetitions = 4\n[factors]\nn = [1, 2]\n\
             [workload]\ncommand = [\"sh\", \"work.sh\", \"{{n}}\"]\ndirectory = \"scripts\"\n\
             inputs = [\"*.txt\"]\nenv = {{ TOKEN = \"{SECRET}\" }}\n\
             [environments.two]\nssh = [\"h1\", \"h2\"]\n"
        ),
    );
    let arguments = ["run", "study.toml", "--quiet", "--no-pilot"];
    let mut killed = 0;
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        assert!(Instant::now() < deadline, "{:?}", bench.bundles("far"));
        let mut command = bancada(&bench, &hosts, &arguments);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let before = bench.bundles("far").len();
        let mut child = command.spawn().unwrap();
        // After at least one more run came home.
        while child.try_wait().unwrap().is_none() && bench.bundles("far").len() == before {
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(Duration::from_millis(150));
        if child.try_wait().unwrap().is_none() && killed < 3 {
            killed += 1;
            child.kill().unwrap();
            child.wait().unwrap();
            continue;
        }
        let ran = Ran::new(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        break;
    }
    assert!(killed > 0);
    assert_eq!(bench.bundles("far").len(), 8);
    let executed = fs::read_to_string(&count).unwrap();
    assert_eq!(executed.lines().count(), 8, "each ran once: {executed}");
    let log = bench.path().join("results/far/runs/C1-r1/log.txt");
    assert_eq!(fs::read_to_string(log).unwrap(), "olá\n");
    for host in ["h1", "h2"] {
        hosts.nothing_runs(host);
        let places = hosts.file(host).join(".cache/bancada/places");
        assert_eq!(files_with(&places, SECRET), Vec::<String>::new());
    }
    let results = bench.path().join("results");
    let leaks = files_with(&results, SECRET);
    // The study itself is kept with its results, as its writer wrote it.
    let leaks: Vec<_> = leaks
        .iter()
        .filter(|f| !f.ends_with("study.toml"))
        .collect();
    println!("files with the planted secret beside the study file: {leaks:?}");
    println!("{killed} coordinators killed, 8 runs, each executed and kept once");
}

/// The embedded engine over there: images are made there, the measurement comes home.
#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_studies_train_there() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    bench.write(
        "study.toml",
        "[study]\nname = \"train\"\nrepetitions = 1\n[factors]\nbatch = [16, 32]\n\
         [workload]\nkind = \"train\"\nnetwork = \"lenet5\"\ndataset = \"digits\"\nimage = 28\n\
         images = 64\nheld_out = 16\nepochs = 1\n[environments.far]\nssh = \"h2\"\n",
    );
    let old = hosts.file("h2").join(".cache/bancada/bin");
    fs::create_dir_all(&old).unwrap();
    let old = old.join("0".repeat(64));
    fs::write(&old, "an earlier version").unwrap();
    let ran = run(&bench, &hosts, &["run", "study.toml"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(!old.exists(), "an old program that nothing uses is removed");
    for name in ["C1-r1", "C2-r1"] {
        let record = bench.record("train", name);
        assert_eq!(record["outcome"]["status"], "ok", "{record}");
    }
    let caches = hosts.file("h2").join(".cache/bancada/cache");
    let there = fs::read_dir(hosts.file("h2").join(".cache/bancada")).unwrap();
    let there: Vec<_> = there.flatten().map(|entry| entry.file_name()).collect();
    println!("there: {there:?} {}", caches.display());
}

#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_studies_say_what_a_host_lacks() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    let study = |factor: &str, workload: &str, host: &str| {
        bench.write(
            "study.toml",
            &format!(
                "[study]\nname = \"lacks-{factor}-{}\"\n[factors]\n{factor} = [1]\n{workload}\n\
                 [environments.far]\nssh = \"{host}\"\n",
                workload.len()
            ),
        );
        let ran = run(&bench, &hosts, &["run", "study.toml"]);
        assert_ne!(ran.code, 0, "{}", ran.out);
        println!("{}", ran.err);
        ran.err
    };
    let train = "[workload]\nkind = \"train\"\nframework = \"pytorch\"\nnetwork = \"lenet5\"\n\
                 dataset = \"digits\"\nimage = 28\nimages = 64\n";
    let lacks = study("batch", train, "h1");
    assert!(
        lacks.contains("pytorch") && lacks.contains("--prepare"),
        "{lacks}"
    );
    let outside = "[workload]\ncommand = [\"sh\", \"../outside.sh\", \"{n}\"]\n";
    fs::write(bench.path().join("../outside.sh"), "true").unwrap();
    let refused = study("n", outside, "h1");
    _ = fs::remove_file(bench.path().join("../outside.sh"));
    assert!(refused.contains("cannot send"), "{refused}");
    let missing = study(
        "n",
        "[workload]\ncommand = [\"true\", \"{n}\"]\n",
        "no-such-host.invalid",
    );
    assert!(missing.contains("Could not resolve"), "{missing}");
}

/// Of a training with these settings, on a host.
fn training(name: &str, host: &str, more: &str) -> String {
    format!(
        "[study]\nname = \"{name}\"\nrepetitions = 1\n[workload]\nkind = \"train\"\n\
         network = \"lenet5\"\nimage = 28\nimages = 64\nheld_out = 16\nepochs = 1\nbatch = 16\n\
         {more}\n[environments.far]\nssh = \"{host}\"\n"
    )
}

/// The host sets the framework up by itself, from a folder with packages: it has no other network.
#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_studies_set_a_framework_up_there() {
    let hosts = Hosts::find();
    if !hosts.file("wheels").is_dir() {
        return println!("NOT RUN: no packages");
    }
    let bench = Bench::new();
    let more = "framework = \"mxnet\"\ndataset = \"digits\"";
    bench.write("study.toml", &training("prepared", "h1", more));
    let lacks = run(&bench, &hosts, &["run", "study.toml", "--no-pilot"]);
    assert_ne!(lacks.code, 0);
    assert!(lacks.err.contains("lacks mxnet"), "{}", lacks.err);
    let begun = Instant::now();
    let words = ["run", "study.toml", "--no-pilot", "--prepare"];
    let ran = run(&bench, &hosts, &words);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    println!(
        "set up and trained in {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    let record = bench.record("prepared", "C1-r1");
    assert_eq!(record["framework"]["name"], "mxnet", "{record}");
    let there = hosts.file("h1").join(".cache/bancada/frameworks");
    assert!(there.is_dir());
    assert!(
        !bench.path().join("cache/frameworks").exists(),
        "only there"
    );
}

#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_studies_send_a_dataset() {
    let hosts = Hosts::find();
    let cache = hosts.file("cache");
    if !cache.join("data/mnist").is_dir() {
        return println!("NOT RUN: no dataset");
    }
    let bench = Bench::new();
    bench.write("study.toml", &training("sent", "h2", "dataset = \"mnist\""));
    let mut command = bancada(&bench, &hosts, &["run", "study.toml", "--no-pilot"]);
    let ran = Ran::new(command.env("BANCADA_CACHE", &cache).output().unwrap());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let there = hosts.file("h2").join(".cache/bancada/data/mnist");
    for entry in fs::read_dir(cache.join("data/mnist")).unwrap().flatten() {
        let sent = fs::read(there.join(entry.file_name())).unwrap();
        assert!(sent == fs::read(entry.path()).unwrap(), "{entry:?}");
    }
}

/// A host that only another one can reach, whose disk fills during a run.
#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_studies_go_through_a_jump_host_and_survive_a_full_disk() {
    let hosts = Hosts::find();
    let direct = Command::new(hosts.file("ssh"))
        .args(["-o", "BatchMode=yes", "-o", "ProxyJump=none", "h4", "true"])
        .output();
    assert!(!direct.unwrap().status.success(), "h4 must be behind h1");
    let bench = Bench::new();
    let script = "test $1 = small && exit 0\n\
                  dd if=/dev/zero of=\"$(dirname \"$BANCADA_EVENTS\")/big\" bs=1M count=400\n";
    bench.write("work.sh", script);
    bench.write(
        "study.toml",
        "[study]\nname = \"jump\"\nrepetitions = 2\norder = \"listed\"\n[factors]\n\
         size = [\"large\", \"small\"]\n[workload]\ncommand = [\"sh\", \"work.sh\", \"{size}\"]\n\
         [environments.far]\nssh = \"h4\"\n",
    );
    let ran = run(&bench, &hosts, &["run", "study.toml"]);
    println!("{}{}", ran.out, ran.err);
    for (name, expected) in [
        ("C1-r1", "failed"),
        ("C2-r1", "ok"),
        ("C1-r2", "failed"),
        ("C2-r2", "ok"),
    ] {
        let outcome = &bench.record("jump", name)["outcome"];
        assert_eq!(outcome["status"], expected, "{name}: {outcome}");
        let detail = outcome["detail"].as_str().unwrap_or_default();
        assert!(
            expected == "ok" || detail.contains("No space left"),
            "{detail}"
        );
    }
    hosts.nothing_runs("h4");
}

/// A new machine is sent its kit over SSH, runs its part and hands the results to a third one over SSH.
#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_studies_onboard_a_host_that_hands_over_to_another() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    bench.write("work.sh", "echo on $1\n");
    bench.write(
        "study.toml",
        "[study]\nname = \"onboarded\"\nrepetitions = 2\n[factors]\nenvironment = [\"new\", \"old\"]\n\
         [workload]\ncommand = [\"sh\", \"work.sh\", \"{environment}\"]\n\
         [environments.new]\n[environments.old]\n",
    );
    let out = hosts.file("h1").join("it's out $(id)");
    let to = format!("h1:{}", out.display());
    let words = ["onboard", "study.toml", "--environment", "new", "--to", &to];
    let ran = run(&bench, &hosts, &words);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let line = ran
        .out
        .lines()
        .find(|line| line.contains("ssh NEW-MACHINE"));
    let line = line.unwrap().trim().to_owned();
    // These hosts log in to one folder, and find their SSH configuration by this `ssh` only.
    let there = format!("'cd; PATH={}:$PATH; ", hosts.file("").display());
    let line = line.replacen("ssh NEW-MACHINE '", &format!("\"$SSH\" h2 {there}"), 1);
    println!("{line}");
    let sent = Command::new("sh")
        .args(["-c", &line])
        .current_dir(bench.path())
        .env("SSH", hosts.file("ssh"))
        .output();
    let sent = Ran::new(sent.unwrap());
    assert_eq!(sent.code, 0, "{}{}", sent.out, sent.err);
    assert!(
        sent.err.contains("the results are handed over"),
        "{}",
        sent.err
    );
    let handed = |name: &str| out.join("runs").join(name).join("log.txt");
    for name in ["C1-r1", "C1-r2"] {
        assert_eq!(fs::read_to_string(handed(name)).unwrap(), "on new\n");
    }
    assert!(!handed("C2-r1").exists(), "of the other environment");
    let shown = run(&bench, &hosts, &["show", out.to_str().unwrap()]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}
