//! The bills, item by item: every row is in exactly one item, and the items sum to the total.

use std::collections::BTreeMap;

use model::{Currency, Money};
use rust_decimal::Decimal;

use crate::reconciliation::{Item, Whose};

/// Items of others that are listed one by one, the largest first.
const SHOWN: usize = 10;
const REST: &str = "other services";

#[derive(Default)]
pub(crate) struct Items {
    sums: BTreeMap<Key, Sum>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    whose: Whose,
    what: String,
    currency: Currency,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Sum {
    pub(crate) amount: Decimal,
    pub(crate) of_study: Decimal,
    pub(crate) rows: u64,
}

impl Items {
    pub(crate) fn add(&mut self, whose: Whose, what: &str, currency: Currency, more: Sum) {
        let key = Key {
            whose,
            what: what.trim().to_owned(),
            currency,
        };
        let sum = self.sums.entry(key).or_default();
        sum.amount += more.amount;
        sum.of_study += more.of_study;
        sum.rows += more.rows;
    }

    /// The study's, the account's, then those of others; each the largest first.
    pub(crate) fn finish(self) -> Vec<Item> {
        let mut all: Vec<(Key, Sum)> = self.sums.into_iter().collect();
        all.sort_by_key(|(key, sum)| (key.whose, std::cmp::Reverse(sum.amount.abs())));
        let first = all.partition_point(|(key, _)| key.whose < Whose::Others);
        let rest = all.split_off(all.len().min(first + SHOWN));
        let mut others = Items::default();
        for (key, sum) in rest {
            others.add(key.whose, REST, key.currency, sum);
        }
        all.extend(others.sums);
        let item = |(key, sum): (Key, Sum)| Item {
            whose: key.whose,
            what: key.what,
            amount: Money::new(sum.amount.normalize(), key.currency),
            of_study: Money::new(sum.of_study.normalize(), key.currency),
            rows: sum.rows,
        };
        all.into_iter().map(item).collect()
    }
}
