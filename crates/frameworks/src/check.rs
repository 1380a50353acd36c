//! Whether a framework can be imported, checked with its own Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// Imports one module after the other, tells each, and ends at the first that fails.
const SCRIPT: &str = r#"
import importlib, json, sys, time, traceback
sys.path[0:1] = sys.argv[1:2]
for name in sys.argv[2:]:
    begin = time.time()
    error = None
    try:
        importlib.import_module(name)
    except BaseException as problem:
        traceback.print_exc()
        error = ("%s: %s" % (type(problem).__name__, problem)).strip()
    told = {"module": name, "seconds": time.time() - begin, "error": error}
    print("\nbancada-import " + json.dumps(told), flush=True)
    if error:
        sys.exit(1)
"#;
const PREFIX: &str = "bancada-import ";

pub(crate) struct ImportCheck<'a> {
    pub(crate) python: &'a Path,
    /// Where adapters lie; modules are looked for there first.
    pub(crate) adapters: Option<&'a Path>,
    pub(crate) modules: Vec<&'a str>,
    pub(crate) variables: &'a [(String, String)],
    /// An empty place to stand in, so that no file there is taken for a module.
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Imported {
    pub(crate) module: String,
    pub(crate) seconds: f64,
    pub(crate) error: Option<String>,
}

impl ImportCheck<'_> {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.python);
        command.args(["-c", SCRIPT]);
        // Without adapters the environment's own folder stands in: it has no modules.
        command.arg(self.adapters.unwrap_or(&self.folder));
        command.args(&self.modules).current_dir(&self.folder);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// What the script told, whatever else was printed in between.
pub(crate) fn parse(output: &str) -> Vec<Imported> {
    output
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix(PREFIX)?).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_lines_are_found_between_others() {
        let output = "warning: x\nbancada-import {\"module\":\"torch\",\"seconds\":1.5,\"error\":null}\n\
                      bancada-import {\"module\":\"adapt_pytorch\",\"seconds\":0.1,\"error\":\"E: x\"}\n\
                      bancada-import nonsense\n";
        let told = parse(output);
        assert_eq!(told.len(), 2);
        assert_eq!(told[0].module, "torch");
        assert_eq!(told[1].error.as_deref(), Some("E: x"));
        assert!(parse("Segmentation fault").is_empty());
    }
}
