//! Columns side by side: which fit, how wide each is, numbers with their points below each other.

use std::ops::Range;

use analyse::format;

use crate::text::{pad_left, pad_right, safe, shortened_apart, width};
use crate::view::{Cell, Column, ColumnKind, ScenarioTable};

/// Widths of the columns that fit.
pub(super) struct Layout {
    columns: Vec<ColumnWidth>,
    pub(super) dropped: Vec<String>,
    /// Columns that stand side by side; what is wider than the screen goes on below.
    pub(super) blocks: Vec<Range<usize>>,
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
/// Levels are shortened to these, in this order, where the screen is too narrow for them.
const LEVEL_WIDTHS: [usize; 3] = [24, 16, 8];

impl Layout {
    /// Without a screen everything is shown in full. Factors are shortened if need be, but never
    /// left out: without them nobody knows what a row is about.
    pub(super) fn new(table: &mut ScenarioTable, screen: Option<usize>) -> Self {
        for cell in table.rows.iter_mut().flatten() {
            cell.value = safe(&cell.value);
        }
        let Some(screen) = screen else {
            let columns = widths(table);
            return Layout {
                blocks: blocks(&columns, usize::MAX),
                columns,
                dropped: Vec::new(),
            };
        };
        let mut level_widths = LEVEL_WIDTHS.into_iter();
        if total(&widths(table)) > screen {
            shorten_levels(table, level_widths.next());
        }
        let mut dropped = Vec::new();
        loop {
            let columns = widths(table);
            let total = total(&columns);
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
                None if total > screen && level_widths.len() > 0 => {
                    shorten_levels(table, level_widths.next());
                }
                _ => {
                    return Layout {
                        blocks: blocks(&columns, screen),
                        columns,
                        dropped,
                    };
                }
            }
        }
    }

    /// One line of a block: its cells, or the headers, after the scenario that each block begins
    /// with.
    pub(super) fn line(&self, block: &Range<usize>, text: impl Fn(usize) -> String) -> String {
        let scenario = (block.start > 0).then_some(0);
        let places = scenario.into_iter().chain(block.clone());
        let cells: Vec<String> = places.map(text).collect();
        cells.join("   ").trim_end().to_owned()
    }

    pub(super) fn header(&self, place: usize, columns: &[Column]) -> String {
        let column = columns.get(place).map(|column| safe(&column.header));
        let width = self.columns.get(place).map_or(0, |layout| layout.total);
        pad_right(&column.unwrap_or_default(), width)
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

fn widths(table: &ScenarioTable) -> Vec<ColumnWidth> {
    let places = 0..table.columns.len();
    places.map(|place| ColumnWidth::new(table, place)).collect()
}

fn total(columns: &[ColumnWidth]) -> usize {
    columns.iter().map(|c| c.total + GAP).sum::<usize>() + 2 - GAP.min(2)
}

/// As many columns side by side as fit, the scenario's first in each block.
fn blocks(columns: &[ColumnWidth], screen: usize) -> Vec<Range<usize>> {
    let scenario = columns.first().map_or(0, |c| c.total + GAP);
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut used = usize::MAX;
    for (place, column) in columns.iter().enumerate() {
        used = used.saturating_add(column.total + GAP);
        match blocks.last_mut() {
            // The line is indented by two, and nothing follows its last column. The scenario never
            // stands alone: a block of its own would make the next one no narrower.
            Some(block) if used + 2 <= screen.saturating_add(GAP) || *block == (0..1) => {
                block.end = place + 1;
            }
            Some(_) => {
                blocks.push(place..place + 1);
                used = scenario + column.total + GAP;
            }
            None => {
                blocks.push(0..1);
                used = scenario;
            }
        }
    }
    blocks
}

/// Different levels of a factor stay different.
fn shorten_levels(table: &mut ScenarioTable, most: Option<usize>) {
    let Some(most) = most else { return };
    for (place, column) in table.columns.iter().enumerate() {
        if column.kind != ColumnKind::Factor {
            continue;
        }
        let cells = table.rows.iter().filter_map(|row| row.get(place));
        let texts: Vec<&str> = cells.map(|cell| cell.value.as_str()).collect();
        // The header has to stand there anyway.
        let header = width(&safe(&column.header));
        let mut short = shortened_apart(&texts, most);
        if short.iter().all(|text| width(text) < header) {
            short = shortened_apart(&texts, header);
        }
        for (row, text) in table.rows.iter_mut().zip(short) {
            if let Some(cell) = row.get_mut(place) {
                cell.value = text;
            }
        }
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
    let point = value.rfind(messages::decimal_mark());
    value.split_at(point.unwrap_or(value.len()))
}
