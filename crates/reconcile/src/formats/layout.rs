//! What the columns of a format are called: `columns.toml` as types.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Format;

/// What a column of a bill tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Layout {
    pub(super) format: Format,
    /// Without these it is not this format.
    pub(super) needed: Vec<Field>,
    pub(super) machine_detail: String,
    pub(super) tag_prefixes: Vec<String>,
    pub(super) columns: BTreeMap<Field, Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
struct Layouts {
    #[serde(rename = "format")]
    formats: Vec<Layout>,
}

pub(super) fn layouts() -> &'static [Layout] {
    static EMBEDDED: LazyLock<Layouts> = LazyLock::new(|| {
        // That the embedded text is whole is a test.
        toml::from_str(include_str!("columns.toml")).unwrap_or_default()
    });
    &EMBEDDED.formats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_columns_are_whole() {
        let layouts: Layouts = toml::from_str(include_str!("columns.toml")).unwrap();
        assert_eq!(layouts.formats.len(), 4);
        for layout in layouts.formats {
            let is_named = |field: &Field| !layout.columns[field].is_empty();
            assert!(layout.needed.iter().all(is_named), "{:?}", layout.format);
        }
    }
}
