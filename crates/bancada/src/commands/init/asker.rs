//! Questions, one line each.

use std::io::{self, BufRead, Write};

/// The person has gone: nothing is written.
#[derive(Debug)]
pub(super) struct Gone;

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum Left {
    Gone,
    /// To the question before.
    Back,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) ask: &'a str,
    /// What an empty line means.
    pub(super) default: &'a str,
    /// Printed for `?`.
    pub(super) help: &'a str,
}

pub(super) struct Asker<'a> {
    pub(super) input: &'a mut dyn BufRead,
    pub(super) output: &'a mut dyn Write,
}

impl Asker<'_> {
    pub(super) fn say(&mut self, line: &str) {
        // Who cannot read the questions will see that no file was written.
        _ = writeln!(self.output, "{line}");
    }

    /// Asks until the answer is taken; what is wrong with it is said.
    pub(super) fn ask<T>(
        &mut self,
        question: Question<'_>,
        mut take: impl FnMut(&str) -> Result<T, String>,
    ) -> Result<T, Left> {
        loop {
            let default = match question.default {
                "" => String::new(),
                default => format!(" [{default}]"),
            };
            _ = write!(self.output, "  {}{default}: ", question.ask);
            _ = self.output.flush();
            let line = self.line()?;
            let answer = match line.trim() {
                "?" => {
                    self.say(&indented(question.help));
                    continue;
                }
                "back" => return Err(Left::Back),
                "" => question.default,
                typed => typed,
            };
            match take(answer) {
                Ok(taken) => return Ok(taken),
                Err(why) => self.say(&indented(&why)),
            }
        }
    }

    fn line(&mut self) -> Result<String, Left> {
        let mut line = String::new();
        loop {
            match self.input.read_line(&mut line) {
                Ok(0) | Err(_) if line.is_empty() => return Err(Left::Gone),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => return Ok(line),
            }
        }
    }
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| format!("    {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// `32, 64` and `32 64` are two words.
pub(super) fn words(answer: &str) -> Vec<String> {
    let words = answer.split(|c: char| c == ',' || c.is_whitespace());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(typed: &str) -> (Result<u32, Left>, String) {
        let mut input = typed.as_bytes();
        let mut output = Vec::new();
        let mut asker = Asker {
            input: &mut input,
            output: &mut output,
        };
        let question = Question {
            ask: "how many",
            default: "5",
            help: "a number",
        };
        let take = |answer: &str| answer.parse().map_err(|_| format!("`{answer}` is none"));
        let number = asker.ask(question, take);
        (number, String::from_utf8(output).unwrap())
    }

    #[test]
    fn a_question_is_asked_until_its_answer_is_taken() {
        assert_eq!(asked("7\n").0.unwrap(), 7);
        assert_eq!(asked("\n").0.unwrap(), 5);
        let (number, said) = asked("seven\n?\n 8 \n");
        assert_eq!(number.unwrap(), 8);
        assert!(said.contains("    `seven` is none\n") && said.contains("    a number\n"));
        assert!(matches!(asked("x\nback\n7\n").0, Err(Left::Back)));
        assert!(asked("x\n").0.is_err());
        assert!(asked("").0.is_err());
    }

    #[test]
    fn lists_are_typed_with_commas_or_spaces() {
        assert_eq!(words(" 32,64  128, "), ["32", "64", "128"]);
    }
}
