//! What is installed into an environment: by its lock file where there is one.

use std::fs;
use std::time::Duration;

use super::build::Build;
use super::{Progress, SetupError, Step, Tell, io};
use crate::hashes;
use crate::installer;
use crate::machine::minor_of;
use crate::process::Ending;
use crate::registry::{CpuBuilds, Kind, Recipe, Stage};

/// The address is given up after 10 s; this is for a Python that does not start.
const PROBE_TIMEOUT: Duration = Duration::from_secs(60);
/// In an environment's folder: what was asked of the installer.
const LOCK: &str = "bancada-lock.txt";

impl Build<'_> {
    /// Whether every file was checked by a hash that this program carries.
    pub(super) fn install(
        &self,
        recipe: &Recipe,
        python: &str,
        tell: &mut Tell<'_>,
    ) -> Result<bool, SetupError> {
        let mut all_locked = true;
        for stage in &recipe.stages {
            let builds = recipe.cpu_builds.as_ref().filter(|_| !stage.is_first);
            if let Some(builds) = builds
                && self.install_cpu_builds(builds, stage, tell)?
            {
                all_locked = false;
                continue;
            }
            all_locked &= self.install_stage(stage, python, tell)?;
        }
        Ok(all_locked)
    }

    fn install_stage(
        &self,
        stage: &Stage,
        python: &str,
        tell: &mut Tell<'_>,
    ) -> Result<bool, SetupError> {
        let folder = &self.environment.folder;
        let lock = self.lock(stage, python);
        let mut command = match &lock {
            Ok(text) => {
                let path = folder.join(LOCK);
                fs::write(&path, text).map_err(io("write", &path))?;
                self.installer.install_locked(folder, stage, &path)
            }
            Err(why) => {
                tell(Progress::Note(format!(
                    "its packages are not checked by hash: {why}"
                )));
                self.installer.install(folder, stage)
            }
        };
        // The first start of a server would compile its packages, and be measured with it. pip
        // always compiles them.
        if self.environment.owner.kind == Kind::Stack {
            command.env("UV_COMPILE_BYTECODE", "1");
        }
        let step = match stage.is_first {
            true => Step::BuildTools,
            false => Step::Packages,
        };
        match self.step(step, command, None, tell)? {
            Ending::Done => Ok(lock.is_ok()),
            _ => Err(self.failed("installing its packages")),
        }
    }

    /// The lock file of a stage, or why it has no lock file.
    fn lock(&self, stage: &Stage, python: &str) -> Result<&'static str, String> {
        let owner = self.environment.owner;
        let version = &self.environment.version;
        let pinned = owner.version.as_deref().unwrap_or_default();
        if self.gpu {
            return Err("GPU packages have no lock file".to_owned());
        }
        if version != pinned {
            return Err(format!("only version {pinned} has a lock file"));
        }
        let platform = &self.setup.machine.platform;
        let name = stage.lock_name(&owner.name);
        let minor = minor_of(python);
        hashes::find(&name, minor, platform)
            .ok_or_else(|| format!("there is no lock file for Python {minor} on {platform}"))
    }

    /// False where they cannot be had; then the usual ones are taken.
    fn install_cpu_builds(
        &self,
        builds: &CpuBuilds,
        stage: &Stage,
        tell: &mut Tell<'_>,
    ) -> Result<bool, SetupError> {
        let folder = &self.environment.folder;
        let owner = self.environment.owner;
        let package = owner.main_packages().next().unwrap_or_default();
        let version = &self.environment.version;
        let probe = installer::probe(folder, &builds.index, package, version);
        let found = self.step(Step::CpuBuilds, probe, Some(PROBE_TIMEOUT), tell)?;
        if found == Ending::Done {
            tell(Progress::Note(format!(
                "downloading {package} {version} without CUDA from {} (about {}), because --gpu was not given; its files are checked only by that index's hashes",
                builds.about,
                size(builds.size_mb)
            )));
            let install = self.installer.install_from(folder, stage, &builds.index);
            if self.step(Step::Packages, install, None, tell)? == Ending::Done {
                return Ok(true);
            }
        }
        let much = owner.size_mb.map(|mb| format!(" (up to {})", size(mb)));
        tell(Progress::Note(format!(
            "{}, which has {package} {version} without CUDA, cannot be used: downloading the build with CUDA from the default package index{}",
            builds.about,
            much.unwrap_or_default()
        )));
        Ok(false)
    }
}

fn size(mb: u64) -> String {
    match mb >= 1000 {
        true => format!("{:.1} GB", mb as f64 / 1000.0),
        false => format!("{mb} MB"),
    }
}
