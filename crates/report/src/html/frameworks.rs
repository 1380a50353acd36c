//! Frameworks side by side, and whether they may be compared at all.

use analyse::{Analysis, CheckState, Frameworks};
use messages::word;

use super::page::Page;
use crate::tables::{checks_table, comparison_table, shared_sentence};

pub(super) fn frameworks(page: &mut Page, analysis: &Analysis) {
    let Some(found) = &analysis.frameworks else {
        return;
    };
    let several = found.frameworks.len() > 1;
    page.open(
        "frameworks",
        if several {
            word!("section-frameworks")
        } else {
            word!("section-framework")
        },
    );
    if !found.cautions.is_empty() {
        page.callout(word!("frameworks-cautions"), &found.cautions);
    }
    if several {
        page.list("findings", effects(analysis));
    }
    if let Some(table) = comparison_table(analysis, found) {
        page.table(word!("frameworks-caption"), &table);
    }
    page.note(&shared_sentence(found));
    page.subtitle(if several {
        word!("frameworks-same")
    } else {
        word!("framework-same")
    });
    page.table(word!("frameworks-checks"), &checks_table(found));
    page.note(explanation(found));
    page.close();
}

/// Each framework's time against the first one's, with intervals, from the analysis of variance.
fn effects(analysis: &Analysis) -> Vec<&str> {
    let time = analysis.time_metric.as_deref();
    let time = time.and_then(|name| analysis.variation(name));
    let effects = time.map_or(&[][..], |v| &v.effects);
    let own = effects.iter().filter(|e| e.factor == "framework");
    own.map(|e| e.sentence.as_str()).collect()
}

fn explanation(found: &Frameworks) -> &'static str {
    let checks = || found.frameworks.iter().flat_map(|f| &f.checks);
    match checks().any(|c| c.verified.is_some()) {
        true => word!("frameworks-verified-note"),
        false if checks().all(|c| c.state == CheckState::Reference) => "",
        false => word!("frameworks-unverified-note"),
    }
}
