//! `setup` and `doctor` as a person meets them, with a uv and a Python that only pretend.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran};

/// Programs of the `frameworks` crate's own tests, in a folder that is looked at first.
fn pretend(bench: &Bench) -> PathBuf {
    let programs = bench.path().join("programs");
    fs::create_dir_all(programs.join("state")).unwrap();
    let fakes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frameworks/tests/setup/fakes");
    for (from, to) in [
        ("python.sh", "python3.11"),
        ("uv.sh", "uv"),
        ("installer.sh", "state/installer"),
    ] {
        // By another program: a file that a test holds open for writing cannot be executed.
        let mut install = Command::new("install");
        install.args(["-m", "755"]).arg(fakes.join(from));
        assert!(install.arg(programs.join(to)).status().unwrap().success());
    }
    programs
}

fn command(bench: &Bench, programs: &Path, arguments: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = bench.command(arguments);
    command
        .env("PATH", format!("{}:{path}", programs.display()))
        .env_remove("PYENV_ROOT")
        .env_remove("BANCADA_UV")
        .env("HOME", bench.path());
    command
}

fn run(bench: &Bench, programs: &Path, arguments: &[&str]) -> Ran {
    Ran::new(command(bench, programs, arguments).output().unwrap())
}

#[test]
fn names_are_checked_before_anything_happens() {
    let bench = Bench::new();
    bench
        .bancada(&["setup", "pytorch", "tensorfolw"])
        .ends_with(2)
        .says("unknown framework `tensorfolw`: did you mean `tensorflow`?");
    bench
        .bancada(&["setup", "engine@1"])
        .ends_with(2)
        .says("the engine has the same version as bancada");
    bench.bancada(&["setup", "--remove"]).ends_with(2);
    assert!(!bench.path().join("cache").exists());
}

#[test]
fn a_framework_is_set_up_listed_examined_and_removed() {
    let bench = Bench::new();
    let programs = pretend(&bench);
    run(&bench, &programs, &["setup"])
        .ends_with(0)
        .says("not set up, about 260 MB")
        .says("Set up: bancada setup NAME…");
    run(&bench, &programs, &["setup", "mxnet", "engine"])
        .ends_with(0)
        .says("mxnet 1.9.1  (Python 3.11.7, uv, about 260 MB)")
        .says("mxnet 1.9.1 is set up (")
        .says("engine is built in: nothing to set up");
    let again = run(&bench, &programs, &["setup", "mxnet"]).ends_with(0);
    assert_eq!(again.err, "", "nothing was done");
    run(&bench, &programs, &["setup", "--list"]).says("mxnet                 1.9.1   set up, ");

    run(&bench, &programs, &["doctor", "mxnet"])
        .ends_with(0)
        .says("✓ mxnet  1.9.1, Python 3.11.7")
        .says("trained a step in ");
    fs::write(programs.join("state/broken-adapt_mxnet"), "").unwrap();
    run(&bench, &programs, &["doctor", "mxnet"])
        .ends_with(1)
        .says("a training step fails: RuntimeError: adapt_mxnet cannot compile")
        .says("do: bancada setup --remove mxnet, then bancada setup mxnet");
    let told = run(&bench, &programs, &["doctor", "--json", "mxnet"]).ends_with(1);
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["frameworks"][0]["condition"], "broken");
    assert_eq!(told["surroundings"]["uv"]["version"], "uv 0.0.0");

    run(&bench, &programs, &["setup", "--remove", "mxnet"])
        .ends_with(0)
        .says("mxnet-1.9.1 is removed (");
    run(&bench, &programs, &["setup", "--remove", "mxnet"])
        .ends_with(1)
        .says("error: mxnet is not set up");
    run(&bench, &programs, &["setup", "--remove", "all"])
        .ends_with(0)
        .says("Nothing to remove.");
}

#[test]
fn what_extends_another_is_removed_before_it() {
    let bench = Bench::new();
    let programs = pretend(&bench);
    run(&bench, &programs, &["setup", "keras-torch"]).ends_with(0);
    run(&bench, &programs, &["setup", "--remove", "pytorch"])
        .ends_with(1)
        .says("pytorch is needed by keras-torch");
    run(
        &bench,
        &programs,
        &["setup", "--remove", "pytorch", "keras-torch"],
    )
    .ends_with(0)
    .says("pytorch-2.15.0 is removed");
}

#[test]
fn one_that_fails_does_not_keep_the_others() {
    let bench = Bench::new();
    let programs = pretend(&bench);
    fs::write(programs.join("state/broken-adapt_mxnet"), "").unwrap();
    run(&bench, &programs, &["setup", "mxnet", "jax"])
        .ends_with(1)
        .says("mxnet: a training step failed")
        .says("RuntimeError: adapt_mxnet cannot compile")
        .says("jax 0.10.2 is set up")
        .says("1 of 2 could not be set up: mxnet");
    fs::remove_file(programs.join("state/broken-adapt_mxnet")).unwrap();
    run(&bench, &programs, &["setup", "mxnet"])
        .ends_with(0)
        .says(", resumed)");
}

#[test]
fn ctrl_c_leaves_what_can_be_gone_on_with() {
    let bench = Bench::new();
    let programs = pretend(&bench);
    let hang = programs.join("state/hang");
    fs::write(&hang, "").unwrap();
    let mut setup = command(&bench, &programs, &["setup", "jax", "mxnet"]);
    let setup = setup
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let calls = programs.join("state/calls");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !fs::read_to_string(&calls).is_ok_and(|text| text.contains("install")) {
        assert!(Instant::now() < deadline, "nothing is installed");
        std::thread::sleep(Duration::from_millis(20));
    }
    let interrupted = Command::new("kill")
        .args(["-INT", &setup.id().to_string()])
        .status();
    assert!(interrupted.unwrap().success());
    Ran::new(setup.wait_with_output().unwrap())
        .ends_with(130)
        .says("stopped; to continue: bancada setup jax");
    fs::remove_file(hang).unwrap();
    run(&bench, &programs, &["setup"]).says("incomplete; to continue: bancada setup jax");
    run(&bench, &programs, &["setup", "jax"])
        .ends_with(0)
        .says("jax 0.10.2 is set up");
}
