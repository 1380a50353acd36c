//! Real files in a folder of the test's own.

use super::*;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("bancada-inputs-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("lib")).unwrap();
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

fn study(command: &str, inputs: &str) -> Study {
    let text = format!(
        "[study]\nname = \"s\"\n[workload]\ncommand = {command}\ninputs = {inputs}\n[environments.local]\n"
    );
    let nothing = |_: &Path| Err(io::ErrorKind::NotFound.into());
    let options = plan::ReadOptions {
        folder: None,
        read: &nothing,
        requests_in: &|_| Ok(1),
        scale: None,
        catalog: cost::catalog(),
        today: None,
    };
    plan::read_study(&text, &options).unwrap()
}

fn read(folder: &Folder, command: &str, inputs: &str) -> Result<Vec<RunInput>, String> {
    let study = study(command, inputs);
    let scenario = &plan::plan(&study).scenarios[0];
    let read = InputReader::new(&folder.0).read(&study, scenario);
    read.map_err(|error| error.to_string())
}

fn paths(folder: &Folder, command: &str, inputs: &str) -> Vec<String> {
    let inputs = read(folder, command, inputs).unwrap();
    inputs.into_iter().map(|input| input.path).collect()
}

#[test]
fn inputs_are_what_the_command_names_and_the_study_lists() {
    let folder = Folder::new("named");
    for name in ["train.py", "conf.yaml", "lib/a.py", "lib/b.py", "lib/c.txt"] {
        folder.write(name, name);
    }
    let command = "[\"python3\", \"./train.py\", \"--config=conf.yaml\", \"lib\", \"missing.py\", \"/proc/cpuinfo\"]";
    assert_eq!(paths(&folder, command, "[]"), ["conf.yaml", "train.py"]);
    assert_eq!(
        paths(&folder, "[\"true\"]", "[\"lib/*.py\", \"train.py\"]"),
        ["lib/*.py", "lib/a.py", "lib/b.py", "train.py"]
    );
    let error = |inputs: &str| read(&folder, "[\"true\"]", inputs).unwrap_err();
    assert!(error("[\"gone.py\"]").starts_with("inputs: `gone.py` matches no file"));
    assert!(error("[\"lib\"]").contains("folder/**/*"));
    // The published digest of these bytes (FIPS 180-2, appendix B.1).
    folder.write("abc", "abc");
    let input = &read(&folder, "[\"cat\", \"abc\"]", "[]").unwrap()[0];
    assert_eq!(
        input.sha256.as_deref(),
        Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    );
}

#[test]
fn a_file_too_large_to_be_read_is_known_by_its_size_and_age() {
    let folder = Folder::new("large");
    let file = File::create(folder.0.join("data.bin")).unwrap();
    file.set_len(LARGEST_READ + 1).unwrap();
    let input = &read(&folder, "[\"cat\", \"data.bin\"]", "[]").unwrap()[0];
    assert_eq!(
        (input.sha256.as_ref(), input.bytes),
        (None, LARGEST_READ + 1)
    );
    assert!(input.modified.is_some());
}

#[test]
fn what_a_run_writes_itself_is_no_input_of_it() {
    let folder = Folder::new("written");
    folder.write("train.py", "1");
    folder.write("model.bin", "of the run before");
    folder.write("lib/a.py", "1");
    let study = study("[\"sh\", \"train.py\", \"model.bin\"]", "[\"lib/*.py\"]");
    let scenario = &plan::plan(&study).scenarios[0];
    let reader = InputReader::new(&folder.0);
    let before = reader.read(&study, scenario).unwrap();
    folder.write("model.bin", "of this run");
    folder.write("lib/a.py", "2");
    let settled = reader.settle(before);
    let paths: Vec<&str> = settled.inputs.iter().map(|i| i.path.as_str()).collect();
    assert_eq!(paths, ["lib/*.py", "lib/a.py", "train.py"]);
    assert_eq!(settled.changed, ["lib/a.py (changed during the run)"]);
}

fn input(path: &str, digest: &str) -> RunInput {
    RunInput {
        path: path.to_owned(),
        bytes: 1,
        sha256: Some(digest.to_owned()),
        modified: None,
        listed: false,
    }
}

#[test]
fn a_change_is_seen_once_accepted_and_not_again() {
    let version = |digest: &str, runs: &[&str]| Version {
        input: input("train.py", digest),
        runs: runs.iter().map(|run| run.parse().unwrap()).collect(),
    };
    let check = |versions: Vec<Version>, now: &str, expected: Option<(&[&str], bool)>| {
        let kept = KeptInputs {
            by_path: BTreeMap::from([("train.py".to_owned(), versions)]),
        };
        let changes = kept.changes(&[input("train.py", now), input("new.py", now)]);
        let runs = |change: &InputChange| -> Vec<String> {
            change.runs.iter().map(ToString::to_string).collect()
        };
        let seen = changes
            .first()
            .map(|change| (runs(change), change.is_accepted));
        let expected = expected
            .map(|(runs, accepted)| (runs.iter().map(ToString::to_string).collect(), accepted));
        assert_eq!(seen, expected, "{now}");
    };
    let old = || version("a", &["C1-r1", "C2-r1"]);
    let new = || version("b", &["C1-r2"]);
    check(vec![old()], "a", None);
    check(vec![old()], "b", Some((&["C1-r1", "C2-r1"], false)));
    check(vec![old(), new()], "b", Some((&["C1-r1", "C2-r1"], true)));
    check(vec![old(), new()], "a", Some((&["C1-r2"], true)));
    check(
        vec![old(), new()],
        "c",
        Some((&["C1-r1", "C2-r1", "C1-r2"], false)),
    );
}
