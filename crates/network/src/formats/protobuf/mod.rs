//! Protocol Buffers, the little of its wire format that is needed here: a field is its number and
//! wire type as a varint, then a varint, four or eight bytes, or a length and so many bytes.
//! (protobuf.dev, "Encoding".)

mod read;
mod write;

pub(crate) use read::{Field, Value, fields};
pub(crate) use write::Message;

const VARINT: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;
const FOUR_BYTES: u64 = 5;
