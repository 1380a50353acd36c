//! The whole analysis as JSON, for other programs. Its fields are documented in docs/results.md.

use analyse::Analysis;
use serde::Serialize;

use crate::ReportMeta;

/// Raised when a field changes its meaning or goes; new fields do not raise it.
pub const RESULT_SCHEMA: u32 = analyse::ANALYSIS_SCHEMA;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    schema: u32,
    generated: model::Timestamp,
    bancada: &'a str,
    analysis: &'a Analysis,
}

/// What is not a number is `null`, as JSON has no word for it.
pub fn json(analysis: &Analysis, meta: &ReportMeta) -> String {
    let document = Document {
        format: "bancada-analysis",
        schema: RESULT_SCHEMA,
        generated: meta.generated,
        bancada: meta.bancada_version,
        analysis,
    };
    // Plain data with string keys always serialises; an empty object is better than a panic.
    serde_json::to_string_pretty(&document).map_or_else(|_| "{}\n".to_owned(), |text| text + "\n")
}
