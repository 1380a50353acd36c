//! How time becomes money: the prices and the rule are those of `cost`; which time is paid is the
//! service's.

use std::time::Duration;

use cost::Paying;
use model::{BillingRule, Currency, Money, Price};
use rust_decimal::Decimal;

/// What a service charges for workers that are started on demand.
#[derive(Debug, Clone, PartialEq)]
pub struct BillingTerms {
    /// Whether the start of a worker is paid by the request that caused it.
    pub bills_setup: bool,
    sizes: Vec<SoldSize>,
}

#[derive(Debug, Clone, PartialEq)]
struct SoldSize {
    memory_mb: u32,
    price: Price,
}

const PROVIDER: &str = "aws";
/// What follows is the memory in MB.
const MACHINE: &str = "sagemaker-serverless-";

impl BillingTerms {
    /// SageMaker's: "the compute capacity used to process inference requests, billed by the
    /// millisecond" (its developer guide, Serverless Inference). The start is not named there, so
    /// it is not billed; of AWS Lambda, it is for all functions since 2025-08-01.
    pub fn sagemaker() -> BillingTerms {
        let entries = cost::catalog().entries.iter();
        let sold = entries.filter(|entry| entry.provider == PROVIDER);
        let sizes = sold.filter_map(|entry| {
            Some(SoldSize {
                memory_mb: entry.machine.strip_prefix(MACHINE)?.parse().ok()?,
                price: entry.price(Paying::OnDemand)?,
            })
        });
        BillingTerms {
            bills_setup: false,
            sizes: sizes.collect(),
        }
    }

    pub fn sizes_mb(&self) -> impl Iterator<Item = u32> {
        self.sizes.iter().map(|size| size.memory_mb)
    }

    /// That of the catalog; for a size that is not in it, in proportion to the first that is.
    pub fn per_hour(&self, memory_mb: u32) -> Money {
        let listed = self.sizes.iter().find(|size| size.memory_mb == memory_mb);
        let Some(nearest) = listed.or(self.sizes.first()) else {
            return Money::new(Decimal::ZERO, Currency::USD);
        };
        let Money { amount, currency } = nearest.price.per_hour;
        let share = Decimal::from(memory_mb) / Decimal::from(nearest.memory_mb.max(1));
        Money::new((amount * share).normalize(), currency)
    }

    /// Where the prices were read.
    pub fn source(&self) -> &str {
        self.first().map_or("", |price| price.source.as_str())
    }

    /// A request's time is rounded up to whole steps.
    pub fn step_ms(&self) -> u32 {
        self.rule().map_or(0, |rule| rule.request_step_ms)
    }

    /// Milliseconds that are paid for a request of this length.
    pub fn billed_ms(&self, handling: Duration, setup: Duration) -> u64 {
        let paid = match self.bills_setup {
            true => handling + setup,
            false => handling,
        };
        self.rule()
            .map_or(0, |rule| cost::request_milliseconds(rule, paid))
    }

    pub fn amount(&self, memory_mb: u32, billed_ms: u64) -> Money {
        let per_hour = self.per_hour(memory_mb);
        let seconds = Decimal::from(billed_ms) / Decimal::ONE_THOUSAND;
        let amount = cost::amount_for(seconds, per_hour.amount);
        Money::new(amount, per_hour.currency)
    }

    fn first(&self) -> Option<&Price> {
        self.sizes.first().map(|size| &size.price)
    }

    fn rule(&self) -> Option<&BillingRule> {
        self.first().map(|price| &price.billing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_the_published_one() {
        let terms = BillingTerms::sagemaker();
        let check = |memory_mb, expected: &str| {
            let price = terms.per_hour(memory_mb);
            assert_eq!(price.amount.to_string(), expected, "{memory_mb}");
            assert_eq!(price.currency, Currency::USD);
        };
        check(1024, "0.072");
        check(2048, "0.144");
        check(6144, "0.432");
        // Not in the table: in proportion.
        check(512, "0.036");
        let sizes: Vec<u32> = terms.sizes_mb().collect();
        assert_eq!(sizes, [1024, 2048, 3072, 4096, 5120, 6144]);
        assert_eq!(terms.step_ms(), 1);
    }

    #[test]
    fn time_is_rounded_up_and_the_start_is_paid_where_the_rule_says_so() {
        let check = |bills_setup, micros: [u64; 2], expected| {
            let terms = BillingTerms {
                bills_setup,
                ..BillingTerms::sagemaker()
            };
            let [handling, setup] = micros.map(Duration::from_micros);
            assert_eq!(terms.billed_ms(handling, setup), expected, "{micros:?}");
        };
        check(false, [0, 0], 0);
        check(false, [1, 0], 1);
        check(false, [1000, 0], 1);
        check(false, [1001, 900_000], 2);
        check(true, [1001, 900_000], 902);
    }

    #[test]
    fn the_amount_is_exact() {
        let terms = BillingTerms::sagemaker();
        let check = |memory_mb, billed_ms, expected: &str| {
            let amount = terms.amount(memory_mb, billed_ms).amount;
            assert_eq!(amount.to_string(), expected);
        };
        check(2048, 0, "0");
        check(2048, 1, "0.00000004");
        check(1024, 1_000, "0.00002");
        check(6144, 3_600_000, "0.432");
    }

    proptest! {
        #[test]
        fn the_amount_of_a_sum_is_the_sum_of_the_amounts(a in 0_u64..1_000_000_000, b in 0_u64..1_000_000_000) {
            let terms = BillingTerms::sagemaker();
            let amount = |ms| terms.amount(3072, ms).amount;
            prop_assert_eq!(amount(a + b), amount(a) + amount(b));
        }
    }
}
