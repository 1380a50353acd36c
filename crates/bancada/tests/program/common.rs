//! Starting the program as a person would, in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes with the test.
///
/// Made by hand: the crate `tempfile` switches on features in what it shares with the engine, and
/// `cargo bench` would then build the engine a second time.
pub(crate) struct Bench {
    folder: PathBuf,
}

impl Drop for Bench {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.folder);
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bancada-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Bench { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bancada"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_remove("NO_COLOR")
            .env("BANCADA_CACHE", self.path().join("cache"))
            .env("BANCADA_STATE", self.path().join("state"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn bancada(&self, arguments: &[&str]) -> Ran {
        Ran::new(self.command(arguments).output().unwrap())
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Names of the bundles that are whole.
    pub(crate) fn bundles(&self, study: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path().join("results").join(study).join("runs")) else {
            return Vec::new();
        };
        let names = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|n| !n.starts_with('.')).collect();
        names.sort();
        names
    }

    pub(crate) fn record(&self, study: &str, run: &str) -> serde_json::Value {
        let path = self
            .path()
            .join("results")
            .join(study)
            .join("runs")
            .join(run)
            .join("run.json");
        let record = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        check_units(&record);
        record
    }
}

/// What measures a metric and the table of metrics agree on its unit.
fn check_units(record: &serde_json::Value) {
    for (name, metric) in record["metrics"].as_object().unwrap() {
        let known = model::run::metric::definition(name);
        let known = known.filter(|_| !model::run::metric::is_of_bills(name));
        if let Some(known) = known {
            assert_eq!(metric["unit"], known.unit.symbol(), "{name}");
        }
    }
}

/// The cache of whoever runs the tests: what was set up there is asked.
pub(crate) fn with_own_cache(command: &mut Command) -> &mut Command {
    match std::env::var_os("BANCADA_CACHE") {
        Some(cache) => command.env("BANCADA_CACHE", cache),
        None => command.env_remove("BANCADA_CACHE"),
    }
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn new(output: Output) -> Self {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.out, self.err
        );
        self
    }

    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(
            self.out.contains(words) || self.err.contains(words),
            "no `{words}` in\n{}\n{}",
            self.out,
            self.err
        );
        self
    }
}

/// A study of a shell command with one factor.
pub(crate) fn shell_study(name: &str, script: &str, repetitions: u32, more: &str) -> String {
    format!(
        "[study]\nname = \"{name}\"\nrepetitions = {repetitions}\nseed = 7\n{more}\n[factors]\nn = [1, 2]\n\n\
         [workload]\ncommand = [\"sh\", \"-c\", '''{script}''', \"sh\", \"{{n}}\"]\n\n\
         [measure]\ninterval = \"20ms\"\n"
    )
}
