//! A server's error message for a failed request, as the end of a sentence.

use serde::Deserialize;

/// Of a body: more than a sentence needs, and little beside the buffers.
const KEPT_BYTES: usize = 4096;
const LONGEST_CHARACTERS: usize = 300;

/// The beginning of the body of an answer that is not ok.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    body: Vec<u8>,
}

/// The names under which servers of this kind say it: ours and FastAPI's, and the providers'.
#[derive(Deserialize)]
struct Said {
    error: Option<String>,
    detail: Option<String>,
    #[serde(alias = "Message")]
    message: Option<String>,
}

impl Complaint {
    pub(crate) fn clear(&mut self) {
        self.body.clear();
    }

    pub(crate) fn feed(&mut self, piece: &[u8]) {
        let room = KEPT_BYTES.saturating_sub(self.body.len());
        self.body.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// The sentence of a JSON object, or the first line of plain text; a page for browsers says nothing.
    pub(crate) fn sentence(&self) -> Option<String> {
        let text = std::str::from_utf8(&self.body).ok()?.trim();
        let said = match text.chars().next()? {
            '<' => return None,
            '{' => {
                let said: Said = serde_json::from_str(text).ok()?;
                said.error.or(said.detail).or(said.message)?
            }
            _ => text.lines().next()?.to_owned(),
        };
        // It is shown in a terminal: in one line, and without what moves the cursor.
        let words: Vec<&str> = said
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|w| !w.is_empty())
            .collect();
        let line = words.join(" ");
        Some(match line.char_indices().nth(LONGEST_CHARACTERS) {
            Some((end, _)) => format!("{} …", &line[..end]),
            None => line,
        })
        .filter(|line| !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: Option<&str>) {
        let mut complaint = Complaint::default();
        body.as_bytes()
            .chunks(7)
            .for_each(|piece| complaint.feed(piece));
        assert_eq!(complaint.sentence().as_deref(), expected, "{body}");
    }

    #[test]
    fn the_sentence_of_an_answer() {
        check(
            r#"{"error": "the body is no picture"}"#,
            Some("the body is no picture"),
        );
        check(r#"{"detail": "Not Found"}"#, Some("Not Found"));
        check(r#"{"Message": "denied", "code": 3}"#, Some("denied"));
        check("busy\ncome again", Some("busy"));
        check(
            r#"{"error": "two\nlines \u001b[2J"}"#,
            Some("two lines [2J"),
        );
    }

    #[test]
    fn what_says_nothing() {
        check("", None);
        check("  \n", None);
        check("<html><body>502</body></html>", None);
        check(r#"{"error": {"code": 1}}"#, None);
        check(r#"{"error": "cut off"#, None);
        let mut broken = Complaint::default();
        broken.feed(&[0xff, 0xfe]);
        assert_eq!(broken.sentence(), None);
    }

    #[test]
    fn an_endless_body_is_not_kept() {
        let mut complaint = Complaint::default();
        for _ in 0..1000 {
            complaint.feed(&[b'a'; 1000]);
        }
        assert_eq!(complaint.body.len(), KEPT_BYTES);
        let told = complaint.sentence().unwrap();
        assert_eq!(told.chars().count(), LONGEST_CHARACTERS + 2);
    }
}
