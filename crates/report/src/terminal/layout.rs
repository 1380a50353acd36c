//! Columns side by side: which fit, how wide each is, numbers with their points below each other.

use analyse::format;

use crate::text::{pad_left, pad_right, safe, shortened, width};
use crate::view::{Cell, Column, ColumnKind, ScenarioTable};

/// Widths of the columns that fit.
pub(super) struct Layout {
    columns: Vec<ColumnWidth>,
    pub(super) dropped: Vec<String>,
}

#[derive(Default, Clone)]
struct ColumnWidth {
    /// Before and after the decimal point, so that points stand below each other.
    whole: usize,
    fraction: usize,
    half: usize,
    unit: String,
    total: usize,
    is_number: bool,
}

const GAP: usize = 3;
const LONGEST_LEVEL: usize = 24;

impl Layout {
    pub(super) fn new(table: &mut ScenarioTable, screen: usize) -> Self {
        for row in &mut table.rows {
            for (cell, column) in row.iter_mut().zip(&table.columns) {
                let most = if column.kind == ColumnKind::Number {
                    usize::MAX
                } else {
                    LONGEST_LEVEL
                };
                cell.value = shortened(&safe(&cell.value), most);
            }
        }
        let mut dropped = Vec::new();
        loop {
            let columns: Vec<ColumnWidth> = (0..table.columns.len())
                .map(|place| ColumnWidth::new(table, place))
                .collect();
            let total: usize =
                columns.iter().map(|c| c.total + GAP).sum::<usize>() + 2 - GAP.min(2);
            let droppable = |(_, column): &(usize, &Column)| column.priority > 0;
            let last = table
                .columns
                .iter()
                .enumerate()
                .filter(droppable)
                .max_by_key(|(place, c)| (c.priority, *place));
            match last.map(|(place, _)| place) {
                Some(place) if total > screen => {
                    dropped.push(safe(&table.columns.remove(place).header));
                    for row in &mut table.rows {
                        row.remove(place);
                    }
                }
                _ => return Layout { columns, dropped },
            }
        }
    }

    pub(super) fn headers(&self, columns: &[Column]) -> Vec<String> {
        self.columns
            .iter()
            .zip(columns)
            .map(|(layout, column)| pad_right(&safe(&column.header), layout.total))
            .collect()
    }

    pub(super) fn cell(&self, place: usize, cell: &Cell) -> String {
        let Some(column) = self.columns.get(place) else {
            return String::new();
        };
        if !column.is_number || cell.value == format::NONE {
            return pad_right(&cell.value, column.total);
        }
        let (whole, fraction) = split_number(&cell.value);
        let mut text = format!(
            "{}{}",
            pad_left(whole, column.whole),
            pad_right(fraction, column.fraction)
        );
        if !column.unit.is_empty() {
            let unit = if cell.sort.is_some() {
                column.unit.as_str()
            } else {
                ""
            };
            text = format!("{text} {}", pad_right(unit, width(&column.unit)));
        }
        if !cell.half_width.is_empty() {
            text = format!("{text} ± {}", cell.half_width);
        }
        pad_right(&text, column.total)
    }
}

impl ColumnWidth {
    fn new(table: &ScenarioTable, place: usize) -> Self {
        let column = &table.columns[place];
        let mut layout = ColumnWidth {
            unit: column.unit.clone(),
            is_number: column.is_number(),
            ..ColumnWidth::default()
        };
        let mut body = 0;
        for cell in table.rows.iter().filter_map(|row| row.get(place)) {
            let (whole, fraction) = split_number(&cell.value);
            layout.whole = layout.whole.max(width(whole));
            layout.fraction = layout.fraction.max(width(fraction));
            layout.half = layout.half.max(width(&cell.half_width));
            body = body.max(width(&cell.value));
        }
        if layout.is_number {
            body = layout.whole + layout.fraction;
            body += if layout.unit.is_empty() {
                0
            } else {
                1 + width(&layout.unit)
            };
            body += if layout.half == 0 { 0 } else { 3 + layout.half };
        }
        layout.total = body.max(width(&safe(&column.header)));
        layout
    }
}

fn split_number(value: &str) -> (&str, &str) {
    value.split_at(value.rfind('.').unwrap_or(value.len()))
}
