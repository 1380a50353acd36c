//! Bills of several formats, read as a stream of [`Charge`]s. The format is known by the header.

mod columns;
mod google_json;
mod layout;
mod quantity;
mod rows;
mod tags;

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::charge::{Charge, Tag};
use crate::reconciliation::RowProblem;
use crate::records::{LONGEST_ROW, Next, Records};

use self::columns::Columns;
use self::rows::{RowRead, RowReader};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    Focus,
    AwsReport,
    AzureExport,
    GoogleCsv,
    GoogleJson,
}

impl Format {
    pub fn title(self) -> &'static str {
        match self {
            Format::Focus => "FOCUS",
            Format::AwsReport => "AWS Cost and Usage Report",
            Format::AzureExport => "Azure cost export",
            Format::GoogleCsv => "Google billing export (CSV)",
            Format::GoogleJson => "Google billing export (JSON lines)",
        }
    }
}

/// What was found in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCounts {
    pub format: Format,
    /// Rows below the header, blank ones not counted.
    pub rows: u64,
    pub left_out: u64,
}

/// Why a file could not be read at all, in a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BillError(String);

impl BillError {
    fn empty() -> Self {
        BillError("it is empty; expected a bill with a header line".to_owned())
    }

    /// `nearest` says which format it is nearest to.
    fn unknown_format(columns: &[String], nearest: Option<String>) -> Self {
        const SHOWN: usize = 8;
        let shown = columns.iter().take(SHOWN);
        let shown: Vec<String> = shown.map(|c| format!("`{}`", short(c))).collect();
        let more = if columns.len() > SHOWN { ", …" } else { "" };
        BillError(format!(
            "no known bill format has the columns {}{more}; {}",
            shown.join(", "),
            nearest.unwrap_or_else(|| format!("expected {EXPECTED}"))
        ))
    }
}

impl From<io::Error> for BillError {
    fn from(error: io::Error) -> Self {
        BillError(format!("it cannot be read: {error}"))
    }
}

const EXPECTED: &str = "FOCUS (BilledCost, BillingCurrency, ChargePeriodStart), an AWS Cost and \
     Usage Report (lineItem/UnblendedCost or line_item_unblended_cost), an Azure cost export \
     (Date, MeterName, Cost or CostInBillingCurrency, BillingCurrency) or a Google billing export \
     (service.description, usage_start_time, cost, currency; or JSON lines)";

fn short(text: &str) -> String {
    let cut: String = text.chars().take(40).collect();
    cut.replace(|c: char| c.is_control(), " ")
}

/// What a reader tells of a bill.
pub trait Listener {
    fn charge(&mut self, charge: &Charge);
    /// A row that was left out, or was used without a part of it.
    fn problem(&mut self, problem: RowProblem);
}

/// Reads a bill, plain or compressed by gzip. Rows that cannot be used are reported as problems and
/// counted; the rest is read.
pub fn read_bill(
    reader: impl Read,
    tag: &Tag,
    listener: &mut impl Listener,
) -> Result<FileCounts, BillError> {
    let mut start = Records::new(reader);
    let is_gzip = start.peek(2)?.starts_with(&[0x1f, 0x8b]);
    match is_gzip {
        true => read_plain(
            Records::new(MultiGzDecoder::new(start.into_rest())),
            tag,
            listener,
        ),
        false => read_plain(start, tag, listener),
    }
}

fn read_plain<R: Read>(
    mut records: Records<R>,
    tag: &Tag,
    listener: &mut impl Listener,
) -> Result<FileCounts, BillError> {
    let start = records.peek(4)?;
    let not_a_bill = match start {
        // Spreadsheets write it as "Unicode text".
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [_, 0, _, 0, ..] | [0, _, 0, _, ..] => {
            Some("UTF-16 text; save it as CSV in UTF-8 (in Excel: \"CSV UTF-8\")")
        }
        [b'P', b'A', b'R', b'1', ..] => Some("a Parquet file; export it as CSV, or convert it"),
        [b'P', b'K', 3, 4, ..] => {
            Some("a zip archive or a workbook; unpack it, or save it as CSV in UTF-8")
        }
        _ => None,
    };
    if let Some(what) = not_a_bill {
        return Err(BillError(format!("it is {what}")));
    }
    if start.starts_with(b"\xef\xbb\xbf") {
        records.skip(3);
    }
    let head = records.peek(LONGEST_ROW / 16)?.trim_ascii_start();
    if head.is_empty() {
        return Err(BillError::empty());
    }
    if head[0] == b'{' {
        return google_json::read(records, tag, listener);
    }
    records.delimiter = columns::delimiter(head);
    read_rows(records, tag, listener)
}

/// Some exports have a few lines of talk before the header.
const TALK_LINES: usize = 20;

fn find_header<R: Read>(records: &mut Records<R>, tag: &Tag) -> Result<Columns, BillError> {
    let mut first = None;
    for _ in 0..TALK_LINES {
        match records.next()? {
            Next::End => break,
            Next::Unreadable { .. } => {}
            Next::Row => {
                let row = records.row();
                let header: Vec<String> = (0..row.len()).map(|c| row.cell(c).into()).collect();
                match Columns::find(&header, tag) {
                    Ok(columns) => return Ok(columns),
                    Err(nearest) if nearest.is_some() || first.is_none() => {
                        first = Some((header, nearest));
                    }
                    Err(_) => {}
                }
            }
        }
    }
    match first {
        Some((columns, nearest)) => Err(BillError::unknown_format(&columns, nearest)),
        None => Err(BillError::empty()),
    }
}

fn read_rows<R: Read>(
    mut records: Records<R>,
    tag: &Tag,
    listener: &mut impl Listener,
) -> Result<FileCounts, BillError> {
    let columns = find_header(&mut records, tag)?;
    let mut counts = FileCounts {
        format: columns.format(),
        rows: 0,
        left_out: 0,
    };
    let mut reader = RowReader::new(columns, tag, records.delimiter == b',');
    loop {
        let read = match records.next()? {
            Next::End => break,
            Next::Row => reader.read(&records.row(), listener),
            Next::Unreadable { line } => {
                listener.problem(RowProblem::unreadable(line));
                RowRead::LeftOut
            }
        };
        counts.rows += u64::from(read != RowRead::HeaderAgain);
        counts.left_out += u64::from(read == RowRead::LeftOut);
    }
    reader.finish(listener);
    Ok(counts)
}
