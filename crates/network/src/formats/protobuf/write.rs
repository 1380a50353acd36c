//! Messages, written.

use std::borrow::Cow;

use super::{FOUR_BYTES, LENGTH_DELIMITED, VARINT};
use crate::formats::error::FormatError;

/// Lengths are 32-bit with a sign in most readers, which refuse longer messages.
const LONGEST_BYTES: u64 = i32::MAX as u64;

/// A message being written. Large tensors are only referred to until [`Message::finish`], so that
/// putting a message into another copies no weights.
#[derive(Debug, Default)]
pub(crate) struct Message<'w> {
    parts: Vec<Part<'w>>,
    bytes: u64,
}

#[derive(Debug)]
enum Part<'w> {
    Bytes(Vec<u8>),
    Floats(Cow<'w, [f32]>),
}

impl Part<'_> {
    fn len_bytes(&self) -> usize {
        match self {
            Part::Bytes(bytes) => bytes.len(),
            Part::Floats(values) => 4 * values.len(),
        }
    }

    /// Into as many bytes as it is long.
    fn write(&self, place: &mut [u8]) {
        match self {
            Part::Bytes(bytes) => place.copy_from_slice(bytes),
            Part::Floats(values) => {
                let (words, _) = place.as_chunks_mut::<4>();
                for (word, value) in words.iter_mut().zip(values.iter()) {
                    *word = value.to_le_bytes();
                }
            }
        }
    }
}

impl<'w> Message<'w> {
    pub(crate) fn new() -> Self {
        Message::default()
    }

    pub(crate) fn len_bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn int(&mut self, field: u32, value: u64) -> &mut Self {
        let mut bytes = tag(field, VARINT);
        push_varint(&mut bytes, value);
        self.push(bytes)
    }

    pub(crate) fn float(&mut self, field: u32, value: f32) -> &mut Self {
        let mut bytes = tag(field, FOUR_BYTES);
        bytes.extend_from_slice(&value.to_le_bytes());
        self.push(bytes)
    }

    pub(crate) fn text(&mut self, field: u32, text: &str) -> &mut Self {
        let mut bytes = tag(field, LENGTH_DELIMITED);
        push_varint(&mut bytes, text.len() as u64);
        bytes.extend_from_slice(text.as_bytes());
        self.push(bytes)
    }

    /// Little-endian numbers one after the other: what a packed `repeated float` is, and ONNX's
    /// raw data.
    pub(crate) fn floats(&mut self, field: u32, values: impl Into<Cow<'w, [f32]>>) -> &mut Self {
        let values = values.into();
        let bytes = 4 * values.len() as u64;
        let mut head = tag(field, LENGTH_DELIMITED);
        push_varint(&mut head, bytes);
        self.push(head);
        self.bytes += bytes;
        self.parts.push(Part::Floats(values));
        self
    }

    pub(crate) fn message(&mut self, field: u32, message: Message<'w>) -> &mut Self {
        let mut head = tag(field, LENGTH_DELIMITED);
        push_varint(&mut head, message.bytes);
        self.push(head);
        self.bytes += message.bytes;
        for part in message.parts {
            match part {
                Part::Bytes(bytes) => self.merge(bytes),
                floats @ Part::Floats(_) => self.parts.push(floats),
            }
        }
        self
    }

    /// A file of this format, unless it would be too long for most readers.
    pub(crate) fn file(self, format: &'static str) -> Result<Vec<u8>, FormatError> {
        let bytes = self.len_bytes();
        match bytes > LONGEST_BYTES {
            true => Err(FormatError::TooLarge { format, bytes }),
            false => Ok(self.finish()),
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let mut written = vec![0; self.bytes as usize];
        let mut rest = written.as_mut_slice();
        for part in &self.parts {
            let (here, after) = rest.split_at_mut(part.len_bytes());
            part.write(here);
            rest = after;
        }
        written
    }

    fn push(&mut self, bytes: Vec<u8>) -> &mut Self {
        self.bytes += bytes.len() as u64;
        self.merge(bytes);
        self
    }

    fn merge(&mut self, bytes: Vec<u8>) {
        match self.parts.last_mut() {
            Some(Part::Bytes(last)) => last.extend_from_slice(&bytes),
            _ => self.parts.push(Part::Bytes(bytes)),
        }
    }
}

fn tag(field: u32, wire_type: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(12);
    push_varint(&mut bytes, u64::from(field) << 3 | wire_type);
    bytes
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_the_encoding_page_shows() {
        let check = |write: fn(&mut Message), expected: &[u8]| {
            let mut message = Message::new();
            write(&mut message);
            assert_eq!(message.len_bytes(), expected.len() as u64);
            assert_eq!(message.finish(), expected);
        };
        check(|m| _ = m.int(1, 150), &[0x08, 0x96, 0x01]);
        check(|m| _ = m.int(20, 0), &[0xa0, 0x01, 0x00]);
        check(
            |m| _ = m.int(1, u64::MAX),
            &[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
        );
        check(
            |m| _ = m.text(2, "testing"),
            &[0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g'],
        );
        check(|m| _ = m.float(2, 1.0), &[0x15, 0, 0, 0x80, 0x3f]);
        check(
            |m| _ = m.floats(5, vec![1.0, -2.0]),
            &[0x2a, 8, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0],
        );
        check(
            |m| {
                let mut inner = Message::new();
                inner.int(1, 150).floats(5, vec![1.0]).int(1, 1);
                m.message(3, inner);
            },
            &[0x1a, 11, 0x08, 0x96, 0x01, 0x2a, 4, 0, 0, 0x80, 0x3f, 8, 1],
        );
        check(|m| _ = m.message(3, Message::new()), &[0x1a, 0]);
    }
}
