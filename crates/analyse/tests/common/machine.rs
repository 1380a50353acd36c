//! Machines of made-up runs, what they cost and what they bill.

use std::collections::BTreeMap;

use model::machine::Gpu;
use model::money::ConvertedTotal;
use model::*;
use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive;

pub fn price(environment: &str) -> Price {
    let gpu = environment == "gpu";
    let per_hour = if gpu { "0.526 USD" } else { "0.169 USD" };
    Price {
        machine: if gpu {
            "azure/Standard_NC4as_T4_v3@eastus"
        } else {
            "azure/Standard_F4s_v2@eastus"
        }
        .to_owned(),
        source: "azure.microsoft.com/pricing".to_owned(),
        date: "2024-03-01".to_owned(),
        billing: BillingRule {
            step_seconds: 0,
            // Bills here are reckoned run by run.
            rental: money::RentalScope::Run,
            ..BillingRule::default()
        },
        ..Price::typed_in(per_hour.parse().unwrap())
    }
}

pub(super) fn bill(seconds: f64, price: &Price, currency: Currency) -> Bill {
    let seconds = Decimal::from_f64(seconds).unwrap().round_dp(6);
    let amount = price.per_hour.amount * seconds / Decimal::from(3600);
    let total = Money::new(amount.round_dp(12), Currency::USD);
    let converted = (currency != Currency::USD).then(|| {
        let rate = ExchangeRate {
            from: Currency::USD,
            to: currency,
            rate: "4.98".parse().unwrap(),
            date: "2024-03-01".to_owned(),
            source: "central bank".to_owned(),
        };
        ConvertedTotal {
            total: Money::new(total.amount * rate.rate, currency),
            rate,
        }
    });
    Bill {
        lines: vec![BillLine {
            what: "whole run".to_owned(),
            kind: LineKind::Time,
            phase: None,
            per_hour: Some(price.per_hour),
            counted: None,
            seconds,
            amount: total,
        }],
        total,
        converted: converted.map(Box::new),
    }
}

pub(super) fn machine(gpu: bool) -> Inventory {
    Inventory {
        hostname: if gpu { "bench-gpu" } else { "bench" }.to_owned(),
        cpu_model: "AMD EPYC 7V13 64-Core Processor".to_owned(),
        logical_cores: 2,
        physical_cores: Some(1),
        usable_cores: 2.0,
        cpu_max_megahertz: Some(2445.0),
        governor: Some("performance".to_owned()),
        memory_bytes: 25_769_803_776,
        swap_bytes: 0,
        kernel: "6.1.0-18-amd64".to_owned(),
        operating_system: "Debian GNU/Linux 12".to_owned(),
        hypervisor: Some("Microsoft Hyper-V".to_owned()),
        container: None,
        architecture: "x86_64".to_owned(),
        gpus: if gpu {
            vec![Gpu {
                index: 0,
                name: "Tesla T4".to_owned(),
                memory_bytes: 16_106_127_360,
            }]
        } else {
            Vec::new()
        },
        gpu_driver: gpu.then(|| "550.54".to_owned()),
        energy_counters: None,
        versions: BTreeMap::from([
            ("bancada".to_owned(), "0.1.0".to_owned()),
            ("engine".to_owned(), "0.1.0".to_owned()),
        ]),
        git_commit: Some("1deb4f6".to_owned()),
    }
}
