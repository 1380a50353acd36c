//! `exclude`: rules that leave scenarios out.

use diagnostics::{Diagnostic, Problems};
use model::Level;
use model::study::Exclusion;

use crate::read::{Draft, DraftCondition, DraftExclusion};

/// Lists in rules are multiplied out; beyond this a rule is better written another way.
const MAX_EXCLUSIONS: usize = 1000;

/// The rules that can be applied, each list of levels written out.
pub(super) fn check(draft: &Draft, problems: &Problems) -> Vec<Exclusion> {
    let mut exclusions = Vec::new();
    // Before each of them is compared with every level.
    if let Some(rule) = draft.head.exclude.get(MAX_EXCLUSIONS) {
        let count = draft.head.exclude.len();
        let message = format!("{count} exclusions: a study can have at most {MAX_EXCLUSIONS}");
        let diagnostic = Diagnostic::at(rule.span.clone(), message);
        problems.push(diagnostic.note("a list matches any of its levels: { image = [64, 128] }"));
        return Vec::new();
    }
    for rule in &draft.head.exclude {
        if check_rule(draft, rule, problems) {
            exclusions.extend(written_out(rule));
        }
        if exclusions.len() > MAX_EXCLUSIONS {
            let message = "the exclusions expand to more than 1000 combinations of levels";
            problems.push(Diagnostic::at(rule.span.clone(), message));
            return Vec::new();
        }
    }
    exclusions
}

fn check_rule(draft: &Draft, rule: &DraftExclusion, problems: &Problems) -> bool {
    if rule.conditions.is_empty() {
        let empty = Diagnostic::at(rule.span.clone(), "this exclusion names no factor");
        problems.push(empty.label("for example { network = \"rede2\", image = 64 }"));
        return false;
    }
    let mut fine = true;
    for condition in &rule.conditions {
        fine &= check_condition(draft, condition, problems);
    }
    fine
}

fn check_condition(draft: &Draft, condition: &DraftCondition, problems: &Problems) -> bool {
    let name = &condition.factor;
    let Some(factor) = draft.factor(&name.value) else {
        let known: Vec<&str> = draft
            .factors
            .iter()
            .map(|f| f.name.value.as_str())
            .collect();
        problems.push(Diagnostic::unknown(
            "factor",
            &name.value,
            name.span.clone(),
            known,
        ));
        return false;
    };
    let mut fine = !condition.levels.is_empty();
    for level in condition
        .levels
        .iter()
        .filter(|l| factor.find(&l.value).is_none())
    {
        fine = false;
        let levels: Vec<String> = factor.levels.iter().map(|l| l.value.to_string()).collect();
        let message = format!(
            "`{}` has no level `{}`: this excludes nothing",
            name.value, level.value
        );
        let mut diagnostic = level.wrong(message);
        let text = level.value.to_string();
        if let Some(meant) = diagnostics::closest(&text, levels.iter().map(String::as_str)) {
            diagnostic = diagnostic.label(format!("did you mean `{meant}`?"));
        }
        problems.push(diagnostic.note(format!("its levels: {}", diagnostics::few_of(&levels))));
    }
    fine
}

fn written_out(rule: &DraftExclusion) -> Vec<Exclusion> {
    let mut all = vec![Exclusion::new()];
    for condition in &rule.conditions {
        let with = |exclusion: &Exclusion, level: &Level| {
            let mut longer = exclusion.clone();
            longer.insert(condition.factor.value.clone(), level.clone());
            longer
        };
        all = all
            .iter()
            .flat_map(|exclusion| {
                condition
                    .levels
                    .iter()
                    .map(move |l| with(exclusion, &l.value))
            })
            .take(MAX_EXCLUSIONS + 1)
            .collect();
    }
    all
}
