//! A framework in a container image: set up there as it is set up here.

use std::path::PathBuf;

use crate::home::{Home, variables};
use crate::spec::Spec;

/// The cache folder of images that are built for a framework.
pub const IMAGE_HOME: &str = "/opt/bancada";
/// The name of this program in the folder that an image is built from.
pub const PROGRAM_IN_CONTEXT: &str = "bancada";

/// Where the framework is in its image, and what it is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InImage {
    pub python: PathBuf,
    pub version: String,
    pub variables: Vec<(String, String)>,
}

/// None for what has no Python.
pub fn in_image(spec: &Spec) -> Option<InImage> {
    let environment = Home::at(IMAGE_HOME).environment(spec)?;
    Some(InImage {
        python: environment.python(),
        version: environment.version,
        variables: variables(spec.framework),
    })
}

/// Sets the framework up on `base`, by the same recipe, lock files and trial as `bancada setup`.
/// The image that stays has the environment, and not the program that made it.
pub fn dockerfile(spec: &Spec, base: &str, gpu: bool) -> String {
    let program = format!("/{PROGRAM_IN_CONTEXT}");
    let words = [program.as_str(), "setup", &spec.to_string(), "--gpu"];
    let words = &words[..words.len() - usize::from(!gpu)];
    let words = serde_json::json!(words);
    format!(
        "FROM {base} AS made\n\
         COPY {PROGRAM_IN_CONTEXT} /{PROGRAM_IN_CONTEXT}\n\
         ENV BANCADA_CACHE={IMAGE_HOME} PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1\n\
         RUN {words}\n\
         FROM {base}\n\
         COPY --from=made {IMAGE_HOME} {IMAGE_HOME}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framework_is_set_up_on_its_base() {
        let spec = Spec::parse("pytorch@2.2.0").unwrap();
        let text = dockerfile(&spec, "python:3.11-slim", false);
        assert!(
            text.starts_with("FROM python:3.11-slim AS made\n"),
            "{text}"
        );
        assert!(text.contains("RUN [\"/bancada\",\"setup\",\"pytorch@2.2.0\"]\n"));
        let there = in_image(&spec).unwrap();
        assert_eq!(there.version, "2.2.0");
        assert!(there.python.starts_with(IMAGE_HOME));
        assert_eq!(in_image(&Spec::parse("engine").unwrap()), None);
    }
}
