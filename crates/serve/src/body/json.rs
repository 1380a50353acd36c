//! JSON tensors: nested lists of numbers as TensorFlow Serving and SageMaker's containers take them (bare, or under
//! `instances` or `inputs`), and named inputs, as nested lists or close to the Open Inference Protocol (KServe v2):
//!
//! ```text
//! {"inputs": {"ids": [[1, 2]], "mask": {"shape": [1, 2], "data": [1, 1]}}}
//! {"inputs": [{"name": "ids", "datatype": "INT64", "shape": [1, 2], "data": [1, 2]}]}
//! ```

mod list;

use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::refusal::Refusal;
use list::{Any, Gathered, List, Part};

/// More than any model has.
const MOST_INPUTS: usize = 1000;

/// What a body holds.
pub(super) enum Sent {
    One(List),
    Named(Vec<Named>),
}

pub(super) struct Named {
    pub(super) name: String,
    /// Where it is said.
    pub(super) datatype: Option<String>,
    pub(super) list: List,
}

pub(super) fn read(body: &[u8]) -> Result<Sent, Refusal> {
    let mut found = Found::default();
    let mut text = serde_json::Deserializer::from_slice(body);
    let read = text
        .deserialize_any(Whole(&mut found))
        .and_then(|()| text.end());
    read.map_err(|problem| {
        Refusal::unprocessable(format!("the body is not a JSON tensor: {problem}"))
    })?;
    match (found.named.is_empty(), found.one.is_empty()) {
        (false, _) => Ok(Sent::Named(found.named)),
        (true, false) => Ok(Sent::One(found.one.finish())),
        (true, true) => Err(Refusal::unprocessable(
            "the body has no numbers: expected a list under `instances` or `inputs`",
        )),
    }
}

#[derive(Default)]
struct Found {
    one: Gathered,
    named: Vec<Named>,
}

impl Found {
    fn check_empty<E: Error>(&self) -> Result<(), E> {
        match self.one.is_empty() && self.named.is_empty() {
            true => Ok(()),
            false => Err(E::custom("it has two lists of inputs")),
        }
    }

    fn add<E: Error>(&mut self, named: Named) -> Result<(), E> {
        let known = self.named.iter().any(|other| other.name == named.name);
        if known {
            return Err(E::custom(format!(
                "the input `{}` is given twice",
                named.name
            )));
        }
        if self.named.len() == MOST_INPUTS {
            return Err(E::custom(format!("it has more than {MOST_INPUTS} inputs")));
        }
        self.named.push(named);
        Ok(())
    }
}

/// The whole body.
struct Whole<'f>(&'f mut Found);

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a nested list of numbers, or an object with one under `instances`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        Part::at(0, &mut self.0.one).visit_seq(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "instances" => {
                    self.0.check_empty()?;
                    map.next_value_seed(Any(Part::at(0, &mut self.0.one)))?;
                }
                "inputs" => {
                    self.0.check_empty()?;
                    map.next_value_seed(Any(Inputs(self.0)))?;
                }
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}

/// What stands under `inputs`.
struct Inputs<'f>(&'f mut Found);

impl<'de> Visitor<'de> for Inputs<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a nested list of numbers, or named inputs")
    }

    /// By name.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let given = map.next_value_seed(Any(Input))?;
            let (datatype, list) = (given.datatype, given.list);
            self.0.add(Named {
                name,
                datatype,
                list,
            })?;
        }
        Ok(())
    }

    /// Objects with names, or the numbers of one input.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.one.shape.push(0);
        self.0.one.known.push(true);
        let mut length = 0;
        while list.next_element_seed(Any(Item(self.0)))?.is_some() {
            length += 1;
        }
        self.0.one.shape[0] = length;
        Ok(())
    }
}

/// One of a list under `inputs`.
struct Item<'f>(&'f mut Found);

impl<'de> Visitor<'de> for Item<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a list of numbers or an object with a name, a shape and data")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let given = Input.visit_map(map)?;
        let name = given.name.ok_or_else(|| A::Error::missing_field("name"))?;
        let (datatype, list) = (given.datatype, given.list);
        if !self.0.one.is_empty() {
            return Err(A::Error::custom("an object is among numbers"));
        }
        self.0.add(Named {
            name,
            datatype,
            list,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.numbers::<A::Error>()?.visit_seq(list)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.numbers::<E>()?.visit_f64(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.numbers::<E>()?.visit_i64(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.numbers::<E>()?.visit_u64(value)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.numbers::<E>()?.visit_bool(value)
    }
}

impl<'f> Item<'f> {
    fn numbers<E: Error>(self) -> Result<Part<'f>, E> {
        match self.0.named.is_empty() {
            true => Ok(Part::at(1, &mut self.0.one)),
            false => Err(E::custom("numbers are among objects")),
        }
    }
}

/// One input: a nested list, or an object with its shape and its data.
struct Input;

struct Given {
    name: Option<String>,
    datatype: Option<String>,
    list: List,
}

impl<'de> Visitor<'de> for Input {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers, or an object with a shape and data")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Given, A::Error> {
        gathered(|part| part.visit_seq(list))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Given, E> {
        gathered(|part| part.visit_f64(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Given, E> {
        gathered(|part| part.visit_i64(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Given, E> {
        gathered(|part| part.visit_u64(value))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Given, E> {
        gathered(|part| part.visit_bool(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Given, A::Error> {
        let (mut name, mut datatype, mut shape) = (None, None, None::<Vec<usize>>);
        let mut data = Gathered::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => name = Some(map.next_value()?),
                "datatype" => datatype = Some(map.next_value()?),
                "shape" => shape = Some(map.next_value()?),
                "data" if data.shape.is_empty() => {
                    map.next_value_seed(Any(Part::at(0, &mut data)))?
                }
                "data" => return Err(A::Error::duplicate_field("data")),
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        let mut list = data.finish();
        if let Some(shape) = shape {
            let product = shape.iter().try_fold(1, |a: usize, &b| a.checked_mul(b));
            if product != Some(list.values.len()) {
                return Err(A::Error::custom(format!(
                    "the shape {shape:?} does not match {} numbers",
                    list.values.len()
                )));
            }
            list.shape = shape;
        }
        Ok(Given {
            name,
            datatype,
            list,
        })
    }
}

fn gathered<E>(read: impl FnOnce(Part<'_>) -> Result<(), E>) -> Result<Given, E> {
    let mut gathered = Gathered::default();
    read(Part::at(0, &mut gathered))?;
    Ok(Given {
        name: None,
        datatype: None,
        list: gathered.finish(),
    })
}
