//! `credential_process`: a program that prints credentials.

use std::process::{Command, Stdio};

use super::{Credentials, wire};

/// The error is the end of a sentence; what the program printed is not repeated.
pub(super) fn run(command_line: &str) -> Result<Credentials, String> {
    let words = words(command_line)?;
    let (program, arguments) = words.split_first().ok_or("is empty")?;
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        // A program that asks a person something does it there.
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("could not be started (`{program}`): {error}"))?;
    if !output.status.success() {
        return Err(format!("failed (`{program}`, {})", output.status));
    }
    wire::read(&output.stdout, "credential_process")
        .map_err(|why| format!("gave no credentials: {why}"))
}

/// A command line taken apart as a shell would, but without a shell: nothing is expanded.
fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = letters.next().ok_or("ends with a backslash")?;
                word.get_or_insert_default().push(next);
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err("has an unclosed quotation mark");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_taken_apart() {
        let check = |line: &str, expected: Result<Vec<&str>, &'static str>| {
            let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect());
            assert_eq!(words(line), expected, "{line}");
        };
        check("a  b", Ok(vec!["a", "b"]));
        check("\"a b\" 'c \"d' e\\ f", Ok(vec!["a b", "c \"d", "e f"]));
        check("a'b'\"c\" ''", Ok(vec!["abc", ""]));
        check("$HOME `x`", Ok(vec!["$HOME", "`x`"]));
        check("", Ok(vec![]));
        check("'a", Err("has an unclosed quotation mark"));
        check("a\\", Err("ends with a backslash"));
    }

    proptest::proptest! {
        #[test]
        fn quoted_words_come_back(given in proptest::collection::vec("[^']{0,10}", 0..5)) {
            let line: Vec<String> = given.iter().map(|word| format!("'{word}'")).collect();
            proptest::prop_assert_eq!(words(&line.join(" ")), Ok(given));
        }
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_run() {
        let json = r#"{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "hidden"}"#;
        let credentials = run(&format!("printf %s '{json}'")).unwrap();
        assert_eq!(credentials.access_key_id, "a");
        let problem = |line: &str| run(line).err().unwrap();
        assert!(problem("false").contains("failed"));
        assert!(problem("/nowhere/tool").contains("could not be started"));
        assert!(!problem("printf %s hidden").contains("hidden"));
        assert!(problem("").contains("empty"));
    }
}
