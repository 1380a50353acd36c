//! What a reconciliation found, as values: for a table, for JSON, for a section of a report.

use std::fmt;

use model::{Currency, Money};
use rust_decimal::Decimal;
use serde::{Serialize, Serializer};

use crate::compare::{hours, rounded};
use crate::formats::Format;

/// Estimate and bill of a study, side by side. `lines` and `unexplained` sum to `difference`, and
/// `difference` is `bill` less `estimate`, to the last digit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reconciliation {
    pub study: String,
    /// Everything below speaks it, unless it says otherwise.
    pub currency: Currency,
    /// The sum of what the runs were estimated to cost.
    pub estimate: Money,
    pub estimated_runs: u64,
    /// What the bill's rows of this study sum to.
    pub bill: Money,
    /// The same as the provider wrote it, by currency.
    pub bill_as_written: Vec<Money>,
    pub bill_rows: u64,
    pub difference: Money,
    /// Of the estimate; `None` if that is nothing.
    pub difference_percent: Option<Decimal>,
    pub matched_by: MatchedBy,
    /// Largest first.
    pub lines: Vec<ExplainedLine>,
    pub unexplained: Unexplained,
    pub machines: Vec<MachineComparison>,
    /// What was expected beside the machines' time; only what differs is in `lines`.
    pub charges: Vec<ChargeComparison>,
    pub rates: Vec<RateComparison>,
    /// The bills item by item, as written: every row is in exactly one, and they sum to `total`.
    pub items: Vec<Item>,
    /// All rows of all files, by currency.
    pub total: Vec<Money>,
    pub files: Vec<FileRead>,
    /// The first of them; `problem_count` has them all.
    pub problems: Vec<RowProblem>,
    pub problem_count: u64,
    pub notes: Vec<Note>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum MatchedBy {
    Tag {
        tag: String,
    },
    /// Machine type and region, and on while runs were in progress.
    MachineAndTime,
    Nothing,
}

/// One cause of the difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedLine {
    /// `disk`, `before-runs`, `unit-price` …: a stable name.
    pub cause: String,
    pub title: String,
    pub amount: Money,
    /// Of the difference; `None` if there is no difference.
    pub share_percent: Option<Decimal>,
    /// Rows of the bill behind it.
    pub rows: u64,
    pub details: Vec<String>,
}

impl ExplainedLine {
    /// Below a cent, and below a thousandth of the difference.
    pub fn is_negligible(&self) -> bool {
        let cent = Decimal::new(1, 2);
        self.amount.amount.abs() < cent && self.share_percent.is_some_and(|s| s.is_zero())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unexplained {
    pub amount: Money,
    pub share_percent: Option<Decimal>,
    pub parts: Vec<UnexplainedPart>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnexplainedPart {
    pub what: String,
    pub amount: Money,
    pub rows: u64,
}

/// A machine of the estimate and what the bill says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineComparison {
    /// `azure/Standard_F4s_v2@eastus`; `own (lab)` where the environment `lab` has a price that
    /// was typed into the study.
    pub machine: String,
    /// Of the study, whose runs these are.
    pub environments: Vec<String>,
    pub held_against: HeldAgainst,
    pub runs: u64,
    /// Of all machines, where a run has several.
    pub run_seconds: Decimal,
    pub estimated_seconds: Decimal,
    /// Of one machine.
    pub estimated_per_hour: Money,
    pub price_date: String,
    pub price_source: String,
    /// How many resources of the bill were matched with it.
    pub resources: u64,
    pub billed_seconds: Decimal,
    /// In the bill's own currency; `None` if the bill gives no time, or several currencies.
    pub billed_per_hour: Option<Money>,
    /// First and last day of the rows.
    pub billed_from: Option<String>,
    pub billed_to: Option<String>,
}

/// What of a bill the estimated time of a machine is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldAgainst {
    /// Hours of machines of its type.
    Hours,
    /// What functions and requests cost: they have no hours.
    Requests,
    /// The price names no machine of a provider.
    Nothing,
}

/// `azure/…: 140 h estimated at US$ 0.169/h (2024-02-20), 143.25 h billed at R$ 0.8484/h`.
impl fmt::Display for MachineComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimated = hours(self.estimated_seconds);
        if self.held_against == HeldAgainst::Requests {
            return write!(
                f,
                "{}: {estimated} estimated for requests, compared with the cost of functions and requests, not with machine hours",
                self.machine
            );
        }
        write!(
            f,
            "{}: {estimated} estimated at {}/h ({})",
            self.machine,
            rounded(self.estimated_per_hour),
            self.price_date
        )?;
        match (self.held_against, self.billed_per_hour) {
            (HeldAgainst::Nothing, _) => write!(f, ", which is on no provider's bill"),
            (_, Some(price)) => write!(
                f,
                ", {} billed at {}/h",
                hours(self.billed_seconds),
                rounded(price)
            ),
            (_, None) => write!(f, ", {} billed", hours(self.billed_seconds)),
        }
    }
}

/// What a study expected to pay beside its machines' time, and what the bill has of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChargeComparison {
    /// The line that has the difference: `disk`, `traffic`, `tax` …
    pub cause: String,
    pub title: String,
    pub estimated: Money,
    pub billed: Money,
    /// Of the bill.
    pub rows: u64,
}

impl ChargeComparison {
    pub fn is_only_estimated(&self) -> bool {
        self.rows == 0 && self.billed.amount.is_zero() && !self.estimated.amount.is_zero()
    }
}

/// `disks: US$ 4.10 estimated, US$ 4.35 billed`.
impl fmt::Display for ChargeComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} estimated, ", self.title, self.estimated)?;
        match self.is_only_estimated() {
            true => write!(f, "not on the bill"),
            false => write!(f, "{} billed", self.billed),
        }
    }
}

/// So many of `to` for one of `from`: in the study, and in the bill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateComparison {
    pub from: Currency,
    pub to: Currency,
    pub study_rate: Decimal,
    pub study_rate_date: String,
    pub bill_rate: Decimal,
    pub told: RateTold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateTold {
    /// The bill has a column with it.
    ByTheBill,
    /// From the two unit prices, taken to be the same in the price's own currency.
    Implied,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    pub whose: Whose,
    /// A machine or kind of charge of the study or of the account; a service of others.
    pub what: String,
    /// With the credits that are written in the same rows.
    pub amount: Money,
    /// What of it is counted for the study: all, nothing, or a share of what an account pays.
    pub of_study: Money,
    pub rows: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Whose {
    Study,
    /// Charged to the account as a whole: taxes, support, credits.
    Account,
    Others,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileRead {
    pub file: String,
    pub format: Format,
    pub rows: u64,
    pub left_out: u64,
    /// Of the rows that are not left out, with their credits, by currency.
    pub total: Vec<Money>,
}

/// A row that was left out, or used without a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct RowProblem {
    pub file: String,
    pub line: u64,
    pub what: String,
    /// Then its money is missing from the totals.
    pub left_out: bool,
}

impl RowProblem {
    pub(crate) fn left_out(line: u64, what: String) -> Self {
        RowProblem {
            file: String::new(),
            line,
            what,
            left_out: true,
        }
    }

    pub(crate) fn used(line: u64, what: String) -> Self {
        RowProblem {
            left_out: false,
            ..RowProblem::left_out(line, what)
        }
    }

    pub(crate) fn unreadable(line: u64) -> Self {
        let longest = crate::records::LONGEST_ROW >> 20;
        RowProblem::left_out(
            line,
            format!("it has an unclosed quote, or is longer than {longest} MiB"),
        )
    }
}

/// What a reader should know before believing the figures.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Note {
    /// Rows were left out, whose money nobody knows.
    #[error("{} skipped: the bill's total may be off by {}", counted(*.rows, "row was", "rows were"), if *.rows == 1 { "it" } else { "them" })]
    TotalMayBeWrong { rows: u64 },
    #[error("{} not in the estimate", counted(*.runs, "run has no price and is", "runs have no price and are"))]
    UnpricedRuns { runs: u64 },
    #[error("no row of the bill has the tag {tag}")]
    NoTaggedRow { tag: String },
    #[error("the bill has no rows of {} while the runs were in progress", .machines.join(", "))]
    NothingMatched { machines: Vec<String> },
    /// There is nothing to match by.
    #[error("the prices of {} name no provider's machine, so rows can be matched only by tag: tag the study's resources, or pass their tag with --tag", .machines.join(", "))]
    OnlyTypedPrices { machines: Vec<String> },
    /// Machine and time were all there was to match by.
    #[error(
        "rows are matched by machine and time, which can be wrong; tag the resources with {tag} to be sure"
    )]
    NotTagged { tag: String },
    /// Disks and the like that may be of the study: other machines stand in the same place.
    #[error(
        "{amount} in `{scope}` may belong to this study but are not counted, because other machines are there too: tag the study's resources, or pass their tag with --tag"
    )]
    Undecided { scope: String, amount: Money },
    #[error(
        "{resources} resources of type {machine} were on during the runs, but at most {at_once} runs were in progress at once; some resources may not belong to the study"
    )]
    MoreMachinesThanRuns {
        machine: String,
        resources: u64,
        at_once: u64,
    },
    #[error("{amount} of the bill is not counted: no exchange rate from {} to {to}; add one as [[rates]]", .amount.currency)]
    BillWithoutRate { amount: Money, to: Currency },
    #[error("{amount} of the estimate is not counted: no exchange rate from {} to {to}; add one as [[rates]]", .amount.currency)]
    EstimateWithoutRate { amount: Money, to: Currency },
    /// Taxes and the like of an account that cannot be divided.
    #[error("{what} of {amount} cannot be divided among the bill's rows and is not counted")]
    NotDivided { what: String, amount: Money },
    /// More different ones than are kept apart.
    #[error("more than {limit} {what}: the rest is summed together")]
    Pooled { what: &'static str, limit: usize },
}

fn counted(count: u64, one: &str, many: &str) -> String {
    let what = if count == 1 { one } else { many };
    format!("{count} {what}")
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
