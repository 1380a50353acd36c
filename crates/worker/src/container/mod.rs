//! A run in a container of its own. The worker stays outside: it binds the order as always, and lets
//! the engine start the command.
//!
//! `engine` is what answers on this machine, `image` makes the image ready, `mounts` is what of this
//! machine the run sees; here the command is wrapped.

mod engine;
mod image;
mod mounts;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use frameworks::{Kind, Spec};
use measure::Contained;
use model::location::Container;
use model::measurement::ReadyImage;
use model::{Order, Ready, TrainJob, Work};

pub(crate) use engine::Engine;
use engine::{Identity, ORDER_LABEL, WORKER_LABEL};
pub(crate) use image::{ImageWish, make};
use mounts::{Mount, distinct};

use crate::bind::{Bound, Context};
use crate::error::WorkError;

/// More words for `docker run`, such as `--shm-size=1g`.
const RUN_OPTIONS: &str = "BANCADA_CONTAINER_OPTIONS";
const ID_FILE: &str = "container.id";
const VARIABLES_FILE: &str = "container.env";

/// Everything the command of a run in a container is made of.
pub(crate) struct Wrapping<'a> {
    pub(crate) order: &'a Order,
    pub(crate) bound: &'a Bound,
    pub(crate) image: &'a ReadyImage,
    pub(crate) folder: &'a Path,
    pub(crate) context: Context<'a>,
}

/// The engine's client as the command of a run.
pub(crate) struct Wrapped {
    pub(crate) command: Vec<String>,
    /// Of the client: what cannot be in a file.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) container: Contained,
    /// Only for the start.
    files: [PathBuf; 2],
}

impl Wrapped {
    /// The variables may hold secrets, and go with the order.
    pub(crate) fn tidy(&self) {
        for file in &self.files {
            // What is left is private, and in the run's own folder.
            _ = std::fs::remove_file(file);
        }
    }
}

/// Words of the user's own for the engine.
fn options(variable: &str) -> Vec<String> {
    let text = std::env::var(variable).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// What cannot be in a container yet.
pub(crate) fn check(order: &Order) -> Result<(), WorkError> {
    let refused = |what: &str| {
        Err(WorkError::Container(format!(
            "{what} cannot run in a container yet"
        )))
    };
    match &order.work {
        Work::Serve(_) => refused("servers"),
        Work::Train(train) if train.framework.starts_with("caffe") => refused("Caffe"),
        Work::Train(train) if train.hosts.is_some() => refused("workers over several hosts"),
        Work::Train(_) | Work::Command(_) => Ok(()),
    }
}

/// The framework of a training that needs Python.
pub(crate) fn python_of(order: &Order) -> Result<Option<Spec>, WorkError> {
    let Work::Train(train) = &order.work else {
        return Ok(None);
    };
    let spec = Spec::parse(&train.framework).map_err(WorkError::Framework)?;
    Ok(Some(spec).filter(|spec| spec.framework.kind == Kind::Python))
}

/// The image that was made ready for an order.
pub(crate) fn image_of<'r>(
    order: &Order,
    container: &Container,
    ready: &'r Ready,
) -> Result<&'r ReadyImage, WorkError> {
    check(order)?;
    let framework = python_of(order)?.map(|spec| spec.to_string());
    let image = ready.image(container, framework.as_deref());
    image.ok_or_else(|| WorkError::Container("its image was not made ready".to_owned()))
}

/// Whether an order needs nothing more, or cannot be in a container at all.
pub fn has_image(order: &Order, container: &Container, ready: &Ready) -> bool {
    check(order).is_err() || image_of(order, container, ready).is_ok()
}

impl Wrapping<'_> {
    pub(crate) fn wrap(&self) -> Result<Wrapped, WorkError> {
        let unknown = || WorkError::Container(format!("unknown engine `{}`", self.image.engine));
        let engine = Engine::named(&self.image.engine, &self.image.engine_version);
        let engine = engine.ok_or_else(unknown)?;
        let folder = std::path::absolute(self.folder)
            .map_err(|error| WorkError::write(self.folder, error))?;
        let container = Contained {
            engine: engine.name,
            name: container_name(&self.order.id),
            id_file: folder.join(ID_FILE),
        };
        let variables_file = folder.join(VARIABLES_FILE);
        let passed = self.write_variables(&variables_file)?;
        let mut words = vec![engine.name.to_owned(), "run".to_owned()];
        words.extend(["--log-driver", "none"].map(str::to_owned));
        words.extend(self.image.has_init.then(|| "--init".to_owned()));
        let mut add = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
        add("--name", &container.name);
        add("--cidfile", &container.id_file.to_string_lossy());
        add("--label", &format!("{ORDER_LABEL}={}", self.order.id));
        if let Some(own) = Identity::own() {
            add("--label", &format!("{WORKER_LABEL}={}", own.text()));
        }
        add("--env-file", &variables_file.to_string_lossy());
        add("--env", model::event::EVENTS_VARIABLE);
        passed.iter().for_each(|(name, _)| add("--env", name));
        let directory = self.bound.directory.as_deref().unwrap_or(&folder);
        let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        add("--workdir", &directory.to_string_lossy());
        words.extend(self.user(&engine));
        words.extend(self.limits());
        words.extend(gpu_words(engine.name, self.order.device.as_deref()));
        for mount in distinct(self.mounts(&folder)) {
            words.extend(mount.words());
        }
        words.extend(options(RUN_OPTIONS));
        let (program, arguments) = self.bound.command.split_first().ok_or(WorkError::Nothing)?;
        // Whatever an image is made to start, the run is the study's command.
        words.extend([
            "--entrypoint".to_owned(),
            program.clone(),
            self.image.id.clone(),
        ]);
        words.extend(arguments.iter().cloned());
        Ok(Wrapped {
            command: words,
            env: passed,
            files: [container.id_file.clone(), variables_file],
            container,
        })
    }

    /// Not as arguments: everybody sees the arguments of a process. Returns those that the engine's
    /// client has to be given as its own, because they have more than one line.
    fn write_variables(&self, path: &Path) -> Result<Vec<(String, String)>, WorkError> {
        let mut file = host::create_private(path).map_err(|e| WorkError::write(path, e))?;
        let (passed, mut lines): (Vec<_>, Vec<_>) = self
            .bound
            .env
            .iter()
            .cloned()
            .partition(|(_, value)| value.contains('\n'));
        let home = self.context.home.path().to_string_lossy().into_owned();
        if matches!(self.order.work, Work::Train(_)) {
            lines.push(("BANCADA_CACHE".to_owned(), home));
        }
        for (name, value) in &lines {
            let written = writeln!(file, "{name}={value}");
            written.map_err(|error| WorkError::write(path, error))?;
        }
        Ok(passed)
    }

    /// Files that the run makes are the user's, as without a container.
    fn user(&self, engine: &Engine) -> Vec<String> {
        use std::os::unix::fs::MetadataExt as _;
        let Ok(own) = std::fs::metadata("/proc/self") else {
            return Vec::new();
        };
        let mut words = vec!["--user".to_owned(), format!("{}:{}", own.uid(), own.gid())];
        if engine.name == "podman" && own.uid() != 0 {
            words.push("--userns=keep-id".to_owned());
        }
        words
    }

    fn limits(&self) -> Vec<String> {
        let limits = measure::possible_limits(&self.order.limits).limits;
        let mut words = Vec::new();
        if let Some(cores) = limits.cores {
            words.extend(["--cpus".to_owned(), cores.to_string()]);
        }
        if let Some(bytes) = limits.memory_bytes {
            // The same for both: no swap.
            for name in ["--memory", "--memory-swap"] {
                words.extend([name.to_owned(), bytes.to_string()]);
            }
        }
        words
    }

    fn mounts(&self, folder: &Path) -> Vec<Mount> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut mounts = vec![
            Mount::writable(&absolute(self.context.files)),
            Mount::writable(folder),
        ];
        let Work::Train(_) = &self.order.work else {
            return mounts;
        };
        let home = self.context.home.path();
        mounts.push(Mount::read_only(home));
        mounts.push(Mount::read_only(self.context.bancada));
        let job = self.bound.job();
        let data = job.and_then(|job: &TrainJob| job.data.data_dir.as_deref());
        mounts.extend(data.map(|data| Mount::read_only(&absolute(data))));
        let python = self.image.python_files.iter();
        mounts.extend(python.map(|path| Mount::read_only(path)));
        mounts
    }
}

/// Unique, and of letters that every engine takes.
fn container_name(order: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let order: String = order.chars().map(plain).take(60).collect();
    format!("bancada-{}-{order}", std::process::id())
}

/// `cuda:0,cuda:1`, as each engine says it.
fn gpu_words(engine: &str, device: Option<&str>) -> Vec<String> {
    let devices = device.unwrap_or_default().split(',').map(str::trim);
    let numbers: Vec<&str> = devices
        .filter_map(|device| match device.split_once(':') {
            Some(("cuda", number)) => Some(number),
            None if device == "cuda" => Some("0"),
            _ => None,
        })
        .collect();
    if numbers.is_empty() {
        return Vec::new();
    }
    match engine {
        // A list is one field of CSV.
        "docker" => vec![
            "--gpus".to_owned(),
            format!("\"device={}\"", numbers.join(",")),
        ],
        _ => {
            let one = |number: &&str| ["--device".to_owned(), format!("nvidia.com/gpu={number}")];
            numbers.iter().flat_map(one).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_named_as_the_engine_does() {
        let check = |engine, device, expected: &[&str]| {
            assert_eq!(gpu_words(engine, device), expected);
        };
        check("docker", None, &[]);
        check("docker", Some("cpu"), &[]);
        check("docker", Some("cuda:1"), &["--gpus", "\"device=1\""]);
        check(
            "docker",
            Some("cuda:0,cuda:1"),
            &["--gpus", "\"device=0,1\""],
        );
        let both = [
            "--device",
            "nvidia.com/gpu=0",
            "--device",
            "nvidia.com/gpu=1",
        ];
        check("podman", Some("cuda:0,cuda:1"), &both);
    }

    #[test]
    fn names_are_plain() {
        let name = container_name("C1-r1;rm -rf /$(x)");
        assert!(name.ends_with("-C1-r1-rm--rf----x-"), "{name}");
    }
}
