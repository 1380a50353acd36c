//! The Python file, started in the tools' environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use frameworks::Installed;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::QuantiseError;

pub(crate) const SCRIPT: &str = include_str!("quantise.py");
const PREFIX: &str = "bancada-quantised ";
const LAST_LINES: usize = 6;

/// What a model says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Looked {
    /// Sizes of its input, images first; `None` if any will do.
    pub(crate) input: Vec<Option<u32>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a Path,
    pub(crate) to: &'a Path,
    pub(crate) bits: u8,
    pub(crate) dynamic: bool,
    pub(crate) images: Option<&'a Images>,
    /// The output that scores classes, where it is known.
    pub(crate) scores: Option<String>,
}

/// A folder of `data::cache`, and how the model wants its images.
#[derive(Debug, Serialize)]
pub(crate) struct Images {
    pub(crate) folder: PathBuf,
    pub(crate) channels: u32,
    /// Channels last.
    pub(crate) last: bool,
    pub(crate) mean: Vec<f32>,
    pub(crate) std: Vec<f32>,
}

/// Counts of held-out images.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Compared {
    pub(crate) images: u32,
    pub(crate) full_right: u32,
    pub(crate) right: u32,
    pub(crate) agree: u32,
    /// Of the model's answer.
    pub(crate) classes: u32,
    /// Of them, those that the model of 32 bits named first for some image.
    pub(crate) named: u32,
}

#[derive(Deserialize)]
struct Found {
    compared: Option<Compared>,
}

pub(crate) fn look(tools: &Installed, model: &Path) -> Result<Looked, QuantiseError> {
    told(tools, model, json!({"do": "look", "model": model}))
}

pub(crate) fn quantise(
    tools: &Installed,
    asked: &Asked<'_>,
) -> Result<Option<Compared>, QuantiseError> {
    let mut question = json!(asked);
    question["do"] = "quantise".into();
    let found: Found = told(tools, asked.model, question)?;
    Ok(found.compared)
}

fn told<T: for<'de> Deserialize<'de>>(
    tools: &Installed,
    model: &Path,
    question: Value,
) -> Result<T, QuantiseError> {
    let mut command = Command::new(&tools.python);
    command
        .args(["-c", SCRIPT, &question.to_string()])
        // No file in a person's folder is to be taken for a module.
        .current_dir(&tools.folder)
        .envs(tools.variables.iter().map(|(name, value)| (name, value)));
    let output = command
        .output()
        .map_err(QuantiseError::io("start", &tools.python))?;
    let answer = output.status.success().then(|| parse(&output.stdout));
    answer.flatten().ok_or_else(|| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let last_lines = frameworks::last_lines(&complaint, LAST_LINES).into_iter();
        let last_lines: String = last_lines.map(|line| format!("\n  │ {line}")).collect();
        let model = model.display();
        QuantiseError::new(format!("{model} could not be quantised{last_lines}"))
    })
}

/// What the script told, whatever else was printed before.
pub(crate) fn parse<T: for<'de> Deserialize<'de>>(output: &[u8]) -> Option<T> {
    let text = String::from_utf8_lossy(output);
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(PREFIX));
    serde_json::from_str(line?).ok()
}
