//! The image of a container: found, pulled or built before the first run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use frameworks::Spec;
use model::location::{Container, ContainerImage};
use model::measurement::{ImageSource, ReadyImage};

use super::engine::{Engine, ask};
use super::mounts::Mount;
use crate::bind::Context;
use crate::scratch::Scratch;

/// Images of frameworks have gigabytes.
const PATIENCE: Duration = Duration::from_secs(2 * 3600);
const TRIAL_PATIENCE: Duration = Duration::from_secs(120);
/// More words for `docker build`, such as `--network=host`.
const BUILD_OPTIONS: &str = "BANCADA_BUILD_OPTIONS";

/// What an image is wanted for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageWish<'a> {
    pub(crate) container: &'a Container,
    /// Of a training that needs Python.
    pub(crate) spec: Option<&'a Spec>,
    pub(crate) gpu: bool,
}

impl ImageWish<'_> {
    pub(crate) fn framework(&self) -> Option<String> {
        self.spec.map(ToString::to_string)
    }
}

struct Found {
    id: String,
    bytes: u64,
}

pub(crate) fn make(
    engine: &Engine,
    wish: &ImageWish<'_>,
    context: Context<'_>,
) -> Result<ReadyImage, String> {
    let begin = Instant::now();
    let (name, source) = match (&wish.container.image, wish.spec) {
        (ContainerImage::Named(name), _) | (ContainerImage::Base(name), None) => {
            (name.clone(), pull_if_missing(engine, name)?)
        }
        (ContainerImage::Base(base), Some(spec)) => {
            pull_if_missing(engine, base)?;
            build(engine, spec, base, wish.gpu, context)?
        }
    };
    let Found { id, bytes } = inspect(engine, &name).ok_or_else(|| {
        format!(
            "{} does not know the image `{name}` that it has",
            engine.name
        )
    })?;
    let mut image = ReadyImage {
        container: wish.container.clone(),
        framework: wish.framework(),
        engine: engine.name.to_owned(),
        engine_version: engine.version.clone(),
        name,
        id,
        bytes,
        source,
        seconds: 0.0,
        has_init: true,
        python_files: Vec::new(),
    };
    image.has_init = engine.has_init(&image.id);
    if let (ContainerImage::Named(_), Some(spec)) = (&wish.container.image, wish.spec) {
        image.python_files = python_files(engine, &image, spec, context)?;
    }
    image.seconds = begin.elapsed().as_secs_f64();
    Ok(image)
}

fn inspect(engine: &Engine, name: &str) -> Option<Found> {
    let words = ["image", "inspect", "--format", "{{.Id}} {{.Size}}", name];
    let answer = engine.ask(&words).ok()?;
    let (id, bytes) = answer.split_once(' ')?;
    Some(Found {
        id: id.to_owned(),
        bytes: bytes.trim().parse().ok()?,
    })
}

fn pull_if_missing(engine: &Engine, name: &str) -> Result<ImageSource, String> {
    if inspect(engine, name).is_some() {
        return Ok(ImageSource::Present);
    }
    let pulled = engine.ask_for(&["pull", "--quiet", name], PATIENCE);
    pulled.map_err(|why| {
        let (engine, why) = (engine.name, why.words());
        format!("image `{name}` is not on this machine, and {engine} could not pull it: {why}")
    })?;
    Ok(ImageSource::Pulled)
}

/// Once for a recipe and a base: its name has the digest of both.
fn build(
    engine: &Engine,
    spec: &Spec,
    base: &str,
    gpu: bool,
    context: Context<'_>,
) -> Result<(String, ImageSource), String> {
    let base_id = inspect(engine, base)
        .map(|found| found.id)
        .unwrap_or_default();
    let text = frameworks::dockerfile(spec, base, gpu);
    let recipe = spec.framework.recipe(spec.wanted_version(), gpu).digest();
    let mut digester = host::Digester::default();
    for part in [&text, &recipe, &base_id] {
        digester.update(part.as_bytes());
        digester.update(b"\n");
    }
    let digest = digester.finish().to_string();
    let digest = digest.rsplit(':').next().unwrap_or_default();
    let name = format!(
        "bancada/{}:{}",
        spec.name(),
        &digest[..digest.len().min(16)]
    );
    if inspect(engine, &name).is_some() {
        return Ok((name, ImageSource::Present));
    }
    let failed = |what: &str| format!("cannot build an image for {spec}: {what}");
    let folder = Scratch::make(context.home.path()).map_err(|error| failed(&error.to_string()))?;
    let written = fs::write(folder.path().join("Dockerfile"), &text);
    written.map_err(|error| failed(&error.to_string()))?;
    let program = folder.path().join(frameworks::PROGRAM_IN_CONTEXT);
    fs::copy(context.bancada, &program).map_err(|error| failed(&error.to_string()))?;
    let mut command = engine.command(&["build", "--tag", &name]);
    command
        .args(super::options(BUILD_OPTIONS))
        .arg(folder.path());
    let answer = host::ask(&mut command, PATIENCE).map_err(|error| failed(&error.to_string()))?;
    match answer.success() {
        true => Ok((name, ImageSource::Built)),
        false => Err(failed(&last_error(&answer))),
    }
}

/// What `bancada setup` said in the build; else what the engine did.
fn last_error(answer: &host::Answer) -> String {
    let printed = [&answer.stdout, &answer.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let all = printed.join("\n");
    let lines: Vec<&str> = all.lines().collect();
    let begin = lines.iter().rposition(|line| line.contains("error: "));
    let begin = begin.unwrap_or(lines.len().saturating_sub(1));
    let end = lines.len().min(begin + 4);
    let text = lines[begin..end].join("\n");
    // Builders colour what a command printed.
    let begin = text.find("error: ").map_or(0, |at| at + "error: ".len());
    text[begin..].to_owned()
}

/// The files of this machine's Python that an image lacks: none, or those that let it start.
fn python_files(
    engine: &Engine,
    image: &ReadyImage,
    spec: &Spec,
    context: Context<'_>,
) -> Result<Vec<PathBuf>, String> {
    let installed = context.home.interpreter(spec);
    let python = installed.map_err(|error| error.to_string())?.python;
    let (python, home) = (python.as_path(), context.home.path());
    let starts = |mounts: &[PathBuf]| {
        let mut command =
            engine.command(&["run", "--rm", "--network", "none", "--log-driver", "none"]);
        command.args(super::options(super::RUN_OPTIONS));
        let all = mounts.iter().map(PathBuf::as_path).chain([home]);
        for path in all {
            command.args(Mount::read_only(path).words());
        }
        command.arg("--entrypoint").arg(python).arg(&image.id);
        command.args(["-c", "import ctypes, hashlib, zlib"]);
        ask(&mut command, TRIAL_PATIENCE)
    };
    if starts(&[]).is_ok() {
        return Ok(Vec::new());
    }
    let own = interpreter_files(python);
    match starts(&own) {
        Ok(_) => Ok(own),
        Err(why) => Err(format!(
            "the Python of this machine's environment does not start in image `{}`: {}; name an image of this machine's distribution, or build one with container = {{ base = \"…\" }}",
            image.name,
            why.words()
        )),
    }
}

/// Links from an environment to the interpreter, the interpreter, and its library.
fn interpreter_files(python: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut at = python.to_owned();
    while let Ok(target) = fs::read_link(&at) {
        let folder = at.parent().unwrap_or(Path::new("/"));
        at = folder.join(target);
        files.push(at.clone());
    }
    let Ok(real) = fs::canonicalize(python) else {
        return files;
    };
    let prefix = real.ancestors().nth(2).unwrap_or(Path::new("/"));
    let is_of_system = [Path::new("/usr"), Path::new("/usr/local")].contains(&prefix);
    if !is_of_system {
        return vec![prefix.to_owned()];
    }
    let library = real.file_name().map(|name| prefix.join("lib").join(name));
    files.extend(library.filter(|folder| folder.is_dir()));
    files
}
