//! What a shell offers.

use crate::common::{Bench, Ran};

/// The candidates for the last word, as the script of bash asks for them.
fn offered(bench: &Bench, words: &[&str]) -> Vec<String> {
    let mut command = bench.command(&["--", "bancada"]);
    command
        .args(words)
        .env("BANCADA_COMPLETE", "bash")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let ran = Ran::new(command.output().unwrap()).ends_with(0);
    ran.out.lines().map(str::to_owned).collect()
}

#[test]
fn names_and_levels_are_offered() {
    let bench = Bench::new();
    bench.bancada(&["init", "study.toml"]).ends_with(0);
    let check = |words: &[&str], expected: &[&str]| {
        let offered = offered(&bench, words);
        for word in expected {
            assert!(offered.iter().any(|o| o == word), "{words:?}: {offered:?}");
        }
    };
    check(&["ti"], &["time"]);
    check(&["init", "--from", "se"], &["serve", "serverless"]);
    check(
        &["run", "study.toml", "--only", ""],
        &["network=", "image="],
    );
    check(
        &["run", "study.toml", "--only", "network="],
        &["network=rede1", "network=rede2"],
    );
    check(
        &["run", "study.toml", "--only", "image=28,"],
        &["image=28,32"],
    );
    check(
        &["compare", "study.toml:"],
        &["study.toml:C1", "study.toml:C4"],
    );
    check(&["compare", "study.toml:C1", "C"], &["C2"]);
    check(&["setup", "py"], &["pytorch"]);
    check(&["data", "fetch", "fash"], &["fashion-mnist"]);
    check(&["network", "show", "mob"], &["mobilenet"]);
    check(
        &["price", "show", "azure/Standard_F4s_v2"],
        &["azure/Standard_F4s_v2@eastus"],
    );
    assert!(offered(&bench, &["run", "no.toml", "--only", ""]).is_empty());
}

#[test]
fn every_shell_has_a_script() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        bench
            .bancada(&["completions", shell])
            .ends_with(0)
            .says("BANCADA_COMPLETE");
    }
}
