//! How a model is named, and what serves it.

mod engine_model;
mod ready;

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use diagnostics::Mistakes;
use frameworks::{Home, Spec, StackModel, StackNetwork, Stacks};
use network::{Graph, InputSpec, Shape, Weights};
use serve::{
    Description, Keep, Meaning, ModelError, ModelFile, Offer, OnnxFile, OnnxRuntime, Outputs,
};

use self::engine_model::{EngineModel, PROBABILITIES};
pub use self::ready::make_model;
use crate::error::Error;

pub const NO_LIBRARY: &str =
    "ONNX Runtime's shared library was not found: bancada setup onnxruntime, or set --library";

/// What computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runtime {
    Onnx {
        library: PathBuf,
    },
    /// Because it was requested (`explicit`), or because ONNX Runtime was not found.
    Engine {
        explicit: bool,
    },
    /// ONNX Runtime was requested and not found.
    Missing,
}

impl Runtime {
    pub fn choose(asked: RuntimeWish, library: Option<PathBuf>) -> Runtime {
        match (asked, library) {
            (RuntimeWish::Engine, _) => Runtime::Engine { explicit: true },
            (_, Some(library)) => Runtime::Onnx { library },
            (RuntimeWish::Auto, None) => Runtime::Engine { explicit: false },
            (RuntimeWish::Onnx, None) => Runtime::Missing,
        }
    }
}

/// Which runtime is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimeWish {
    /// ONNX Runtime where it is found.
    Auto,
    Onnx,
    Engine,
}

/// Input of a network, where it differs from the network's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct InputWish {
    pub image: Option<u32>,
    pub channels: Option<u32>,
    pub classes: Option<u32>,
}

/// A model that can be served.
pub struct Offered {
    pub name: String,
    pub description: Description,
    what: What,
}

enum What {
    File(PathBuf),
    /// A run's bundle: trained weights, and the same as ONNX where the run wrote it.
    Run {
        folder: PathBuf,
        onnx: Option<PathBuf>,
    },
    /// With weights as they are before training: enough for measuring.
    Network {
        graph: Box<Graph>,
        seed: u64,
    },
}

/// Models in the cache, and their optimised copies.
const SERVED: &str = "served";
/// Of what is written into model files: those of other versions are not used again.
const FILE_VERSION: u32 = 2;
const JOB: &str = "job.json";
const WEIGHTS: &str = "model.safetensors";

impl Offered {
    pub fn find(model: &str, input: InputWish, seed: u64) -> Result<Offered, Error> {
        let path = Path::new(model);
        if network::find(model).is_some() || model.ends_with(".toml") {
            return untrained(model, input, seed);
        }
        if path.join(JOB).is_file() {
            return Ok(run(path));
        }
        let file = ModelFile::find(path).map_err(|problem| {
            let hint = "; bancada network list shows the zoo";
            Error::failed(format!(
                "{problem}{}",
                if path.exists() { "" } else { hint }
            ))
        })?;
        Ok(Offered {
            name: file.name,
            description: file.description,
            what: What::File(file.path),
        })
    }

    /// Of its square input, where that is known without opening it.
    pub(crate) fn side(&self) -> Option<u32> {
        let of_graph = |graph: &Graph| match graph.nodes.first()?.shape {
            Shape::Image(image) => Some(image.height),
            Shape::Vector { .. } => None,
        };
        match &self.what {
            What::Network { graph, .. } => of_graph(graph),
            What::Run { folder, .. } => of_graph(&trained(folder).ok()?.0),
            What::File(_) => self.description.input.map(|input| input.height),
        }
    }

    pub fn is_file(&self) -> bool {
        matches!(self.what, What::File(_))
    }

    /// Weights as they are before training.
    pub fn is_seeded(&self) -> bool {
        matches!(self.what, What::Network { .. })
    }

    /// Its `model.json`, with its name, and with what its file says of outputs and weights.
    pub fn description_text(&self) -> Result<String, Error> {
        let described = Description {
            name: Some(self.name.clone()),
            ..self.description.clone()
        };
        let described = match &self.what {
            What::File(path) => {
                let file = OnnxFile::look(path).map_err(|problem| {
                    Error::failed(format!("{} cannot be read: {problem}", path.display()))
                })?;
                described.completed(&file)
            }
            What::Run { .. } | What::Network { .. } => described,
        };
        serde_json::to_string_pretty(&described).map_err(Error::failed)
    }

    /// The data of the run that trained it; `None` if that is not known.
    pub fn trained_on(&self) -> Result<Option<model::job::DataJob>, Error> {
        match &self.what {
            What::Run { folder, .. } => {
                let job = job(folder).map_err(Error::failed)?;
                Ok(Some(job.data))
            }
            What::File(_) | What::Network { .. } => Ok(None),
        }
    }

    /// For servers that build the network anew.
    fn network(&self) -> Result<StackNetwork, String> {
        let (graph, weights) = self.what.network().map_err(|error| error.to_string())?;
        Ok(StackNetwork {
            graph: serde_json::to_string(&graph).map_err(|error| error.to_string())?,
            weights: weights.to_bytes(),
        })
    }

    /// The model as a file; written into the cache if it is not a file yet.
    pub fn on_disk(&self, home: &Home) -> Result<PathBuf, Error> {
        let cache = home.path().join(SERVED);
        match self.what.onnx(&cache).map_err(Error::failed)? {
            Written::At(path) => Ok(path),
            Written::Nowhere(_) => Err(Error::failed(format!(
                "{} cannot be written",
                cache.display()
            ))),
        }
    }

    /// Prepared for a serving stack; the folder that the stack is started with. `onnx` is the model's
    /// file. A stack that would build the network anew is given only the file where `file_only` is set.
    pub fn for_stack(
        &self,
        spec: &Spec,
        stacks: &Stacks<'_>,
        onnx: &Path,
        file_only: bool,
    ) -> Result<PathBuf, Error> {
        let network = || self.network();
        let model = StackModel {
            name: &self.name,
            onnx,
            description: &self.description_text()?,
            network: match file_only || self.is_file() {
                true => None,
                false => Some(&network),
            },
        };
        stacks.prepare(spec, &model).map_err(Error::failed)
    }

    pub fn file(&self) -> Option<&Path> {
        match &self.what {
            What::File(path) => Some(path),
            What::Run { onnx, .. } => onnx.as_deref(),
            What::Network { .. } => None,
        }
    }

    pub fn offer(self, runtime: &Runtime, home: &Home) -> Result<Offer, Error> {
        let load: serve::Loader = match runtime {
            Runtime::Missing => return Err(Error::failed(NO_LIBRARY)),
            Runtime::Onnx { library } => {
                let (what, library, cache) = (self.what, library.clone(), home.path().join(SERVED));
                Box::new(move |threads| {
                    let runtime = OnnxRuntime::load(&library)?;
                    let model = match what.onnx(&cache)? {
                        Written::At(path) => runtime.open(&path, &Keep::In(cache), threads)?,
                        Written::Nowhere(bytes) => runtime.open_bytes(bytes, threads)?,
                    };
                    Ok(Box::new(model))
                })
            }
            Runtime::Engine { .. } => {
                if let What::File(path) = &self.what {
                    return Err(Error::failed(format!(
                        "the embedded engine serves only networks of the zoo and runs, not {}; {}",
                        path.display(),
                        match runtime {
                            Runtime::Engine { explicit: true } => "remove --runtime",
                            _ => NO_LIBRARY,
                        }
                    )));
                }
                let what = self.what;
                Box::new(move |_| {
                    let (graph, weights) = what.network()?;
                    Ok(Box::new(EngineModel::new(graph, weights)?))
                })
            }
        };
        Ok(Offer {
            name: self.name,
            description: self.description,
            load,
        })
    }
}

fn untrained(name: &str, input: InputWish, seed: u64) -> Result<Offered, Error> {
    let graph = instantiate(name, input)?;
    Ok(Offered {
        name: graph.name.clone(),
        description: Description {
            output: Some(answers()),
            untrained: true,
            ..Description::default()
        },
        what: What::Network {
            graph: Box::new(graph),
            seed,
        },
    })
}

fn run(folder: &Path) -> Offered {
    let own = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    // The description that a person may have put there counts; a run without ONNX has none.
    let file = ModelFile::find(folder).ok();
    let name = own
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut description = file
        .as_ref()
        .map(|file| file.description.clone())
        .unwrap_or_default();
    description.output.get_or_insert_with(answers);
    Offered {
        name: file.as_ref().map_or(name, |file| file.name.clone()),
        description,
        what: What::Run {
            folder: folder.to_owned(),
            onnx: file.map(|file| file.path),
        },
    }
}

/// ONNX Runtime's shared library, in the environments that were set up here or where systems have it.
pub fn find_library(home: &Home) -> Option<PathBuf> {
    let environments = fs::read_dir(home.frameworks()).into_iter();
    let roots: Vec<PathBuf> = environments
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    serve::library::find(&roots)
}

/// A network of the zoo, or of a file (.toml).
pub fn load(name: &str) -> Result<network::Description, Error> {
    if !name.ends_with(".toml") {
        return network::load(name).map_err(|e| Error::UnknownNetwork(e.to_string()));
    }
    let text = diagnostics::read_text(Path::new(name))
        .map_err(|e| Error::failed(format!("cannot read {name}: {e}")))?;
    network::parse(&text).map_err(|found| Error::Mistakes(Mistakes::new(name, &text, found)))
}

pub fn instantiate(network: &str, wish: InputWish) -> Result<Graph, Error> {
    let description = load(network)?;
    let own = description.input.unwrap_or(InputSpec::square(3, 32, 10));
    let input = InputSpec {
        channels: wish.channels.unwrap_or(own.channels),
        height: wish.image.unwrap_or(own.height),
        width: wish.image.unwrap_or(own.width),
        classes: wish.classes.unwrap_or(own.classes),
    };
    description.instantiate(input).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Error::failed(format!(
            "network `{network}` at {} px: {}",
            input.height,
            problems.join("\n       ")
        ))
    })
}

/// Described networks answer probabilities; the logits that their ONNX files also have are left out.
fn answers() -> Outputs {
    Outputs::Named([(PROBABILITIES.to_owned(), Meaning::Probabilities)].into())
}

impl What {
    /// The graph and its weights.
    fn network(&self) -> Result<(Graph, Weights), ModelError> {
        match self {
            What::Network { graph, seed } => {
                Ok(((**graph).clone(), network::initial_weights(graph, *seed)))
            }
            What::Run { folder, .. } => trained(folder),
            What::File(path) => Err(ModelError::new(format!(
                "{} is not a described network",
                path.display()
            ))),
        }
    }

    /// A file to read; written into the cache if it is missing or damaged.
    fn onnx(&self, cache: &Path) -> Result<Written, ModelError> {
        if let What::File(path)
        | What::Run {
            onnx: Some(path), ..
        } = self
        {
            return Ok(Written::At(path.clone()));
        }
        let beginning = format!("{:016x}-", self.key()?);
        if let Some(path) = whole_file(cache, &beginning) {
            return Ok(Written::At(path));
        }
        let (graph, weights) = self.network()?;
        let bytes = match self {
            What::Network { seed, .. } => network::formats::untrained_onnx(&graph, &weights, *seed),
            _ => network::formats::onnx(&graph, &weights),
        };
        let bytes = bytes.map_err(ModelError::new)?;
        let path = cache.join(format!("{beginning}{:016x}.onnx", serve::checksum(&bytes)));
        Ok(match write_whole(&path, &bytes) {
            Ok(()) => Written::At(path),
            // It only starts more slowly.
            Err(_) => Written::Nowhere(bytes),
        })
    }

    /// What decides the file's content, without making it: drawing the weights of VGG takes seconds.
    fn key(&self) -> Result<u64, ModelError> {
        let mut hasher = DefaultHasher::new();
        (env!("CARGO_PKG_VERSION"), FILE_VERSION).hash(&mut hasher);
        match self {
            What::Network { graph, seed } => {
                serde_json::to_string(graph)
                    .map_err(ModelError::new)?
                    .hash(&mut hasher);
                seed.hash(&mut hasher);
            }
            What::Run { folder, .. } => read(folder, WEIGHTS)?.hash(&mut hasher),
            What::File(path) => path.hash(&mut hasher),
        }
        Ok(hasher.finish())
    }
}

enum Written {
    At(PathBuf),
    /// The cache cannot be written.
    Nowhere(Vec<u8>),
}

fn whole_file(folder: &Path, beginning: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    let mut ours = entries.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(beginning) && name.ends_with(".onnx")
    });
    ours.find(|path| fs::read(path).is_ok_and(|bytes| serve::is_whole(path, &bytes)))
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    host::write_whole(path, bytes)
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, ModelError> {
    let path = folder.join(name);
    fs::read(&path)
        .map_err(|problem| ModelError::new(format!("{} cannot be read: {problem}", path.display())))
}

fn job(folder: &Path) -> Result<model::TrainJob, ModelError> {
    serde_json::from_slice(&read(folder, JOB)?)
        .map_err(|problem| ModelError::new(format!("{JOB} of the run cannot be used: {problem}")))
}

fn trained(folder: &Path) -> Result<(Graph, Weights), ModelError> {
    let graph: Graph = serde_json::from_value(job(folder)?.network).map_err(|problem| {
        ModelError::new(format!("the network in {JOB} cannot be used: {problem}"))
    })?;
    let weights = Weights::from_bytes(&read(folder, WEIGHTS)?)
        .map_err(|problem| ModelError::new(format!("{WEIGHTS} cannot be used: {problem}")))?;
    Ok((graph, weights))
}
