//! Azure cost exports of all agreements: pay-as-you-go, enterprise (EA), customer (MCA).
//! Columns: <https://learn.microsoft.com/azure/cost-management-billing/automate/understand-usage-details-fields>,
//! read 2026-11.
//!
//! A localised export writes `Kategorie der Verbrauchseinheit (MeterCategory)`: the name in
//! brackets counts. Files without brackets have the names that Microsoft's translated pages use;
//! those known are listed behind the English ones.

use super::Format;
use super::layout::{Field, Layout, named};

pub(super) static LAYOUT: Layout = Layout {
    format: Format::AzureExport,
    columns: &[
        named(
            Field::Cost,
            &[
                "CostInBillingCurrency",
                "Cost",
                "PreTaxCost",
                "ExtendedCost",
                "Kosten",
                "Coste",
                "Costo",
                "Custo",
                "Coût",
            ],
        ),
        named(
            Field::Currency,
            &[
                "BillingCurrency",
                "BillingCurrencyCode",
                "Currency",
                "CurrencyCode",
                "Währung",
                "Moneda",
                "Divisa",
                "Moeda",
                "Devise",
            ],
        ),
        named(
            Field::Start,
            &[
                "Date",
                "UsageDateTime",
                "UsageDate",
                "Datum",
                "Fecha",
                "Data",
            ],
        ),
        named(Field::Kind, &["ChargeType"]),
        named(
            Field::Service,
            &[
                "MeterCategory",
                "Kategorie der Verbrauchseinheit",
                "Categoría del medidor",
                "Categoria do medidor",
                "Catégorie du compteur",
                "ServiceName",
            ],
        ),
        named(
            Field::MeterKind,
            &[
                "MeterSubCategory",
                "Unterkategorie der Verbrauchseinheit",
                "Subcategoría del medidor",
                "Subcategoria do medidor",
                "Sous-catégorie du compteur",
            ],
        ),
        named(
            Field::Meter,
            &[
                "MeterName",
                "Name der Verbrauchseinheit",
                "Nombre del medidor",
                "Nome do medidor",
                "Nom du compteur",
                "Meter",
            ],
        ),
        named(Field::Description, &["ProductName", "Product"]),
        named(
            Field::Details,
            &[
                "AdditionalInfo",
                "Zusätzliche Informationen",
                "Información adicional",
                "Informações Adicionais",
            ],
        ),
        named(
            Field::Region,
            &[
                "ResourceLocation",
                "Ressourcenstandort",
                "Ubicación de los recursos",
                "Local do Recurso",
                "Location",
                "MeterRegion",
            ],
        ),
        named(Field::Resource, &["ResourceId", "InstanceId"]),
        named(
            Field::Group,
            &[
                "ResourceGroup",
                "ResourceGroupName",
                "Ressourcengruppe",
                "Grupo de recursos",
                "Groupe de ressources",
            ],
        ),
        named(Field::Account, &["SubscriptionId", "SubscriptionGuid"]),
        named(
            Field::Quantity,
            &[
                "Quantity",
                "UsageQuantity",
                "ConsumedQuantity",
                "Quantité consommée",
                "Quantité",
                "Cantidad",
                "Quantidade",
                "Menge",
            ],
        ),
        named(
            Field::Unit,
            &[
                "UnitOfMeasure",
                "Maßeinheit",
                "Unidad de medida",
                "Unidade de medida",
                "Unité de mesure",
            ],
        ),
        named(Field::UnitPrice, &["EffectivePrice", "ResourceRate"]),
        named(Field::Tags, &["Tags", "Etiquetas", "Balises", "Marcas"]),
        named(
            Field::Rate,
            &["ExchangeRatePricingToBilling", "ExchangeRate"],
        ),
        named(
            Field::ListCurrency,
            &["PricingCurrency", "PricingCurrencyCode"],
        ),
    ],
    needed: &[Field::Cost, Field::Currency, Field::Start, Field::Meter],
    machine_detail: "ServiceType",
    tag_prefixes: &[],
};
