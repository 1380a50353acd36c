//! Text tables with aligned columns.

use diagnostics::screen;
use report::format;

/// Columns are narrowed down to this where a terminal has no room for them.
const NARROWEST: usize = 16;

#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    gap: &'static str,
}

#[derive(Debug)]
struct Column {
    header: String,
    is_number: bool,
}

impl Default for Table {
    fn default() -> Self {
        Table {
            columns: Vec::new(),
            rows: Vec::new(),
            gap: "   ",
        }
    }
}

impl Table {
    pub(crate) fn text(mut self, header: &str) -> Self {
        self.columns.push(Column {
            header: header.to_owned(),
            is_number: false,
        });
        self
    }

    pub(crate) fn number(mut self, header: &str) -> Self {
        self.columns.push(Column {
            header: header.to_owned(),
            is_number: true,
        });
        self
    }

    /// Empty cells are shown as unknown.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// With everything in full.
    pub(crate) fn rendered(&self) -> String {
        self.within(None)
    }

    /// Names are shortened in the middle where the screen is too narrow, and stay different.
    pub(crate) fn within(&self, screen: Option<usize>) -> String {
        let mut columns: Vec<Vec<String>> =
            (0..self.columns.len()).map(|c| self.cells(c)).collect();
        let mut widths: Vec<usize> = columns.iter().map(|cells| widest(cells)).collect();
        let gaps = screen::width(self.gap) * widths.len().saturating_sub(1);
        if let Some(screen) = screen {
            self.narrow(&mut columns, &mut widths, screen.saturating_sub(gaps));
        }
        let rows = 0..self.rows.len() + 1;
        let lines = rows.map(|row| {
            let cells = columns.iter().zip(&widths).zip(&self.columns);
            let cells = cells.map(|((cells, width), column)| match column.is_number {
                true => screen::pad_left(&cells[row], *width),
                false => screen::pad_right(&cells[row], *width),
            });
            let line = cells.collect::<Vec<String>>().join(self.gap);
            format!("{}\n", line.trim_end())
        });
        lines.collect()
    }

    /// A column's header and cells, safe to show.
    fn cells(&self, column: usize) -> Vec<String> {
        let shown = |cell: &String| match cell.is_empty() {
            true => format::NONE.to_owned(),
            false => screen::safe(cell).into_owned(),
        };
        let header = screen::safe(&self.columns[column].header).into_owned();
        let none = String::new();
        let cells = self.rows.iter().map(|row| row.get(column).unwrap_or(&none));
        std::iter::once(header).chain(cells.map(shown)).collect()
    }

    /// The widest column of text becomes as wide as the next, and so on, until all fit.
    fn narrow(&self, columns: &mut [Vec<String>], widths: &mut [usize], room: usize) {
        let mut fixed: Vec<bool> = self.columns.iter().map(|c| c.is_number).collect();
        loop {
            let too_wide = widths.iter().sum::<usize>().saturating_sub(room);
            let open = (0..widths.len()).filter(|c| !fixed[*c] && widths[*c] > NARROWEST);
            let Some(column) = open.max_by_key(|c| widths[*c]).filter(|_| too_wide > 0) else {
                return;
            };
            let most = widths[column].saturating_sub(too_wide).max(NARROWEST);
            let texts: Vec<&str> = columns[column].iter().map(String::as_str).collect();
            columns[column] = screen::shortened_apart(&texts, most);
            widths[column] = widest(&columns[column]);
            fixed[column] = true;
        }
    }
}

fn widest(cells: &[String]) -> usize {
    cells
        .iter()
        .map(|cell| screen::width(cell))
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[&str]) -> Table {
        let mut table = Table::default().text("name").number("n");
        for name in names {
            table.row(vec![(*name).to_owned(), "1".to_owned()]);
        }
        table
    }

    #[test]
    fn cells_of_any_length_are_shown() {
        let long = "x".repeat(70_000);
        let rendered = table(&[&long]).rendered();
        assert!(rendered.contains(&long));
        let check = |names: &[&str], screen: usize, expected: &str| {
            assert_eq!(table(names).within(Some(screen)), expected);
        };
        check(&["a", ""], 80, "name   n\na      1\n–      1\n");
        check(
            &["a-rather-long-name-of-a-machine"],
            24,
            "name                   n\na-rather-l…a-machine   1\n",
        );
    }

    #[test]
    fn names_stay_different_and_harmless() {
        let names = [
            "machine-number-one-of-a-place",
            "machine-number-two-of-a-place",
        ];
        let rendered = table(&names).within(Some(20));
        let mut lines: Vec<&str> = rendered.lines().collect();
        lines.dedup();
        assert_eq!(lines.len(), 3, "{rendered}");
        let rendered = table(&["a\u{1b}[2J\u{202e}b"]).rendered();
        assert!(rendered.contains("a [2J b"), "{rendered}");
    }
}
