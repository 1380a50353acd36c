//! What the columns of a format are called.

use super::Format;

/// What a column of a bill tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Cost,
    Currency,
    Start,
    End,
    Kind,
    /// A second word on the kind of charge: FOCUS's `Correction`.
    KindDetail,
    Provider,
    Service,
    Meter,
    MeterKind,
    Sku,
    Description,
    Machine,
    /// JSON in which the machine type may be found.
    Details,
    Region,
    Resource,
    Group,
    Account,
    Quantity,
    Unit,
    /// The quantity that the unit price is of, where it is another one.
    PricedQuantity,
    UnitPrice,
    Tags,
    Credits,
    /// Units of the billing currency for one of the price list's.
    Rate,
    ListCurrency,
    ListCost,
}

impl Field {
    pub(super) const COUNT: usize = Field::ListCost as usize + 1;
}

/// A column by the names it goes by, the preferred first. Names are compared without case,
/// spaces, and whatever is no letter or digit.
pub(super) struct Named {
    pub(super) field: Field,
    pub(super) names: &'static [&'static str],
}

pub(super) const fn named(field: Field, names: &'static [&'static str]) -> Named {
    Named { field, names }
}

pub(super) struct Layout {
    pub(super) format: Format,
    pub(super) columns: &'static [Named],
    /// Without these it is not this format.
    pub(super) needed: &'static [Field],
    /// What the machine type is called in the column of details.
    pub(super) machine_detail: &'static str,
    /// Columns of a tag each begin so.
    pub(super) tag_prefixes: &'static [&'static str],
}

pub(super) static LAYOUTS: [&Layout; 4] = [
    &super::focus::LAYOUT,
    &super::aws::LAYOUT,
    &super::google::LAYOUT,
    &super::azure::LAYOUT,
];
