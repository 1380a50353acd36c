//! The shared files: `~/.aws/credentials` and `~/.aws/config`, and the profile chosen in them.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::CredentialsError;
use crate::sagemaker::Variables;

type Section = BTreeMap<String, String>;

/// What both files say of one profile. The credentials file wins, as in AWS's own programs.
pub(crate) struct Profile {
    pub(crate) name: String,
    values: Section,
}

impl Profile {
    pub(crate) fn read(variables: &Variables) -> Result<Profile, CredentialsError> {
        let config = contents(variables.file("AWS_CONFIG_FILE", "config"))?;
        let keys = contents(variables.file("AWS_SHARED_CREDENTIALS_FILE", "credentials"))?;
        choose(variables.get("AWS_PROFILE"), &config, &keys)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name)?;
        (!value.is_empty()).then_some(value)
    }
}

fn contents(path: Option<PathBuf>) -> Result<String, CredentialsError> {
    let Some(path) = path else {
        return Ok(String::new());
    };
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(CredentialsError::file(&path, &error)),
    }
}

fn choose(wanted: Option<&str>, config: &str, keys: &str) -> Result<Profile, CredentialsError> {
    let mut profiles: BTreeMap<String, Section> = BTreeMap::new();
    let in_config = sections(config)
        .into_iter()
        .filter_map(|(head, section)| Some((profile_of_config(&head)?, section)));
    for (name, section) in in_config.chain(sections(keys)) {
        profiles.entry(name).or_default().extend(section);
    }
    let name = wanted.unwrap_or("default");
    match profiles.remove(name) {
        Some(values) => Ok(Profile {
            name: name.to_owned(),
            values,
        }),
        // Nobody requested it, so nobody misses it.
        None if wanted.is_none() => Ok(Profile {
            name: name.to_owned(),
            values: Section::new(),
        }),
        None => {
            let known: Vec<String> = profiles.into_keys().collect();
            let known = match known.is_empty() {
                true => "none".to_owned(),
                false => known.join(", "),
            };
            let problem = format!("there is no AWS profile `{name}`; the AWS files have {known}");
            Err(CredentialsError::new(problem))
        }
    }
}

/// `[profile NAME]`, or `[default]` alone; other sections (`[sso-session …]`) are no profiles.
fn profile_of_config(head: &str) -> Option<String> {
    match head.split_once(char::is_whitespace) {
        Some(("profile", name)) => Some(name.trim().trim_matches(['"', '\'']).to_owned()),
        _ => (head == "default").then(|| head.to_owned()),
    }
}

fn sections(text: &str) -> Vec<(String, Section)> {
    let mut found: Vec<(String, Section)> = Vec::new();
    for line in text.lines() {
        // Indented lines belong to nested settings, of which none is needed.
        if line.starts_with(['#', ';', ' ', '\t']) {
            continue;
        }
        if let Some(head) = section_head(line) {
            found.push((head.to_owned(), Section::new()));
        } else if let (Some((name, value)), Some((_, section))) =
            (line.split_once('='), found.last_mut())
        {
            let name = name.trim().to_ascii_lowercase();
            section.insert(name, without_comment(value).trim().to_owned());
        }
    }
    found
}

fn section_head(line: &str) -> Option<&str> {
    let head = line.strip_prefix('[')?.split_once(']')?.0;
    Some(head.trim())
}

/// A comment begins with a blank before it; `#` within a value is part of it.
fn without_comment(value: &str) -> &str {
    let begin = [" #", " ;", "\t#", "\t;"]
        .iter()
        .filter_map(|mark| value.find(mark))
        .min();
    &value[..begin.unwrap_or(value.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "\
# comment
[default]
region = eu-west-1
[profile  \"two words\"]
region=sa-east-1 # there
s3 =
  region = nested
[sso-session mine]
region = us-east-2
[profile b]
credential_process = /bin/tool --x \"a b\"
aws_access_key_id = from-config
";
    const KEYS: &str = "[b]\nAWS_ACCESS_KEY_ID = a#b\n aws_secret_access_key = indented\n[c]\n";

    fn value(profile: Option<&str>, name: &str) -> Option<String> {
        let profile = choose(profile, CONFIG, KEYS).unwrap();
        profile.get(name).map(str::to_owned)
    }

    #[test]
    fn profiles_are_read() {
        let check = |profile, name, expected: Option<&str>| {
            assert_eq!(
                value(profile, name).as_deref(),
                expected,
                "{profile:?} {name}"
            );
        };
        check(None, "region", Some("eu-west-1"));
        check(Some("two words"), "region", Some("sa-east-1"));
        check(Some("two words"), "s3", None);
        check(Some("b"), "aws_access_key_id", Some("a#b"));
        check(Some("b"), "aws_secret_access_key", None);
        check(
            Some("b"),
            "credential_process",
            Some("/bin/tool --x \"a b\""),
        );
        check(Some("c"), "region", None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[\\[\\]a-z=#; \t\né]{0,60}") {
            let _ = choose(Some("a"), &text, &text);
        }
    }

    #[test]
    fn a_profile_that_is_not_there_is_said_so() {
        let problem = choose(Some("mine"), CONFIG, KEYS)
            .err()
            .unwrap()
            .to_string();
        assert!(
            problem.contains("`mine`") && problem.contains("b, c, default, two words"),
            "{problem}"
        );
        assert!(choose(None, "", "").is_ok());
        assert!(choose(None, "=\n[\n]x=1\n[]\n=\n", "no section = 1").is_ok());
    }
}
