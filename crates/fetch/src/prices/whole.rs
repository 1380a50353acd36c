//! Whether a CSV file is complete. Truncated JSON cannot be parsed at all; a truncated table
//! can, and its last price may lack digits.

use cost::Reason;

use crate::FetchError;
use crate::prices::PriceList;

/// The rows of a table that are certainly whole.
pub(crate) struct WholeRows<'t> {
    pub(crate) text: &'t str,
    /// `vms.csv:12: m5.large,…`: the last row, where nothing says that it is whole.
    cut_row: Option<String>,
}

impl WholeRows<'_> {
    pub(crate) fn count_cut_row(self, list: &mut PriceList) {
        if let Some(row) = self.cut_row {
            list.rows += 1;
            list.left_out.count(Reason::CutOff, || row);
        }
    }
}

/// Fails for a table that is truncated in the middle of a row. One that only lacks the line break at
/// its end may be whole: its last row is kept apart.
pub(crate) fn whole_rows<'t>(file: &str, text: &'t str) -> Result<WholeRows<'t>, FetchError> {
    let whole = WholeRows {
        text,
        cut_row: None,
    };
    if text.is_empty() || text.ends_with(['\n', '\r']) {
        return Ok(whole);
    }
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let columns = reader.headers().map_or(0, csv::StringRecord::len);
    let Some(last) = reader.records().map_while(Result::ok).last() else {
        return Ok(whole);
    };
    let at = last.position();
    let line = at.map_or(0, |at| {
        diagnostics::row_line(text, at.byte(), at.line(), Some(b'#'))
    });
    let begin = at.and_then(|at| usize::try_from(at.byte()).ok());
    let (before, row) = begin
        .and_then(|at| text.split_at_checked(at))
        .unwrap_or((text, ""));
    let row = row.trim_start();
    if row.starts_with('#') {
        return Ok(whole);
    }
    let quotes = row.matches('"').count();
    if last.len() < columns || quotes % 2 == 1 {
        return Err(FetchError::of(
            file,
            format!("is truncated in line {line}: nothing of it is used; download it again"),
        ));
    }
    let shown: String = row.chars().take(80).collect();
    Ok(WholeRows {
        text: before,
        cut_row: Some(format!("{file}:{line}: {shown}")),
    })
}
