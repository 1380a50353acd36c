//! Lines of rows in tables.

/// The line on which a row of a CSV file begins, from the byte and the line at which its reader
/// began to look for it. That is the end of the row before: with lines that end in CRLF it is
/// still on the line before, and empty lines may follow. `comment` is how lines begin that the
/// reader passes over.
pub fn row_line(text: &str, byte: u64, line: u64, comment: Option<u8>) -> u64 {
    let begin = usize::try_from(byte).unwrap_or(usize::MAX);
    let mut rest = text.as_bytes().get(begin..).unwrap_or_default();
    let mut line = line;
    loop {
        let passed = match rest.first() {
            Some(b'\n') => {
                line += 1;
                1
            }
            Some(b'\r') => 1,
            // Up to its line break, which is counted next.
            Some(first) if Some(*first) == comment => {
                let end = rest.iter().position(|byte| *byte == b'\n');
                end.unwrap_or(rest.len())
            }
            _ => return line,
        };
        rest = rest.get(passed..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_after_what_the_reader_passes_over() {
        let check = |text: &str, byte: u64, expected: u64| {
            assert_eq!(row_line(text, byte, 1, Some(b'#')), expected, "{text:?}");
        };
        check("a\nb", 2, 1);
        check("a\r\nb", 2, 2);
        check("a\r\n\r\n\nb", 2, 4);
        check("a\r\n# c\r\n#d\nb", 2, 4);
        check("#", 0, 1);
        check("a", 9, 1);
    }
}
