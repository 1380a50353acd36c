//! Columns of text below each other.

use report::format;

#[derive(Debug, Default)]
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Column {
    header: String,
    is_number: bool,
}

impl Table {
    pub(super) fn text(mut self, header: &str) -> Self {
        self.columns.push(Column {
            header: header.to_owned(),
            is_number: false,
        });
        self
    }

    pub(super) fn number(mut self, header: &str) -> Self {
        self.columns.push(Column {
            header: header.to_owned(),
            is_number: true,
        });
        self
    }

    /// Empty cells are shown as unknown.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(super) fn rendered(&self) -> String {
        let place = |cell: &str| match cell.is_empty() {
            true => format::NONE.to_owned(),
            false => cell.replace(|c: char| c.is_control(), " "),
        };
        let body: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| place(cell)).collect())
            .collect();
        let mut lines = Vec::new();
        let headers: Vec<String> = self.columns.iter().map(|c| c.header.clone()).collect();
        for row in std::iter::once(&headers).chain(&body) {
            let cells = self.columns.iter().enumerate().map(|(at, column)| {
                let all = body.iter().chain(std::iter::once(&headers));
                let width = all.map(|row| row[at].chars().count()).max().unwrap_or(0);
                match column.is_number {
                    true => format!("{:>width$}", row[at]),
                    false => format!("{:width$}", row[at]),
                }
            });
            let line = cells.collect::<Vec<String>>().join("   ");
            lines.push(line.trim_end().to_owned());
        }
        lines.join("\n") + "\n"
    }
}
