//! ONNX Runtime's shared library: where it is on this machine.

use std::path::{Path, PathBuf};

/// Names a file, before all other places.
const VARIABLES: [&str; 2] = ["BANCADA_ONNXRUNTIME", "ORT_DYLIB_PATH"];

const STEM: &str = "libonnxruntime";
const SYSTEM: [&str; 6] = [
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/opt/homebrew/lib",
];

/// The published builds of the library tell their makers of its use, unless this is set before it is loaded.
///
/// # Safety
///
/// No other thread may read or write the environment: to be called before any is started.
pub unsafe fn keep_silent() {
    // SAFETY: the caller's.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}

/// The library that is named by a variable, is next to the program, in one of these Python environments (the
/// cache's), on the system, or in a Python package that this shell sees.
pub fn find(environments: &[PathBuf]) -> Option<PathBuf> {
    let named = VARIABLES.iter().find_map(std::env::var_os);
    if let Some(named) = named {
        return Some(named.into());
    }
    let program = std::env::current_exe().ok();
    let beside = program
        .as_deref()
        .and_then(Path::parent)
        .and_then(in_folder);
    beside
        .or_else(|| environments.iter().find_map(|root| in_python(root)))
        .or_else(|| {
            SYSTEM
                .iter()
                .find_map(|folder| in_folder(Path::new(folder)))
        })
        .or_else(|| python_environments().find_map(|root| in_python(&root)))
}

/// In a Python environment, or a folder that packages were installed into.
fn in_python(root: &Path) -> Option<PathBuf> {
    let own = root.join("onnxruntime/capi");
    in_folder(&own).or_else(|| {
        let versions = std::fs::read_dir(root.join("lib")).ok()?;
        let packages = versions.flatten().map(|version| version.path());
        let mut found = packages
            .filter(|path| {
                path.file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with("python3"))
            })
            .flat_map(|path| ["site-packages", "dist-packages"].map(|name| path.join(name)));
        found.find_map(|packages| in_folder(&packages.join("onnxruntime/capi")))
    })
}

/// The newest of them: `libonnxruntime.so.1.31.1`, `libonnxruntime.dylib` …
fn in_folder(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|file| file.path());
    files
        .filter(|path| is_library(path))
        .max_by_key(|path| version(path))
}

fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let rest = name.strip_prefix(STEM).unwrap_or_default();
    // Not libonnxruntime_providers_shared.so.
    rest.starts_with(".so") || (rest.starts_with('.') && rest.ends_with(".dylib"))
}

fn version(path: &Path) -> Vec<u32> {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    name.split('.')
        .filter_map(|part| part.parse().ok())
        .collect()
}

fn python_environments() -> impl Iterator<Item = PathBuf> {
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(std::env::var_os);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local"));
    let fixed = ["/usr/local", "/usr"].map(PathBuf::from);
    active.map(PathBuf::from).chain(home).chain(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_newest_library_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(in_folder(folder.path()), None);
        for name in [
            "libonnxruntime_providers_shared.so",
            "libonnxruntime.so.1.9.0",
            "libonnxruntime.so.1.31.1",
            "onnxruntime.txt",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(
            in_folder(folder.path()),
            Some(folder.path().join("libonnxruntime.so.1.31.1"))
        );
    }

    #[test]
    fn in_an_environment_and_in_a_bare_folder() {
        let root = tempfile::tempdir().unwrap();
        let check = |packages: &str| {
            let capi = root.path().join(packages).join("onnxruntime/capi");
            fs::create_dir_all(&capi).unwrap();
            fs::write(capi.join("libonnxruntime.so.1.31.1"), "").unwrap();
            assert_eq!(
                in_python(root.path()),
                Some(capi.join("libonnxruntime.so.1.31.1"))
            );
        };
        check("lib/python3.11/site-packages");
        check("");
    }
}
