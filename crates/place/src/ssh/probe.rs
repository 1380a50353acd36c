//! One first command on a host: what it is, and whether this program can run there.

use host::shell::quoted;

use super::binary::{Binary, Version};

const MARK: &str = "bancada:";
/// For the files of runs.
const ROOM_BYTES: u64 = 64 << 20;

/// POSIX, in one line without `!`: every login shell hands it on.
pub(super) fn script(digest: &str) -> String {
    let digest = quoted(digest);
    [
        "LC_ALL=C; export LC_ALL; umask 077",
        "c=${BANCADA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bancada}",
        "mkdir -p \"$c/bin\" || exit 1",
        "echo \"bancada:system $(uname -s)\"; echo \"bancada:machine $(uname -m)\"",
        "echo \"bancada:libc $(getconf GNU_LIBC_VERSION 2>/dev/null)\"",
        "echo \"bancada:free $(df -Pk \"$c/bin\" | tail -n 1)\"",
        "echo \"bancada:python $(command -v python3)\"",
        &format!("test -x \"$c/bin/\"{digest} && echo \"bancada:program there\""),
        "echo \"bancada:cache $c\"",
    ]
    .join("; ")
}

/// Reads the program from its input.
pub(super) fn copy_script(cache: &str, digest: &str) -> String {
    let (folder, digest) = (quoted(&format!("{cache}/bin")), quoted(digest));
    [
        &format!("umask 077; cd {folder} || exit 1; t=.{digest}.$$"),
        "trap \"rm -f $t\" EXIT",
        "cat > $t || exit 1",
        &format!("echo {digest}\"  $t\" | sha256sum -c - >/dev/null || exit 1"),
        &format!("chmod 700 $t && mv $t {digest}"),
    ]
    .join("; ")
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Probe {
    system: String,
    machine: String,
    /// None where the host has another C library.
    glibc: Option<Version>,
    free_bytes: Option<u64>,
    pub(super) has_python: bool,
    pub(super) has_program: bool,
    /// Bancada's folder there.
    pub(super) cache: String,
}

impl Probe {
    /// None where the script did not come to its end.
    pub(super) fn read(printed: &str) -> Option<Probe> {
        let mut probe = Probe::default();
        let lines = printed.lines().filter_map(|line| line.strip_prefix(MARK));
        for line in lines {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            let value = value.trim();
            match key {
                "system" => value.clone_into(&mut probe.system),
                "machine" => value.clone_into(&mut probe.machine),
                "libc" => probe.glibc = value.strip_prefix("glibc ").and_then(Version::parse),
                "free" => probe.free_bytes = free_of(value),
                "python" => probe.has_python = !value.is_empty(),
                "program" => probe.has_program = true,
                "cache" => value.clone_into(&mut probe.cache),
                _ => {}
            }
        }
        probe.cache.starts_with('/').then_some(probe)
    }

    /// Why this program cannot run there, as a sentence.
    pub(super) fn complaint(&self, binary: &Binary) -> Option<String> {
        let Probe {
            system, machine, ..
        } = self;
        if system != "Linux" {
            return Some(format!("it runs {system}; Bancada runs on Linux only"));
        }
        if *machine != binary.machine {
            return Some(format!(
                "its processor is {machine}, and this Bancada is built for {}; run Bancada from a \
                 machine with the same processor",
                binary.machine
            ));
        }
        if let Some(needed) = binary.glibc {
            match self.glibc {
                None => {
                    return Some(format!(
                        "it has no GNU C library; this Bancada needs version {needed}"
                    ));
                }
                Some(found) if found < needed => {
                    return Some(format!(
                        "its C library is version {found}, and this Bancada needs {needed} or newer; \
                         the portable build runs with 2.17 (docs/places.md)"
                    ));
                }
                Some(_) => {}
            }
        }
        let program_bytes = if self.has_program { 0 } else { binary.bytes };
        let needed = program_bytes + ROOM_BYTES;
        let free = self.free_bytes.filter(|free| *free < needed)?;
        Some(format!(
            "only {} MB are free in {}; at least {} MB are needed. Set BANCADA_CACHE there to a \
             folder on a larger disk, or make room",
            free >> 20,
            self.cache,
            needed.div_ceil(1 << 20)
        ))
    }
}

/// `/dev/sda1 1000 400 600 40% /home`, in units of 1024 bytes.
fn free_of(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let percent = words.iter().rposition(|word| word.ends_with('%'))?;
    let free: u64 = words.get(percent.checked_sub(1)?)?.parse().ok()?;
    Some(free * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary() -> Binary {
        Binary {
            digest: "d".into(),
            machine: "x86_64".into(),
            glibc: Version::parse("2.34"),
            bytes: 100 << 20,
        }
    }

    fn printed(machine: &str, libc: &str, free_kilobytes: u64) -> String {
        format!(
            "Welcome!\nbancada:system Linux\nbancada:machine {machine}\nbancada:libc {libc}\n\
             bancada:free /dev/disk by id 900 1 {free_kilobytes} 1% /a b\nbancada:python \n\
             bancada:cache /home/é x/.cache/bancada\n"
        )
    }

    #[test]
    fn a_host_that_cannot_run_us_gets_a_sentence() {
        let check = |machine, libc, free, expected: Option<&str>| {
            let probe = Probe::read(&printed(machine, libc, free)).unwrap();
            let found = probe.complaint(&binary());
            match expected {
                None => assert_eq!(found, None),
                Some(part) => assert!(found.as_ref().unwrap().contains(part), "{found:?}"),
            }
        };
        check("x86_64", "glibc 2.36", 1 << 20, None);
        check(
            "aarch64",
            "glibc 2.36",
            1 << 20,
            Some("processor is aarch64"),
        );
        check("x86_64", "glibc 2.17", 1 << 20, Some("version 2.17"));
        check("x86_64", "", 1 << 20, Some("no GNU C library"));
        check("x86_64", "glibc 2.36", 1 << 10, Some("only 1 MB are free"));
        assert_eq!(Probe::read("sh: bad\n"), None);
        let probe = Probe::read(&printed("x", "", 1)).unwrap();
        assert_eq!(probe.cache, "/home/é x/.cache/bancada");
        assert!(!probe.has_python && !probe.has_program);
    }

    #[test]
    fn the_scripts_are_understood_by_a_shell() {
        for script in [script("abc"), copy_script("/home/a b'c", "abc")] {
            let status = std::process::Command::new("sh")
                .args(["-n", "-c", &script])
                .status();
            assert!(status.unwrap().success(), "{script}");
            assert!(!script.contains(['!', '\n']), "{script}");
        }
    }
}
