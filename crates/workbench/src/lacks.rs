//! What the runs of a study need and this machine lacks, listed before the first run.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use frameworks::{Home, Kind, Machine, Spec};
use model::{CommandWorkload, Order, Scenario, Study, Work, Workload};

use crate::error::{Error, ErrorKind};

/// Interpreters whose first argument, if it is no option, is the file they run.
const INTERPRETERS: [&str; 8] = [
    "python", "python3", "sh", "bash", "perl", "ruby", "Rscript", "julia",
];

/// What is not here, each once.
#[derive(Default)]
pub struct Lacks {
    pub environments: BTreeMap<String, Missing>,
    pub datasets: Vec<String>,
    caffe: bool,
    /// Sentences on programs, folders and files that the study names; no one can bring them.
    own: BTreeSet<String>,
}

/// An environment of a framework or a serving stack.
pub struct Missing {
    pub spec: Spec,
    /// Whether a run asks for a GPU.
    pub gpu: bool,
}

/// Looked for once, however many scenarios need it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// And whether on a GPU.
    Framework(String, bool),
    Dataset(String),
    /// Program and first argument, and where they are started: most scenarios differ in later
    /// arguments only.
    Program(Vec<String>, Option<PathBuf>),
    /// Patterns of `inputs`, and the folder they are relative to.
    Inputs(Vec<String>, Option<PathBuf>),
}

impl Lacks {
    /// `folder` is the study file's: its paths are relative to it.
    pub fn of<'s>(
        study: &Study,
        scenarios: impl IntoIterator<Item = &'s Scenario>,
        folder: &Path,
        home: &Home,
    ) -> Self {
        let mut lacks = Lacks::default();
        let mut looked_at = BTreeSet::new();
        for scenario in scenarios {
            lacks.look_at(study, scenario, folder, home, &mut looked_at);
        }
        lacks
    }

    /// What a machine lacks for orders that came from another one. A program of a command may be among
    /// the files that are still to come, so that it is not looked for.
    pub fn of_orders(orders: &[Order], folder: &Path, home: &Home) -> Self {
        let mut lacks = Lacks::default();
        let mut looked_at = BTreeSet::new();
        for order in orders {
            match &order.work {
                Work::Train(train) => {
                    let gpu = train.job.device != "cpu";
                    let framework = train.framework.clone();
                    if looked_at.insert(Need::Framework(framework.clone(), gpu)) {
                        lacks.environment(&framework, gpu, home);
                    }
                    let data = &train.job.data;
                    if data.data_dir.is_none() {
                        lacks.dataset(&data.dataset, home, &mut looked_at);
                    }
                }
                Work::Serve(serve) if serve.elsewhere().is_none() => {
                    let stack = serve.workload.stack.clone();
                    if looked_at.insert(Need::Framework(stack.clone(), false)) {
                        lacks.environment(&stack, false, home);
                    }
                }
                Work::Command(command) => {
                    let first = command.command.first().cloned();
                    let is_installed = first.as_ref().is_some_and(|word| !word.contains('/'));
                    let need = Need::Program(first.into_iter().collect(), None);
                    if is_installed && looked_at.insert(need) {
                        let program = CommandWorkload {
                            command: command.command.iter().take(1).cloned().collect(),
                            directory: None,
                            ..command.clone()
                        };
                        lacks.own.extend(complaints(&program, folder));
                    }
                }
                Work::Serve(_) => {}
            }
        }
        lacks
    }

    /// Sentences on what has to be done by hand.
    pub fn cannot_be_brought(&self) -> Vec<String> {
        let caffe = self
            .caffe
            .then(|| frameworks::SetupError::NoCaffe.to_string());
        self.own.iter().cloned().chain(caffe).collect()
    }

    fn dataset(&mut self, name: &str, home: &Home, looked_at: &mut BTreeSet<Need>) {
        if looked_at.insert(Need::Dataset(name.to_owned()))
            && fetch::wanted_bytes(name).is_some()
            && !fetch::is_here(name, home.path())
        {
            self.datasets.push(name.to_owned());
        }
    }

    /// All of it in one message. What the study itself names wrongly makes it a bad study.
    pub fn refuse(&self, study: &Path) -> Result<(), Error> {
        let mut lines: Vec<String> = self.own.iter().cloned().collect();
        let kind = match lines.is_empty() {
            true => ErrorKind::Other,
            false => ErrorKind::BadStudy,
        };
        if self.caffe {
            lines.push(frameworks::SetupError::NoCaffe.to_string());
        }
        lines.extend(self.can_be_brought());
        if lines.is_empty() {
            return Ok(());
        }
        lines.extend(self.how(study));
        let lines: String = lines.iter().map(|line| format!("\n  = {line}")).collect();
        let message = format!("this machine lacks what the runs need; nothing was started{lines}");
        Err(Error::new(kind, message))
    }

    /// For `check`: only what the study names wrongly is a mistake of it.
    pub fn refuse_own(&self, study: &Path) -> Result<(), Error> {
        if self.own.is_empty() {
            return Ok(());
        }
        let lines: String = self
            .own
            .iter()
            .map(|line| format!("\n  = {line}"))
            .collect();
        let message = format!(
            "{} needs files or programs that this machine lacks{lines}",
            study.display()
        );
        Err(Error::bad_study(message))
    }

    /// For `check`: what is still to do before the study can run here.
    pub fn to_do(&self, study: &Path) -> Vec<String> {
        let brought = self.can_be_brought();
        brought.into_iter().chain(self.how(study)).collect()
    }

    fn can_be_brought(&self) -> Vec<String> {
        let frameworks: Vec<&str> = self.environments.keys().map(String::as_str).collect();
        let mut lines = Vec::new();
        if !frameworks.is_empty() {
            lines.push(format!("not set up: {}", frameworks.join(", ")));
        }
        if !self.datasets.is_empty() {
            lines.push(format!("not fetched: {}", self.datasets.join(", ")));
        }
        lines
    }

    /// `bancada run study.toml --prepare`, or the same one by one.
    fn how(&self, study: &Path) -> Option<String> {
        let frameworks: Vec<&str> = self.environments.keys().map(String::as_str).collect();
        let mut single = Vec::new();
        if !frameworks.is_empty() {
            single.push(format!("bancada setup {}", frameworks.join(" ")));
        }
        if !self.datasets.is_empty() {
            single.push(format!("bancada data fetch {}", self.datasets.join(" ")));
        }
        (!single.is_empty()).then(|| {
            format!(
                "bancada run {} --prepare installs them (or: {})",
                study.display(),
                single.join("; ")
            )
        })
    }

    fn look_at(
        &mut self,
        study: &Study,
        scenario: &Scenario,
        folder: &Path,
        home: &Home,
        looked_at: &mut BTreeSet<Need>,
    ) {
        let resolved = plan::resolve(study, scenario);
        // Another machine, or a container, says itself what it lacks.
        if !resolved.environment.location.is_here() {
            return;
        }
        let workload = &resolved.workload;
        let train = workload.as_train();
        if let Some(name) = workload.framework() {
            let device = resolved.environment.device.as_ref();
            let device = device.or(train.map(|train| &train.device));
            let gpu = train.is_some() && device.is_some_and(|device| device != "cpu");
            if looked_at.insert(Need::Framework(name.to_owned(), gpu)) {
                self.environment(name, gpu, home);
            }
        }
        if let Some(train) = train.filter(|train| train.data_dir.is_none()) {
            self.dataset(&train.dataset, home, looked_at);
        }
        if let Workload::Command(command) = workload {
            let first = command.command.iter().take(2).cloned().collect();
            if looked_at.insert(Need::Program(first, command.directory.clone())) {
                self.own.extend(complaints(command, folder));
            }
            let inputs = Need::Inputs(command.inputs.clone(), command.directory.clone());
            if looked_at.insert(inputs) {
                let folder = started_in(command, folder);
                let wrong = runner::wrong_inputs(&command.inputs, &folder);
                self.own.extend(wrong.iter().map(ToString::to_string));
            }
        }
    }

    /// A name that needs none, such as the engine's, lacks none.
    fn environment(&mut self, name: &str, gpu: bool, home: &Home) {
        let Ok(spec) = Spec::parse(name) else {
            return;
        };
        self.caffe |= spec.framework.kind == Kind::Caffe && Machine::here().caffe.is_none();
        let is_made = matches!(spec.framework.kind, Kind::Python | Kind::Stack);
        if is_made && home.interpreter(&spec).is_err() {
            let missing = self.environments.entry(spec.to_string());
            missing.or_insert(Missing { spec, gpu: false }).gpu |= gpu;
        }
    }
}

fn started_in(command: &CommandWorkload, folder: &Path) -> PathBuf {
    match &command.directory {
        Some(directory) => folder.join(directory),
        None => folder.to_owned(),
    }
}

/// What a command names and is not there: its directory, its program, its script.
fn complaints(command: &CommandWorkload, folder: &Path) -> Vec<String> {
    let Some(program) = command.command.first() else {
        return Vec::new();
    };
    let directory = started_in(command, folder);
    let has_directory = directory.is_dir();
    let mut found = Vec::new();
    if !has_directory {
        let directory = directory.display();
        found.push(format!("working directory {directory}: no such folder"));
    }
    let own_path = command.env.get("PATH").map(String::as_str);
    // What is looked for in a folder that is not there is not reported beside it.
    let may_be_there = !has_directory && program.contains('/');
    if !may_be_there && !is_program(program, &directory, own_path) {
        let place = match program.contains('/') {
            true => format!("no such program in {}", directory.display()),
            false => "not found in PATH".to_owned(),
        };
        found.push(format!("program `{program}` of the command: {place}"));
    }
    let name = Path::new(program).file_name().and_then(|n| n.to_str());
    let script = script_of(&command.command);
    if let (true, Some(script)) = (name.is_some_and(|n| INTERPRETERS.contains(&n)), script)
        && has_directory
        && !directory.join(script).exists()
    {
        let directory = directory.display();
        found.push(format!(
            "script `{script}` of the command: no such file in {directory}"
        ));
    }
    found
}

/// The first word that is not an option; none where the program is in the command itself or is a
/// module (`-c`, `-m`), or an option may have a value of its own.
fn script_of(command: &[String]) -> Option<&String> {
    const ALONE: [&str; 10] = ["-u", "-e", "-x", "-B", "-E", "-I", "-O", "-s", "-S", "-q"];
    let mut words = command.iter().skip(1);
    words
        .find(|word| !ALONE.contains(&word.as_str()))
        .filter(|word| !word.starts_with('-'))
}

fn is_executable(path: &Path) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// As the system finds it: a path is relative to the working directory, a name is looked up.
fn is_program(program: &str, directory: &Path, own_path: Option<&str>) -> bool {
    if program.contains('/') {
        return is_executable(&directory.join(program));
    }
    let path = match own_path {
        Some(path) => Some(path.into()),
        None => std::env::var_os("PATH"),
    };
    path.iter()
        .flat_map(std::env::split_paths)
        .any(|folder| is_executable(&directory.join(folder).join(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_names_must_be_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let check = |words: &[&str], directory: Option<&str>, expected: &[&str]| {
            let command = CommandWorkload {
                inputs: Vec::new(),
                command: words.iter().map(|word| (*word).to_owned()).collect(),
                env: BTreeMap::new(),
                directory: directory.map(PathBuf::from),
                log: Vec::new(),
            };
            let found = complaints(&command, folder);
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.contains(expected), "{found}");
            }
        };
        check(&["sh", "-c", "true"], None, &[]);
        check(&["sh", "Cargo.toml"], None, &[]);
        check(&["sh", "lib.rs"], Some("src"), &[]);
        check(&["/bin/sh", "-c", "true"], None, &[]);
        check(&["no-such-program"], None, &["not found in PATH"]);
        check(&["./no-such-program"], None, &["no such program"]);
        check(&["./Cargo.toml"], None, &["no such program"]);
        check(
            &["bash", "-e", "no-such.sh"],
            None,
            &["script `no-such.sh`"],
        );
        check(&["python3", "-u", "-c", "pass"], None, &[]);
        check(&["sh", "no-such.sh"], None, &["script `no-such.sh`"]);
        check(
            &["nope", "x"],
            Some("nowhere"),
            &["working directory", "program `nope`"],
        );
        check(&["./nope"], Some("nowhere"), &["working directory"]);
        check(&["sh", "no.sh"], Some("nowhere"), &["working directory"]);
        check(&[], None, &[]);
    }
}
