//! FOCUS, the FinOps Foundation's format, versions 1.0 to 1.2, with the columns that providers
//! add (`x_…`). Columns: <https://focus.finops.org/focus-columns>, read 2026-11.
//!
//! The billed cost counts, not the effective one: it is what the invoice says.

use super::Format;
use super::layout::{Field, Layout, named};

pub(super) static LAYOUT: Layout = Layout {
    format: Format::Focus,
    columns: &[
        named(Field::Cost, &["BilledCost"]),
        named(Field::Currency, &["BillingCurrency"]),
        named(Field::Start, &["ChargePeriodStart"]),
        named(Field::End, &["ChargePeriodEnd"]),
        named(Field::Kind, &["ChargeCategory"]),
        named(Field::KindDetail, &["ChargeClass"]),
        named(
            Field::Provider,
            &["ProviderName", "ServiceProviderName", "PublisherName"],
        ),
        named(Field::Service, &["ServiceName"]),
        named(Field::Meter, &["x_UsageType", "SkuMeter", "x_SkuMeterName"]),
        named(
            Field::MeterKind,
            &[
                "x_SkuMeterSubcategory",
                "ServiceSubcategory",
                "ServiceCategory",
            ],
        ),
        named(Field::Sku, &["x_SkuDescription", "ResourceType"]),
        named(Field::Description, &["ChargeDescription"]),
        named(Field::Machine, &["x_InstanceType", "x_SkuInstanceType"]),
        named(Field::Details, &["SkuPriceDetails", "x_SkuDetails"]),
        named(Field::Region, &["RegionId", "Region", "RegionName"]),
        named(Field::Resource, &["ResourceId"]),
        named(Field::Group, &["x_ResourceGroupName"]),
        named(Field::Account, &["SubAccountId", "BillingAccountId"]),
        named(Field::Quantity, &["ConsumedQuantity", "PricingQuantity"]),
        named(Field::Unit, &["ConsumedUnit", "PricingUnit"]),
        named(Field::PricedQuantity, &["PricingQuantity"]),
        named(Field::UnitPrice, &["ContractedUnitPrice"]),
        named(Field::Tags, &["Tags"]),
        named(Field::ListCurrency, &["PricingCurrency"]),
        named(
            Field::ListCost,
            &["PricingCurrencyEffectiveCost", "x_CostInPricingCurrency"],
        ),
    ],
    needed: &[Field::Cost, Field::Currency, Field::Start],
    machine_detail: "InstanceType",
    tag_prefixes: &[],
};
