//! What a record gets when its run is over: the bill.

use cost::BillRequest;
use model::run::metric;
use model::{Bill, MachineLife, Metric, Price, RunRecord, Study, Warning};
use rust_decimal::prelude::ToPrimitive;
use store::{Store, StoreError};

/// Makes the bill of a run that has a price, and the metric `cost` from it. Of a run that shares
/// its machine it is the run's own time only, until [`settle`] has seen all runs of the rental.
pub fn price_record(record: &mut RunRecord, study: &Study) {
    let Some(price) = &record.price else { return };
    let request = BillRequest::of(record, price, study.currency, &study.rates);
    let result = cost::bill(&request);
    let currency = result.bill.total_in_study_currency().currency;
    if let Some(value) = per_inference(record, study, price) {
        let unit = currency.code().to_owned();
        let name = metric::COST_PER_INFERENCE.to_owned();
        record.metrics.insert(name, Metric { value, unit });
    }
    record.bill = Some(result.bill.into());
    record.warnings.extend(result.warning);
    update_cost(record);
}

/// Gives every run its part of the machines that it shared: all runs that were paid for must be
/// there, attempts that were repeated too. `lives` are those of machines that were rented for the
/// study, see [`machine_lives`].
pub fn settle<'r, Records>(records: Records, lives: &[MachineLife])
where
    Records: IntoIterator<Item = &'r mut RunRecord>,
{
    let mut records: Vec<&mut RunRecord> = records.into_iter().collect();
    cost::settle_measured(records.iter_mut().map(|record| &mut **record), lives);
    records.into_iter().for_each(update_cost);
}

/// Beside the runs, in the folder of the results.
const LIVES_FILE: &str = "rentals.json";

/// Machines that were rented for these results and are gone.
pub fn machine_lives(store: &Store) -> Result<Vec<MachineLife>, StoreError> {
    let bytes = store.read_file(LIVES_FILE)?;
    let lives = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(lives.unwrap_or_default())
}

/// Writes down the life of a machine that is gone; twice is once.
pub fn add_machine_life(store: &Store, life: &MachineLife) -> Result<(), StoreError> {
    let mut lives = machine_lives(store)?;
    lives.retain(|known| known.rental != life.rental);
    lives.push(life.clone());
    let text = serde_json::to_string_pretty(&lives).unwrap_or_default();
    store.save_file(LIVES_FILE, text.as_bytes())
}

fn update_cost(record: &mut RunRecord) {
    let total = record.bill.as_deref().map(Bill::total_in_study_currency);
    let Some((total, value)) = total.and_then(|total| Some((total, total.amount.to_f64()?))) else {
        return;
    };
    let unit = total.currency.code().to_owned();
    record
        .metrics
        .insert(metric::COST.to_owned(), Metric { value, unit });
}

/// Bills a run again, at the price it has now.
pub fn reprice_record(record: &mut RunRecord, study: &Study) {
    record.bill = None;
    for name in [metric::COST, metric::COST_PER_INFERENCE] {
        record.metrics.remove(name);
    }
    let is_of_money = |warning: &Warning| matches!(warning, Warning::NoRate { .. });
    record.warnings.retain(|warning| !is_of_money(warning));
    price_record(record, study);
}

/// Of one answer, in the study's currency: the seconds it was billed for, or its share of the time
/// in which a machine had something to answer, at the price of a second. Pauses of a load are
/// nobody's cost here; what an idle machine costs is for the break-even to say.
fn per_inference(record: &RunRecord, study: &Study, price: &Price) -> Option<f64> {
    let told = |name: &str| record.metrics.get(name).map(|metric| metric.value);
    let busy = || {
        let answered = told(metric::REQUESTS)? - told(metric::FAILED_REQUESTS)?;
        (answered > 0.0).then_some(told(metric::BUSY_SECONDS)? / answered)
    };
    let billed = told(metric::BILLED_SECONDS_PER_REQUEST);
    let seconds = billed.or_else(busy)?;
    let money = cost::per_request(price, seconds, billed.is_some());
    let converted = cost::convert(money, study.currency, &study.rates)?;
    converted.amount.to_f64()
}
