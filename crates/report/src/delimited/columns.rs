//! A table of the exports as a list of columns: what each is called and what stands in it.

use analyse::{Analysis, RunRow};

use super::Grid;

pub(super) struct Columns<'a, R> {
    analysis: &'a Analysis,
    columns: Vec<Column<'a, R>>,
}

struct Column<'a, R> {
    name: String,
    cell: Box<dyn Fn(&R) -> String + 'a>,
}

impl<'a, R: 'a> Columns<'a, R> {
    /// The first column of every table is the name of the study.
    pub(super) fn new(analysis: &'a Analysis) -> Self {
        let mut table = Columns {
            analysis,
            columns: Vec::new(),
        };
        table.add("study", |_| analysis.study.name.clone());
        table
    }

    /// Rows about runs: which run, and its levels.
    pub(super) fn of_runs(analysis: &'a Analysis, run: fn(&R) -> &RunRow) -> Self {
        let mut table = Self::new(analysis);
        table.add("run", move |row| run(row).run.to_string());
        table.add("scenario", move |row| format!("C{}", run(row).scenario));
        table.add("repetition", move |row| run(row).repetition.to_string());
        table.add("status", move |row| run(row).status.to_string());
        table.add("environment", move |row| run(row).environment.clone());
        table.factors(move |row| run(row).scenario);
        table
    }

    pub(super) fn add(&mut self, name: impl Into<String>, cell: impl Fn(&R) -> String + 'a) {
        self.columns.push(Column {
            name: name.into(),
            cell: Box::new(cell),
        });
    }

    /// The levels of a row's scenario, one column a factor.
    pub(super) fn factors(&mut self, scenario: impl Fn(&R) -> u32 + Copy + 'a) {
        let analysis = self.analysis;
        for factor in &analysis.study.factors {
            self.add(format!("factor_{}", factor.name), move |row| {
                let scenario = analysis.scenario(scenario(row));
                let level = scenario.and_then(|s| s.level(&factor.name));
                level.map(|l| l.level.clone()).unwrap_or_default()
            });
        }
    }

    /// Only where costs are not those that were frozen with the runs, so that no file of a what-if is
    /// taken for the bills themselves.
    pub(super) fn billed(&mut self) {
        if let Some(repriced) = &self.analysis.study.repriced {
            self.add("billed", |_| repriced.clone());
        }
    }

    pub(super) fn grid(self, rows: impl IntoIterator<Item = R>) -> Grid {
        let cells = |row: R| self.columns.iter().map(|c| (c.cell)(&row)).collect();
        Grid {
            rows: rows.into_iter().map(cells).collect(),
            headers: self.columns.iter().map(|c| c.name.clone()).collect(),
        }
    }
}
