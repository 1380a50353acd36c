//! A row of a table → a [`Charge`].

use std::borrow::Cow;

use model::{Currency, Money};
use rust_decimal::Decimal;

use super::columns::Columns;
use super::layout::Field;
use super::quantity::{Counted, machine_seconds};
use super::tags::{entry, has_tag};
use super::{Format, Listener};
use crate::charge::{Charge, Interval, Provider, Tag, contains};
use crate::reconciliation::RowProblem;
use crate::records::Row;
use crate::values::{DAY_MS, DayOrder, HOUR_MS, OrderRead, ReadMoment, bounded, moment, number};

/// Half a cent: an amount rounded to cents is no further from the exact one.
const HALF_A_CENT: Decimal = Decimal::from_parts(5, 0, 0, false, 3);
/// What is further off for its size is another price, not a rounding.
const ROUNDING_PARTS: Decimal = Decimal::ONE_HUNDRED;

pub(super) struct RowReader<'t> {
    columns: Columns,
    tag: &'t Tag,
    comma_parts_cells: bool,
    order: DayOrder,
    /// A date was read as custom has it, and none has proven yet that it is right.
    any_by_custom: bool,
    /// The line of a date that proved the dates before it to be read wrongly.
    disproven_at: Option<u64>,
}

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowRead {
    Used,
    /// Told as a problem.
    LeftOut,
    /// The header once more, where files were put one after the other.
    HeaderAgain,
}

impl<'t> RowReader<'t> {
    pub(super) fn new(columns: Columns, tag: &'t Tag, comma_parts_cells: bool) -> Self {
        RowReader {
            order: columns.order,
            columns,
            tag,
            comma_parts_cells,
            any_by_custom: false,
            disproven_at: None,
        }
    }

    pub(super) fn read(&mut self, row: &Row, listener: &mut impl Listener) -> RowRead {
        match self.charge(row, listener) {
            Ok(charge) => {
                listener.charge(&charge);
                RowRead::Used
            }
            Err(_) if self.text(row, Field::Cost) == self.columns.name(Field::Cost) => {
                RowRead::HeaderAgain
            }
            Err(what) => {
                listener.problem(RowProblem::left_out(row.line, what));
                RowRead::LeftOut
            }
        }
    }

    /// What can only be said when the file is through.
    pub(super) fn finish(&self, listener: &mut impl Listener) {
        if let Some(line) = self.disproven_at {
            let what = "its date has day and month in a different order than the earlier rows, which may have been read wrongly";
            listener.problem(RowProblem::used(line, what.to_owned()));
        }
    }

    fn charge<'r>(
        &mut self,
        row: &Row<'r>,
        listener: &mut impl Listener,
    ) -> Result<Charge<'r>, String> {
        self.check_width(row)?;
        let cost = self.cost(row)?;
        let currency = self.currency(row)?;
        let provider = self.provider(row);
        let time = self.time(row).unwrap_or_else(|what| {
            listener.problem(RowProblem::used(row.line, what));
            None
        });
        let machine = self.machine(row);
        let description = self.text(row, Field::Description);
        let quantity = self.quantity(row, listener);
        let unit = self.text(row, Field::Unit);
        let details = self.text(row, Field::Details);
        let seconds = quantity.and_then(|quantity| {
            machine_seconds(&Counted {
                provider,
                quantity,
                unit: &unit,
                description: &description,
                machine: &machine,
                details: &details,
                time,
            })
        });
        Ok(Charge {
            line: row.line,
            provider,
            kind: self.kind(row),
            service: self.text(row, Field::Service),
            meter: self.text(row, Field::Meter),
            meter_kind: self.text(row, Field::MeterKind),
            sku: self.text(row, Field::Sku),
            region: self.text(row, Field::Region),
            resource: self.text(row, Field::Resource),
            scope: self.scope(row),
            description,
            machine,
            time,
            seconds,
            cost,
            currency,
            credits: self.credits(row, listener),
            rounding: match seconds {
                Some(_) => self.rounding(row, cost, quantity),
                None => Decimal::ZERO,
            },
            list_cost: self.list_cost(row, cost, currency),
            tagged: self.is_tagged(row),
        })
    }

    fn text<'r>(&self, row: &Row<'r>, field: Field) -> Cow<'r, str> {
        match self.columns.place(field) {
            Some(column) => row.cell(column),
            None => Cow::Borrowed(""),
        }
    }

    fn number(&self, row: &Row, field: Field) -> Option<Decimal> {
        number(
            &row.cell(self.columns.place(field)?),
            self.comma_parts_cells,
        )
    }

    /// A value out of range (byte-seconds) is ignored; a value that is not a number is reported.
    fn quantity(&self, row: &Row, listener: &mut impl Listener) -> Option<Decimal> {
        let found = self.number(row, Field::Quantity);
        let text = self.text(row, Field::Quantity);
        if found.is_none() && text.contains(|c: char| c.is_alphabetic() && c != 'e' && c != 'E') {
            let what = self.unreadable(Field::Quantity, &text, "a number");
            let what = format!("{what}; the row counts without it");
            listener.problem(RowProblem::used(row.line, what));
        }
        found
    }

    /// With a cell too many or too few, nobody knows which column an amount stands in. A mark at
    /// the end of the line is no cell.
    fn check_width(&self, row: &Row) -> Result<(), String> {
        let width = self.columns.width();
        let trailing = row.len() == width + 1 && row.cell(width).is_empty();
        match row.len() == width || trailing {
            true => Ok(()),
            false => Err(format!(
                "it has {} cells; expected {width}, as in the header",
                row.len()
            )),
        }
    }

    fn cost(&self, row: &Row) -> Result<Decimal, String> {
        let text = || self.text(row, Field::Cost);
        let wrong = || self.unreadable(Field::Cost, &text(), "an amount such as 12.34");
        self.number(row, Field::Cost).ok_or_else(wrong)
    }

    fn currency(&self, row: &Row) -> Result<Currency, String> {
        let text = self.text(row, Field::Currency);
        if text.is_empty() && self.columns.format() == Format::AwsReport {
            // Reports without the column are of accounts that pay in dollars.
            return Ok(Currency::USD);
        }
        let wrong = || self.unreadable(Field::Currency, &text, "a currency code such as USD");
        text.to_ascii_uppercase().parse().map_err(|_| wrong())
    }

    fn provider(&self, row: &Row) -> Provider {
        match self.columns.format() {
            Format::AwsReport => Provider::Aws,
            Format::AzureExport => Provider::Azure,
            Format::GoogleCsv | Format::GoogleJson => Provider::Google,
            Format::Focus => Provider::of_name(&self.text(row, Field::Provider)),
        }
    }

    /// A correction is one whatever it corrects.
    fn kind<'r>(&self, row: &Row<'r>) -> Cow<'r, str> {
        let detail = self.text(row, Field::KindDetail);
        match detail.is_empty() {
            true => self.text(row, Field::Kind),
            false => detail,
        }
    }

    /// The machine type where a column, or the JSON of details, names it.
    fn machine<'r>(&self, row: &Row<'r>) -> Cow<'r, str> {
        let named = self.text(row, Field::Machine);
        if !named.is_empty() {
            return named;
        }
        let details = self.text(row, Field::Details);
        entry(&details, &self.columns.layout.machine_detail).map_or(Cow::Borrowed(""), Cow::Owned)
    }

    /// `None` if the row tells no time at all.
    fn time(&mut self, row: &Row) -> Result<Option<Interval>, String> {
        let start = self.text(row, Field::Start);
        if start.is_empty() {
            return Ok(None);
        }
        let read = self.moment(Field::Start, &start)?;
        match read.order {
            OrderRead::Certain => {}
            OrderRead::ByCustom => self.any_by_custom = true,
            OrderRead::Proven(order) => {
                if order != self.order && self.any_by_custom {
                    self.disproven_at.get_or_insert(row.line);
                }
                self.order = order;
            }
        }
        let start = read.moment;
        let end = self.text(row, Field::End);
        let end_ms = match end.is_empty() {
            true => None,
            false => Some(self.moment(Field::End, &end)?.moment.ms),
        };
        let daily = start.day_only || self.columns.format() == Format::AzureExport;
        let custom = start.ms + if daily { DAY_MS } else { HOUR_MS };
        Ok(Some(Interval {
            start_ms: start.ms,
            end_ms: end_ms.filter(|end| *end > start.ms).unwrap_or(custom),
        }))
    }

    fn moment(&self, field: Field, text: &str) -> Result<ReadMoment, String> {
        moment(text, self.order).ok_or_else(|| {
            let what = self.unreadable(field, text, "a date such as 2024-03-21");
            format!("{what}; the row counts without its time")
        })
    }

    fn unreadable(&self, field: Field, text: &str, expected: &str) -> String {
        let column = self.columns.name(field);
        format!("`{column}` is {}; expected {expected}", shown(text))
    }

    fn scope<'r>(&self, row: &Row<'r>) -> Cow<'r, str> {
        let account = self.text(row, Field::Account);
        let group = match self.text(row, Field::Group) {
            group if group.is_empty() => resource_group(&self.text(row, Field::Resource)),
            group => Some(group.to_ascii_lowercase()),
        };
        match group {
            Some(group) => Cow::Owned(format!("{account}/{group}")),
            None => account,
        }
    }

    fn credits(&self, row: &Row, listener: &mut impl Listener) -> Decimal {
        let text = self.text(row, Field::Credits);
        let found = match text.trim() {
            "" => Some(Decimal::ZERO),
            list if list.starts_with('[') => super::google_json::credits_of(list),
            one => number(one, self.comma_parts_cells),
        };
        found.unwrap_or_else(|| {
            let what = self.unreadable(Field::Credits, &text, "an amount such as -0.1");
            let what = format!("{what}; the row counts without it");
            listener.problem(RowProblem::used(row.line, what));
            Decimal::ZERO
        })
    }

    fn rounding(&self, row: &Row, cost: Decimal, quantity: Option<Decimal>) -> Decimal {
        let price = self.number(row, Field::UnitPrice);
        let quantity = self.number(row, Field::PricedQuantity).or(quantity);
        let exact = price
            .filter(|price| !price.is_zero())
            .zip(quantity)
            .and_then(|(price, quantity)| price.checked_mul(quantity));
        let is_rounding = |rest: Decimal, exact: Decimal| {
            rest.abs() <= HALF_A_CENT && rest.abs() * ROUNDING_PARTS <= exact.abs()
        };
        match exact.map(|exact| (cost - exact, exact)) {
            Some((rest, exact)) if is_rounding(rest, exact) => rest,
            _ => Decimal::ZERO,
        }
    }

    fn list_cost(&self, row: &Row, cost: Decimal, currency: Currency) -> Option<Money> {
        let listed: Currency = match self.columns.format() {
            // Google's list is in dollars, and the rate is from them.
            Format::GoogleCsv => Currency::USD,
            _ => self.text(row, Field::ListCurrency).parse().ok()?,
        };
        if listed == currency {
            return None;
        }
        let amount = match self.number(row, Field::ListCost) {
            Some(amount) => amount,
            None => bounded(cost.checked_div(self.number(row, Field::Rate)?)?)?.round_dp(18),
        };
        Some(Money::new(amount, listed))
    }

    fn is_tagged(&self, row: &Row) -> bool {
        let own_column = self
            .columns
            .tag
            .is_some_and(|column| row.cell(column).eq_ignore_ascii_case(&self.tag.value));
        let listed = || {
            let column = self.columns.place(Field::Tags)?;
            // Most rows lack the tag, and then nothing need be unquoted.
            contains(row.raw(column), self.tag.value.as_bytes())
                .then(|| has_tag(&row.cell(column), self.tag))
        };
        own_column || listed().unwrap_or(false)
    }
}

/// Of `/subscriptions/…/resourceGroups/NAME/providers/…`.
fn resource_group(resource: &str) -> Option<String> {
    const BEFORE: &str = "/resourcegroups/";
    if !resource.starts_with('/') {
        return None;
    }
    let lower = resource.to_ascii_lowercase();
    let (_, rest) = lower.split_once(BEFORE)?;
    rest.split('/').next().map(str::to_owned)
}

/// A cell in a sentence: short, and of one line.
fn shown(text: &str) -> String {
    match text.is_empty() {
        true => "empty".to_owned(),
        false => format!("`{}`", super::short(text)),
    }
}
