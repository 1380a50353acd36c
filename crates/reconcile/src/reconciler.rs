//! The whole of it: bills in, a [`Reconciliation`] out.

use std::collections::BTreeMap;
use std::io;

use model::{Currency, Money};
use rust_decimal::Decimal;

use crate::charge::{Charge, Tag};
use crate::estimate::{Estimate, Question};
use crate::explain::{self, Read};
use crate::formats::{BillError, Listener, read_bill};
use crate::ledger::Ledger;
use crate::reconciliation::{FileRead, Reconciliation, RowProblem};

/// Problems that are kept to be shown; all are counted.
const PROBLEMS_KEPT: usize = 20;

/// `read` brings the bills, one after the other, to the [`Bills`] it is given; its error ends
/// the reconciliation.
pub fn reconcile<E>(
    question: &Question,
    read: impl FnOnce(&mut Bills) -> Result<(), E>,
) -> Result<Reconciliation, E> {
    let estimate = Estimate::of(&question.runs);
    let mut bills = Bills {
        tag: question.wanted_tag(),
        ledger: Ledger::new(&estimate.groups),
        file: String::new(),
        total: BTreeMap::new(),
        read: Read::default(),
    };
    read(&mut bills)?;
    let Bills { ledger, read, .. } = bills;
    Ok(explain::explain(question, &estimate, &ledger, read))
}

/// Where bills are brought to.
pub struct Bills<'q> {
    tag: Tag,
    ledger: Ledger<'q>,
    /// The name of the one being read.
    file: String,
    /// Of that one.
    total: BTreeMap<Currency, Decimal>,
    read: Read,
}

impl Bills<'_> {
    /// Reads one bill to its end. What was read of it before an error stays counted: the caller
    /// should not go on.
    pub fn read(&mut self, name: &str, reader: impl io::Read) -> Result<(), BillError> {
        self.file = name.to_owned();
        let tag = self.tag.clone();
        let counts = read_bill(reader, &tag, self)?;
        self.read.files.push(FileRead {
            file: name.to_owned(),
            format: counts.format,
            rows: counts.rows,
            left_out: counts.left_out,
            total: std::mem::take(&mut self.total)
                .into_iter()
                .map(|(currency, amount)| Money::new(amount.normalize(), currency))
                .collect(),
        });
        Ok(())
    }
}

impl Listener for Bills<'_> {
    fn charge(&mut self, charge: &Charge) {
        // Summed apart from the ledger, whose items must come to the same.
        *self.total.entry(charge.currency).or_default() += charge.cost + charge.credits;
        self.ledger.add(charge);
    }

    fn problem(&mut self, mut problem: RowProblem) {
        self.read.problem_count += 1;
        if self.read.problems.len() < PROBLEMS_KEPT {
            problem.file.clone_from(&self.file);
            self.read.problems.push(problem);
        }
    }
}
