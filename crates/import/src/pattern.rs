//! Levels that are in the names of the files.

use std::str::FromStr;

use regex::Regex;

use crate::SpecError;

/// `{framework}-{dataset}-{image}px-r{repetition}.csv`: names of factors, or `repetition`; `*`
/// stands for anything, and `{network:vgg-16|vgg-19}` for one of these. Matches the end of the
/// path; `{environment}/{framework}.csv` takes the folder too.
#[derive(Debug, Clone)]
pub struct FilePattern {
    /// Every name as short as can be, from the left.
    shortest: Regex,
    /// As long as can be: a path that fits in one way only is taken apart alike by both.
    longest: Regex,
    names: Vec<String>,
    text: String,
}

impl FilePattern {
    /// What stands in braces, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The text at each name; or why the path has none.
    pub fn values(&self, path: &str) -> Result<Vec<String>, String> {
        let path = path.replace('\\', "/");
        let [shortest, longest] = [&self.shortest, &self.longest].map(|r| captured(r, &path));
        match (shortest, longest) {
            (Some(shortest), Some(longest)) if shortest == longest => Ok(shortest),
            (Some(shortest), Some(longest)) => Err(format!(
                "the name matches `{}` in more than one way ({}; or {}): list the allowed values, such as {{{}}}, or rename the file",
                self.text,
                self.shown(&shortest),
                self.shown(&longest),
                self.example(&shortest, &longest),
            )),
            _ => Err(format!("the name does not match `{}`", self.text)),
        }
    }

    fn shown(&self, values: &[String]) -> String {
        let pairs = self.names.iter().zip(values);
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        pairs.join(", ")
    }

    /// The first name that the two ways differ in, with both values.
    fn example(&self, one: &[String], other: &[String]) -> String {
        let mut all = self.names.iter().zip(one.iter().zip(other));
        let differing = all.find(|(_, (one, other))| one != other);
        differing.map_or_else(String::new, |(name, (one, other))| {
            format!("{name}:{one}|{other}")
        })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

fn captured(regex: &Regex, path: &str) -> Option<Vec<String>> {
    let found = regex.captures(path)?;
    let parts = found.iter().skip(1).flatten();
    Some(parts.map(|part| part.as_str().to_owned()).collect())
}

impl FromStr for FilePattern {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = |why: &str| {
            let example = "such as {framework}-{image}px-r{repetition}.csv";
            SpecError(format!("`{text}` is not a file pattern, {example}: {why}"))
        };
        let mut names: Vec<String> = Vec::new();
        let mut shortest = String::from("(?:^|/)");
        let mut longest = shortest.clone();
        let mut both = |of_shortest: &str, of_longest: &str| {
            shortest.push_str(of_shortest);
            longest.push_str(of_longest);
        };
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}', '*']) {
            let (before, special) = rest.split_at(at);
            let before = regex::escape(before);
            both(&before, &before);
            if let Some(after) = special.strip_prefix('*') {
                both("[^/]*?", "[^/]*");
                rest = after;
                continue;
            }
            let inner = special
                .strip_prefix('{')
                .ok_or_else(|| wrong("a } without {"))?;
            let (inside, after) = inner
                .split_once('}')
                .ok_or_else(|| wrong("a { without }"))?;
            let (name, values) = match inside.split_once(':') {
                Some((name, values)) => (name.trim(), Some(values)),
                None => (inside.trim(), None),
            };
            if name.is_empty() || inside.contains('{') {
                return Err(wrong("a name is missing between { and }"));
            }
            if names.iter().any(|known| known == name) {
                return Err(wrong(&format!("{{{name}}} appears twice")));
            }
            match values {
                None => both("([^/]+?)", "([^/]+)"),
                Some(values) => {
                    let values: Vec<&str> = values.split('|').map(str::trim).collect();
                    if values.contains(&"") {
                        return Err(wrong(&format!("a value of {{{name}}} is missing")));
                    }
                    let values = values.into_iter().map(regex::escape);
                    let values = format!("({})", values.collect::<Vec<_>>().join("|"));
                    both(&values, &values);
                }
            }
            names.push(name.to_owned());
            rest = after;
        }
        let end = regex::escape(rest) + "$";
        both(&end, &end);
        let compiled = |regex: &str| Regex::new(regex).map_err(|_| wrong("it is too long"));
        Ok(FilePattern {
            shortest: compiled(&shortest)?,
            longest: compiled(&longest)?,
            names,
            text: text.to_owned(),
        })
    }
}
