//! Compares a provider's bill with a study's estimate and explains the difference line by line.
//!
//! [`reconcile`] reads any number of bills as streams and keeps sums, never rows; it returns a
//! [`Reconciliation`]. Opens no files, prints nothing, reads no clock.
//!
//! Data flow: [`formats`](read_bill) (rows of a file → [`Charge`]s) → `categories` (what a charge
//! is for) and `names` (which machine) → `ledger` (sums) → `belonging` (which sums belong to the
//! study) → `compare` and `explain` (lines) and `items` (every row, in one item).

mod belonging;
mod categories;
mod charge;
mod compare;
mod estimate;
mod explain;
mod formats;
mod interned;
mod items;
mod ledger;
mod lines;
mod machine_time;
mod names;
mod reconciler;
mod reconciliation;
mod records;
mod shared;
mod timeline;
mod values;

pub use charge::{Charge, Interval, Provider, Tag};
pub use estimate::{DEFAULT_TAG, Question};
pub use formats::{BillError, FileCounts, Format, Listener, read_bill};
pub use reconciler::{Bills, reconcile};
pub use reconciliation::{
    ChargeComparison, ExplainedLine, FileRead, HeldAgainst, Item, MachineComparison, MatchedBy,
    Note, RateComparison, RateTold, Reconciliation, RowProblem, Unexplained, UnexplainedPart,
    Whose,
};
