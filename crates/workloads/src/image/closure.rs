//! The shared libraries that a program and what it loads need, found as the dynamic loader would.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::image::architecture::Architecture;
use crate::image::elf::Elf;
use crate::image::error::ImageError;

/// Not looked in by every loader, but libraries are installed there.
const LOCAL: &str = "/usr/local/lib";

/// A file of this machine that is one of `architecture`.
#[derive(Debug)]
pub(crate) struct Binary {
    pub path: PathBuf,
    pub elf: Elf,
}

impl Binary {
    pub(crate) fn open(path: &Path, wanted: Architecture) -> Result<Binary, ImageError> {
        let bytes = fs::read(path).map_err(ImageError::io("read", path))?;
        let elf = Elf::parse(&bytes)
            .map_err(|problem| ImageError::new(format!("{}: {problem}", path.display())))?;
        let is = Architecture::of_machine(elf.machine);
        if is != Some(wanted) {
            let is = is.map_or("another processor", Architecture::word);
            let problem = format!("is built for {is}, but the image is for {wanted}");
            return Err(ImageError::of(path, problem));
        }
        Ok(Binary {
            path: path.to_owned(),
            elf,
        })
    }
}

/// The files to put into the image, by their path in it. `roots` themselves are not among them; the first of them
/// names the loader. `folders` are looked in before all others.
pub(crate) fn closure(
    roots: &[&Binary],
    architecture: Architecture,
    folders: &[PathBuf],
) -> Result<BTreeMap<String, PathBuf>, ImageError> {
    let search = Search {
        architecture,
        folders,
    };
    let program = roots.iter().find_map(|root| {
        let interpreter = root.elf.interpreter.as_deref()?;
        Some((*root, interpreter))
    });
    let Some((program, interpreter)) = program else {
        let first = roots.first().map_or(Path::new(""), |root| &root.path);
        let problem = "names no dynamic loader, so it cannot load ONNX Runtime: build it with shared libraries";
        return Err(ImageError::of(first, problem));
    };
    let loader = search.loader(interpreter, program)?;
    let home = home(&loader, architecture)?;
    let mut libraries = BTreeMap::new();
    for root in roots {
        search.add_needed(root, file_name(interpreter), &mut libraries)?;
    }
    let mut files: BTreeMap<String, PathBuf> = libraries
        .into_iter()
        .map(|(name, path)| (format!("{home}/{name}"), path))
        .collect();
    files.insert(interpreter.to_owned(), loader);
    Ok(files)
}

struct Search<'a> {
    architecture: Architecture,
    folders: &'a [PathBuf],
}

impl Search<'_> {
    fn loader(&self, interpreter: &str, program: &Binary) -> Result<PathBuf, ImageError> {
        let named = self
            .folders
            .iter()
            .map(|folder| folder.join(file_name(interpreter)));
        let mut places = named.chain([PathBuf::from(interpreter)]);
        let found = places.find(|path| Binary::open(path, self.architecture).is_ok());
        found.ok_or_else(|| missing(interpreter, program, &self.folders(program)))
    }

    /// Adds what `by` needs, and what that needs. The loader is there before any library is looked for, so it is left
    /// out.
    fn add_needed(
        &self,
        by: &Binary,
        loader: &str,
        found: &mut BTreeMap<String, PathBuf>,
    ) -> Result<(), ImageError> {
        for name in &by.elf.needed {
            if name == loader || found.contains_key(name) {
                continue;
            }
            let library = self.library(name, by)?;
            found.insert(name.clone(), library.path.clone());
            self.add_needed(&library, loader, found)?;
        }
        Ok(())
    }

    /// A file of that name for another processor is passed over, as the loader does.
    fn library(&self, name: &str, needed_by: &Binary) -> Result<Binary, ImageError> {
        let searched = self.folders(needed_by);
        let found = searched
            .iter()
            .find_map(|folder| Binary::open(&folder.join(name), self.architecture).ok());
        found.ok_or_else(|| missing(name, needed_by, &searched))
    }

    fn folders(&self, needed_by: &Binary) -> Vec<PathBuf> {
        let origin = needed_by.path.parent().unwrap_or(Path::new("."));
        let own = needed_by.elf.run_paths.iter();
        let own = own.map(|path| with_origin(path, origin));
        let usual = self.architecture.library_folders();
        let usual = usual.into_iter().chain([LOCAL]).map(PathBuf::from);
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in self.folders.iter().cloned().chain(own).chain(usual) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }
}

fn missing(library: &str, needed_by: &Binary, searched: &[PathBuf]) -> ImageError {
    let searched: Vec<_> = searched.iter().map(|path| path.to_string_lossy()).collect();
    ImageError::new(format!(
        "{library}, which {} needs, is not in {}: add its folder with --libraries, or use a base image that has it",
        needed_by.path.display(),
        searched.join(", ")
    ))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `$ORIGIN` is the folder of the file that says it.
fn with_origin(path: &str, origin: &Path) -> PathBuf {
    for written in ["$ORIGIN", "${ORIGIN}"] {
        if let Some(rest) = path.strip_prefix(written) {
            return origin.join(rest.trim_start_matches('/'));
        }
    }
    PathBuf::from(path)
}

/// Where this loader looks without being told. Distributions differ, and the loader carries its list as text; all
/// libraries go to the first folder of it, wherever they were found.
fn home(loader: &Path, architecture: Architecture) -> Result<&'static str, ImageError> {
    let bytes = fs::read(loader).map_err(ImageError::io("read", loader))?;
    let folders = architecture.library_folders();
    let found = folders.into_iter().find(|folder| {
        let listed = format!("{folder}/\0");
        bytes
            .windows(listed.len())
            .any(|part| part == listed.as_bytes())
    });
    found.ok_or_else(|| {
        ImageError::new(format!(
            "the loader {} searches none of the standard library folders: use a base image",
            loader.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each library that the system's own loader lists is there, at a path where it looks.
    fn check(program: &Path) {
        let host = Architecture::host().unwrap();
        let binary = Binary::open(program, host).unwrap();
        let files = closure(&[&binary], host, &[]).unwrap();
        let listed = std::process::Command::new("ldd")
            .arg(program)
            .output()
            .unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let mut names: Vec<&str> = listed
            .lines()
            .filter(|line| !line.contains("linux-vdso"))
            .filter_map(|line| line.split_whitespace().next())
            .map(file_name)
            .collect();
        names.sort_unstable();
        let mut found: Vec<&str> = files.keys().map(|path| file_name(path)).collect();
        found.sort_unstable();
        assert_eq!(found, names, "{}", program.display());
        assert!(files.values().all(|path| path.is_file()));
        assert!(files.keys().all(|path| path.starts_with("/lib")));
    }

    #[test]
    fn what_this_system_needs_for_its_programs() {
        check(Path::new("/bin/bash"));
        check(&std::env::current_exe().unwrap());
    }

    #[test]
    fn origin_is_where_the_file_lies() {
        let of = |path| with_origin(path, Path::new("/a/b"));
        assert_eq!(of("$ORIGIN"), Path::new("/a/b"));
        assert_eq!(of("${ORIGIN}/../lib"), Path::new("/a/b/../lib"));
        assert_eq!(of("/opt/lib"), Path::new("/opt/lib"));
    }

    #[test]
    fn a_named_folder_comes_first() {
        let host = Architecture::host().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let program = Binary::open(Path::new("/bin/sh"), host).unwrap();
        let usual = closure(&[&program], host, &[]).unwrap();
        let (at, from) = usual
            .iter()
            .find(|(at, _)| at.ends_with("/libc.so.6"))
            .unwrap();
        let own = folder.path().join("libc.so.6");
        fs::copy(from, &own).unwrap();
        let named = closure(&[&program], host, &[folder.path().to_owned()]).unwrap();
        assert_eq!(named.get(at), Some(&own));
    }
}
