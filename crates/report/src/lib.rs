//! Results → output for people and programs. Every function is pure: an [`Analysis`] in, text
//! or bytes out, the same for the same input. Nothing here reads the store or a clock.

mod bencher;
mod delimited;
mod export;
mod figure;
mod html;
mod json;
mod latex;
mod markdown;
mod mlflow;
mod parquet;
mod tables;
mod terminal;
mod text;
mod view;

pub use analyse::{Analysis, billing_words, format};
pub use delimited::{Grid, ToldStep};
pub use export::{
    Content, ExportFormat, ExportTable, Exported, ExportedFile, FORMATS, Output, TABLES, export,
};
pub use html::{MOST_RECOMMENDATIONS, escape, html, page_style, prose, recommendation};
pub use json::{RESULT_SCHEMA, json};
pub use latex::latex;
pub use markdown::{compared_markdown, markdown};
pub use terminal::{TerminalOptions, terminal};

/// What a report says of itself.
#[derive(Debug, Clone)]
pub struct ReportMeta<'a> {
    pub generated: model::Timestamp,
    pub bancada_version: &'a str,
    /// How to make the report again: `bancada report results/quickstart`.
    pub command: Option<&'a str>,
    /// The text of the study file.
    pub study_file: Option<&'a str>,
}
