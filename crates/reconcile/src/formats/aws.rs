//! AWS Cost and Usage Reports: the older (`lineItem/UsageAmount`) and 2.0
//! (`line_item_usage_amount`), whose names are the same but for case and signs.
//! Columns: <https://docs.aws.amazon.com/cur/latest/userguide/Lineitem-columns.html>, read 2026-11.

use super::Format;
use super::layout::{Field, Layout, named};

pub(super) static LAYOUT: Layout = Layout {
    format: Format::AwsReport,
    columns: &[
        named(Field::Cost, &["lineItem/UnblendedCost"]),
        named(Field::Currency, &["lineItem/CurrencyCode"]),
        named(Field::Start, &["lineItem/UsageStartDate"]),
        named(Field::End, &["lineItem/UsageEndDate"]),
        named(Field::Kind, &["lineItem/LineItemType"]),
        named(Field::Service, &["lineItem/ProductCode"]),
        named(Field::Meter, &["lineItem/UsageType"]),
        named(Field::MeterKind, &["product/productFamily"]),
        named(Field::Sku, &["lineItem/Operation"]),
        named(Field::Description, &["lineItem/LineItemDescription"]),
        named(Field::Machine, &["product/instanceType"]),
        named(Field::Region, &["product/regionCode", "product/region"]),
        named(Field::Resource, &["lineItem/ResourceId"]),
        named(Field::Account, &["lineItem/UsageAccountId"]),
        named(Field::Quantity, &["lineItem/UsageAmount"]),
        named(Field::Unit, &["pricing/unit"]),
        named(Field::UnitPrice, &["lineItem/UnblendedRate"]),
        named(Field::Tags, &["resource_tags"]),
    ],
    needed: &[Field::Cost, Field::Start],
    machine_detail: "instance_type",
    tag_prefixes: &["resourceTags/user:", "resource_tags_user_", "resourceTags/"],
};
