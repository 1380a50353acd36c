//! Output cut into updates: what a person would see appear at once.

/// No bar is longer; of a longer line only its beginning is looked at.
const MOST_BYTES: usize = 4096;

/// Lines end with a newline; bars are drawn over with a carriage return, backspaces or movements of
/// the cursor. Colours are left out.
#[derive(Debug, Default)]
pub struct Cutter {
    begun: Vec<u8>,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Escape,
    /// `ESC [ … letter`.
    Control,
    /// `ESC ] … BEL` or `… ESC \`.
    Title,
    TitleEscape,
}

impl Cutter {
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for byte in bytes {
            if self.takes(*byte) {
                if self.begun.len() < MOST_BYTES {
                    self.begun.push(*byte);
                }
            } else if self.is_between(*byte) {
                self.end(&mut each);
            }
        }
    }

    /// What came after the last end of an update.
    pub fn begun(&self) -> String {
        String::from_utf8_lossy(&self.begun).into_owned()
    }

    pub fn finish(&mut self, mut each: impl FnMut(&str)) {
        self.end(&mut each);
    }

    fn end(&mut self, each: &mut impl FnMut(&str)) {
        if self.begun.iter().any(|byte| *byte != b' ') {
            each(&String::from_utf8_lossy(&self.begun));
        }
        self.begun.clear();
    }

    /// Whether a byte is text.
    fn takes(&mut self, byte: u8) -> bool {
        let (state, is_text) = match (self.state, byte) {
            (State::TitleEscape, _) => (State::Text, false),
            (State::Title, 0x1b) => (State::TitleEscape, false),
            (State::Title, 0x07) => (State::Text, false),
            (State::Title, _) => (State::Title, false),
            (_, 0x1b) => (State::Escape, false),
            (State::Text, byte) => (State::Text, byte >= b' ' || byte == b'\t'),
            (State::Escape, b'[') => (State::Control, false),
            (State::Escape, b']') => (State::Title, false),
            (State::Escape, _) => (State::Text, false),
            (State::Control, 0x40..=0x7e) => (State::Text, false),
            (State::Control, _) => (State::Control, false),
        };
        self.state = state;
        is_text
    }

    /// Of a byte that is not text: colours (`m`) do not end an update, what they are written with
    /// neither.
    fn is_between(&self, byte: u8) -> bool {
        match byte {
            b'\n' | b'\r' | 0x08 => true,
            // The last byte of a movement of the cursor, or of erasing.
            b'A'..=b'K' => self.state == State::Text,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(chunks: &[&[u8]]) -> Vec<String> {
        let (mut cutter, mut seen) = (Cutter::default(), Vec::new());
        for chunk in chunks {
            cutter.push(chunk, |update| seen.push(update.to_owned()));
        }
        cutter.finish(|update| seen.push(update.to_owned()));
        seen
    }

    #[test]
    fn updates_end_where_a_person_sees_them_end() {
        let check = |chunks: &[&str], expected: &[&str]| {
            let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
            assert_eq!(cut(&chunks), expected);
        };
        check(&["one\ntwo\n"], &["one", "two"]);
        check(&["\r 5%|", "\r10%|\r\n"], &[" 5%|", "10%|"]);
        check(&["a\x1b[A\rb\x1b[2Kc"], &["a", "b", "c"]);
        check(&["\x1b[1m 1/16\x1b[0m \x1b[32m━\x1b", "[0m"], &[" 1/16 ━"]);
        check(&["a\x08\x08\x08b"], &["a", "b"]);
        check(
            &["\x1b]0;title A\x07text\x1b]0;x\x1b\\ more"],
            &["text more"],
        );
        check(&["   \r\n", "ABC"], &["ABC"]);
    }

    #[test]
    fn a_long_line_is_cut_off() {
        let long = vec![b'x'; 1_000_000];
        assert_eq!(
            cut(&[&long, b"\nnext"]),
            ["x".repeat(MOST_BYTES), "next".to_owned()]
        );
    }

    proptest! {
        #[test]
        fn where_chunks_end_changes_nothing(
            bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0usize..300,
        ) {
            let (head, tail) = bytes.split_at(at.min(bytes.len()));
            prop_assert_eq!(cut(&[head, tail]), cut(&[&bytes]));
        }
    }
}
