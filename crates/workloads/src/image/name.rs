//! Names of images, as registries and engines take them.

use std::fmt;
use std::str::FromStr;

use crate::image::error::ImageError;

const LONGEST_TAG: usize = 128;

/// `repository:tag`; `latest` where no tag is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageName {
    repository: String,
    tag: String,
}

impl ImageName {
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// With the registry and folder that engines add in thought where none is said.
    pub fn full(&self) -> String {
        let host = self.repository.split_once('/').map(|(host, _)| host);
        match host {
            Some(host) if is_host(host) => self.to_string(),
            Some(_) => format!("docker.io/{self}"),
            None => format!("docker.io/library/{self}"),
        }
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.repository, self.tag)
    }
}

impl FromStr for ImageName {
    type Err = ImageError;

    fn from_str(name: &str) -> Result<ImageName, ImageError> {
        // A colon before a slash belongs to a port.
        let (repository, tag) = match name.rsplit_once(':') {
            Some((repository, tag)) if !tag.contains('/') => (repository, tag),
            _ => (name, "latest"),
        };
        let problem = if !is_repository(repository) {
            "use lower-case letters and digits, with . _ - between them, as in bancada/mobilenet:1"
        } else if !is_tag(tag) {
            "after the colon use letters, digits and . _ -"
        } else {
            return Ok(ImageName {
                repository: repository.to_owned(),
                tag: tag.to_owned(),
            });
        };
        Err(ImageError::new(format!(
            "`{name}` is not a valid image name: {problem}"
        )))
    }
}

fn is_host(part: &str) -> bool {
    part == "localhost" || part.contains(['.', ':'])
}

fn is_repository(text: &str) -> bool {
    let (host, path) = match text.split_once('/') {
        Some((host, path)) if is_host(host) => (Some(host), path),
        _ => (None, text),
    };
    let host = host.is_none_or(|host| {
        let (name, port) = host.split_once(':').unwrap_or((host, "0"));
        is_part(&name.to_ascii_lowercase()) && port.parse::<u16>().is_ok()
    });
    host && path.split('/').all(is_part)
}

fn is_part(part: &str) -> bool {
    let small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [part.bytes().next(), part.bytes().next_back()];
    ends.into_iter().all(|byte| byte.is_some_and(small))
        && part
            .bytes()
            .all(|byte| small(byte) || b"._-".contains(&byte))
}

fn is_tag(tag: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    tag.len() <= LONGEST_TAG
        && tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|byte| word(byte) || b".-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_engines_read_them() {
        let full = |name: &str| name.parse().map(|name: ImageName| name.full()).ok();
        for (name, expected) in [
            ("bancada", Some("docker.io/library/bancada:latest")),
            ("bancada:1.0", Some("docker.io/library/bancada:1.0")),
            ("me/retina:a_B", Some("docker.io/me/retina:a_B")),
            ("localhost:5000/x", Some("localhost:5000/x:latest")),
            ("ghcr.io/a/b:2", Some("ghcr.io/a/b:2")),
            ("Retina", None),
            ("", None),
            ("a//b", None),
            ("a:", None),
            ("a:-x", None),
            ("-a", None),
            ("localhost:port/x", None),
        ] {
            assert_eq!(full(name).as_deref(), expected, "{name}");
        }
    }
}
