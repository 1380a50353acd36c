//! What `bancada export` writes: every table in every format. A new table or a new format is a
//! function in a file of its own and an entry here.

use analyse::Analysis;
use messages::Language;
use model::RunId;

use crate::delimited::{self, Grid, ToldStep};
use crate::{ReportMeta, json, latex, markdown};

/// What is exported.
pub struct Exported<'a> {
    pub analysis: &'a Analysis,
    pub meta: &'a ReportMeta<'a>,
    /// Finds the steps of a run: they are too many to be part of an analysis.
    pub steps: &'a dyn Fn(RunId) -> Vec<ToldStep>,
}

#[derive(Debug)]
pub struct ExportTable {
    pub name: &'static str,
    /// For the help of the command line.
    pub about: &'static str,
    pub title: &'static str,
    rows: fn(&Exported) -> Grid,
}

impl ExportTable {
    /// For programs: the same in every language.
    fn grid(&self, what: &Exported) -> Grid {
        Language::English.scope(|| (self.rows)(what))
    }
}

#[derive(Debug)]
pub struct ExportFormat {
    pub name: &'static str,
    /// Where no table is requested.
    whole: fn(&Exported) -> String,
    /// A table and its caption.
    table: fn(&Grid, &str) -> String,
}

/// The first is written where no table is requested and the format has nothing else.
pub const TABLES: &[ExportTable] = &[
    table("runs", "One row per run", "runs", |e| {
        delimited::runs(e.analysis)
    }),
    table("scenarios", "One row per scenario", "scenarios", |e| {
        delimited::scenarios(e.analysis)
    }),
    table(
        "variation",
        "One row per term of the analysis of variance",
        "what explains each metric",
        |e| delimited::variation(e.analysis),
    ),
    table(
        "losses",
        "One row per epoch of a run",
        "losses by epoch",
        |e| delimited::losses(e.analysis),
    ),
    table("steps", "One row per step of a run", "steps", |e| {
        delimited::steps(e.analysis, e.steps)
    }),
    table(
        "profile",
        "One row per operator of a profiled run",
        "time by operator",
        |e| delimited::profile(e.analysis),
    ),
    table(
        "bills",
        "One row per line of a run's bill",
        "lines of the bills",
        |e| delimited::bills(e.analysis),
    ),
    table(
        "break-evens",
        "One row per pair of environments: from which point one is cheaper",
        "break-even points",
        |e| delimited::break_evens(e.analysis),
    ),
];

/// The first is the usual one.
pub const FORMATS: &[ExportFormat] = &[
    ExportFormat {
        name: "csv",
        whole: |e| TABLES[0].grid(e).csv(),
        table: |grid, _| grid.csv(),
    },
    ExportFormat {
        name: "json",
        whole: |e| json::json(e.analysis, e.meta),
        table: |grid, _| grid.json(),
    },
    ExportFormat {
        name: "markdown",
        whole: |e| markdown::markdown(e.analysis, e.meta),
        table: |grid, _| markdown::markdown_table(grid),
    },
    ExportFormat {
        name: "latex",
        whole: |e| latex::latex(e.analysis),
        table: latex::latex_table,
    },
];

const fn table(
    name: &'static str,
    about: &'static str,
    title: &'static str,
    rows: fn(&Exported) -> Grid,
) -> ExportTable {
    ExportTable {
        name,
        about,
        title,
        rows,
    }
}

pub fn export(what: &Exported, format: &ExportFormat, table: Option<&ExportTable>) -> String {
    match table {
        None => (format.whole)(what),
        Some(table) => {
            let caption = format!("{}: {}.", what.analysis.study.name, table.title);
            (format.table)(&table.grid(what), &caption)
        }
    }
}
