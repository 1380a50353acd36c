//! Kinds of processors that images are made for.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

model::words! {
    /// As image configurations name it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Architecture {
        Amd64 = "amd64",
        Arm64 = "arm64",
    }
}

impl Architecture {
    /// This machine's, where images can be made for it.
    pub fn host() -> Option<Architecture> {
        std::env::consts::ARCH.parse().ok()
    }

    pub(crate) fn variant(self) -> Option<&'static str> {
        match self {
            Architecture::Amd64 => None,
            Architecture::Arm64 => Some("v8"),
        }
    }

    /// `e_machine` of the System V ABI.
    pub(crate) fn of_machine(machine: u16) -> Option<Architecture> {
        match machine {
            62 => Some(Architecture::Amd64),
            183 => Some(Architecture::Arm64),
            _ => None,
        }
    }

    /// Where distributions keep shared libraries, and where their loaders look without being told.
    pub(crate) fn library_folders(self) -> [&'static str; 6] {
        let (lib, usr) = match self {
            Architecture::Amd64 => ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"),
            Architecture::Arm64 => ("/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"),
        };
        [lib, usr, "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    }
}

impl FromStr for Architecture {
    type Err = String;

    fn from_str(text: &str) -> Result<Architecture, String> {
        match text {
            "amd64" | "x86_64" | "x86-64" => Ok(Architecture::Amd64),
            "arm64" | "aarch64" => Ok(Architecture::Arm64),
            _ => Err(format!("`{text}` is neither amd64 nor arm64")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_have_two_names() {
        for (text, expected) in [
            ("amd64", Some(Architecture::Amd64)),
            ("x86_64", Some(Architecture::Amd64)),
            ("arm64", Some(Architecture::Arm64)),
            ("aarch64", Some(Architecture::Arm64)),
            ("riscv64", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }
}
