//! What is meant by arguments that are not understood.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands that start another one.
const STARTING: [&str; 2] = ["watch", "time"];

/// Another command is to be typed behind `--`.
pub(crate) fn with_tip(mut error: clap::Error) -> clap::Error {
    let typed = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let typed: Vec<String> = typed.skip(1).collect();
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(unknown)) => unknown.clone(),
        _ => return error,
    };
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(meant) = meant(&typed, &unknown)
    {
        let tip = format!("type the command after `--`: bancada {meant}");
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

fn meant(typed: &[String], unknown: &str) -> Option<String> {
    let starts = typed
        .first()
        .is_some_and(|command| STARTING.contains(&command.as_str()));
    let at = typed.iter().position(|word| word == unknown)?;
    if !starts || unknown.starts_with('-') || typed.iter().any(|word| word == "--") {
        return None;
    }
    let (ours, command) = typed.split_at(at);
    Some(format!("{} -- {}", ours.join(" "), command.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_its_mark_is_recognised() {
        let check = |typed: &str, unknown: &str, expected: Option<&str>| {
            let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
            assert_eq!(meant(&typed, unknown).as_deref(), expected, "{typed:?}");
        };
        let meant = "watch --price X -- python3 x.py --epochs 3";
        check(
            "watch --price X python3 x.py --epochs 3",
            "python3",
            Some(meant),
        );
        check("watch --prize X -- python3", "--prize", None);
        check("watch --prize X", "--prize", None);
        check("run study.toml more", "more", None);
    }
}
