//! The study file of a command that is timed.

use std::fmt::Write as _;
use std::path::Path;

use crate::error::Error;
use crate::toml_text;

/// A command line, as it was typed.
#[derive(Debug, Clone)]
pub struct TimedCommand {
    pub words: Vec<String>,
    /// Handed to `sh -c` as one line.
    pub shell: bool,
    pub vary: Vec<Vary>,
    /// Of this machine: a name of the catalog, or `0.2 USD/h`.
    pub price: Option<String>,
}

/// A factor and its levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vary {
    pub factor: String,
    pub levels: Vec<String>,
}

impl Vary {
    /// `batch=32,64,128`.
    pub fn parse(text: &str) -> Result<Vary, String> {
        let wrong = || format!("`{text}` is not NAME=LEVEL,LEVEL,… (such as batch=32,64,128)");
        let (factor, levels) = text.split_once('=').ok_or_else(wrong)?;
        let levels: Vec<String> = levels.split(',').map(|l| l.trim().to_owned()).collect();
        let factor = factor.trim().to_owned();
        let is_whole = !factor.is_empty() && levels.iter().all(|level| !level.is_empty());
        is_whole
            .then_some(Vary { factor, levels })
            .ok_or_else(wrong)
    }
}

impl TimedCommand {
    /// `time-python3`: as a study can be called.
    pub fn name(&self) -> String {
        let first = self.words.first().map_or("", String::as_str);
        let first = first.split_whitespace().next().unwrap_or("");
        let program = Path::new(first).file_name().unwrap_or_default();
        let program = program.to_string_lossy();
        let kept = program.chars().map(|c| match c.is_ascii_alphanumeric() {
            true => c,
            false => '-',
        });
        let kept: String = kept.take(40).collect();
        match kept.trim_matches('-') {
            "" => "time".to_owned(),
            program => format!("time-{program}"),
        }
    }

    /// What is started, with `{factor}` where a level goes.
    fn argv(&self) -> Vec<String> {
        let words = self.words.iter().map(|word| match self.vary.is_empty() {
            // Without factors, braces are the command's own.
            true => plan::escaped(word),
            false => word.clone(),
        });
        match self.shell {
            true => {
                let line = words.collect::<Vec<_>>().join(" ");
                vec!["sh".to_owned(), "-c".to_owned(), line]
            }
            false => words.collect(),
        }
    }

    /// The text of the study. `directory` is where the command runs, unless that is the study's own
    /// folder.
    pub fn study(
        &self,
        repetitions: u32,
        name: Option<&str>,
        directory: Option<&Path>,
    ) -> Result<String, Error> {
        let mut text = String::from(HEAD);
        let name = name.map_or_else(|| self.name(), str::to_owned);
        _ = writeln!(text, "\n[study]\nname = {}", toml_text::string(&name));
        _ = writeln!(text, "repetitions = {repetitions}");
        if !self.vary.is_empty() {
            text.push_str("\n[factors]                 # every combination is a scenario\n");
        }
        for Vary { factor, levels } in &self.vary {
            let levels = toml_text::levels(levels);
            _ = writeln!(text, "{} = [{levels}]", toml_text::key(factor));
        }
        let argv: Vec<String> = self
            .argv()
            .iter()
            .map(|word| toml_text::string(word))
            .collect();
        _ = writeln!(text, "\n[workload]\ncommand = [{}]", argv.join(", "));
        if let Some(directory) = directory {
            let directory = directory.to_str().ok_or_else(|| {
                Error::bad_study("the name of the current folder is not UTF-8 text")
            })?;
            let directory = toml_text::string(&plan::escaped(directory));
            _ = writeln!(text, "directory = {directory}");
        }
        if let Some(price) = &self.price {
            _ = writeln!(
                text,
                "\n[environments.local]\nprice = {}",
                toml_text::string(price)
            );
        }
        Ok(text)
    }
}

const HEAD: &str = "\
# A study, written by `bancada time`. Add levels, factors, repetitions or [environments], then
# `bancada run` measures what is missing; docs/study-file.md has every key.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str], vary: &[&str]) -> TimedCommand {
        TimedCommand {
            words: words.iter().map(|&word| word.to_owned()).collect(),
            shell: false,
            vary: vary.iter().map(|text| Vary::parse(text).unwrap()).collect(),
            price: None,
        }
    }

    #[test]
    fn factors_are_typed_with_an_equals_sign() {
        let vary = Vary::parse("sort = quick, merge").unwrap();
        assert_eq!((vary.factor.as_str(), vary.levels.len()), ("sort", 2));
        for wrong in ["batch", "=1", "batch=", "batch=1,,2"] {
            assert!(Vary::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_are_those_of_a_study() {
        let check = |word: &str, expected: &str| {
            let name = command(&[word], &[]).name();
            assert_eq!(name, expected);
            assert!(plan::is_study_name(&name), "{name}");
        };
        check("true", "time-true");
        check("./bin/my prog.sh", "time-my");
        check("/usr/bin/python3.11", "time-python3-11");
        check("…", "time");
    }

    #[test]
    fn what_was_typed_is_what_runs() {
        let words = ["awk", "{print} {x} \"q\" \\n 'é' \u{1}"];
        let text = command(&words, &[])
            .study(10, None, Some(Path::new("/a {b}")))
            .unwrap();
        let read = |options: &plan::ReadOptions<'_>| plan::read_study(&text, options);
        let study = crate::open::with_options(Path::new("/"), None, &|_| (), read).unwrap();
        let planned = plan::plan(&study);
        let model::Workload::Command(command) =
            plan::resolve(&study, &planned.scenarios[0]).workload
        else {
            panic!("not a command");
        };
        assert_eq!(command.command, words);
        assert_eq!(command.directory.unwrap(), Path::new("/a {b}"));
    }
}
