//! ONNX Runtime, loaded from its shared library while the program runs.

mod file;
mod values;

use std::fmt::Display;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use memmap2::Mmap;
use ort::environment::Environment;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::session::{InMemorySession, Session, SessionInputValue, SessionOutputs};
use ort::value::{Outlet, ValueType};

use crate::folder::unreadable;
use crate::model::{Model, ModelError, Port, Predictor, Signature};
use crate::prepared::{Copies, Keep, is_copy_of_quantised, is_quantised, is_whole};
use crate::tensor::Tensor;
pub use file::OnnxFile;
use values::{input_value, port, tensor, unserved};

#[derive(Clone)]
pub struct OnnxRuntime {
    environment: Environment,
    version: String,
}

impl OnnxRuntime {
    /// Once in a process: all models share it, and whoever asks again gets the first one's.
    pub fn load(library: &Path) -> Result<OnnxRuntime, ModelError> {
        static LOADED: OnceLock<Result<OnnxRuntime, ModelError>> = OnceLock::new();
        LOADED.get_or_init(|| OnnxRuntime::begin(library)).clone()
    }

    fn begin(library: &Path) -> Result<OnnxRuntime, ModelError> {
        let cannot = |problem: &dyn Display| {
            ModelError::new(format!(
                "ONNX Runtime cannot be loaded from {}: {problem}",
                library.display()
            ))
        };
        let builder = ort::init_from(library).map_err(|problem| cannot(&problem))?;
        let environment = builder
            .with_name("bancada")
            .with_telemetry(false)
            .build()
            .map_err(|problem| cannot(&problem))?;
        environment.set_log_level(ort::logging::LogLevel::Error);
        Ok(OnnxRuntime {
            environment,
            version: version(library),
        })
    }

    /// `keep` says where a copy of the model that starts faster is made, if it does not exist yet; `threads` is what the
    /// first predictor will be requested.
    pub fn open(&self, path: &Path, keep: &Keep, threads: usize) -> Result<OnnxModel, ModelError> {
        let unreadable = |problem: io::Error| unreadable(path, &problem);
        let copies = Copies::new(path, ort::info(), keep).map_err(unreadable)?;
        let graph = OnnxFile::look(path).map_err(unreadable)?;
        for prepared in copies.find() {
            if let Some(model) = self.read_prepared(&prepared, &graph, threads) {
                return Ok(model);
            }
            // Damaged: it is rebuilt.
            let _ = fs::remove_file(prepared);
        }
        let made = self.prepare(path, &copies)?;
        let prepared = made.and_then(|made| self.read_prepared(&made, &graph, threads));
        match prepared {
            Some(model) => Ok(model),
            None => self.read(Source::file(path), &graph, threads),
        }
    }

    /// A model that is in no file.
    pub fn open_bytes(&self, bytes: Vec<u8>, threads: usize) -> Result<OnnxModel, ModelError> {
        let packed = is_quantised(&bytes[..]).unwrap_or(false);
        let graph = file::look(&bytes);
        let place = Bytes::Memory(bytes);
        self.read(Source { place, packed }, &graph, threads)
    }

    fn read_prepared(&self, path: &Path, graph: &OnnxFile, threads: usize) -> Option<OnnxModel> {
        let source = Source::mapped(path).ok()?;
        match &source.place {
            Bytes::Mapped(map) if is_whole(path, map) => self.read(source, graph, threads).ok(),
            _ => None,
        }
    }

    /// `None` if there is no place for it, or the runtime cannot write this model so.
    fn prepare(&self, path: &Path, copies: &Copies) -> Result<Option<PathBuf>, ModelError> {
        let mut trouble = None;
        let quantised = File::open(path).and_then(is_quantised).unwrap_or(false);
        let made = copies.make(quantised, |to| {
            let written = self.write_prepared(path, to);
            written.map_err(|problem| {
                trouble = Some(problem.clone());
                io::Error::other(problem)
            })
        });
        give_memory_back();
        match (made, trouble) {
            (Ok(made), _) => Ok(made),
            // A folder that cannot be written is no reason not to serve; a model that cannot be read is.
            (Err(_), None) => Ok(None),
            (Err(_), Some(_)) => {
                let read = self.read(Source::file(path), &OnnxFile::default(), 1);
                read.map(|_| None)
            }
        }
    }

    fn write_prepared(&self, path: &Path, to: &Path) -> Result<(), ModelError> {
        let builder = self.builder(1, false)?;
        let builder = builder.with_optimization_level(GraphOptimizationLevel::All)?;
        let builder = builder.with_config_entry("session.save_model_format", "ORT")?;
        builder
            .with_optimized_model_path(to)?
            .commit_from_file(path)?;
        Ok(())
    }

    fn read(
        &self,
        source: Source,
        graph: &OnnxFile,
        threads: usize,
    ) -> Result<OnnxModel, ModelError> {
        let session = source.session(self.builder(threads, source.packed)?)?;
        let signature = signature(session.as_ref(), graph, &self.version)?;
        Ok(OnnxModel {
            runtime: self.clone(),
            source,
            signature,
            first: Mutex::new(Some((threads, session))),
        })
    }

    fn builder(&self, threads: usize, packed: bool) -> Result<SessionBuilder, ModelError> {
        let builder = Session::builder(&self.environment)?.with_intra_threads(threads)?;
        // Threads that wait by spinning take the core that decodes the next picture.
        let builder = builder.with_intra_op_spinning(false)?;
        // Packed weights and planned memory are a copy for each session: some percent faster, and several times as
        // large with networks that end in large dense layers. Bytes are small, and several times as slow unpacked.
        Ok(builder
            .with_prepacking(packed)?
            .with_memory_pattern(false)?)
    }
}

/// `ONNX Runtime 1.31.1`, by the name of the library: the runtime's own words have only a revision.
fn version(library: &Path) -> String {
    let real = library
        .canonicalize()
        .unwrap_or_else(|_| library.to_owned());
    let name = real
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let number = name.split('.').filter(|part| part.parse::<u32>().is_ok());
    format!("ONNX Runtime {}", number.collect::<Vec<_>>().join("."))
        .trim_end()
        .to_owned()
}

/// A model to make sessions of.
struct Source {
    place: Bytes,
    /// Whether each session lays the weights out once more.
    packed: bool,
}

/// Where a model's bytes are.
enum Bytes {
    File(PathBuf),
    Mapped(&'static Mmap),
    Memory(Vec<u8>),
}

impl Source {
    fn file(path: &Path) -> Source {
        Source {
            place: Bytes::File(path.to_owned()),
            // What cannot be read is told by whoever needs it.
            packed: File::open(path).and_then(is_quantised).unwrap_or(false),
        }
    }

    fn mapped(path: &Path) -> Result<Source, ModelError> {
        let file = File::open(path).map_err(ModelError::new)?;
        // SAFETY: prepared copies are written under another name and renamed, and never changed after.
        let map = unsafe { Mmap::map(&file) }.map_err(ModelError::new)?;
        Ok(Source {
            // Sessions point into it until the program ends.
            place: Bytes::Mapped(Box::leak(Box::new(map))),
            packed: is_copy_of_quantised(path),
        })
    }

    fn session(&self, mut builder: SessionBuilder) -> Result<Held, ModelError> {
        Ok(match &self.place {
            Bytes::File(path) => Held::Own(builder.commit_from_file(path)?),
            Bytes::Memory(bytes) => Held::Own(builder.commit_from_memory(bytes)?),
            Bytes::Mapped(map) => Held::Mapped(builder.commit_from_memory_directly(map)?),
        })
    }
}

enum Held {
    Own(Session),
    Mapped(InMemorySession<'static>),
}

impl AsRef<Session> for Held {
    fn as_ref(&self) -> &Session {
        match self {
            Held::Own(session) => session,
            Held::Mapped(session) => session,
        }
    }
}

impl Held {
    fn run(&mut self, inputs: &[SessionInputValue<'_>]) -> ort::Result<SessionOutputs<'_>> {
        match self {
            Held::Own(session) => session.run(inputs),
            Held::Mapped(session) => session.run(inputs),
        }
    }
}

pub struct OnnxModel {
    runtime: OnnxRuntime,
    source: Source,
    signature: Signature,
    /// The session that was asked for the signature, with its threads: sessions are not made twice.
    first: Mutex<Option<(usize, Held)>>,
}

impl<R> From<ort::Error<R>> for ModelError {
    fn from(error: ort::Error<R>) -> ModelError {
        ModelError::new(error)
    }
}

impl Model for OnnxModel {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn predictor(&self, threads: usize) -> Result<Box<dyn Predictor>, ModelError> {
        let first = self
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take_if(|(own, _)| *own == threads);
        let session = match first {
            Some((_, session)) => session,
            None => {
                let builder = self.runtime.builder(threads, self.source.packed)?;
                self.source.session(builder)?
            }
        };
        Ok(Box::new(OnnxPredictor { session }))
    }
}

struct OnnxPredictor {
    session: Held,
}

impl Predictor for OnnxPredictor {
    fn predict(&mut self, inputs: &[Tensor], wanted: &[usize]) -> Result<Vec<Tensor>, ModelError> {
        let inputs = inputs.iter().map(input_value);
        let inputs = inputs.collect::<ort::Result<Vec<_>>>()?;
        let outputs = self.session.run(&inputs)?;
        wanted
            .iter()
            .map(|&place| tensor(&outputs[place]))
            .collect()
    }
}

impl OnnxFile {
    /// Reads a few pages of it.
    pub fn look(path: &Path) -> io::Result<OnnxFile> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(OnnxFile::default());
        }
        // SAFETY: it is read once, now; a model that is changed while it is opened may be misread in any way.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(file::look(&map))
    }
}

fn signature(session: &Session, graph: &OnnxFile, version: &str) -> Result<Signature, ModelError> {
    let ports = |outlets: &[Outlet], what: &str| {
        let ports = outlets.iter().map(|outlet| {
            let name = outlet.name();
            port(outlet).ok_or_else(|| unserved(&format!("its {what} `{name}`"), outlet.dtype()))
        });
        ports.collect::<Result<Vec<_>, _>>()
    };
    let outputs = ports(session.outputs(), "output")?;
    let is_softmax = |port: &Port| graph.softmax.as_ref() == Some(&port.name);
    Ok(Signature {
        inputs: ports(session.inputs(), "input")?,
        batched: is_batched(session),
        softmax: outputs.iter().position(is_softmax),
        outputs,
        untrained: graph.untrained,
        runtime: version.to_owned(),
    })
}

/// Whether all first sizes have the same name, as exporters give to the number of examples.
fn is_batched(session: &Session) -> bool {
    let outlets = session.inputs().iter().chain(session.outputs());
    let mut names = outlets.map(|outlet| match outlet.dtype() {
        ValueType::Tensor {
            shape,
            dimension_symbols,
            ..
        } if shape.first() == Some(&-1) => dimension_symbols.first().map(String::as_str),
        _ => None,
    });
    match names.next() {
        Some(Some(first)) if !first.is_empty() => names.all(|name| name == Some(first)),
        _ => false,
    }
}

/// Optimising a model takes four times its size, which glibc would keep.
fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes no pointer and may be called at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}
