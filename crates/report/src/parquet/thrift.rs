//! What Parquet's headers are written in: structs of Thrift's compact protocol, their fields in
//! rising order.

const BOOL_TRUE: u8 = 1;
const BOOL_FALSE: u8 = 2;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: i16,
}

impl Struct {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn bool(self, field: i16, value: bool) -> Self {
        self.head(field, if value { BOOL_TRUE } else { BOOL_FALSE })
    }

    pub(super) fn i32(self, field: i16, value: i32) -> Self {
        self.number(field, I32, value.into())
    }

    pub(super) fn i64(self, field: i16, value: i64) -> Self {
        self.number(field, I64, value)
    }

    pub(super) fn text(self, field: i16, text: &str) -> Self {
        let mut this = self.head(field, BINARY);
        this.bytes_of(text);
        this
    }

    pub(super) fn nested(self, field: i16, value: Struct) -> Self {
        let mut this = self.head(field, STRUCT);
        this.bytes.extend(value.finish());
        this
    }

    pub(super) fn structs(self, field: i16, values: Vec<Struct>) -> Self {
        let mut this = self.list(field, STRUCT, values.len());
        for value in values {
            this.bytes.extend(value.finish());
        }
        this
    }

    pub(super) fn i32s(self, field: i16, values: &[i32]) -> Self {
        let mut this = self.list(field, I32, values.len());
        for value in values {
            varint(&mut this.bytes, zigzag((*value).into()));
        }
        this
    }

    pub(super) fn texts(self, field: i16, values: &[&str]) -> Self {
        let mut this = self.list(field, BINARY, values.len());
        for value in values {
            this.bytes_of(value);
        }
        this
    }

    /// With the byte that ends it.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    /// Fields are numbered by what they are above the one before.
    fn head(mut self, field: i16, kind: u8) -> Self {
        let above = field - self.last;
        debug_assert!((1..=15).contains(&above), "fields are written in order");
        self.bytes.push((above as u8) << 4 | kind);
        self.last = field;
        self
    }

    fn number(self, field: i16, kind: u8, value: i64) -> Self {
        let mut this = self.head(field, kind);
        varint(&mut this.bytes, zigzag(value));
        this
    }

    fn list(self, field: i16, of: u8, count: usize) -> Self {
        let mut this = self.head(field, LIST);
        match u8::try_from(count) {
            Ok(few @ 0..15) => this.bytes.push(few << 4 | of),
            _ => {
                this.bytes.push(0xf0 | of);
                varint(&mut this.bytes, count as u64);
            }
        }
        this
    }

    fn bytes_of(&mut self, text: &str) {
        varint(&mut self.bytes, text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }
}

/// Small numbers of either sign become small numbers.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Seven bits a byte, the lowest first.
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_thrift_says() {
        let check = |value: i64, expected: &[u8]| {
            let mut out = Vec::new();
            varint(&mut out, zigzag(value));
            assert_eq!(out, expected, "{value}");
        };
        check(0, &[0]);
        check(-1, &[1]);
        check(1, &[2]);
        check(63, &[126]);
        check(64, &[0x80, 1]);
        check(i64::MIN, &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }

    #[test]
    fn structs_are_written_as_thrift_says() {
        let one = Struct::new().i32(1, 5).bool(3, true).text(4, "ab");
        assert_eq!(one.finish(), [0x15, 10, 0x21, 0x18, 2, b'a', b'b', 0]);
        let many = Struct::new().i32s(2, &[0; 15]).finish();
        assert_eq!(many[..3], [0x29, 0xf5, 15]);
        let few = Struct::new().structs(2, vec![Struct::new()]).finish();
        assert_eq!(few, [0x29, 0x1c, 0, 0]);
    }
}
