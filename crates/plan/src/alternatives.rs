//! Designs that a study could have, to be compared before anything is paid.

use diagnostics::{Diagnostic, Located};
use model::{Design, Study};

use crate::read::{Draft, DraftDesign, ReadOptions, read_changed};
use crate::scenarios::scenarios;

/// A design that a study could have, or why it could not.
pub struct Alternative {
    pub kind: &'static str,
    pub study: Result<Study, String>,
}

/// Scenarios of a D-optimal design beyond its parameters: some are left to see errors by.
const SPARE: usize = 2;
/// Scenarios of a Latin hypercube for each number that varies (Loeppky, Sacks and Welch 2009).
const PER_NUMBER: usize = 10;

struct Choice {
    kind: &'static str,
    resolution: Option<i64>,
}

const fn choice(kind: &'static str) -> Choice {
    Choice {
        kind,
        resolution: None,
    }
}

const fn fraction(resolution: i64) -> Choice {
    Choice {
        kind: "fractional",
        resolution: Some(resolution),
    }
}

const CHOICES: [Choice; 9] = [
    choice("full"),
    choice("two-level"),
    fraction(5),
    fraction(4),
    fraction(3),
    choice("plackett-burman"),
    choice("d-optimal"),
    choice("latin-hypercube"),
    choice("one-at-a-time"),
];

/// The study's own design first, then those that differ from it and from each other.
pub fn alternatives(
    text: &str,
    options: &ReadOptions,
) -> Result<Vec<Alternative>, Vec<Diagnostic>> {
    let own = crate::read_study(text, options)?;
    let mut seen = vec![scenarios(&own)];
    let mut all = vec![Alternative {
        kind: own.design.word(),
        study: Ok(own),
    }];
    for choice in &CHOICES {
        let study = read_changed(text, options, |draft| choice.apply(draft));
        match study {
            Ok(study) => {
                let scenarios = scenarios(&study);
                if !seen.contains(&scenarios) {
                    seen.push(scenarios);
                    all.push(Alternative {
                        kind: choice.kind,
                        study: Ok(study),
                    });
                }
            }
            Err(found) => {
                let why = found.into_iter().next().map(|first| first.message);
                all.push(Alternative {
                    kind: choice.kind,
                    study: Err(why.unwrap_or_default()),
                });
            }
        }
    }
    Ok(all)
}

impl Choice {
    fn apply(&self, draft: &mut Draft) {
        let at_start = |value: i64| Located::new(value, 0..0);
        let scenarios = match self.kind {
            "d-optimal" => Some(parameters(draft) + SPARE),
            "latin-hypercube" => Some(PER_NUMBER * numbers(draft).max(1)),
            _ => None,
        };
        draft.design = DraftDesign {
            kind: Located::new(self.kind, 0..0),
            levels: std::mem::take(&mut draft.design.levels),
            resolution: self.resolution.map(at_start),
            scenarios: scenarios.map(|count| at_start(count as i64)),
            ..DraftDesign::default()
        };
    }
}

/// Of the mean and the main effects.
fn parameters(draft: &Draft) -> usize {
    let each = draft.factors.iter();
    1 + each
        .map(|f| f.levels.len().saturating_sub(1))
        .sum::<usize>()
}

fn numbers(draft: &Draft) -> usize {
    let each = draft.factors.iter().filter(|f| f.levels.len() > 1);
    each.filter(|f| f.levels.iter().all(|l| l.value.as_float().is_some()))
        .count()
}

/// `fractional 2^(7−3)`: the design and its size, for people.
pub fn design_title(study: &Study) -> String {
    let varied = study.factors.iter().filter(|f| f.levels.len() > 1).count();
    let word = study.design.word();
    match &study.design {
        Design::TwoLevel => format!("{word} 2^{varied}"),
        Design::Fractional { generators } if generators.is_empty() => format!("{word} 2^{varied}"),
        Design::Fractional { generators } => format!("{word} 2^({varied}−{})", generators.len()),
        _ => word.to_owned(),
    }
}
