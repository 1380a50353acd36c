//! Text files written by users: read with positions, and diagnosed with line and caret.
//!
//! TOML is read through [`Table`] and [`Value`], which know the position of everything; errors are
//! collected in [`Problems`], so that all errors of a file are reported at once.

mod bytes;
mod diagnostic;
mod file;
mod grammar;
mod mistakes;
mod reader;
mod rows;
pub mod screen;

pub use bytes::{LARGEST_TEXT_BYTES, text_of};
pub use diagnostic::{Diagnostic, MOST_SHOWN, Problems, Source, Style, few_of};
pub use file::read_text;
pub use mistakes::Mistakes;
pub use reader::{Located, Span, Table, Value, parse};
pub use rows::row_line;

/// Names are shorter than this; comparing longer ones letter by letter would take long.
const LONGEST_WORD: usize = 100;

/// The known word that was probably meant: at most a third of the letters differ. Numbers are never
/// suggested, nor anything for a number: 7 is no misspelt 1.
pub fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    if word.len() > LONGEST_WORD || is_number(word) {
        return None;
    }
    let lower = word.to_lowercase();
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST_WORD && !is_number(candidate))
        // A swap of neighbours counts one.
        .map(|candidate| {
            (
                strsim::osa_distance(&lower, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_finds_what_was_meant_and_nothing_far() {
        let known = ["rede1", "rede2", "lenet5", "googlenet"];
        let check = |word, expected| assert_eq!(closest(word, known), expected, "{word}");
        check("redee1", Some("rede1"));
        check("Rede2", Some("rede2"));
        check("googelnet", Some("googlenet"));
        check("bert", None);
        check("", None);
        check(&"rede1".repeat(20_000), None);
        let check = |word, expected| assert_eq!(closest(word, ["1", "2", "a1"]), expected);
        check("7", None);
        check("A1", Some("a1"));
    }
}
