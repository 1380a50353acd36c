//! Bills of several formats, read as a stream of [`Charge`]s. The format is known by the header.

mod aws;
mod azure;
mod columns;
mod focus;
mod google;
mod google_json;
mod layout;
mod quantity;
mod rows;
mod tags;

use std::fmt;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::charge::{Charge, Tag};
use crate::reconciliation::RowProblem;
use crate::records::{LONGEST_ROW, Next, Records};

use self::columns::{Columns, Unfit};
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

/// Why a file could not be read at all.
#[derive(Debug)]
pub enum BillError {
    Io(io::Error),
    Empty,
    /// UTF-16, which spreadsheets write as "Unicode text".
    Utf16,
    /// Not text at all: what it is, and what to do.
    NotText {
        what: &'static str,
        todo: &'static str,
    },
    UnknownFormat {
        columns: Vec<String>,
        /// The format it is nearest to, and what that one still needs.
        nearest: Option<NearestFormat>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestFormat {
    pub format: Format,
    pub missing: Vec<&'static str>,
}

impl std::error::Error for BillError {}

impl From<io::Error> for BillError {
    fn from(error: io::Error) -> Self {
        BillError::Io(error)
    }
}

impl fmt::Display for BillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BillError::Io(error) => write!(f, "it cannot be read: {error}"),
            BillError::Empty => write!(f, "it is empty; expected a bill with a header line"),
            BillError::Utf16 => write!(
                f,
                "it is UTF-16 text; save it as CSV in UTF-8 (in Excel: \"CSV UTF-8\")"
            ),
            BillError::NotText { what, todo } => write!(f, "it is {what}; {todo}"),
            BillError::UnknownFormat { columns, nearest } => {
                const SHOWN: usize = 8;
                let shown: Vec<String> = columns
                    .iter()
                    .take(SHOWN)
                    .map(|c| format!("`{}`", short(c)))
                    .collect();
                let more = if columns.len() > SHOWN { ", …" } else { "" };
                write!(
                    f,
                    "no known bill format has the columns {}{more}",
                    shown.join(", ")
                )?;
                match nearest {
                    Some(near) => write!(
                        f,
                        "; the most similar format is {}, but {} is missing",
                        near.format.title(),
                        near.missing.join(", ")
                    ),
                    None => write!(f, "; expected {EXPECTED}"),
                }
            }
        }
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
    match start {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [_, 0, _, 0, ..] | [0, _, 0, _, ..] => {
            return Err(BillError::Utf16);
        }
        [b'P', b'A', b'R', b'1', ..] => {
            return Err(BillError::NotText {
                what: "a Parquet file",
                todo: "export it as CSV, or convert it",
            });
        }
        [b'P', b'K', 3, 4, ..] => {
            return Err(BillError::NotText {
                what: "a zip archive or a workbook",
                todo: "unpack it, or save it as CSV in UTF-8",
            });
        }
        [0xef, 0xbb, 0xbf, ..] => records.skip(3),
        _ => {}
    }
    let head = records.peek(LONGEST_ROW / 16)?.trim_ascii_start();
    if head.is_empty() {
        return Err(BillError::Empty);
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
                    Err(Unfit { nearest }) => {
                        let better = nearest.is_some() || first.is_none();
                        if better {
                            first = Some((header, nearest));
                        }
                    }
                }
            }
        }
    }
    match first {
        Some((columns, nearest)) => Err(BillError::UnknownFormat { columns, nearest }),
        None => Err(BillError::Empty),
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
