//! Every mistake as a person sees it: `mistakes.txt` holds study files and what is said of them.
//! After a change of wording, `BLESS=1 cargo test -p plan --test study` writes the file anew;
//! read the difference.

use std::fmt::Write as _;

use crate::support;

const CASES: &str = include_str!("mistakes.txt");
const RULE: &str = "----";

struct Case<'t> {
    title: &'t str,
    study: &'t str,
    expected: &'t str,
}

fn cases() -> Vec<Case<'static>> {
    let case = |block: &'static str| {
        let (title, rest) = block.split_once('\n')?;
        let (study, expected) = rest.split_once(&format!("\n{RULE}\n"))?;
        Some(Case {
            title,
            study,
            expected: expected.trim_end(),
        })
    };
    CASES
        .split("==== ")
        .skip(1)
        .map(|block| case(block).expect(block))
        .collect()
}

#[test]
fn every_mistake_is_told_with_its_place_and_what_to_do() {
    let mut told = String::new();
    let mut different = Vec::new();
    for Case {
        title,
        study,
        expected,
    } in cases()
    {
        let actual = match support::read(study) {
            Ok(_) => "no mistake".to_owned(),
            Err(mistakes) => support::shown(study, &mistakes).trim_end().to_owned(),
        };
        if actual != expected {
            different.push(format!(
                "==== {title}\nexpected:\n{expected}\n\nactual:\n{actual}\n"
            ));
        }
        _ = write!(told, "==== {title}\n{study}\n{RULE}\n{actual}\n\n");
    }
    if std::env::var_os("BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/study/mistakes.txt");
        std::fs::write(path, format!("{}\n", told.trim_end())).unwrap();
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
