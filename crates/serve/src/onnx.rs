//! ONNX Runtime, loaded from its shared library while the program runs.

use std::fmt::Display;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use memmap2::Mmap;
use ort::environment::Environment;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::session::{InMemorySession, Session, SessionOutputs};
use ort::value::{TensorElementType, TensorRef, ValueType};

use crate::model::{Model, ModelError, Predictor, Signature};
use crate::prepared::{Keep, Place, is_copy_of_quantised, is_quantised, is_whole};
use crate::tensor::Tensor;

/// How models here name the output that sums to 1; others are told by their description.
const PROBABILITIES: &str = "probabilities";

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

    pub fn version(&self) -> &str {
        &self.version
    }

    /// `keep` says where a copy of the model that starts faster is made, if there is none yet; `threads` is what the
    /// first predictor will be asked for.
    pub fn open(&self, path: &Path, keep: &Keep, threads: usize) -> Result<OnnxModel, ModelError> {
        let unreadable = |problem: io::Error| {
            ModelError::new(format!("{} cannot be read: {problem}", path.display()))
        };
        let place = Place::new(path, ort::info(), keep).map_err(unreadable)?;
        for prepared in place.find() {
            if let Some(model) = self.read_prepared(&prepared, threads) {
                return Ok(model);
            }
            // Damaged: it is made again.
            let _ = fs::remove_file(prepared);
        }
        let made = self.prepare(path, &place)?;
        let prepared = made.and_then(|made| self.read_prepared(&made, threads));
        match prepared {
            Some(model) => Ok(model),
            None => self.read(Source::file(path), threads),
        }
    }

    /// A model that is in no file.
    pub fn open_bytes(&self, bytes: Vec<u8>, threads: usize) -> Result<OnnxModel, ModelError> {
        let packed = is_quantised(&bytes[..]).unwrap_or(false);
        let place = Bytes::Memory(bytes);
        self.read(Source { place, packed }, threads)
    }

    fn read_prepared(&self, path: &Path, threads: usize) -> Option<OnnxModel> {
        let source = Source::mapped(path).ok()?;
        match &source.place {
            Bytes::Mapped(map) if is_whole(path, map) => self.read(source, threads).ok(),
            _ => None,
        }
    }

    /// None where there is no place for it, or the runtime cannot write this model so.
    fn prepare(&self, path: &Path, place: &Place) -> Result<Option<PathBuf>, ModelError> {
        let mut trouble = None;
        let quantised = File::open(path).and_then(is_quantised).unwrap_or(false);
        let made = place.make(quantised, |to| {
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
            (Err(_), Some(_)) => self.read(Source::file(path), 1).map(|_| None),
        }
    }

    fn write_prepared(&self, path: &Path, to: &Path) -> Result<(), ModelError> {
        let builder = self.builder(1, false)?;
        let builder = builder
            .with_optimization_level(GraphOptimizationLevel::All)
            .map_err(ModelError::new)?;
        let builder = builder
            .with_config_entry("session.save_model_format", "ORT")
            .map_err(ModelError::new)?;
        let mut builder = builder
            .with_optimized_model_path(to)
            .map_err(ModelError::new)?;
        builder.commit_from_file(path).map_err(ModelError::new)?;
        Ok(())
    }

    fn read(&self, source: Source, threads: usize) -> Result<OnnxModel, ModelError> {
        let session = source.session(self.builder(threads, source.packed)?)?;
        let signature = signature(session.as_ref(), &self.version)?;
        let output = output(session.as_ref())?;
        Ok(OnnxModel {
            runtime: self.clone(),
            source,
            signature,
            output,
            first: Mutex::new(Some((threads, session))),
        })
    }

    fn builder(&self, threads: usize, packed: bool) -> Result<SessionBuilder, ModelError> {
        let builder = Session::builder(&self.environment).map_err(ModelError::new)?;
        let builder = builder
            .with_intra_threads(threads)
            .map_err(ModelError::new)?;
        // Threads that wait by spinning take the core that decodes the next picture.
        let builder = builder
            .with_intra_op_spinning(false)
            .map_err(ModelError::new)?;
        // Packed weights and planned memory are a copy for each session: some percent faster, and several times as
        // large with networks that end in large dense layers. Bytes are small, and several times as slow unpacked.
        let builder = builder.with_prepacking(packed).map_err(ModelError::new)?;
        builder.with_memory_pattern(false).map_err(ModelError::new)
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
        match &self.place {
            Bytes::File(path) => builder.commit_from_file(path).map(Held::Own),
            Bytes::Memory(bytes) => builder.commit_from_memory(bytes).map(Held::Own),
            Bytes::Mapped(map) => builder.commit_from_memory_directly(map).map(Held::Mapped),
        }
        .map_err(ModelError::new)
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
    fn run<'s>(&'s mut self, input: TensorRef<'_, f32>) -> ort::Result<SessionOutputs<'s>> {
        match self {
            Held::Own(session) => session.run(ort::inputs![input]),
            Held::Mapped(session) => session.run(ort::inputs![input]),
        }
    }
}

pub struct OnnxModel {
    runtime: OnnxRuntime,
    source: Source,
    signature: Signature,
    output: usize,
    /// The session that was asked for the signature, with its threads: sessions are not made twice.
    first: Mutex<Option<(usize, Held)>>,
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
        Ok(Box::new(OnnxPredictor {
            session,
            output: self.output,
        }))
    }
}

struct OnnxPredictor {
    session: Held,
    output: usize,
}

impl Predictor for OnnxPredictor {
    fn predict(&mut self, input: &Tensor) -> Result<Tensor, ModelError> {
        let input =
            TensorRef::from_array_view((input.shape(), input.values())).map_err(ModelError::new)?;
        let outputs = self.session.run(input).map_err(ModelError::new)?;
        let (shape, values) = outputs[self.output]
            .try_extract_tensor::<f32>()
            .map_err(ModelError::new)?;
        let images = shape.first().map_or(0, |&images| images.max(0) as usize);
        let classes = values.len().checked_div(images).unwrap_or(0);
        Tensor::new(vec![images, classes], values.to_vec())
            .ok_or_else(|| ModelError::new("its answer is no table of images and classes"))
    }
}

fn signature(session: &Session, version: &str) -> Result<Signature, ModelError> {
    let [input] = session.inputs() else {
        return Err(ModelError::new(format!(
            "it has {} inputs; models of one input are served",
            session.inputs().len()
        )));
    };
    let sizes = sizes(input.dtype()).ok_or_else(|| {
        ModelError::new(format!(
            "its input is {}, not float32 numbers",
            input.dtype()
        ))
    })?;
    let chosen = &session.outputs()[output(session)?];
    Ok(Signature {
        input: sizes,
        classes: self::sizes(chosen.dtype()).and_then(|sizes| *sizes.get(1)?),
        probabilities: chosen.name() == PROBABILITIES,
        runtime: version.to_owned(),
    })
}

/// The one that is called probabilities, or else the first.
fn output(session: &Session) -> Result<usize, ModelError> {
    let outputs = session.outputs();
    let place = outputs
        .iter()
        .position(|output| output.name() == PROBABILITIES)
        .unwrap_or(0);
    match outputs.get(place).map(|output| sizes(output.dtype())) {
        Some(Some(_)) => Ok(place),
        _ => Err(ModelError::new("it has no output of float32 numbers")),
    }
}

fn sizes(kind: &ValueType) -> Option<Vec<Option<usize>>> {
    match kind {
        ValueType::Tensor {
            ty: TensorElementType::Float32,
            shape,
            ..
        } => Some(
            shape
                .iter()
                .map(|&size| usize::try_from(size).ok())
                .collect(),
        ),
        _ => None,
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
