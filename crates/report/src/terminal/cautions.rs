//! What to know before trusting a number: drift, runs that did not end as ok, warnings, notes.

use analyse::{Analysis, format};
use messages::message;

use super::{Screen, Style};
use crate::view::status_words;

/// The report has them all.
const MOST_OUTCOMES: usize = 6;

impl Screen<'_> {
    pub(super) fn cautions(&mut self, analysis: &Analysis) {
        let successive = analysis.successive.as_ref();
        if let Some(alike) = successive.filter(|found| found.correlation.is_some()) {
            self.paragraph("! ", Style::Warn, &alike.sentence);
        }
        if let Some(drift) = analysis.drift.as_ref().filter(|d| d.seen) {
            self.paragraph("! ", Style::Warn, &drift.sentence);
        }
        for outcome in analysis.outcomes.iter().take(MOST_OUTCOMES) {
            let detail = outcome.cause.as_deref().unwrap_or("");
            let runs: Vec<String> = outcome.runs.iter().map(|r| r.to_string()).collect();
            let levels = match outcome.phrase.is_empty() {
                true => String::new(),
                false => format!(" ({})", outcome.phrase),
            };
            let text = format!(
                "{} {}{levels}{}{detail}",
                format::listed(&runs, 3),
                status_words(outcome.status),
                if detail.is_empty() { "" } else { ": " }
            );
            self.paragraph("! ", Style::Warn, &text);
        }
        if analysis.outcomes.len() > MOST_OUTCOMES {
            let left = analysis.outcomes.len() - MOST_OUTCOMES;
            let more = message!("screen-more-outcomes", more = left);
            self.paragraph("! ", Style::Warn, &more);
        }
        let warnings = analysis.warnings.iter().map(|w| &w.text);
        self.paragraphs("! ", Style::Warn, warnings);
        let said = |kind: &str| analysis.warnings.iter().any(|w| w.kind == kind);
        // Runs made before verification was requested, or imported, carry no warning of it.
        if !said("not-verified") && !said("computes-otherwise") {
            let frameworks = analysis.frameworks.iter();
            self.paragraphs("! ", Style::Warn, frameworks.flat_map(|f| &f.cautions));
        }
        self.paragraphs("· ", Style::Dim, &analysis.notes);
    }
}
