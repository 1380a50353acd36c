use std::fmt;

/// A header of a request. Its `Debug` shows the name alone: values hold tokens and signatures.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    pub name: String,
    pub value: String,
}

impl Header {
    pub fn new(name: &str, value: impl Into<String>) -> Self {
        Header {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: …", self.name)
    }
}
