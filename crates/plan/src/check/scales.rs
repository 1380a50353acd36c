//! `[scale.NAME]`: checks every scale, including those that are not used.

use diagnostics::{Diagnostic, Problems};

use crate::read::{Draft, DraftFactor, DraftScale};

pub(crate) fn check(draft: &Draft, problems: &Problems) {
    for scale in &draft.scales {
        check_values(draft, scale, problems);
        for smaller in &scale.factors {
            check_factor(draft, smaller, problems);
        }
    }
}

fn check_values(draft: &Draft, scale: &DraftScale, problems: &Problems) {
    for value in &scale.values {
        let field = value.field;
        let span = value.level.span.clone();
        if draft.factor(field).is_some() {
            let varied = Diagnostic::at(span, format!("`{field}` is a factor of this study"));
            problems.push(varied.label(format!("give its levels: factors = {{ {field} = […] }}")));
        } else if draft
            .workload
            .as_ref()
            .is_some_and(|w| w.fields().is_none())
        {
            let message = format!("`{field}` is for training, not for a command");
            let hint = "to reduce a command study, use fewer levels or repetitions";
            problems.push(Diagnostic::at(span, message).label(hint));
        }
    }
}

/// Only levels that the study has: another level would be another study.
fn check_factor(draft: &Draft, smaller: &DraftFactor, problems: &Problems) {
    let name = smaller.name.value.as_str();
    let Some(factor) = draft.factor(name) else {
        let known = draft.factors.iter().map(|f| f.name.value.as_str());
        let span = smaller.name.span.clone();
        problems.push(Diagnostic::unknown("factor", name, span, known));
        return;
    };
    for level in &smaller.levels {
        if factor.find(&level.value).is_none() {
            let known: Vec<String> = factor.levels.iter().map(|l| l.value.to_string()).collect();
            let message = format!("`{name}` has no level `{}` in this study", level.value);
            let diagnostic = level.wrong(message);
            problems.push(diagnostic.note(format!("its levels: {}", known.join(", "))));
        }
    }
}
