//! Files that other programs read: what they must hold of any study. Real readers try them in
//! `.ci/exports`.

#![expect(clippy::panic, reason = "a test may fail so")]

#[path = "../../analyse/tests/common/mod.rs"]
mod common;
#[path = "reading/mod.rs"]
mod reading;

use common::{Recipe, analysis, factor, studies};
use model::Level;
use reading::exported;
use report::{Content, ExportedFile, Output};
use serde_json::Value;

fn files(format: &str, world: &common::World) -> Vec<(String, String)> {
    let Output::Folder(files) = exported(format, None, &analysis(world)) else {
        panic!("{format} is not a folder");
    };
    let text = |file: ExportedFile| match file.content {
        Content::Text(text) => Some((file.path, text)),
        Content::OfRun(..) => None,
    };
    files.into_iter().filter_map(text).collect()
}

fn hostile() -> common::World {
    let levels = [Level::from("</style>% $x_{1}\\end"), Level::from("../../é")];
    let mut world = Recipe {
        factors: vec![factor("a/../b: '", &levels), factor("x", &levels)],
        ..Recipe::default()
    }
    .world();
    world.study.name = "it's: [a] \\study_1".to_owned();
    world
}

#[test]
fn bencher_has_a_benchmark_per_scenario() {
    let world = Recipe::default().world();
    let Output::Text(text) = exported("bencher", None, &analysis(&world)) else {
        panic!("not text");
    };
    let all: Value = serde_json::from_str(&text).unwrap();
    let all = all.as_object().unwrap();
    assert_eq!(all.len(), analysis(&world).scenarios.len());
    for (name, measures) in all {
        assert!(name.contains('='), "{name}");
        for measure in measures.as_object().unwrap().values() {
            let number = |key: &str| measure[key].as_f64();
            let value = number("value").unwrap();
            assert!(
                number("lower_value").is_none_or(|low| low <= value),
                "{measure}"
            );
            assert!(
                number("upper_value").is_none_or(|high| high >= value),
                "{measure}"
            );
        }
    }
}

#[test]
fn parquet_begins_and_ends_as_its_readers_expect() {
    let world = Recipe::default().world();
    for table in report::TABLES {
        let Output::Binary(bytes) = exported("parquet", Some(table.name), &analysis(&world)) else {
            panic!("not binary");
        };
        let (begin, end) = (&bytes[..4], &bytes[bytes.len() - 4..]);
        assert_eq!([begin, end], [b"PAR1"; 2], "{}", table.name);
        let length = &bytes[bytes.len() - 8..bytes.len() - 4];
        let length = u32::from_le_bytes(length.try_into().unwrap());
        assert!((length as usize) <= bytes.len() - 12, "{}", table.name);
    }
}

#[test]
fn mlflow_files_stay_in_the_folders_of_their_runs() {
    let world = hostile();
    let files = files("mlflow", &world);
    let metas = files.iter().filter(|(path, _)| path.ends_with("meta.yaml"));
    assert_eq!(metas.count(), 1 + world.records.len());
    for (path, text) in &files {
        let parts: Vec<&str> = path.split('/').collect();
        assert!(!parts.contains(&".."), "{path}");
        assert!(parts[0].chars().all(|c| c.is_ascii_digit()), "{path}");
        if parts.get(2) == Some(&"metrics") {
            for line in text.lines() {
                let fields: Vec<f64> = line.split(' ').map(|f| f.parse().unwrap()).collect();
                assert_eq!(fields.len(), 3, "{path}: {line}");
            }
        }
    }
    assert!(
        files[0].1.contains("name: 'it''s: [a] \\study_1'\n"),
        "{}",
        files[0].1
    );
}

#[test]
fn figures_are_files_of_their_own() {
    for world in [studies::study_a(), studies::study_c(), hostile()] {
        let (svg, pgf) = (files("svg", &world), files("pgf", &world));
        assert!(!svg.is_empty());
        // One more has all of them.
        assert_eq!(pgf.len(), svg.len() + 1);
        for (path, text) in &svg {
            assert_eq!(text.matches("<svg ").count(), 1, "{path}");
            assert!(!text.contains("var("), "{path}");
            assert_eq!(text.matches("</style>").count(), 1, "{path}");
        }
        let (_, document) = pgf.last().unwrap();
        for (path, text) in &pgf[..svg.len()] {
            assert!(document.contains(&format!("\\input{{{path}}}")), "{path}");
            let axes = text.matches("\\begin{axis}").count();
            assert_eq!(axes, text.matches("\\end{axis}").count(), "{path}");
            assert!(axes >= 1, "{path}");
            assert!(!text.contains("NaN") && !text.contains("inf"), "{path}");
        }
        assert!(document.matches("\\label{fig:").count() >= svg.len());
    }
}
