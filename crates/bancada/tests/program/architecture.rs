//! What each crate may use: read from the tables of ARCHITECTURE.md, checked against the manifests
//! and the library code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The two tables of the page's chapter about crates.
struct Page {
    /// By ability: code that shows it.
    abilities: BTreeMap<String, Vec<String>>,
    rows: Vec<CrateRow>,
}

/// All that a crate may use.
struct CrateRow {
    name: String,
    crates: BTreeSet<String>,
    libraries: BTreeSet<String>,
    abilities: BTreeSet<String>,
}

impl Page {
    fn read(text: &str) -> Page {
        let chapter = text.split("\n## The crates\n").nth(1).unwrap_or_default();
        let chapter = chapter.split("\n## ").next().unwrap_or_default();
        let mut page = Page {
            abilities: BTreeMap::new(),
            rows: Vec::new(),
        };
        for line in chapter.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            let names = |cell: &str| quoted(cell).into_iter().collect();
            match cells.as_slice() {
                [ability, code] => {
                    let name = quoted(ability).remove(0);
                    page.abilities.insert(name, quoted(code));
                }
                [name, _, crates, libraries, abilities] => page.rows.push(CrateRow {
                    name: quoted(name).remove(0),
                    crates: names(crates),
                    libraries: names(libraries),
                    abilities: names(abilities),
                }),
                _ => panic!("not a row of two or five cells: {line}"),
            }
        }
        page
    }

    /// What the row does not allow.
    fn offences(&self, row: &CrateRow, code: &str) -> Vec<String> {
        let others = self
            .abilities
            .iter()
            .filter(|(ability, _)| !row.abilities.contains(*ability));
        let found = others.flat_map(|(ability, marks)| {
            let marks = marks.iter().filter(|mark| contains(code, mark));
            marks.map(move |mark| format!("contains `{mark}`, which needs the ability `{ability}`"))
        });
        found.collect()
    }
}

/// What stands between backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// As whole words: `Study` is not in `StudyLock`.
fn contains(code: &str, mark: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(mark).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + mark.len()..].chars().next();
        let joins = |outer: Option<char>, inner: Option<char>| {
            outer.is_some_and(is_word) && inner.is_some_and(is_word)
        };
        !joins(before, mark.chars().next()) && !joins(after, mark.chars().next_back())
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> Page {
    Page::read(&fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap())
}

fn folders() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs")
            && !path.to_string_lossy().ends_with("tests.rs")
        {
            found.push(path);
        }
    }
}

/// Library code alone: unit tests may do what they like, and comments may speak of anything.
fn library_code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if line == "#[cfg(test)]" && next.contains("mod ") && next.ends_with('{') {
            break;
        }
        if !line.trim_start().starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// Names under `[dependencies]`, `[build-dependencies]` and those of targets.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut is_ours = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            is_ours = section.ends_with("dependencies") && !section.contains("dev-dependencies");
        } else if let Some(name) = line.split(['.', ' ', '=']).next().filter(|_| is_ours)
            && !name.is_empty()
            && !name.starts_with('#')
        {
            found.push(name.to_owned());
        }
    }
    found
}

/// Packages of the workspace, by name: the folder of those that are ours.
fn packages() -> BTreeMap<String, Option<String>> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let section = manifest.split("[workspace.dependencies]").nth(1);
    let lines = section.unwrap_or_default().lines();
    let lines = lines.take_while(|line| !line.starts_with('['));
    let package = |line: &str| {
        let name = line.split([' ', '=', '.']).next()?.to_owned();
        let folder = line
            .split("path = \"crates/")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        Some((name, folder.map(str::to_owned)))
    };
    lines.filter_map(package).collect()
}

#[test]
fn crates_use_nothing_that_their_row_does_not_allow() {
    let (page, packages) = (page(), packages());
    let mut broken = Vec::new();
    for row in &page.rows {
        let folder = root().join("crates").join(&row.name);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for dependency in dependencies(&manifest) {
            let (kind, is_allowed) = match packages.get(&dependency) {
                Some(Some(ours)) => ("crate", row.crates.contains(ours)),
                _ => ("library", row.libraries.contains(&dependency)),
            };
            if !is_allowed {
                broken.push(format!("{} uses the {kind} `{dependency}`", row.name));
            }
        }
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        for file in files {
            let code = library_code(&fs::read_to_string(&file).unwrap());
            let offences = page.offences(row, &code).into_iter();
            let file = file.strip_prefix(root()).unwrap_or(&file).display();
            broken.extend(offences.map(|offence| format!("{file} {offence}")));
        }
    }
    assert!(
        broken.is_empty(),
        "change the code, or the row of ARCHITECTURE.md:\n{}",
        broken.join("\n")
    );
}

#[test]
fn every_crate_has_one_row_and_every_name_means_something() {
    let (page, packages) = (page(), packages());
    let mut names: Vec<&String> = page.rows.iter().map(|row| &row.name).collect();
    names.sort_unstable();
    assert_eq!(names, folders().iter().collect::<Vec<_>>());
    for row in &page.rows {
        let unknown = row
            .crates
            .difference(&folders())
            .chain(row.libraries.iter().filter(|l| !packages.contains_key(*l)))
            .chain(
                row.abilities
                    .iter()
                    .filter(|a| !page.abilities.contains_key(*a)),
            )
            .cloned()
            .collect::<Vec<_>>();
        assert_eq!(unknown, Vec::<String>::new(), "in the row of {}", row.name);
    }
}

#[test]
fn what_a_row_does_not_allow_is_found() {
    let page = Page::read(
        "\n## The crates\n\n| ability | code |\n|---|---|\n| `clock` | `Instant::now` |\n| `study` | `&Study` |\n\n\
         | crate | job | crates | libraries | abilities |\n|---|---|---|---|---|\n\
         | `stats` | numbers | `seeded` | `serde` | `clock` |\n\n## Next\n| `x` | y |\n",
    );
    let check = |code: &str, expected: &[&str]| {
        let found = page.offences(&page.rows[0], &library_code(code));
        assert_eq!(found, expected, "{code}");
    };
    check("let now = Instant::now();", &[]);
    check(
        "fn of(study: &Study) {}",
        &["contains `&Study`, which needs the ability `study`"],
    );
    check("fn of(lock: &StudyLock) {}", &[]);
    check("// fn of(study: &Study)", &[]);
    check("#[cfg(test)]\nmod tests {\nfn of(study: &Study) {}\n}", &[]);
    check(
        "#[cfg(test)]\nmod tests;\nfn of(study: &Study) {}",
        &["contains `&Study`, which needs the ability `study`"],
    );
    let manifest = "[dependencies]\nserde.workspace = true\n# a note\n\n[target.'cfg(unix)'.dependencies]\n\
                    libc = { workspace = true }\n\n[dev-dependencies]\nproptest = \"1\"\n";
    assert_eq!(dependencies(manifest), ["serde", "libc"]);
}
