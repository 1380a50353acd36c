//! What a record gets when its run is over: what the client of a server saw, and the bill.

use std::path::Path;

use cost::BillRequest;
use model::run::metric;
use model::serving::EndpointRecord;
use model::{Bill, Metric, Price, RunRecord, ServingRecord, Study, Warning};
use rust_decimal::prelude::ToPrimitive;

use crate::serving::ReadyModel;

/// What the client of a serving run saw.
const SERVING_FILE: &str = "serving.json";
/// What became of the endpoint that it made.
const ENDPOINT_FILE: &str = "endpoint.json";

/// Use of the machine, which nobody knows of a server elsewhere.
const OF_THE_SERVER: [&str; 6] = [
    metric::CORES_USED,
    metric::CPU_PERCENT,
    metric::MACHINE_CPU_PERCENT,
    metric::PEAK_MEMORY_BYTES,
    metric::MEMORY_PERCENT,
    metric::MEAN_MEMORY_PERCENT,
];

/// What the client of a serving run saw; nothing where it did not get so far.
pub(crate) fn serving_record(record: &mut RunRecord, runtime: Option<String>, folder: &Path) {
    let read = store::read_regular(&folder.join(SERVING_FILE)).ok();
    let read = read.and_then(|bytes| serde_json::from_slice::<ServingRecord>(&bytes).ok());
    let Some(mut serving) = read else { return };
    serving.runtime = runtime;
    if serving.is_elsewhere {
        // What was sampled here is the client.
        record
            .metrics
            .retain(|name, _| !OF_THE_SERVER.contains(&name.as_str()));
    }
    if let Some(reason) = &serving.client_limited {
        let reason = reason.clone();
        record.warnings.push(Warning::ClientLimited { reason });
    }
    if serving.failed() > 0 {
        record.warnings.push(Warning::FailedRequests {
            failed: serving.failed(),
            requests: serving.requests(),
            first: serving.first_failure.clone().unwrap_or_default(),
        });
    }
    record.serving = Some(Box::new(serving));
}

/// An endpoint that nobody saw gone.
pub(crate) fn endpoint_left(folder: &Path) -> Option<Warning> {
    let read = store::read_regular(&folder.join(ENDPOINT_FILE)).ok()?;
    let endpoint = serde_json::from_slice::<EndpointRecord>(&read).ok()?;
    (!endpoint.is_gone).then_some(Warning::EndpointLeft {
        endpoint: endpoint.name,
        region: endpoint.region,
        why: endpoint.detail,
    })
}

/// Makes the bill of a run that has a price, and the metric `cost` from it. Of a run that shares
/// its machine it is the run's own time only, until [`settle`] has seen all runs of the rental.
pub fn price_record(record: &mut RunRecord, study: &Study) {
    let Some(price) = &record.price else { return };
    let request = BillRequest::of(record, price, study.currency, &study.rates);
    let result = cost::bill(&request);
    let currency = result.bill.spoken_total().currency;
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
/// there, attempts that were repeated too.
pub fn settle<'r, Records>(records: Records)
where
    Records: IntoIterator<Item = &'r mut RunRecord>,
{
    let mut records: Vec<&mut RunRecord> = records.into_iter().collect();
    cost::settle(records.iter_mut().map(|record| &mut **record));
    records.into_iter().for_each(update_cost);
}

fn update_cost(record: &mut RunRecord) {
    let total = record.bill.as_deref().map(Bill::spoken_total);
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
    let spoken = cost::convert(money, study.currency, &study.rates).ok()?;
    spoken.amount.to_f64()
}

pub(crate) fn model_metrics(model: &ReadyModel) -> Vec<(String, Metric)> {
    let all = [
        (
            metric::MODEL_BYTES,
            model.bytes.map(|bytes| bytes as f64),
            "B",
        ),
        (metric::ACCURACY, model.accuracy_percent, "%"),
        (metric::AGREEMENT_PERCENT, model.agreement_percent, "%"),
    ];
    let named = all.into_iter().filter_map(|(name, value, unit)| {
        let (value, unit) = (value?, unit.to_owned());
        Some((name.to_owned(), Metric { value, unit }))
    });
    named.collect()
}
