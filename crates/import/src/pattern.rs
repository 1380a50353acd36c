//! Levels that are in the names of the files.

use std::str::FromStr;

use regex::Regex;

use crate::SpecError;

/// `{framework}-{dataset}-{image}px-r{repetition}.csv`: names of factors, or `repetition`; `*`
/// stands for anything. Matches the end of the path; `{environment}/{framework}.csv` takes the
/// folder too.
#[derive(Debug, Clone)]
pub struct FilePattern {
    regex: Regex,
    names: Vec<String>,
    text: String,
}

impl FilePattern {
    /// What stands in braces, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The text at each name; none when the path is not of this form.
    pub fn values(&self, path: &str) -> Option<Vec<String>> {
        let path = path.replace('\\', "/");
        let found = self.regex.captures(&path)?;
        Some(
            found
                .iter()
                .skip(1)
                .flatten()
                .map(|part| part.as_str().to_owned())
                .collect(),
        )
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl FromStr for FilePattern {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = |why: &str| {
            let example = "such as {framework}-{image}px-r{repetition}.csv";
            SpecError(format!(
                "`{text}` is not a pattern of file names, {example}: {why}"
            ))
        };
        let mut names: Vec<String> = Vec::new();
        let mut regex = String::from("(?:^|/)");
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}', '*']) {
            let (before, special) = rest.split_at(at);
            regex.push_str(&regex::escape(before));
            if let Some(after) = special.strip_prefix('*') {
                regex.push_str("[^/]*?");
                rest = after;
                continue;
            }
            let inner = special
                .strip_prefix('{')
                .ok_or_else(|| wrong("a } without {"))?;
            let (name, after) = inner
                .split_once('}')
                .ok_or_else(|| wrong("a { without }"))?;
            let name = name.trim();
            if name.is_empty() || name.contains('{') {
                return Err(wrong("a name is missing between { and }"));
            }
            if names.iter().any(|known| known == name) {
                return Err(wrong(&format!("{{{name}}} is there twice")));
            }
            names.push(name.to_owned());
            regex.push_str("([^/]+?)");
            rest = after;
        }
        regex.push_str(&regex::escape(rest));
        regex.push('$');
        let regex = Regex::new(&regex).map_err(|_| wrong("it is too long"))?;
        Ok(FilePattern {
            regex,
            names,
            text: text.to_owned(),
        })
    }
}
