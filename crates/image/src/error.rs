//! What can go wrong, in sentences.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::architecture::Architecture;
use crate::elf::ElfProblem;
use crate::engines::Engine;

#[derive(Debug)]
pub enum ImageError {
    Io {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    NotElf {
        path: PathBuf,
        problem: ElfProblem,
    },
    Architecture {
        path: PathBuf,
        is: Option<Architecture>,
        wanted: Architecture,
    },
    /// Without a dynamic loader it cannot load ONNX Runtime.
    Static(PathBuf),
    MissingLibrary {
        library: String,
        needed_by: PathBuf,
        searched: Vec<PathBuf>,
    },
    /// It looks in none of the folders that distributions have.
    Loader(PathBuf),
    NoModel(PathBuf),
    /// A symbolic link that leads out of the model's folder, or to a folder.
    Link {
        link: PathBuf,
        to: PathBuf,
    },
    /// A device, a socket, a pipe.
    NotAFile(PathBuf),
    NotText(PathBuf),
    Changed(PathBuf),
    Base {
        path: PathBuf,
        problem: String,
    },
    BaseLacks {
        path: PathBuf,
        libraries: Vec<String>,
    },
    NowhereToWrite,
    Exists(PathBuf),
    Name {
        name: String,
        problem: &'static str,
    },
    PrepareElsewhere(Architecture),
    Prepare {
        program: PathBuf,
        said: String,
    },
    Engine {
        engine: Engine,
        said: String,
    },
}

impl ImageError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ImageError {
        let path = path.to_owned();
        move |error| ImageError::Io { what, path, error }
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Io { what, path, error } => {
                write!(f, "{} cannot be {what}: {error}", path.display())
            }
            ImageError::NotElf { path, problem } => write!(f, "{}: {problem}", path.display()),
            ImageError::Architecture { path, is, wanted } => {
                let is = is.map_or("another processor", Architecture::name);
                write!(
                    f,
                    "{} is built for {is}, but the image is for {wanted}",
                    path.display()
                )
            }
            ImageError::Static(path) => write!(
                f,
                "{} names no dynamic loader, so it cannot load ONNX Runtime: build it with shared libraries",
                path.display()
            ),
            ImageError::MissingLibrary {
                library,
                needed_by,
                searched,
            } => {
                let searched: Vec<_> = searched.iter().map(|path| path.to_string_lossy()).collect();
                write!(
                    f,
                    "{library}, which {} needs, is not in {}: add its folder with --libraries, or use a base image that has it",
                    needed_by.display(),
                    searched.join(", ")
                )
            }
            ImageError::Loader(path) => write!(
                f,
                "the loader {} searches none of the standard library folders: use a base image",
                path.display()
            ),
            ImageError::NoModel(path) => write!(
                f,
                "there is no model at {}: expected an .onnx file, or a folder with one",
                path.display()
            ),
            ImageError::Link { link, to } => write!(
                f,
                "{} is a link to {}, which is not a file of the model's folder: put the file itself there",
                link.display(),
                to.display()
            ),
            ImageError::NotAFile(path) => {
                write!(f, "{} is neither a file nor a folder", path.display())
            }
            ImageError::NotText(path) => write!(
                f,
                "the name of {} is not UTF-8: rename the file",
                path.display()
            ),
            ImageError::Changed(path) => {
                write!(f, "{} changed while it was being read", path.display())
            }
            ImageError::Base { path, problem } => {
                write!(f, "the base {}: {problem}", path.display())
            }
            ImageError::BaseLacks { path, libraries } => write!(
                f,
                "the base {} lacks {}, which the server needs",
                path.display(),
                libraries.join(", ")
            ),
            ImageError::NowhereToWrite => {
                f.write_str("give a folder or an archive to write the image to")
            }
            ImageError::Exists(path) => write!(
                f,
                "{} already exists: choose a different path, or use --replace",
                path.display()
            ),
            ImageError::Name { name, problem } => {
                write!(f, "`{name}` is not a valid image name: {problem}")
            }
            ImageError::PrepareElsewhere(architecture) => write!(
                f,
                "preparing a model runs the server, but this machine is not {architecture}: build without --prepare, or on such a machine"
            ),
            ImageError::Prepare { program, said } => {
                write!(
                    f,
                    "{} could not prepare the model: {said}",
                    program.display()
                )
            }
            ImageError::Engine { engine, said } => {
                write!(f, "{engine} could not load the image: {said}")
            }
        }
    }
}

impl std::error::Error for ImageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ImageError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
