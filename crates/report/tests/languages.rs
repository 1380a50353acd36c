//! No English is left in what another language says.

#[path = "../../analyse/tests/common/mod.rs"]
mod common;

use std::collections::BTreeSet;

use common::{Recipe, World, analysis, studies};
use messages::Language;
use model::{Status, Warning};
use report::{TerminalOptions, terminal};
use serde_json::Value;

/// Words of English grammar that are no words of the other languages.
const ENGLISH: &[&str] = &[
    "the", "is", "are", "of", "and", "with", "not", "by", "from", "than", "or", "was", "were",
    "has", "have", "at", "for", "which", "its", "it", "their", "this", "that", "these", "each",
    "only", "more", "less", "be", "would", "cannot", "between", "against", "about", "runs", "all",
    "in", "on", "to",
];

/// Fields that are not sentences of ours: the methods of `stats`, and what the study, its prices or its runs say.
const NOT_OURS: &[&str] = &["method", "detail", "cause", "source", "bill", "bills"];

fn worlds() -> Vec<(&'static str, World)> {
    let mut troubled = Recipe {
        noise: 0.3,
        drift: 0.4,
        ..Recipe::default()
    }
    .world();
    troubled.end_as("C8-r1", Status::OutOfMemory, "x");
    troubled.end_as("C3-r2", Status::Failed, "x");
    troubled.end_as("C4-r2", Status::Interrupted, "x");
    troubled.record("C6-r1").warnings.push(Warning::FewerCores {
        got: 1.4,
        asked: 2.0,
    });
    let mut worlds = vec![
        ("quickstart", Recipe::default().world()),
        ("troubled", troubled),
        ("A", studies::study_a()),
        ("C", studies::study_c()),
        ("D", studies::study_d()),
        ("workers", studies::workers()),
        ("paying", studies::paying()),
    ];
    worlds.iter_mut().for_each(|(_, world)| unnamed(world));
    worlds
}

/// What people and programs said is in their language.
fn unnamed(world: &mut World) {
    world.study.name = "x".to_owned();
    world.study.objective = None;
    for record in &mut world.records {
        record.outcome.detail = None;
    }
}

fn wide() -> TerminalOptions {
    TerminalOptions {
        width: Some(4000),
        ..TerminalOptions::default()
    }
}

fn english_in(text: &str) -> Option<&'static str> {
    // Code is the same in all languages.
    let spoken: String = text.split('`').step_by(2).collect();
    let words: Vec<&str> = spoken.split(|c: char| !c.is_alphabetic()).collect();
    let mut known = ENGLISH.iter();
    known.find(|word| words.contains(word)).copied()
}

/// All that is found, so that one run shows what is left to do.
#[derive(Default)]
struct Left(BTreeSet<String>);

impl Left {
    fn check(&mut self, place: &str, text: &str) {
        if let Some(word) = english_in(text) {
            self.0.insert(format!("{place}: `{word}` in {text}"));
        }
    }

    fn check_all(&mut self, place: &str, value: &Value) {
        match value {
            // Single words are keys.
            Value::String(text) if text.contains(' ') => self.check(place, text),
            Value::Array(all) => all.iter().for_each(|one| self.check_all(place, one)),
            Value::Object(fields) => {
                let ours = |(name, _): &(&String, &Value)| !NOT_OURS.contains(&name.as_str());
                for (name, value) in fields.iter().filter(ours) {
                    self.check_all(&format!("{place}.{name}"), value);
                }
            }
            _ => {}
        }
    }

    fn is_empty(&self) {
        let all: Vec<&str> = self.0.iter().map(String::as_str).collect();
        assert!(all.is_empty(), "{}", all.join("\n"));
    }
}

fn others() -> impl Iterator<Item = Language> {
    Language::ALL
        .into_iter()
        .filter(|l| *l != Language::English)
}

#[test]
fn an_analysis_speaks_its_language() {
    let mut left = Left::default();
    for language in others() {
        for (name, world) in worlds() {
            let analysis = language.scope(|| analysis(&world));
            let value = serde_json::to_value(&analysis).unwrap();
            left.check_all(&format!("{} {name}", language.code()), &value);
        }
    }
    left.is_empty();
}

#[test]
fn a_screen_speaks_its_language() {
    let mut left = Left::default();
    for language in others() {
        for (name, world) in worlds() {
            let screen = language.scope(|| terminal(&analysis(&world), &wide()));
            let place = format!("{} {name}", language.code());
            screen.lines().for_each(|line| left.check(&place, line));
        }
    }
    left.is_empty();
}

const SECTIONS: [&str; 5] = ["answer", "summary", "scenarios", "time", "variation"];

/// The words of a section of the page, without what is for the scripts.
fn section(page: &str, id: &str) -> Vec<String> {
    let begin = page.split(&format!("<section id=\"{id}\"")).nth(1);
    let inside = begin.and_then(|rest| rest.split("</section>").next());
    let mut inside = inside.unwrap_or_default().to_owned();
    for (from, to) in [("<script", "</script>"), ("<code", "</code>")] {
        while let Some((before, rest)) = inside.split_once(from) {
            inside = before.to_owned() + rest.split_once(to).map_or("", |(_, after)| after);
        }
    }
    let parts = inside.split('<').filter_map(|part| part.split_once('>'));
    parts.map(|(_, text)| text.to_owned()).collect()
}

#[test]
fn the_first_sections_of_a_page_speak_their_language() {
    let meta = report::ReportMeta {
        generated: model::Timestamp::from_second(1_710_000_000).unwrap(),
        bancada_version: "0.1.0",
        command: None,
        study_file: None,
    };
    let mut left = Left::default();
    for language in others() {
        for (name, world) in worlds() {
            let page = language.scope(|| report::html(&analysis(&world), &meta));
            for id in SECTIONS {
                let texts = section(&page, id);
                let place = format!("{} {name} {id}", language.code());
                assert!(id != "answer" || !texts.is_empty(), "{place}");
                texts.iter().for_each(|text| left.check(&place, text));
            }
        }
    }
    left.is_empty();
}

#[test]
fn english_would_be_found() {
    assert_eq!(english_in("image takes 2× as long as `of`"), None);
    assert_eq!(english_in("8 runs"), Some("runs"));
    assert_eq!(english_in("o custo é the same"), Some("the"));
}

#[test]
fn numbers_and_money_follow_the_language() {
    let check = |language: Language, expected: &[&str]| {
        let world = Recipe::default().world();
        let said = language.scope(|| terminal(&analysis(&world), &wide()));
        for part in expected {
            assert!(said.contains(part), "{language:?} lacks {part}:\n{said}");
        }
    };
    check(Language::English, &["What decides the time", "US$ 0."]);
    check(
        Language::Portuguese,
        &["O que decide", "US$ 0,", "× o valor de"],
    );
    check(Language::Spanish, &["Qué decide", " US$", "× el valor de"]);
    check(
        Language::Russian,
        &["Что определяет", " US$", "от значения для"],
    );
}

/// Keys and columns are for programs.
#[test]
fn tables_for_programs_are_the_same_in_all_languages() {
    let world = Recipe::default().world();
    let meta = report::ReportMeta {
        generated: model::Timestamp::from_second(1_710_000_000).unwrap(),
        bancada_version: "0.1.0",
        command: None,
        study_file: None,
    };
    let exported = |language: Language, name: &str| {
        language.scope(|| {
            let what = report::Exported {
                analysis: &analysis(&world),
                meta: &meta,
                steps: &|_| Vec::new(),
                folder_uri: "",
            };
            let table = report::TABLES.iter().find(|table| table.name == name);
            report::export(&what, &report::FORMATS[0], table)
        })
    };
    for language in others() {
        for table in ["runs", "scenarios"] {
            assert_eq!(
                exported(language, table),
                exported(Language::English, table)
            );
        }
    }
}
