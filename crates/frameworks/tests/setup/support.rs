use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use frameworks::{Home, Machine, Progress, Ready, Setup, SetupError, Spec, Trial};

/// A machine with the Pythons asked for, uv or not, and an empty cache.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) home: Home,
    pub(crate) machine: Machine,
    pub(crate) trial: Trial,
}

impl Bench {
    pub(crate) fn new(pythons: &[&str], uv: bool) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("programs");
        fs::create_dir_all(programs.join("state")).unwrap();
        for python in pythons {
            copy("python.sh", &programs.join(format!("python{python}")));
        }
        copy("installer.sh", &programs.join("state/installer"));
        copy("uv.sh", &programs.join("uv"));
        let home = Home::at(folder.path().join("cache"));
        let machine = Machine {
            platform: "linux-x86_64".to_owned(),
            uv: uv.then(|| programs.join("uv")),
            path: vec![programs],
            pyenv: None,
            caffe: None,
        };
        let trial = Trial {
            job: serde_json::json!({ "protocol": 1 }),
            folder: folder.path().join("trial"),
            bancada: folder.path().join("programs/bancada"),
        };
        Bench {
            folder,
            home,
            machine,
            trial,
        }
    }

    /// Another program of the machine.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let source = self.folder.path().join(format!("{name}.sh"));
        fs::write(&source, format!("#!/bin/sh\n{script}\n")).unwrap();
        install(&source, &self.folder.path().join("programs").join(name));
    }

    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.folder.path().join("programs/state").join(name)
    }

    /// The installer and the Pythons look for these files.
    pub(crate) fn provoke(&self, trouble: &str) {
        fs::write(self.state(trouble), "").unwrap();
    }

    pub(crate) fn put_right(&self, trouble: &str) {
        fs::remove_file(self.state(trouble)).unwrap();
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.state("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn setup(&self) -> Setup<'_> {
        Setup {
            home: &self.home,
            machine: &self.machine,
            gpu: false,
            trial: &self.trial,
            stop: &|| false,
        }
    }

    pub(crate) fn set_up(&self, name: &str) -> Result<Ready, SetupError> {
        self.setup().set_up(&spec(name), &mut |_| {})
    }

    /// What was told, besides.
    pub(crate) fn set_up_told(&self, name: &str) -> (Result<Ready, SetupError>, Vec<Progress>) {
        let mut told = Vec::new();
        let result = self.setup().set_up(&spec(name), &mut |p| told.push(p));
        (result, told)
    }

    pub(crate) fn folder(&self, environment: &str) -> PathBuf {
        self.home.frameworks().join(environment)
    }

    pub(crate) fn problem(&self, name: &str) -> String {
        self.set_up(name).unwrap_err().to_string()
    }
}

pub(crate) fn spec(text: &str) -> Spec {
    Spec::parse(text).unwrap()
}

fn copy(name: &str, to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/setup/fakes")
        .join(name);
    install(&from, to);
}

/// By another program: a file that this one has open for writing while another test's thread
/// starts a process could not be executed.
fn install(from: &Path, to: &Path) {
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(from).arg(to);
    assert!(install.status().unwrap().success());
}
