//! `docs/study-file.md` is what the program knows, and its examples are studies.
//! `BLESS=1 cargo test -p plan --test study` writes it anew.

use plan::reference;

use crate::support::good;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/study-file.md");

#[test]
fn the_document_is_up_to_date() {
    let expected = reference();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PATH, &expected).unwrap();
    }
    let written = std::fs::read_to_string(PATH).unwrap();
    assert!(
        written == expected,
        "docs/study-file.md is stale: run  BLESS=1 cargo test -p plan --test study"
    );
}

#[test]
fn its_examples_are_studies() {
    let text = reference();
    let examples: Vec<&str> = text
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    let runs: Vec<usize> = examples
        .iter()
        .map(|example| plan::plan(&good(example)).runs.len())
        .collect();
    // 3 × 3 × 2 × 4 × 2 scenarios, without rede2 at two of four batches and without 64 px on the desk.
    let training = (3 * 3 * 2 * 4 * 2) - 3 * 2 * 2 * 2 - (3 * 4 * 2 - 2 * 2);
    assert_eq!(runs, [6, training * 5, 12, 12]);
}
