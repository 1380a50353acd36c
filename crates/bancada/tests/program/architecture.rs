//! What each crate must never contain (ARCHITECTURE.md), checked.

use std::fs;
use std::path::{Path, PathBuf};

/// Crates and words that a crate's library code must not have.
struct Rule {
    name: &'static str,
    crates: &'static [&'static str],
    words: &'static [&'static str],
}

const PRINTING: &[&str] = &["println!", "print!(", "stdout()"];
const FILES: &[&str] = &["std::fs", "File::open", "std::process::Command", "std::net"];
const CLOCKS: &[&str] = &[
    "Instant::now",
    "SystemTime::now",
    "Timestamp::now",
    "Zoned::now",
];

const RULES: &[(Rule, &[&[&str]])] = &[
    (
        Rule {
            name: "model",
            crates: &["plan", "store", "measure", "stats", "cost"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "allowance",
            crates: &["model", "plan", "measure", "fence", "tokio"],
            words: &["File::create", "fs::write", "Command"],
        },
        &[CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "seeded",
            crates: &["model", "plan", "data", "rand"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "source",
            crates: &["model", "plan", "network"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "plan",
            crates: &["measure", "store", "engine", "rand"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "frameworks",
            crates: &["model", "plan", "network", "runner", "engine"],
            words: &[],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "network",
            crates: &["burn-tensor", "engine", "model", "rand"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "formats",
            crates: &["plan", "store", "measure", "data", "engine", "burn-tensor"],
            words: &["Study", "Scenario"],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "data",
            crates: &["burn-tensor", "engine", "model", "rand"],
            words: &[],
        },
        &[CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "fetch",
            crates: &["model", "plan", "network", "engine", "runner", "png"],
            words: &[],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "engine",
            crates: &["measure", "store", "plan", "rand"],
            words: &[],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "fence",
            crates: &["plan", "store", "measure", "engine", "tokio"],
            words: &["Study", "Scenario", "wait4", "waitid"],
        },
        &[CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "measure",
            crates: &["store", "stats", "tokio", "engine", "plan"],
            words: &["async fn"],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "serve",
            crates: &[
                "model",
                "plan",
                "network",
                "engine",
                "measure",
                "store",
                "burn-tensor",
            ],
            words: &["Study", "Scenario"],
        },
        &[],
    ),
    (
        Rule {
            name: "serverless",
            crates: &[
                "plan", "network", "engine", "measure", "store", "serve", "runner", "stats",
            ],
            words: &["Study", "Scenario"],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "image",
            crates: &[
                "model", "plan", "network", "engine", "measure", "store", "serve", "tokio",
            ],
            words: &["Study", "Scenario"],
        },
        &[CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "aws",
            crates: &[
                "model", "plan", "network", "engine", "measure", "store", "serve", "tokio",
            ],
            words: &["async fn", "Study", "Scenario"],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "quantise",
            crates: &[
                "model", "plan", "network", "engine", "measure", "store", "serve", "ort", "tokio",
            ],
            words: &["Study", "Scenario"],
        },
        &[CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "client",
            crates: &["plan", "measure", "store", "serve", "engine", "tokio"],
            words: &["async fn", "Study", "Scenario"],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "load",
            crates: &["model", "plan", "measure", "store", "serve", "tokio"],
            words: &["async fn"],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "store",
            crates: &["stats", "measure", "plan", "engine"],
            words: &[],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "import",
            crates: &["store", "measure", "engine"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "stats",
            crates: &["model", "store", "plan", "cost"],
            words: &["scenario", "bytes"],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "cost",
            crates: &["stats", "store", "measure"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "reconcile",
            crates: &["store", "measure", "engine", "plan", "stats"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "prices",
            crates: &["plan", "store", "measure", "stats", "runner", "tokio"],
            words: &["Study", "Scenario", "f64", "async fn"],
        },
        &[CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "analyse",
            crates: &["store", "measure", "engine", "report"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "report",
            crates: &["store", "measure", "engine"],
            words: &[],
        },
        &[FILES, CLOCKS, PRINTING],
    ),
    (
        Rule {
            name: "runner",
            crates: &["engine", "report", "clap", "indicatif"],
            words: &[],
        },
        &[PRINTING],
    ),
    (
        Rule {
            name: "bancada",
            crates: &["stats", "burn-tensor", "rusqlite"],
            words: &[],
        },
        &[],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// Library code alone: unit tests may do what they like, and comments may speak of anything.
fn library_code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<&str>>().join("\n")
}

#[test]
fn crates_contain_nothing_they_must_not() {
    let mut broken = Vec::new();
    for (rule, word_lists) in RULES {
        let folder = root().join("crates").join(rule.name);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for forbidden in rule.crates {
            let named = |line: &str| line.split(['.', ' ', '=']).next() == Some(*forbidden);
            if dependencies.lines().any(named) {
                broken.push(format!("{} depends on {forbidden}", rule.name));
            }
        }
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        for file in files {
            let code = library_code(&file);
            for word in word_lists
                .iter()
                .flat_map(|list| list.iter())
                .chain(rule.words)
            {
                if code.contains(word) {
                    broken.push(format!(
                        "{} contains `{word}`",
                        file.strip_prefix(root()).unwrap_or(&file).display()
                    ));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn money_is_never_a_float() {
    let mut files = Vec::new();
    sources(&root().join("crates/cost/src"), &mut files);
    sources(&root().join("crates/reconcile/src"), &mut files);
    for file in files {
        for line in library_code(&file).lines() {
            let money = [
                "amount: f64",
                "price: f64",
                "per_hour: f64",
                "rate: f64",
                "total: f64",
            ];
            assert!(
                !money.iter().any(|m| line.contains(m)),
                "{}: {line}",
                file.display()
            );
        }
    }
}

#[test]
fn every_crate_has_one_rule() {
    let mut names: Vec<&str> = RULES.iter().map(|(rule, _)| rule.name).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None);
}

#[test]
fn the_architecture_page_and_the_rules_name_every_crate() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for entry in fs::read_dir(root().join("crates"))
        .unwrap()
        .map(Result::unwrap)
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(
            page.contains(&format!("| `{name}` |")),
            "ARCHITECTURE.md has no row for `{name}`"
        );
        assert!(
            RULES.iter().any(|(rule, _)| rule.name == name),
            "no rule for `{name}`"
        );
    }
}
