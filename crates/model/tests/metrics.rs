//! The table of metrics: names and words are unambiguous, and docs/results.md is what it says.
//! `BLESS=1 cargo test -p model` writes the document's table again.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use model::run::metric::{self, Better, Runs, Source, Unit};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results.md");
const BEGIN: &str = "<!-- metrics: written by `BLESS=1 cargo test -p model` from crates/model/src/run/metric.rs -->\n";
const END: &str = "<!-- end of metrics -->";

fn table() -> String {
    let mut text = "| name | in reports | unit | better | from | runs | meaning |\n|---|---|---|---|---|---|---|\n".to_owned();
    for metric in metric::ALL {
        let unit = match metric.unit {
            Unit::Currency => "currency",
            unit => unit.symbol(),
        };
        let better = match metric.better {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "",
        };
        let source = match metric.source {
            Source::Measurement => "measurement",
            Source::Workload => "workload",
            Source::Client => "client",
            Source::Bill => "bill",
            Source::Analysis => "analysis",
        };
        let runs = match metric.runs {
            Runs::Any => "all",
            Runs::Training => "training",
            Runs::Serving => "serving",
        };
        _ = writeln!(
            text,
            "| `{}` | {} | {unit} | {better} | {source} | {runs} | {} |",
            metric.name, metric.label, metric.meaning
        );
    }
    text
}

#[test]
fn the_document_has_the_table() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PAGE, format!("{before}{BEGIN}{}{END}{after}", table())).unwrap();
        return;
    }
    assert!(
        written == table(),
        "docs/results.md is stale: run  BLESS=1 cargo test -p model"
    );
}

#[test]
fn every_name_and_word_means_one_metric() {
    let names = metric::ALL.iter().map(|metric| metric.name);
    let words = metric::ALL.iter().flat_map(|metric| metric.aliases);
    let labels: BTreeSet<&str> = metric::ALL.iter().map(|metric| metric.label).collect();
    let all: Vec<&str> = names.chain(words.copied()).collect();
    let different: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(different.len(), all.len());
    assert_eq!(labels.len(), metric::ALL.len());
}

/// What a name says of its unit, other programs read from the name alone.
#[test]
fn names_say_their_units() {
    let ends = [
        ("_seconds", Unit::Seconds),
        ("_bytes", Unit::Bytes),
        ("_percent", Unit::Percent),
        ("_per_second", Unit::PerSecond),
        ("_joules", Unit::Joules),
        ("_grams", Unit::Grams),
    ];
    for metric in metric::ALL {
        let said = ends.iter().find(|(end, _)| metric.name.ends_with(end));
        if let Some((_, unit)) = said {
            assert_eq!(metric.unit, *unit, "{}", metric.name);
        }
    }
}

#[test]
fn a_study_may_use_shorter_words() {
    let check = |word: &str, expected: Option<&str>| {
        assert_eq!(metric::meant(word).map(|metric| metric.name), expected);
    };
    check("time", Some(metric::TRAIN_SECONDS));
    check("p99", Some(metric::LATENCY_P99_SECONDS));
    check(
        metric::GROUP_PEAK_MEMORY_BYTES,
        Some("cgroup_peak_memory_bytes"),
    );
    check("queue_depth", None);
}
