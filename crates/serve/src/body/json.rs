//! Nested lists of numbers, as TensorFlow Serving and SageMaker's containers take them: bare, or under
//! `instances` or `inputs`.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::refusal::Refusal;

const DEEPEST: usize = 8;
const KEYS: [&str; 2] = ["instances", "inputs"];

pub(super) fn tensor(body: &[u8]) -> Result<(Vec<usize>, Vec<f32>), Refusal> {
    let mut gathered = Gathered::default();
    let mut text = serde_json::Deserializer::from_slice(body);
    let read = Whole(&mut gathered)
        .deserialize(&mut text)
        .and_then(|()| text.end());
    read.map_err(|problem| {
        Refusal::unprocessable(format!("the body is no JSON tensor: {problem}"))
    })?;
    if gathered.values.is_empty() {
        return Err(Refusal::unprocessable(
            "the body has no numbers: a list under `instances` is expected",
        ));
    }
    Ok((gathered.shape, gathered.values))
}

/// Straight into one list, without a tree of values between: a picture is 150,000 numbers.
#[derive(Default)]
struct Gathered {
    shape: Vec<usize>,
    /// Whether a list of that depth has ended, and its length is known.
    known: Vec<bool>,
    values: Vec<f32>,
}

struct Whole<'g>(&'g mut Gathered);

impl<'de> DeserializeSeed<'de> for Whole<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a nested list of numbers, or an object with one under `instances`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        Part {
            gathered: self.0,
            depth: 0,
        }
        .visit_seq(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if KEYS.contains(&key.as_str()) {
                if !self.0.values.is_empty() {
                    return Err(serde::de::Error::custom("it has two lists of instances"));
                }
                map.next_value_seed(Part {
                    gathered: self.0,
                    depth: 0,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Part<'g> {
    gathered: &'g mut Gathered,
    depth: usize,
}

impl Part<'_> {
    fn number<E: serde::de::Error>(self, value: f32) -> Result<(), E> {
        if self.depth < self.gathered.shape.len() {
            return Err(E::custom("a number stands where a list is expected"));
        }
        self.gathered.values.push(value);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a list of numbers")
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.number(value as f32)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.number(value as f32)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.number(value as f32)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Part { gathered, depth } = self;
        if depth == DEEPEST {
            return Err(serde::de::Error::custom("its lists are nested too deeply"));
        }
        if depth == gathered.shape.len() {
            if !gathered.values.is_empty() {
                return Err(serde::de::Error::custom(
                    "a list stands where a number is expected",
                ));
            }
            gathered.shape.push(0);
            gathered.known.push(false);
        }
        let mut length = 0;
        while list
            .next_element_seed(Part {
                gathered,
                depth: depth + 1,
            })?
            .is_some()
        {
            length += 1;
        }
        if gathered.known[depth] && gathered.shape[depth] != length {
            return Err(serde::de::Error::custom("its lists have different lengths"));
        }
        gathered.shape[depth] = length;
        gathered.known[depth] = true;
        Ok(())
    }
}
