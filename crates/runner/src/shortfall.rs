//! What a budget that is too small lacks, in amounts.

use std::fmt;

use model::{Money, Plan, RunId, RunRecord, Study};
use store::{Store, StoreError};

use crate::budget::{Ledger, Rentals};
use crate::forecast::{self, RunForecast};

/// A budget, and what the runs that are due need of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shortfall {
    pub allowed: Money,
    pub spent: Money,
    pub left: Money,
    pub due_runs: usize,
    /// Of these, runs of which nothing is known: the least that a run is billed counts for them.
    pub unknown_runs: usize,
    /// For all that are due; none where none of them is billed.
    pub needed: Option<Money>,
}

impl Shortfall {
    /// None where the study has no budget.
    pub fn find(
        study: &Study,
        plan: &Plan,
        store: &Store,
        due: &[RunId],
    ) -> Result<Option<Self>, StoreError> {
        let ledger = Ledger::open(study, store, &[])?;
        Ok(Shortfall::of(study, plan, &ledger, &store.records()?, due))
    }

    fn of(
        study: &Study,
        plan: &Plan,
        ledger: &Ledger,
        records: &[RunRecord],
        due: &[RunId],
    ) -> Option<Self> {
        let mut expected = forecast::from_records(records);
        forecast::fill_unknown(&mut expected, &plan.scenarios);
        let is_unknown = |run: &&RunId| !expected.contains_key(&run.scenario);
        let unknown: Vec<RunId> = due.iter().filter(is_unknown).copied().collect();
        let shortest = unknown
            .iter()
            .map(|run| (run.scenario, RunForecast::shortest()));
        expected.extend(shortest);
        Some(Shortfall {
            allowed: ledger.allowed?,
            spent: ledger.spent(),
            left: ledger.left()?,
            due_runs: due.len(),
            unknown_runs: unknown.len(),
            needed: forecast::money(study, plan, due, &expected, &Rentals::new(study)),
        })
    }
}

/// `US$ 0.98 of US$ 1.00 is spent, US$ 0.02 is left; the 7 runs left are forecast at US$ 0.40, so
/// US$ 0.38 is missing.`
impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shortfall {
            allowed,
            spent,
            left,
            due_runs,
            unknown_runs,
            needed,
        } = self;
        write!(f, "{spent} of {allowed} is spent, {left} is left")?;
        let Some(needed) = needed.filter(|needed| needed.amount > left.amount) else {
            return f.write_str(".");
        };
        let missing = needed.amount.saturating_sub(left.amount);
        let missing = Money::new(missing, left.currency);
        let cost = match (due_runs, unknown_runs) {
            (1, 0) => "the run left is forecast at".to_owned(),
            (1, _) => "the run left costs at least".to_owned(),
            (runs, 0) => format!("the {runs} runs left are forecast at"),
            (runs, _) => format!("the {runs} runs left cost at least"),
        };
        let at_least = match unknown_runs {
            0 => "",
            _ => "at least ",
        };
        write!(f, "; {cost} {needed}, so {at_least}{missing} is missing.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four runs, of which each is paid for a minute at least.
    fn study(budget: &str, rental: &str) -> Study {
        let text = format!(
            "[study]\nname = \"s\"\nrepetitions = 2\n{budget}\n[factors]\nn = [1, 2]\n\
             [workload]\ncommand = [\"true\", \"{{n}}\"]\n[environments.rented]\nprice = \"60 USD/h\"\n\
             billing = {{ minimum = \"60s\", rental = \"{rental}\" }}\n"
        );
        let options = plan::ReadOptions {
            folder: None,
            read: &|_| Err(std::io::ErrorKind::NotFound.into()),
            requests_in: &|_| Err("is not there".to_owned()),
            scale: None,
            catalog: cost::catalog(),
            today: None,
        };
        plan::read_study(&text, &options).unwrap()
    }

    fn told(study: &Study) -> Option<String> {
        let plan = plan::plan(study);
        let ledger = Ledger::new(study);
        let found = Shortfall::of(study, &plan, &ledger, &[], &plan.runs);
        found.map(|found| found.to_string())
    }

    #[test]
    fn before_the_first_run_the_least_that_is_billed_is_needed() {
        let check = |budget: &str, rental: &str, expected: Option<&str>| {
            assert_eq!(told(&study(budget, rental)).as_deref(), expected);
        };
        check(
            "budget = \"0.25 USD\"",
            "study",
            Some(
                "US$ 0.00 of US$ 0.25 is spent, US$ 0.25 is left; the 4 runs left cost at least US$ 1.00, so at least \
                 US$ 0.75 is missing.",
            ),
        );
        check(
            "budget = \"0.25 USD\"",
            "run",
            Some(
                "US$ 0.00 of US$ 0.25 is spent, US$ 0.25 is left; the 4 runs left cost at least US$ 4.00, so at least \
                 US$ 3.75 is missing.",
            ),
        );
        check(
            "budget = \"9 USD\"",
            "run",
            Some("US$ 0.00 of US$ 9.00 is spent, US$ 9.00 is left."),
        );
        check("", "run", None);
    }
}
