//! One line for a new machine, and the file that it needs: a shell script that carries Bancada and the
//! study, runs the machine's part, hands the results over and switches the machine off.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use host::Digest;
use host::shell::quoted;

use crate::error::InfraError;

const SCRIPT: &str = include_str!("onboard.sh");
/// What the file is called on the new machine.
const THERE: &str = "bancada-onboard.sh";

/// What a new machine is to do.
#[derive(Debug, Clone)]
pub struct Kit {
    pub program: PathBuf,
    /// The study file's name, in its folder.
    pub study: PathBuf,
    pub folder: PathBuf,
    /// More files and folders, relative to the study's.
    pub files: Vec<PathBuf>,
    /// `environment=NAME`; none for a study without such a factor.
    pub only: Option<String>,
    pub to: Destination,
    pub power_off: bool,
}

/// Where results go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    Folder(String),
    Ssh {
        host: String,
        path: String,
    },
    /// An address that takes a PUT.
    Put(String),
}

impl Destination {
    pub fn parse(text: &str) -> Result<Destination, InfraError> {
        let odd = |c: char| c.is_control() || c == '"' || c == '\\';
        if text.is_empty() || text.contains(odd) || text.starts_with('-') {
            let text = text.escape_debug();
            return Err(InfraError::Refused(format!(
                "`{text}` is not a folder, HOST:PATH or address for results"
            )));
        }
        if text.starts_with("https://") || text.starts_with("http://") {
            return Ok(Destination::Put(text.to_owned()));
        }
        match text.split_once(':') {
            Some((host, path)) if !host.contains('/') => Ok(Destination::Ssh {
                host: host.to_owned(),
                path: path.to_owned(),
            }),
            _ => Ok(Destination::Folder(text.to_owned())),
        }
    }
}

impl Kit {
    /// Writes the file, readable by its owner alone: an address that takes results is a secret.
    pub fn write(&self, file: &Path) -> Result<(), InfraError> {
        let payload = self.payload()?;
        let text = self.script(&Digest::of(&payload).to_string());
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o700);
        let write = || {
            let mut file = options.open(file)?;
            file.write_all(text.as_bytes())?;
            file.write_all(&payload)?;
            file.sync_all()
        };
        write().map_err(InfraError::io("write", file))
    }

    /// A compressed archive.
    fn payload(&self) -> Result<Vec<u8>, InfraError> {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let cannot = |path: &Path| InfraError::io("pack", path);
        add(
            &mut archive,
            &self.program,
            Path::new("bancada"),
            Some(0o755),
        )?;
        let study = self.folder.join(&self.study);
        add(
            &mut archive,
            &study,
            &Path::new("study").join(&self.study),
            None,
        )?;
        for relative in &self.files {
            check_relative(relative)?;
            let path = self.folder.join(relative);
            let there = Path::new("study").join(relative);
            match path.is_dir() {
                true => archive
                    .append_dir_all(&there, &path)
                    .map_err(cannot(&path))?,
                false => add(&mut archive, &path, &there, None)?,
            }
        }
        let packed = archive.into_inner().and_then(GzEncoder::finish);
        packed.map_err(cannot(&self.folder))
    }

    /// Everything that comes from outside is one quoted word.
    fn script(&self, sha256: &str) -> String {
        let (kind, to, host, path) = match &self.to {
            Destination::Folder(folder) => ("folder", folder.as_str(), "", ""),
            Destination::Ssh { host, path } => ("ssh", "", host.as_str(), path.as_str()),
            Destination::Put(url) => ("put", url.as_str(), "", ""),
        };
        let power_off = if self.power_off { "yes" } else { "no" };
        let only = self.only.as_deref().unwrap_or_default();
        let study = self.study.to_string_lossy();
        let head = |begin: usize| {
            format!(
                "#!/bin/sh\nPAYLOAD_BEGIN={begin:010}\nPAYLOAD_SHA256={sha256}\nSTUDY={}\nONLY={}\n\
                 TO_KIND={kind}\nTO={}\nTO_HOST={}\nTO_PATH_QUOTED={}\nPOWER_OFF={power_off}\n{SCRIPT}exit 1\n",
                quoted(&study),
                quoted(only),
                quoted(to),
                quoted(host),
                // Quoted for the shell of the other machine, then for this one.
                quoted(&quoted(path)),
            )
        };
        // `tail -c +N` counts from one. `printf %d` would read leading zeros as octal; tail does not.
        let begin = head(0).len() + 1;
        head(begin)
    }
}

/// A file under another name.
fn add<W: std::io::Write>(
    archive: &mut tar::Builder<W>,
    path: &Path,
    there: &Path,
    mode: Option<u32>,
) -> Result<(), InfraError> {
    let cannot = || InfraError::io("read", path);
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(cannot())?;
    file.read_to_end(&mut bytes).map_err(cannot())?;
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    let executable = fs::metadata(path).map_err(cannot())?;
    let own = std::os::unix::fs::PermissionsExt::mode(&executable.permissions());
    header.set_mode(mode.unwrap_or(own & 0o777));
    header.set_cksum();
    let added = archive.append_data(&mut header, there, bytes.as_slice());
    added.map_err(InfraError::io("pack", path))
}

fn check_relative(path: &Path) -> Result<(), InfraError> {
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    match path.components().all(is_below) {
        true => Ok(()),
        false => Err(InfraError::Refused(format!(
            "{} is not below the study's folder: move it there, or bring it to the new machine yourself",
            path.display()
        ))),
    }
}

/// The line for the new machine; without `from`, the line for this one, which sends the file there.
pub fn line(kit: &Path, from: Option<&str>) -> String {
    let Some(from) = from else {
        let remote = quoted(&format!("cat > {THERE} && sh {THERE}"));
        let kit = quoted(&kit.display().to_string());
        return format!("ssh NEW-MACHINE {remote} < {kit}");
    };
    let word = quoted(from);
    if from.starts_with("https://") || from.starts_with("http://") {
        return format!("(curl -fsSL -o {THERE} {word} || wget -qO {THERE} {word}) && sh {THERE}");
    }
    match from.split_once(':') {
        Some((host, _)) if !host.contains('/') => format!("scp {word} {THERE} && sh {THERE}"),
        _ => format!("sh {word}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_for_every_source() {
        let check = |from: Option<&str>, expected: &str| {
            assert_eq!(line(Path::new("kit.sh"), from), expected);
        };
        check(
            None,
            "ssh NEW-MACHINE 'cat > bancada-onboard.sh && sh bancada-onboard.sh' < kit.sh",
        );
        check(
            Some("me@host:kit.sh"),
            "scp me@host:kit.sh bancada-onboard.sh && sh bancada-onboard.sh",
        );
        check(Some("/mnt/a b/kit.sh"), "sh '/mnt/a b/kit.sh'");
        assert!(line(Path::new("k"), Some("https://x/$(id)")).contains("'https://x/$(id)'"));
    }

    #[test]
    fn destinations() {
        let check = |text: &str, expected: Option<Destination>| {
            assert_eq!(Destination::parse(text).ok(), expected, "{text}");
        };
        check("/srv/x", Some(Destination::Folder("/srv/x".into())));
        check(
            "host:a b",
            Some(Destination::Ssh {
                host: "host".into(),
                path: "a b".into(),
            }),
        );
        check(
            "https://b/x?sig=1",
            Some(Destination::Put("https://b/x?sig=1".into())),
        );
        check("-oProxyCommand=x:y", None);
        check("https://x\"\nurl = y", None);
    }

    /// A machine without Python gets it from whichever package manager it has.
    #[test]
    fn python_comes_from_the_package_manager_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("study")).unwrap();
        fs::write(path("study/study.toml"), "").unwrap();
        let program =
            "#!/bin/sh\n[ \"$1\" = run ] || { echo bancada test; exit 0; }\nmkdir -p \"$5\"\n";
        let script = |path: PathBuf, text: &str| {
            fs::write(&path, text).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(&path, mode).unwrap();
        };
        script(path("program"), program);
        let kit = Kit {
            program: path("program"),
            study: PathBuf::from("study.toml"),
            folder: path("study"),
            files: Vec::new(),
            only: None,
            to: Destination::Folder(path("out").display().to_string()),
            power_off: false,
        };
        kit.write(&path("kit.sh")).unwrap();
        let check = |managers: &[(&str, &str)], expected: &str| {
            let bin = tempfile::tempdir().unwrap();
            for tool in "sh cat cp cut env gzip head mkdir sha256sum tail tar".split(' ') {
                let mut find = std::process::Command::new("sh");
                let found = find.args(["-c", &format!("command -v {tool}")]).output();
                let found = String::from_utf8(found.unwrap().stdout).unwrap();
                std::os::unix::fs::symlink(found.trim(), bin.path().join(tool)).unwrap();
            }
            // Everybody is root here.
            script(bin.path().join("id"), "#!/bin/sh\necho 0\n");
            let asked = path("asked");
            _ = fs::remove_file(&asked);
            for (name, rest) in managers {
                let note = format!("#!/bin/sh\necho {name} $* >> {}\n{rest}\n", asked.display());
                script(bin.path().join(name), &note);
            }
            let mut command = std::process::Command::new(bin.path().join("sh"));
            let ran = command
                .arg(path("kit.sh"))
                .env("HOME", folder.path())
                .env("PATH", bin.path())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(0), "{said}");
            let asked = fs::read_to_string(asked).unwrap_or_default();
            assert_eq!(asked, expected, "{said}");
            said.contains("could not be installed")
        };
        let of_debian = "apt-get update -q\napt-get install -q -y --no-install-recommends \
                         python3 python3-venv ca-certificates\n";
        assert!(!check(&[("apt-get", ""), ("dnf", "")], of_debian));
        let newer = "dnf install -q -y python3.11 python3.11-pip ca-certificates\n";
        assert!(!check(&[("dnf", ""), ("yum", "")], newer));
        let older = "dnf install -q -y python3 python3-pip ca-certificates\n";
        let no_newer = "case $* in *3.11*) exit 1 ;; esac";
        assert!(!check(&[("dnf", no_newer)], &format!("{newer}{older}")));
        let of_yum = "yum install -q -y python3 python3-pip ca-certificates\n";
        assert!(!check(&[("yum", "")], of_yum));
        assert!(check(&[("yum", "exit 1")], of_yum), "it is said");
        assert!(check(&[], ""), "it is said");
    }

    /// The file runs under a real shell; hostile names stay words.
    #[test]
    fn a_kit_runs_hands_over_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("study")).unwrap();
        let study = "st'udy $(touch pwned).toml";
        fs::write(path("study").join(study), "").unwrap();
        // Stands for the program: it notes its arguments and leaves results.
        let program = "#!/bin/sh\n[ \"$1\" = run ] || { echo bancada test; exit 0; }\n\
                       printf '%s\\n' \"$@\" > \"$HOME/arguments\"\nmkdir -p \"$5\"; echo 1 > \"$5/one\"\nexit 5\n";
        fs::write(path("program"), program).unwrap();
        let kit = Kit {
            program: path("program"),
            study: PathBuf::from(study),
            folder: path("study"),
            files: Vec::new(),
            only: Some("environment=`id` $HOME".to_owned()),
            to: Destination::Folder(path("o'ut").display().to_string()),
            power_off: true,
        };
        kit.write(&path("kit.sh")).unwrap();
        let run = || {
            let mut command = std::process::Command::new("sh");
            command
                .arg(path("kit.sh"))
                .env("HOME", folder.path())
                .env("BANCADA_POWER_OFF", "touch \"$HOME/off\"")
                .env("BANCADA_ONBOARD_PAUSE", "0");
            command.output().unwrap()
        };
        let ran = run();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(5), "the program's own: {said}");
        assert!(path("off").exists() && path("o'ut/one").exists(), "{said}");
        let arguments = fs::read_to_string(path("arguments")).unwrap();
        assert!(
            arguments.contains("/study/st'udy $(touch pwned).toml\n"),
            "{arguments}"
        );
        assert!(
            arguments.ends_with("--only\nenvironment=`id` $HOME\n"),
            "{arguments}"
        );
        assert!(!path("pwned").exists());
        // Half a file does nothing but end the machine.
        let bytes = fs::read(path("kit.sh")).unwrap();
        fs::write(path("kit.sh"), &bytes[..bytes.len() - 1]).unwrap();
        fs::remove_file(path("off")).unwrap();
        let ran = run();
        assert_eq!(ran.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&ran.stderr).contains("not complete"));
        assert!(path("off").exists());
        let outside = Kit {
            files: vec![PathBuf::from("../secret")],
            ..kit
        };
        assert!(outside.write(&path("k2")).is_err());
    }
}
