//! No English is left in what another language says.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../../analyse/tests/common/mod.rs"]
mod common;

use std::collections::BTreeSet;

use common::{Recipe, World, analysis, serving, studies};
use messages::Language;
use model::money::RuleOrigin;
use model::{Level, Status, Warning};
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
const NOT_OURS: &[&str] = &[
    "method", "detail", "cause", "source", "since", "bill", "bills",
];

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
        ("serving", serving::world()),
    ];
    let always = RuleOrigin {
        name: "x".to_owned(),
        since: RuleOrigin::SINCE_EVER.to_owned(),
        source: "x".to_owned(),
    };
    for (_, world) in &mut worlds {
        for price in world.records.iter_mut().flat_map(|r| &mut r.price) {
            price.billing.origin = Some(always.clone());
        }
        unnamed(world);
    }
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

fn meta() -> report::ReportMeta<'static> {
    report::ReportMeta {
        generated: model::Timestamp::from_second(1_710_000_000).unwrap(),
        bancada_version: "0.1.0",
        command: Some("bancada report x"),
        study_file: Some("name = \"x\"\n"),
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

/// What a reader of a page sees or hears: text, tooltips, labels, and what points of figures say.
fn texts(page: &str) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    let mut rest = page;
    while let Some((text, tag)) = rest.split_once('<') {
        texts.insert(text.replace("&nbsp;", " ").trim().to_owned());
        let (tag, after) = tag.split_once('>').unwrap_or((tag, ""));
        for name in [" title=\"", " aria-label=\""] {
            let value = tag.split(name).nth(1).and_then(|v| v.split('"').next());
            texts.extend(value.map(str::to_owned));
        }
        rest = after;
        for unseen in ["script", "style", "code", "pre"] {
            if tag.split(' ').next() == Some(unseen) {
                let (inside, after) = rest.split_once(&format!("</{unseen}>")).unwrap();
                if tag.contains("figure-data") {
                    said(&serde_json::from_str(inside).unwrap(), &mut texts);
                }
                rest = after;
            }
        }
    }
    texts
}

fn said(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => texts.extend(text.lines().map(str::to_owned)),
        Value::Array(all) => all.iter().for_each(|one| said(one, texts)),
        Value::Object(fields) => fields.values().for_each(|one| said(one, texts)),
        _ => {}
    }
}

/// What the study calls its factors, levels and environments.
fn names(world: &World) -> BTreeSet<String> {
    let factors = world.study.factors.iter();
    let levels = factors.flat_map(|f| {
        f.levels
            .iter()
            .map(|l| l.to_string())
            .chain([f.name.clone()])
    });
    let environments = world.study.environments.iter().map(|e| e.name.clone());
    let own = levels.chain(environments);
    own.flat_map(|name| words(&name).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphabetic());
    words.filter(|word| word.chars().count() > 1)
}

/// Texts with this in them stand on a page as they are, and why.
const SAME: &[(&str, &str)] = &[
    ("bancada.bib", "a file"),
    ("commands.sh", "a file"),
    ("study.toml", "a file"),
    ("engine 0.1.0", "versions of programs"),
    ("Debian GNU/Linux", "what the machine says of itself"),
    ("Microsoft Hyper-V", "what the machine says of itself"),
    ("azure/Standard_", "a machine of a provider"),
    ("whole run", "a line of a stored bill"),
    ("rounding up to", "a line of a stored bill"),
    ("Conv2DBackprop", "an operator of a framework"),
    ("MEMCPYHtoD", "an operator of a framework"),
];

/// Neither a word of English grammar, nor a text of several words that is the English one.
#[test]
fn a_page_speaks_its_language() {
    let meta = meta();
    let mut left = Left::default();
    for (name, world) in worlds() {
        let page = |language: Language| {
            let mut texts = language.scope(|| texts(&report::html(&analysis(&world), &meta)));
            texts.retain(|text| !SAME.iter().any(|(same, _)| text.contains(same)));
            texts
        };
        let english = page(Language::English);
        let names = names(&world);
        let is_sentence =
            |text: &str| words(text).filter(|word| !names.contains(*word)).count() > 1;
        for language in others() {
            let place = format!("{} {name}", language.code());
            for text in page(language) {
                if english.contains(&text) && is_sentence(&text) {
                    left.0.insert(format!("{place}: as in English: {text}"));
                }
                left.check(&place, &text);
            }
        }
    }
    left.is_empty();
}

#[test]
fn markdown_speaks_its_language() {
    let meta = meta();
    let mut left = Left::default();
    for language in others() {
        for (name, world) in worlds() {
            let text = language.scope(|| report::markdown(&analysis(&world), &meta));
            let place = format!("{} {name}", language.code());
            text.lines().for_each(|line| left.check(&place, line));
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
    let meta = meta();
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

/// Of clients, whose name is no phase's.
fn loaded_by_clients() -> World {
    let mut world = serving::world();
    let warm = Level::Text("warm".to_owned());
    let clients = Level::Text("clients".to_owned());
    let rename = |level: &mut Level| {
        if *level == warm {
            *level = clients.clone();
        }
    };
    let factors = world.study.factors.iter_mut();
    factors
        .flat_map(|factor| &mut factor.levels)
        .for_each(rename);
    let planned = world.plan.scenarios.iter_mut();
    let measured = world.records.iter_mut().map(|record| &mut record.scenario);
    let scenarios = planned.chain(measured);
    let levels = scenarios.flat_map(|scenario| &mut scenario.levels);
    levels.for_each(|of| rename(&mut of.level));
    world
}

#[test]
fn kinds_of_load_are_said_in_the_language() {
    for (language, word) in [
        (Language::Portuguese, "clientes"),
        (Language::Spanish, "clientes"),
        (Language::Russian, "клиенты"),
    ] {
        let page = language.scope(|| report::html(&analysis(&loaded_by_clients()), &meta()));
        assert!(texts(&page).contains(word), "{}", language.code());
    }
}
