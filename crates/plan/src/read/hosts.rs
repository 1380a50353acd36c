//! `hosts` and `launch` of an environment.

use diagnostics::{Diagnostic, Located, Problems, Table};
use model::Hosts;
use model::hosts::HOST_PLACE;

use super::take;

pub(super) fn read(table: &Table<'_>) -> Option<Located<Hosts>> {
    let launch = table.get("launch").map(|value| {
        let words = take::texts(&value, "launch");
        if !words.iter().any(|word| word.value.contains(HOST_PLACE)) {
            let nowhere = value.wrong("`launch` does not contain {host}");
            table.complain(nowhere.label("such as [\"ssh\", \"{host}\"]"));
        }
        words
    });
    let Some(value) = table.get("hosts") else {
        if let Some(span) = table.key_span("launch") {
            let message = "`launch` has no effect without `hosts`";
            table.complain(Diagnostic::at(span, message).label("add hosts = [\"…\", \"…\"]"));
        }
        return None;
    };
    let names = take::texts(&value, "hosts");
    let several = "if there are more `workers` than hosts, a host gets several";
    check_names(&names, Some(several), table.problems);
    if names.len() < 2 {
        if value.kind() == "array" {
            let few = value.wrong("`hosts` needs at least two machines");
            table.complain(few.label("the first is this machine"));
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

pub(super) fn check_names(
    names: &[Located<String>],
    note_on_twice: Option<&str>,
    problems: &Problems,
) {
    for (place, name) in names.iter().enumerate() {
        let text = name.value.as_str();
        let is_odd = |c: char| c.is_whitespace() || c.is_control();
        // One that begins with a dash would be an option of the program that is to reach it.
        if text.is_empty() || text.starts_with('-') || text.contains(is_odd) {
            let message = format!("`{}` is not a valid host name", text.escape_debug());
            problems.push(name.wrong(message));
        }
        if let Some(first) = names[..place].iter().find(|other| other.value == text) {
            let message = format!("host `{text}` is listed twice");
            let twice = name.wrong(message);
            let twice = twice.other(first.span.clone(), "first listed here");
            problems.push(match note_on_twice {
                Some(note) => twice.note(note),
                None => twice,
            });
        }
    }
}
