//! Each level by itself: is it of the right type, is it a known word, is it in range?

use diagnostics::{Diagnostic, Located, Problems};
use model::{Factor, Level};

use super::networks::Networks;
use crate::field::{Field, FieldKind, find_field};
use crate::placeholder::{Piece, pieces};
use crate::read::{Draft, DraftFactor, DraftServe, DraftTrain, DraftWorkload, FieldValue};
use crate::resolve::{CORES, ENVIRONMENT, MEMORY};
use crate::{serve, train, values};

/// The factors with their usable levels.
pub(super) fn check(draft: &Draft, networks: &mut Networks, problems: &Problems) -> Vec<Factor> {
    let mut factors = Vec::new();
    for factor in &draft.factors {
        let meaning = meaning(draft, factor, problems);
        let mut usable = Vec::new();
        for level in &factor.levels {
            if check_level(draft, &meaning, level, networks, problems) {
                usable.push(level.value.clone());
            }
        }
        if factor.name.value == "framework" && draft.train().is_some() {
            check_versions(factor, problems);
        }
        factors.push(Factor {
            name: factor.name.value.clone(),
            levels: usable,
        });
    }
    factors
}

/// A version that is written out and the one that is meant without are one level.
fn check_versions(factor: &DraftFactor, problems: &Problems) {
    let mut known: Vec<(String, &Located<Level>)> = Vec::new();
    for level in &factor.levels {
        let spec = level.value.as_text().map(frameworks::Spec::parse);
        let Some(Ok(spec)) = spec else { continue };
        let spec = spec.to_string();
        match known.iter().find(|(other, _)| *other == spec) {
            Some((_, first)) => {
                let message = format!("level `{}` of `framework` is listed twice", level.value);
                let twice = level.wrong(message);
                let same = format!("`{}` is that version", first.value);
                problems.push(twice.other(first.span.clone(), same));
            }
            None => known.push((spec, level)),
        }
    }
}

/// The usable values of `[workload]`; and whether what must be known is known at all.
pub(super) fn check_train<'d>(
    draft: &Draft,
    train: &'d DraftTrain,
    networks: &mut Networks,
    problems: &Problems,
) -> Vec<&'d FieldValue> {
    if draft.place("network").is_none() {
        let missing = Diagnostic::at(train.span.clone(), "`network` is missing");
        let missing = missing.label("add network = \"rede1\" here, or a factor `network`");
        problems.push(missing.note(format!("known: {}", list(network::names()))));
    }
    check_momentum(draft, problems);
    usable(draft, &train.values, train::FIELDS, networks, problems)
}

/// The same for a workload that serves.
pub(super) fn check_serve<'d>(
    draft: &Draft,
    serve: &'d DraftServe,
    networks: &mut Networks,
    problems: &Problems,
) -> Vec<&'d FieldValue> {
    if draft.place("model").is_none() && super::serving::needs_model(draft) {
        let missing = Diagnostic::at(serve.span.clone(), "`model` is missing");
        let missing = missing.label("add model = \"mobilenet\" here, or a factor `model`");
        problems.push(missing.note(format!("known: {}", list(network::names()))));
    }
    usable(draft, &serve.values, serve::FIELDS, networks, problems)
}

pub(super) fn usable<'d>(
    draft: &Draft,
    values: &'d [FieldValue],
    fields: &'static [Field],
    networks: &mut Networks,
    problems: &Problems,
) -> Vec<&'d FieldValue> {
    let is_usable = |value: &&FieldValue| {
        let field = find_field(fields, value.field);
        let meaning = field.map_or(Meaning::Nothing, Meaning::Field);
        check_level(draft, &meaning, &value.level, networks, problems)
    };
    values.iter().filter(is_usable).collect()
}

/// What the levels of a factor act on.
enum Meaning {
    Environment,
    Cores,
    Memory,
    Field(&'static Field),
    /// Put into the user's command.
    Placeholder,
    /// Told already, or not to be known.
    Nothing,
}

fn meaning(draft: &Draft, factor: &DraftFactor, problems: &Problems) -> Meaning {
    let name = factor.name.value.as_str();
    match (name, &draft.workload) {
        (ENVIRONMENT, _) => Meaning::Environment,
        (CORES, _) => Meaning::Cores,
        (MEMORY, _) => Meaning::Memory,
        (_, None) => Meaning::Nothing,
        (_, Some(workload)) => workload_meaning(draft, workload, factor, problems),
    }
}

fn workload_meaning(
    draft: &Draft,
    workload: &DraftWorkload,
    factor: &DraftFactor,
    problems: &Problems,
) -> Meaning {
    let name = factor.name.value.as_str();
    let Some(fields) = workload.fields() else {
        return Meaning::Placeholder;
    };
    if let Some(field) = find_field(fields, name) {
        return Meaning::Field(field);
    }
    if workload.mentions(name) || super::serving::is_open(draft) {
        return Meaning::Placeholder;
    }
    let own = [ENVIRONMENT, CORES, MEMORY];
    let known = own.into_iter().chain(fields.iter().map(|f| f.name));
    let kind = format!("factor of a {} workload", workload.activity());
    let span = factor.name.span.clone();
    problems.push(Diagnostic::unknown(&kind, name, span, known));
    Meaning::Nothing
}

fn check_level(
    draft: &Draft,
    meaning: &Meaning,
    level: &Located<Level>,
    networks: &mut Networks,
    problems: &Problems,
) -> bool {
    let complaint = match meaning {
        Meaning::Environment => super::environments::complaint(draft, level),
        Meaning::Cores => {
            let max = crate::read::MAX_CORES;
            let number = level.value.as_float();
            let fits = number.is_some_and(|cores| cores > 0.0 && cores <= max);
            let message = format!("a level of `cores` must be above 0 and at most {max}");
            (!fits).then(|| level.wrong(message))
        }
        Meaning::Memory => memory_complaint(level),
        Meaning::Field(field) => return check_field(draft, field, level, networks, problems),
        Meaning::Placeholder | Meaning::Nothing => None,
    };
    let fine = complaint.is_none();
    complaint.into_iter().for_each(|c| problems.push(c));
    fine
}

fn check_field(
    draft: &Draft,
    field: &Field,
    level: &Located<Level>,
    networks: &mut Networks,
    problems: &Problems,
) -> bool {
    let name = field.name;
    let must_be = |fits: bool, what: &str| {
        let message = format!("`{name}` must be {what}");
        (!fits).then(|| level.wrong(message))
    };
    let needs = |what: &str| must_be(false, what);
    let is = |fits: fn(f64) -> bool| level.value.as_float().is_some_and(fits);
    let complaint = match (field.kind, &level.value) {
        (FieldKind::Count(most), value) => {
            let fits = value
                .as_int()
                .is_some_and(|v| (1..=i64::from(most)).contains(&v));
            must_be(fits, &format!("a whole number from 1 to {most}"))
        }
        (FieldKind::LearningRate, _) => {
            must_be(is(|v| v > 0.0 && v <= 1000.0), "above 0 and at most 1000")
        }
        (FieldKind::Momentum, _) => must_be(is(|v| (0.0..1.0).contains(&v)), "from 0 to below 1"),
        (FieldKind::Rate, _) => must_be(
            is(|v| v > 0.0 && v <= 1e6),
            "above 0 and at most a million a second",
        ),
        (FieldKind::Duration, Level::Text(text)) => values::duration_seconds(text)
            .err()
            .map(|message| level.wrong(message)),
        (FieldKind::Duration, _) => needs("a duration in quotes, such as \"5s\""),
        (FieldKind::Flag, Level::Bool(_)) => None,
        (FieldKind::Flag, _) => needs("true or false"),
        (_, Level::Text(text)) if text.is_empty() => needs("a non-empty string"),
        (FieldKind::Framework, Level::Text(text)) => match frameworks::Spec::parse(text) {
            Ok(spec) => unknown_unless_in("framework", spec.name(), level, frameworks::names()),
            Err(error) => Some(framework_complaint(text, &error, level)),
        },
        (FieldKind::Dataset, Level::Text(text)) => {
            unknown_unless_in("dataset", text, level, data::names())
        }
        (FieldKind::Optimizer, Level::Text(text)) => {
            unknown_unless_in("optimizer", text, level, train::OPTIMIZERS.iter().copied())
        }
        (FieldKind::Words(words), Level::Text(text)) => {
            unknown_unless_in(name, text, level, words.iter().copied())
        }
        (FieldKind::Stack | FieldKind::Model, Level::Text(_)) if super::serving::is_open(draft) => {
            None
        }
        (FieldKind::Stack, Level::Text(text)) => {
            unknown_unless_in("stack", text, level, serve::stacks())
        }
        (FieldKind::Model, Level::Text(text)) => networks.model_complaint(text, level.span.clone()),
        (FieldKind::Bodies | FieldKind::Trace, Level::Text(text)) => {
            networks.sent_complaint(field, text, level.span.clone())
        }
        (FieldKind::Network, Level::Text(text)) => networks.complaint(text, level.span.clone()),
        (FieldKind::Text, Level::Text(text)) if name == "data_dir" => {
            path_complaint(draft, text, level)
        }
        (FieldKind::Text, Level::Text(text)) if name == "device" => {
            let wrong = values::device_complaint(text);
            wrong.map(|wrong| level.wrong(wrong))
        }
        (FieldKind::Text, Level::Text(_)) => None,
        (_, _) => needs("a string in quotes"),
    };
    let fine = complaint.is_none();
    complaint.into_iter().for_each(|c| problems.push(c));
    fine
}

fn memory_complaint(level: &Located<Level>) -> Option<Diagnostic> {
    let complaint = match level.value.as_text().map(values::size_bytes) {
        Some(Ok(_)) => return None,
        Some(Err(message)) => message,
        None => "a level of `memory` must be a size such as \"8 GB\" or \"512 MiB\"".to_owned(),
    };
    Some(level.wrong(complaint))
}

/// `data_dir` may have placeholders, so that each dataset has its folder.
fn path_complaint(draft: &Draft, text: &str, level: &Located<Level>) -> Option<Diagnostic> {
    let known = || {
        draft
            .factors
            .iter()
            .map(|f| f.name.value.as_str())
            .chain(["dataset"])
    };
    let pieces = pieces(text, |name| known().any(|k| k == name));
    pieces.into_iter().find_map(|piece| match piece {
        Piece::Placeholder { name, .. } if !known().any(|k| k == name) => Some(
            Diagnostic::unknown("factor in braces", name, level.span.clone(), known()),
        ),
        _ => None,
    })
}

fn check_momentum(draft: &Draft, problems: &Problems) {
    let is_sgd = |level: &Level| level.as_text() == Some("sgd");
    let sgd = draft.levels("optimizer").into_iter().any(is_sgd);
    if let (false, Some(span)) = (sgd, draft.place("momentum")) {
        let useless = Diagnostic::at(span, "`momentum` has no effect with the optimizer adam");
        problems.push(useless.label("add optimizer = \"sgd\", or remove it"));
    }
}

fn unknown_unless_in(
    kind: &str,
    word: &str,
    level: &Located<Level>,
    known: impl Iterator<Item = &'static str> + Clone,
) -> Option<Diagnostic> {
    let found = known.clone().any(|k| k == word);
    (!found).then(|| Diagnostic::unknown(kind, word, level.span.clone(), known))
}

fn framework_complaint(
    text: &str,
    error: &frameworks::SpecError,
    level: &Located<Level>,
) -> Diagnostic {
    match error {
        frameworks::SpecError::UnknownName { .. } => {
            Diagnostic::unknown("framework", text, level.span.clone(), frameworks::names())
        }
        _ => level.wrong(error.message()).label(error.hint()),
    }
}

fn list(words: impl Iterator<Item = &'static str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
