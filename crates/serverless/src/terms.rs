//! How time becomes money: the price of each memory size, and what of the time is paid.

use std::time::Duration;

use model::{Currency, Money};
use rust_decimal::Decimal;

/// What a service charges for workers that are started on demand.
#[derive(Debug, Clone, PartialEq)]
pub struct BillingTerms {
    /// A request's time is rounded up to whole steps.
    pub step_ms: u64,
    /// Whether the start of a worker is paid by the request that caused it.
    pub bills_setup: bool,
    pub prices: Vec<MemoryPrice>,
    pub currency: Currency,
    /// Where the prices were read.
    pub source: String,
}

/// What a second of a worker with so much memory costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryPrice {
    pub memory_mb: u32,
    pub per_second: Decimal,
}

const SIZES_MB: [u32; 6] = [1024, 2048, 3072, 4096, 5120, 6144];

impl BillingTerms {
    /// SageMaker's: "the compute capacity used to process inference requests, billed by the
    /// millisecond" (its developer guide, Serverless Inference). The start is not named there, so
    /// it is not billed; of AWS Lambda, it is for all functions since 2025-08-01.
    pub fn sagemaker() -> BillingTerms {
        let price = |memory_mb: u32| MemoryPrice {
            memory_mb,
            // 0.0000200 US$ for each GB: the published table is this, row by row.
            per_second: Decimal::new(200 * i64::from(memory_mb / 1024), 7),
        };
        BillingTerms {
            step_ms: 1,
            bills_setup: false,
            prices: SIZES_MB.map(price).to_vec(),
            currency: Currency::USD,
            source: "SageMaker serverless inference prices, as cited by a UFRGS study of 2023"
                .to_owned(),
        }
    }

    pub fn sizes_mb(&self) -> impl Iterator<Item = u32> {
        self.prices.iter().map(|price| price.memory_mb)
    }

    /// That of the table; for a size that is not in it, in proportion to the smallest that is.
    pub fn per_second(&self, memory_mb: u32) -> Money {
        let listed = self.prices.iter().find(|p| p.memory_mb == memory_mb);
        let amount = match (listed, self.prices.first()) {
            (Some(price), _) => price.per_second,
            (None, Some(first)) => {
                first.per_second * Decimal::from(memory_mb) / Decimal::from(first.memory_mb.max(1))
            }
            (None, None) => Decimal::ZERO,
        };
        Money::new(amount, self.currency)
    }

    /// Milliseconds that are paid for a request of this length.
    pub fn billed_ms(&self, handling: Duration, setup: Duration) -> u64 {
        let paid = if self.bills_setup {
            handling + setup
        } else {
            handling
        };
        let step = Duration::from_millis(self.step_ms.max(1)).as_nanos();
        let steps = u64::try_from(paid.as_nanos().div_ceil(step)).unwrap_or(u64::MAX);
        steps.saturating_mul(self.step_ms.max(1))
    }

    pub fn amount(&self, memory_mb: u32, billed_ms: u64) -> Money {
        let seconds = Decimal::from(billed_ms) / Decimal::ONE_THOUSAND;
        let amount = self.per_second(memory_mb).amount * seconds;
        Money::new(amount.normalize(), self.currency)
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
            let price = terms.per_second(memory_mb);
            assert_eq!(price.amount.to_string(), expected, "{memory_mb}");
            assert_eq!(price.currency, Currency::USD);
        };
        check(1024, "0.0000200");
        check(2048, "0.0000400");
        check(3072, "0.0000600");
        check(4096, "0.0000800");
        check(5120, "0.0001000");
        check(6144, "0.0001200");
        assert_eq!(terms.sizes_mb().collect::<Vec<_>>(), SIZES_MB);
        // Not in the table: in proportion.
        assert_eq!(terms.per_second(512).amount, Decimal::new(1, 5));
    }

    #[test]
    fn time_is_rounded_up_and_the_start_is_paid_where_the_rule_says_so() {
        let check = |step_ms, bills_setup, micros: [u64; 2], expected| {
            let terms = BillingTerms {
                step_ms,
                bills_setup,
                ..BillingTerms::sagemaker()
            };
            let [handling, setup] = micros.map(Duration::from_micros);
            assert_eq!(terms.billed_ms(handling, setup), expected, "{micros:?}");
        };
        check(1, false, [0, 0], 0);
        check(1, false, [1, 0], 1);
        check(1, false, [1000, 0], 1);
        check(1, false, [1001, 900_000], 2);
        check(1, true, [1001, 900_000], 902);
        check(100, false, [1001, 0], 100);
        check(100, true, [50_000, 50_001], 200);
        check(0, false, [1001, 0], 2);
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
        fn what_is_billed_is_never_less_than_used_nor_a_step_more(
            micros in 0_u64..10_000_000_000, step_ms in 1_u64..1000
        ) {
            let terms = BillingTerms { step_ms, ..BillingTerms::sagemaker() };
            let billed = terms.billed_ms(Duration::from_micros(micros), Duration::ZERO);
            prop_assert_eq!(billed % step_ms, 0);
            prop_assert!(billed * 1000 >= micros);
            prop_assert!(billed * 1000 < micros + step_ms * 1000);
        }

        #[test]
        fn the_amount_of_a_sum_is_the_sum_of_the_amounts(a in 0_u64..1_000_000_000, b in 0_u64..1_000_000_000) {
            let terms = BillingTerms::sagemaker();
            let amount = |ms| terms.amount(3072, ms).amount;
            prop_assert_eq!(amount(a + b), amount(a) + amount(b));
        }
    }
}
