//! What can be set for a workload: under `[workload]`, or as a factor, by the same names.

/// A setting of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: FieldKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Framework,
    Network,
    Dataset,
    Optimizer,
    /// What serves.
    Stack,
    /// A network of the zoo, or what was trained elsewhere.
    Model,
    /// A file or folder of what is sent.
    Bodies,
    /// A file with times of requests.
    Trace,
    Text,
    /// One of these.
    Words(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A whole number from one up to this.
    Count(u32),
    /// Requests a second, above zero.
    Rate,
    /// A number with `ms`, `s`, `min`, `h` or `d`.
    Duration,
    /// Above zero.
    LearningRate,
    /// From zero up, below one.
    Momentum,
}

pub(crate) const fn field(name: &'static str, kind: FieldKind) -> Field {
    Field { name, kind }
}

pub(crate) fn find_field(fields: &'static [Field], name: &str) -> Option<&'static Field> {
    fields.iter().find(|f| f.name == name)
}

pub(crate) fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

pub(crate) fn set_some<T>(place: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *place = value;
    }
}
