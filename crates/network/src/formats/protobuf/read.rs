//! Messages, read: field by field, nothing copied, whatever the bytes are.

use super::{EIGHT_BYTES, FOUR_BYTES, LENGTH_DELIMITED, VARINT};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Field<'b> {
    pub(crate) number: u64,
    pub(crate) value: Value<'b>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'b> {
    /// A varint, or a number of four or eight bytes as its bits.
    Number(u64),
    Bytes(&'b [u8]),
}

/// The fields of a message in the order of the bytes; `None` if it is cut or no message.
pub(crate) fn fields(mut bytes: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let value = match tag & 7 {
            VARINT => Value::Number(varint(&mut bytes)?),
            EIGHT_BYTES => {
                let (number, rest) = bytes.split_first_chunk::<8>()?;
                bytes = rest;
                Value::Number(u64::from_le_bytes(*number))
            }
            LENGTH_DELIMITED => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                let (value, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                Value::Bytes(value)
            }
            FOUR_BYTES => {
                let (number, rest) = bytes.split_first_chunk::<4>()?;
                bytes = rest;
                Value::Number(u32::from_le_bytes(*number).into())
            }
            _ => return None,
        };
        found.push(Field {
            number: tag >> 3,
            value,
        });
    }
    Some(found)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::protobuf::Message;

    #[test]
    fn what_is_written_is_read() {
        let mut inner = Message::new();
        inner.text(1, "name").float(2, -0.5);
        let mut message = Message::new();
        message.int(1, 300).message(100, inner);
        let bytes = message.finish();
        let found = fields(&bytes).unwrap();
        assert_eq!((found[0].number, found[0].value), (1, Value::Number(300)));
        let Value::Bytes(inner) = found[1].value else {
            panic!("{found:?}");
        };
        assert_eq!(found[1].number, 100);
        let inner = fields(inner).unwrap();
        assert_eq!(inner[0].value, Value::Bytes(b"name"));
        assert_eq!(inner[1].value, Value::Number((-0.5_f32).to_bits().into()));
    }

    #[test]
    fn bytes_that_are_no_message_are_none() {
        let check = |bytes: &[u8]| assert_eq!(fields(bytes), None, "{bytes:?}");
        check(&[0x80]);
        check(&[0x0a, 5, 1, 2]);
        check(&[
            0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
        ]);
        check(&[0x0d, 1, 2, 3]);
        check(&[0x09, 1, 2, 3, 4, 5, 6, 7]);
        check(&[0x0b]);
        check(&[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(fields(&[]), Some(Vec::new()));
    }
}
