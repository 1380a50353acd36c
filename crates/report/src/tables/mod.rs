//! Tables besides the scenarios', before they are written: the same in HTML and in Markdown.

mod bill;
mod breakeven;
mod frameworks;
mod growth;
mod money;
mod profile;
mod serving;
mod speedup;
mod stopping;
mod sweep;

pub(crate) use bill::{bill_table, charge_sources};
pub(crate) use breakeven::{buying_table, more_expensive_table, of, verdict};
pub(crate) use frameworks::{checks_table, comparison_table, shared_sentence};
pub(crate) use growth::growth_table;
pub(crate) use money::{provisioning_table, target_table, unused_table, work_table};
pub(crate) use profile::{kind_words, kinds_of, kinds_table, operators_table, profiled};
pub(crate) use serving::{answers_table, break_even_table, currency_symbol, money};
pub(crate) use speedup::{pivot, speed_up_table};
pub(crate) use stopping::stopping_table;
pub(crate) use sweep::{sweep_table, sweep_unit};

use analyse::{Estimate, format};
use messages::message;

/// More rows than this nobody reads on a page; the exports have them all.
pub(crate) const MOST_ROWS: usize = 60;

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) headers: Vec<Header>,
    pub(crate) rows: Vec<Vec<TableCell>>,
    /// Rows that did not fit.
    pub(crate) left_out: usize,
}

#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) text: String,
    pub(crate) is_number: bool,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct TableCell {
    pub(crate) text: String,
    /// What stands smaller next to it: half an interval, an efficiency.
    pub(crate) small: String,
    pub(crate) tone: Tone,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// A result that is not a number: out of memory, timed out.
    Ended,
    /// What must not be overlooked.
    Warning,
    /// Nothing is known.
    Absent,
}

impl Table {
    /// Columns of words, then columns of numbers.
    pub(crate) fn new(words: &[&str], numbers: &[&str]) -> Self {
        let mut table = Table::default();
        words.iter().for_each(|header| table.text(header));
        numbers.iter().for_each(|header| table.number(header));
        table
    }

    pub(crate) fn text(&mut self, header: &str) {
        self.header(header, false);
    }

    pub(crate) fn number(&mut self, header: &str) {
        self.header(header, true);
    }

    fn header(&mut self, text: &str, is_number: bool) {
        self.headers.push(Header {
            text: text.to_owned(),
            is_number,
        });
    }

    pub(crate) fn cut(mut self) -> Self {
        self.left_out += self.rows.len().saturating_sub(MOST_ROWS);
        self.rows.truncate(MOST_ROWS);
        self
    }

    /// Said below a table that was cut.
    pub(crate) fn rest_sentence(&self) -> Option<String> {
        (self.left_out > 0).then(|| message!("page-more-rows", rows = self.left_out))
    }
}

impl TableCell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        TableCell {
            text: text.into(),
            ..TableCell::default()
        }
    }

    pub(crate) fn none() -> Self {
        TableCell {
            tone: Tone::Absent,
            ..TableCell::new(format::NONE)
        }
    }

    pub(crate) fn small(mut self, small: impl Into<String>) -> Self {
        self.small = small.into();
        self
    }

    /// Its interval stands smaller next to it, where it has one; nothing here is below zero.
    pub(crate) fn interval(self, of: &Estimate, write: impl Fn(f64) -> String) -> Self {
        let ends = of.interval;
        let ends = ends.map(|i| format::interval(i.low.max(0.0), i.high, write));
        self.small(ends.unwrap_or_default())
    }

    /// A time, with its interval.
    pub(crate) fn seconds(estimate: Option<&Estimate>) -> Self {
        estimate.map_or_else(TableCell::none, |e| {
            TableCell::new(format::duration(e.value)).interval(e, format::duration)
        })
    }

    /// What is known, or a dash.
    pub(crate) fn or_none(text: Option<impl Into<String>>) -> Self {
        text.map_or_else(TableCell::none, TableCell::new)
    }

    pub(crate) fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// `1.7× ([1.6, 1.8], 85 %)`.
    pub(crate) fn joined(&self) -> String {
        match self.small.as_str() {
            "" => self.text.clone(),
            small if small.starts_with('±') => format!("{} {small}", self.text),
            small => format!("{} ({small})", self.text),
        }
    }
}
