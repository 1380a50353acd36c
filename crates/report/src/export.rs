//! What `bancada export` writes: every table in every format. A new table or a new format is a
//! function in a file of its own and an entry here.

use analyse::Analysis;
use messages::Language;
use model::RunId;

use crate::delimited::{self, Grid, ToldStep};
use crate::html::DrawnFigure;
use crate::parquet::parquet;
use crate::{ReportMeta, bencher, figure, html, json, latex, markdown, mlflow};

/// What is exported.
pub struct Exported<'a> {
    pub analysis: &'a Analysis,
    pub meta: &'a ReportMeta<'a>,
    /// Finds the steps of a run: they are too many to be part of an analysis.
    pub steps: &'a dyn Fn(RunId) -> Vec<ToldStep>,
    /// Where a folder will be written, as `file:` URI without a slash at its end; some formats name
    /// their own place.
    pub folder_uri: &'a str,
}

/// What an export is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    Text(String),
    Binary(Vec<u8>),
    /// Several files, to be written below one folder.
    Folder(Vec<ExportedFile>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedFile {
    /// Relative, with slashes.
    pub path: String,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// A file of a run's bundle, if the run has it.
    OfRun(RunId, &'static str),
}

impl ExportedFile {
    pub(crate) fn text(path: String, text: String) -> Self {
        ExportedFile {
            path,
            content: Content::Text(text),
        }
    }
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
    /// For the help of the command line.
    pub about: &'static str,
    /// Several files: a folder is needed for them.
    pub is_folder: bool,
    /// Where no table is requested.
    whole: fn(&Exported) -> Output,
    /// A table, its name and its caption; none if the format has no tables.
    table: Option<fn(&Grid, TableTitle) -> Output>,
}

/// What a table is called where it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableTitle<'a> {
    pub(crate) caption: &'a str,
    /// A word to refer to it by: `quickstart-runs`.
    pub(crate) label: &'a str,
}

impl ExportFormat {
    pub fn has_tables(&self) -> bool {
        self.table.is_some()
    }
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
        about: "Comma-separated values: a table",
        is_folder: false,
        whole: |e| Output::Text(TABLES[0].grid(e).csv()),
        table: Some(|grid, _| Output::Text(grid.csv())),
    },
    ExportFormat {
        name: "json",
        about: "The whole analysis, or a table",
        is_folder: false,
        whole: |e| Output::Text(json::json(e.analysis, e.meta)),
        table: Some(|grid, _| Output::Text(grid.json())),
    },
    ExportFormat {
        name: "markdown",
        about: "The report as text, or a table",
        is_folder: false,
        whole: |e| Output::Text(markdown::markdown(e.analysis, e.meta)),
        table: Some(|grid, _| Output::Text(markdown::markdown_table(grid))),
    },
    ExportFormat {
        name: "latex",
        about: "Means of the scenarios, or a table, to fit the class article",
        is_folder: false,
        whole: |e| Output::Text(latex::latex(e.analysis)),
        table: Some(|grid, title| Output::Text(latex::latex_table(grid, title))),
    },
    ExportFormat {
        name: "parquet",
        about: "A table with typed columns, for pandas, polars and DuckDB",
        is_folder: false,
        whole: |e| Output::Binary(parquet(&(TABLES[0].rows)(e))),
        table: Some(|grid, _| Output::Binary(parquet(grid))),
    },
    ExportFormat {
        name: "bencher",
        about: "Means of the scenarios as Bencher metric format (JSON)",
        is_folder: false,
        whole: |e| Output::Text(bencher::bencher(e.analysis)),
        table: None,
    },
    ExportFormat {
        name: "mlflow",
        about: "A tracking folder of MLflow: runs, parameters, metrics, artifacts",
        is_folder: true,
        whole: |e| Output::Folder(mlflow::mlflow(e)),
        table: None,
    },
    ExportFormat {
        name: "svg",
        about: "Every figure of the report as an SVG file",
        is_folder: true,
        whole: |e| {
            let drawn = html::figures(e.analysis, figure::svg_file).into_iter();
            let file = |one: DrawnFigure| ExportedFile::text(format!("{}.svg", one.name), one.text);
            Output::Folder(drawn.map(file).collect())
        },
        table: None,
    },
    ExportFormat {
        name: "pgf",
        about: "Every figure of the report for LaTeX (pgfplots), and a document with all of them",
        is_folder: true,
        whole: |e| Output::Folder(latex::latex_figures(e.analysis)),
        table: None,
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

/// A format without tables is written as a whole.
pub fn export(what: &Exported, format: &ExportFormat, table: Option<&ExportTable>) -> Output {
    let (Some(table), Some(written)) = (table, format.table) else {
        return (format.whole)(what);
    };
    let study = &what.analysis.study.name;
    let title = TableTitle {
        caption: &format!("{study}: {}.", table.title),
        label: &format!("{study}-{}", table.name),
    };
    written(&table.grid(what), title)
}
