//! A command and the factors that are to vary it.

use diagnostics::{Diagnostic, Located, Problems};

use crate::placeholder::{Piece, pieces};
use crate::read::{Draft, DraftCommand};
use crate::resolve::{CORES, ENVIRONMENT, MEMORY};

pub(super) fn check(draft: &Draft, command: &DraftCommand, problems: &Problems) {
    let factors: Vec<&str> = draft
        .factors
        .iter()
        .map(|f| f.name.value.as_str())
        .collect();
    let mut used: Vec<&str> = vec![ENVIRONMENT, CORES, MEMORY];
    for text in texts(command).filter(|text| text.value.contains('\0')) {
        let message = "arguments of a program cannot contain the character NUL (U+0000)";
        problems.push(text.wrong(message));
    }
    // Inputs may have levels in their names, but change nothing by themselves.
    let inputs = command.inputs.iter().map(|text| (text, false));
    for (text, changes) in texts(command).map(|text| (text, true)).chain(inputs) {
        for piece in pieces(&text.value, |name| factors.contains(&name)) {
            let Piece::Placeholder { name, .. } = piece else {
                continue;
            };
            if !factors.contains(&name) {
                let known = factors.iter().copied();
                let unknown =
                    Diagnostic::unknown("factor in braces", name, text.span.clone(), known);
                problems.push(unknown.note(format!("for literal braces write {{{{{name}}}}}")));
            }
            if changes {
                used.push(name);
            }
        }
    }
    // A command that could not be read may well have used them.
    if command.command.is_empty() {
        return;
    }
    for factor in draft
        .factors
        .iter()
        .filter(|f| !used.contains(&f.name.value.as_str()))
    {
        let name = &factor.name.value;
        problems.push(
            factor
                .name
                .wrong(format!("factor `{name}` has no effect"))
                .label(format!(
                    "use {{{name}}} in the command, its env or its directory"
                ))
                .other(command.span.clone(), "does not mention it"),
        );
    }
}

/// Every text in which levels are put.
fn texts(command: &DraftCommand) -> impl Iterator<Item = &Located<String>> {
    let variables = command.env.iter().map(|v| &v.value);
    command
        .command
        .iter()
        .chain(variables)
        .chain(&command.directory)
}
