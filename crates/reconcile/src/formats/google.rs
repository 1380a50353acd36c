//! Google's billing export as a table: what BigQuery saves as CSV, nested columns flattened with
//! points or underscores. Columns:
//! <https://cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage>,
//! read 2026-11.

use super::Format;
use super::layout::{Field, Layout, named};

/// The label in which Google says the machine type.
pub(super) const MACHINE: &str = "compute.googleapis.com/machine_spec";
pub(super) const CORES: &str = "compute.googleapis.com/cores";

pub(super) static LAYOUT: Layout = Layout {
    format: Format::GoogleCsv,
    columns: &[
        named(Field::Cost, &["cost"]),
        named(Field::Currency, &["currency"]),
        named(Field::Start, &["usage_start_time"]),
        named(Field::End, &["usage_end_time"]),
        named(Field::Kind, &["cost_type"]),
        named(Field::Service, &["service.description"]),
        named(Field::Description, &["sku.description"]),
        named(Field::Machine, &["machine_spec", "machine_type"]),
        named(Field::Details, &["system_labels"]),
        named(Field::Region, &["location.region"]),
        named(Field::Resource, &["resource.global_name", "resource.name"]),
        named(Field::Account, &["project.id"]),
        named(Field::Quantity, &["usage.amount"]),
        named(Field::Unit, &["usage.unit"]),
        named(Field::Tags, &["labels"]),
        named(
            Field::Credits,
            &["credits", "credits.amount", "credit_amount"],
        ),
        named(Field::Rate, &["currency_conversion_rate"]),
    ],
    needed: &[Field::Cost, Field::Currency, Field::Start, Field::Service],
    machine_detail: MACHINE,
    tag_prefixes: &["labels."],
};
