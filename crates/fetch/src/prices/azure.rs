//! The Azure Retail Prices API: pages of items, of which few are prices of a Linux machine by the
//! hour. <https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices>

use cost::{Paying, Reason, known_currency};
use model::Money;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::FetchError;
use crate::prices::azure_shapes;
use crate::prices::collect::{
    About, Collector, Offer, PriceList, amount, day, from_json, refuse_if,
};

pub(crate) const SOURCE: &str = "Azure Retail Prices API";
const EXPECTED: &str = "a response of the Azure Retail Prices API";

/// Takes page after page.
pub struct Reader {
    collector: Collector,
    about: About,
}

#[derive(Deserialize)]
struct Page<'p> {
    #[serde(rename = "Items", borrow)]
    items: Vec<&'p RawValue>,
    #[serde(rename = "NextPageLink")]
    next: Option<String>,
}

/// An item as typed. Nested savings plans are not read: they are no prices of an hour alone.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Item<'i> {
    currency_code: String,
    #[serde(borrow)]
    retail_price: Option<&'i RawValue>,
    #[serde(borrow)]
    tier_minimum_units: Option<&'i RawValue>,
    arm_region_name: String,
    arm_sku_name: String,
    effective_start_date: String,
    meter_name: String,
    product_name: String,
    sku_name: String,
    service_name: String,
    unit_of_measure: String,
    #[serde(rename = "type")]
    kind: String,
    reservation_term: Option<String>,
}

impl Reader {
    pub fn new(about: About) -> Self {
        let collector = Collector::new("azure");
        Reader { collector, about }
    }

    /// The address of the next page, if there is one.
    pub fn page(&mut self, file: &str, text: &str) -> Result<Option<String>, FetchError> {
        let page: Page<'_> = from_json(file, EXPECTED, text)?;
        for (number, raw) in page.items.iter().enumerate() {
            self.collector.rows += 1;
            let place = || format!("{file}, item {}", number + 1);
            match serde_json::from_str::<Item<'_>>(raw.get()) {
                Ok(item) => self.item(&item, &place),
                Err(error) => self
                    .collector
                    .leave_out(Reason::Malformed, || format!("{}: {error}", place())),
            }
        }
        Ok(page.next.filter(|link| !link.is_empty()))
    }

    fn item(&mut self, item: &Item<'_>, place: &dyn Fn() -> String) {
        match offer(item, &self.about.date, place) {
            Ok(offer) => self.collector.add(offer),
            Err(reason) => self.collector.leave_out(reason, || {
                let price = item.retail_price.map_or("no price", |raw| raw.get());
                let (sku, product) = (&item.arm_sku_name, &item.product_name);
                format!(
                    "{}: {sku} ({product}) {price} {}",
                    place(),
                    item.currency_code
                )
            }),
        }
    }

    pub fn finish(self) -> PriceList {
        self.collector.finish(&self.about)
    }
}

fn offer(item: &Item<'_>, today: &str, place: &dyn Fn() -> String) -> Result<Offer, Reason> {
    let paying = paying(item)?;
    refuse_if(item.arm_sku_name.is_empty(), Reason::NoMachine)?;
    refuse_if(item.arm_region_name.is_empty(), Reason::NoRegion)?;
    refuse_if(day(&item.effective_start_date) > today, Reason::NotYet)?;
    let currency = known_currency(&item.currency_code).map_err(|_| Reason::UnknownCurrency)?;
    let price = item.retail_price.ok_or(Reason::ZeroPrice)?;
    // Some answers have their numbers in quotes.
    let price = amount(price.get().trim_matches('"'))?;
    Ok(Offer {
        machine: item.arm_sku_name.clone(),
        region: item.arm_region_name.clone(),
        paying,
        per_hour: Money::new(price, currency),
        shape: azure_shapes::shape(&item.arm_sku_name),
        since: day(&item.effective_start_date).to_owned(),
        place: place(),
    })
}

/// How an item is paid, if it is a Linux machine by the hour at all. What the names say goes
/// before the type: a reservation has the price of its whole term under `1 Hour`.
fn paying(item: &Item<'_>) -> Result<Paying, Reason> {
    let product = |word: &str| item.product_name.contains(word);
    let said = |word: &str| item.sku_name.contains(word) || item.meter_name.contains(word);
    let is_machine = item.service_name == "Virtual Machines";
    refuse_if(!is_machine, Reason::OtherService)?;
    refuse_if(item.reservation_term.is_some(), Reason::Reservation)?;
    match item.kind.as_str() {
        "Consumption" => {}
        "Reservation" => return Err(Reason::Reservation),
        "DevTestConsumption" => return Err(Reason::DevTest),
        "SavingsPlanConsumption" => return Err(Reason::SavingsPlan),
        _ => return Err(Reason::OtherUsage),
    }
    refuse_if(product("Windows"), Reason::OtherSystem)?;
    refuse_if(product("Dedicated Host"), Reason::OtherTenancy)?;
    let is_cloud_service = product("Cloud Services") || product("CloudServices");
    refuse_if(is_cloud_service, Reason::OtherService)?;
    refuse_if(said("Low Priority"), Reason::LowPriority)?;
    refuse_if(item.unit_of_measure != "1 Hour", Reason::OtherUnit)?;
    let begin = item.tier_minimum_units.map_or("0", |raw| raw.get());
    let from_zero = begin.trim_matches(['0', '.']).is_empty();
    refuse_if(!from_zero, Reason::Tiered)?;
    match said("Spot") {
        true => Ok(Paying::Spot),
        false => Ok(Paying::OnDemand),
    }
}
