//! Nested lists of numbers.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use crate::tensor::Values;

const DEEPEST: usize = 8;

/// Numbers and their shape; INT64 where all are whole, else FP64.
pub(in crate::body) struct List {
    pub(in crate::body) shape: Vec<usize>,
    pub(in crate::body) values: Values,
}

/// Straight into one list, without a tree of values between: a picture is 150,000 numbers.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) shape: Vec<usize>,
    /// Whether a list of that depth has ended, and its length is known.
    pub(super) known: Vec<bool>,
    whole: Vec<i64>,
    /// All of them, from the first one that is not whole.
    floats: Vec<f64>,
}

impl Gathered {
    pub(super) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.floats.is_empty()
    }

    fn push_whole(&mut self, number: i64) {
        match self.floats.is_empty() {
            true => self.whole.push(number),
            false => self.floats.push(number as f64),
        }
    }

    fn push_float(&mut self, number: f64) {
        let before = self.whole.drain(..);
        self.floats.extend(before.map(|number| number as f64));
        self.floats.push(number);
    }

    pub(super) fn finish(self) -> List {
        List {
            shape: self.shape,
            values: match self.floats.is_empty() {
                true => self.whole.into(),
                false => self.floats.into(),
            },
        }
    }
}

/// A number or a list at some depth of a nested list.
pub(super) struct Part<'g> {
    gathered: &'g mut Gathered,
    depth: usize,
}

impl<'g> Part<'g> {
    pub(super) fn at(depth: usize, gathered: &'g mut Gathered) -> Part<'g> {
        Part { gathered, depth }
    }

    fn check_depth<E: Error>(&self) -> Result<(), E> {
        match self.depth < self.gathered.shape.len() {
            true => Err(E::custom("found a number, expected a list")),
            false => Ok(()),
        }
    }
}

/// Whatever comes next is given to the visitor.
pub(super) struct Any<V>(pub(super) V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Any<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_any(self.0)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a list of numbers")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.check_depth()?;
        self.gathered.push_float(value);
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.check_depth()?;
        self.gathered.push_whole(value);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.visit_i64(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Part { gathered, depth } = self;
        if depth == DEEPEST {
            return Err(A::Error::custom("its lists are nested too deeply"));
        }
        if depth == gathered.shape.len() {
            if !gathered.is_empty() {
                return Err(A::Error::custom("found a list, expected a number"));
            }
            gathered.shape.push(0);
            gathered.known.push(false);
        }
        let mut length = 0;
        while list
            .next_element_seed(Any(Part::at(depth + 1, gathered)))?
            .is_some()
        {
            length += 1;
        }
        if gathered.known[depth] && gathered.shape[depth] != length {
            return Err(A::Error::custom("its lists have different lengths"));
        }
        gathered.shape[depth] = length;
        gathered.known[depth] = true;
        Ok(())
    }
}
