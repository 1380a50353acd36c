//! The `caffe` program of this machine: its version, and hints for its error messages.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process::ask;

const PATIENCE: Duration = Duration::from_secs(20);

/// Of the `caffe` program.
pub fn caffe_version(caffe: &Path) -> Option<String> {
    version_in(&said_of_itself(caffe)?)
}

/// `caffe version 1.0.0`, on either stream; other builds end with an error and say it too.
pub(crate) fn said_of_itself(caffe: &Path) -> Option<String> {
    let answer = ask(Command::new(caffe).arg("--version"), PATIENCE).ok()?;
    Some(format!("{}{}", answer.stdout, answer.stderr))
}

pub(crate) fn version_in(said: &str) -> Option<String> {
    let mut words = said.split_whitespace();
    let version = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    version.map(str::to_owned)
}

/// What to do about something that Caffe said.
pub fn caffe_advice(said: &str) -> Option<&'static str> {
    said.contains("Unknown layer type: ImageData").then_some(
        "this Caffe was built without OpenCV, which its image layer needs: build it with \
         USE_OPENCV := 1 (CMake: -DUSE_OPENCV=ON)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caffe_without_opencv_is_known() {
        assert!(caffe_advice("(0 vs. 1) Unknown layer type: ImageData (known").is_some());
        assert!(caffe_advice("Unknown layer type: Other").is_none());
    }
}
