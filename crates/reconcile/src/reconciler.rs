//! The whole of it: bills in, a [`Reconciliation`] out.

use std::io::Read;

use crate::charge::{Charge, Tag};
use crate::estimate::{Estimate, Question};
use crate::explain;
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
        files: Vec::new(),
        problems: Vec::new(),
        problem_count: 0,
    };
    read(&mut bills)?;
    let read = explain::Read {
        files: bills.files,
        problems: bills.problems,
        problem_count: bills.problem_count,
    };
    Ok(explain::explain(question, &estimate, &bills.ledger, read))
}

/// Where bills are brought to.
pub struct Bills<'q> {
    tag: Tag,
    ledger: Ledger<'q>,
    /// The name of the one being read.
    file: String,
    files: Vec<FileRead>,
    problems: Vec<RowProblem>,
    problem_count: u64,
}

impl Bills<'_> {
    /// Reads one bill to its end. What was read of it before an error stays counted: the caller
    /// should not go on.
    pub fn read(&mut self, name: &str, reader: impl Read) -> Result<(), BillError> {
        self.file = name.to_owned();
        let tag = self.tag.clone();
        let counts = read_bill(reader, &tag, self)?;
        self.files.push(FileRead {
            file: name.to_owned(),
            format: counts.format,
            rows: counts.rows,
            left_out: counts.left_out,
        });
        Ok(())
    }
}

impl Listener for Bills<'_> {
    fn charge(&mut self, charge: &Charge) {
        self.ledger.add(charge);
    }

    fn problem(&mut self, mut problem: RowProblem) {
        self.problem_count += 1;
        if self.problems.len() < PROBLEMS_KEPT {
            problem.file.clone_from(&self.file);
            self.problems.push(problem);
        }
    }
}
