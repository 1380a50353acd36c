//! `hosts` and `launch` of an environment.

use model::Hosts;
use model::hosts::HOST_PLACE;
use source::{Diagnostic, Located, Problems, Table};

use super::take;

pub(super) fn read(table: &Table<'_>, problems: &mut Problems) -> Option<Located<Hosts>> {
    let launch = table.get("launch").map(|value| {
        let words = take::texts(&value, "launch", problems);
        if !words.iter().any(|word| word.value.contains(HOST_PLACE)) {
            let nowhere = Diagnostic::at(value.span, "`launch` does not contain {host}");
            problems.push(nowhere.label("such as [\"ssh\", \"{host}\"]"));
        }
        words
    });
    let Some(value) = table.get("hosts") else {
        if let Some(span) = table.key_span("launch") {
            let message = "`launch` has no effect without `hosts`";
            problems.push(Diagnostic::at(span, message).label("add hosts = [\"…\", \"…\"]"));
        }
        return None;
    };
    let names = take::texts(&value, "hosts", problems);
    check_names(&names, problems);
    if names.len() < 2 {
        if value.kind() == "array" {
            let few = Diagnostic::at(value.span, "`hosts` needs at least two machines");
            problems.push(few.label("the first is this machine"));
        }
        return None;
    }
    let texts = |words: Vec<Located<String>>| words.into_iter().map(|word| word.value).collect();
    Some(Located {
        value: Hosts {
            names: texts(names),
            launch: launch.map_or_else(Hosts::by_ssh, texts),
        },
        span: value.span,
    })
}

fn check_names(names: &[Located<String>], problems: &mut Problems) {
    for (place, name) in names.iter().enumerate() {
        let text = name.value.as_str();
        let is_odd = |c: char| c.is_whitespace() || c.is_control();
        // One that begins with a dash would be an option of the program that is to reach it.
        if text.is_empty() || text.starts_with('-') || text.contains(is_odd) {
            let message = format!("`{}` is not a valid host name", text.escape_debug());
            problems.push(Diagnostic::at(name.span.clone(), message));
        }
        if let Some(first) = names[..place].iter().find(|other| other.value == text) {
            let message = format!("host `{text}` is listed twice");
            let twice = Diagnostic::at(name.span.clone(), message);
            let several = "if there are more `workers` than hosts, a host gets several";
            problems.push(
                twice
                    .other(first.span.clone(), "first listed here")
                    .note(several),
            );
        }
    }
}
