//! What was used, and what it costs.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{Currency, Money};
use rust_decimal::Decimal;
use serde::Serialize;

use crate::serverless::options::Options;

/// What is counted while it is used.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    counts: Mutex<Counts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    requests: u64,
    failed: u64,
    throttled: u64,
    cold_starts: u64,
    setup: Duration,
    billed_ms: u64,
}

impl Ledger {
    /// A worker got healthy.
    pub(crate) fn started(&self, setup: Duration) {
        let mut counts = self.lock();
        counts.cold_starts += 1;
        counts.setup += setup;
    }

    pub(crate) fn handled(&self, billed_ms: u64, is_answered: bool) {
        let mut counts = self.lock();
        counts.requests += 1;
        counts.failed += u64::from(!is_answered);
        counts.billed_ms = counts.billed_ms.saturating_add(billed_ms);
    }

    pub(crate) fn throttled(&self) {
        self.lock().throttled += 1;
    }

    pub(crate) fn bill(&self, options: &Options) -> Bill {
        let counts = *self.lock();
        let (terms, size) = (&options.terms, options.size);
        let gb = f64::from(size.memory_mb) / 1024.0;
        let paid = terms.amount(size.memory_mb, counts.billed_ms);
        Bill {
            requests: counts.requests,
            failed: counts.failed,
            throttled: counts.throttled,
            cold_starts: counts.cold_starts,
            setup_ms: milliseconds(counts.setup),
            billed_ms: counts.billed_ms,
            gb_seconds: gb * counts.billed_ms as f64 / 1e3,
            memory_mb: size.memory_mb,
            cpus: size.cpus,
            cpus_given: size.cpus_here(),
            price_per_second: terms.amount(size.memory_mb, 1000).amount,
            amount: paid.amount,
            currency: paid.currency,
            source: terms.source().to_owned(),
            step_ms: terms.step_ms(),
            bills_setup: terms.bills_setup,
            idle_seconds: options.idle.as_secs_f64(),
            concurrency: options.concurrency,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// To the microsecond.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

/// What `GET /bancada/bill` answers. Its names are stable; money is text, exact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bill {
    /// That had a worker, or should have got one that could not be started.
    pub requests: u64,
    /// Of these, those that the worker did not answer, or only with a status of 500 or above.
    pub failed: u64,
    /// Refused because all workers were busy; not billed.
    pub throttled: u64,
    /// Workers that were started for a request and got healthy.
    pub cold_starts: u64,
    /// Of all cold starts together.
    pub setup_ms: f64,
    pub billed_ms: u64,
    pub gb_seconds: f64,
    pub memory_mb: u32,
    pub cpus: f64,
    /// What of these this machine has.
    pub cpus_given: f64,
    pub price_per_second: Decimal,
    pub amount: Decimal,
    pub currency: Currency,
    pub source: String,
    pub step_ms: u32,
    pub bills_setup: bool,
    /// After which a worker was ended here; the services take their own time.
    pub idle_seconds: f64,
    pub concurrency: usize,
}

impl fmt::Display for Bill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let money = |amount| Money::new(amount, self.currency);
        let setup = if self.bills_setup { "with" } else { "without" };
        writeln!(
            f,
            "{} requests, {} of them failed; {} throttled",
            self.requests, self.failed, self.throttled
        )?;
        writeln!(
            f,
            "{} cold starts, {:.0} ms in total; workers ended after {} s without requests",
            self.cold_starts, self.setup_ms, self.idle_seconds
        )?;
        writeln!(
            f,
            "{} ms billed in steps of {} ms {setup} starts: {:.3} GB-seconds of {} MB",
            self.billed_ms, self.step_ms, self.gb_seconds, self.memory_mb
        )?;
        write!(
            f,
            "{} at {} per second ({})",
            money(self.amount),
            money(self.price_per_second),
            self.source
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serverless::options::tests::options;

    #[test]
    fn a_bill_is_the_sum_of_what_was_used() {
        let ledger = Ledger::default();
        ledger.started(Duration::from_micros(250_500));
        ledger.handled(10, true);
        ledger.handled(2, true);
        ledger.handled(988, false);
        ledger.throttled();
        let bill = ledger.bill(&options());
        assert_eq!(bill.requests, 3);
        assert_eq!(bill.billed_ms, 1000);
        assert_eq!(bill.gb_seconds, 2.0);
        assert_eq!(bill.amount.to_string(), "0.00004");
        let told = bill.to_string();
        assert_eq!(
            told,
            "3 requests, 1 of them failed; 1 throttled\n\
             1 cold starts, 250 ms in total; workers ended after 60 s without requests\n\
             1000 ms billed in steps of 1 ms without starts: 2.000 GB-seconds of 2048 MB\n\
             US$ 0.000040 at US$ 0.000040 per second (UFRGS study of serving, 2023)"
        );
    }

    #[test]
    fn money_in_the_json_is_text() {
        let ledger = Ledger::default();
        ledger.handled(25, true);
        let json = serde_json::to_value(ledger.bill(&options())).unwrap();
        assert_eq!(json["amount"], "0.000001");
        assert_eq!(json["price_per_second"], "0.00004");
        assert_eq!(json["currency"], "USD");
        assert_eq!(json["idle_seconds"], 60.0);
    }
}
