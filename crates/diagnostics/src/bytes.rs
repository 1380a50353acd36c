//! Bytes of a user's file → its text, or the end of a sentence on why it is not text.

/// No study, network or price file is larger; what is was not written by a person.
pub const LARGEST_TEXT_BYTES: u64 = 16 * 1024 * 1024;

/// Without the byte order mark that some editors put in front of UTF-8.
pub fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    let zeros_at = |parity: usize| {
        let (_, zeros): (Vec<usize>, Vec<usize>) =
            (0..bytes.len().min(64)).partition(|place| bytes[*place] != 0);
        !zeros.is_empty() && zeros.iter().all(|place| place % 2 == parity)
    };
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if is_utf16 || zeros_at(0) || zeros_at(1) {
        return Err(
            "it is UTF-16, not UTF-8: save it as UTF-8 (iconv -f UTF-16 -t UTF-8 does it)"
                .to_owned(),
        );
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let before = &error.as_bytes()[..good];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(format!("it is not UTF-8 text (line {line})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf_8() {
        let check = |bytes: &[u8], expected: Result<&str, &str>| {
            let got = text_of(bytes.to_vec());
            match expected {
                Ok(text) => assert_eq!(got.as_deref(), Ok(text)),
                Err(word) => {
                    let message = got.expect_err("bad bytes");
                    assert!(message.contains(word), "{message}");
                }
            }
        };
        check(b"a = 1", Ok("a = 1"));
        check(b"", Ok(""));
        check(b"\xef\xbb\xbfa = 1", Ok("a = 1"));
        check(b"\xff\xfea\0 \0=\0", Err("UTF-16"));
        check(b"a\0 \0=\0", Err("UTF-16"));
        check(b"a\nb\n\xff", Err("line 3"));
    }
}
