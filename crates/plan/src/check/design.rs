//! `[design]`: what it means for the factors of the study.

use design::{Chosen, minimum_aberration, plackett_burman, plackett_burman_sizes, with_resolution};
use diagnostics::{Diagnostic, Located, Problems};
use model::design::{Effect, Generator};
use model::{Design, Factor, Level};

use super::design_list;
use super::design_names::Names;
use crate::read::{Draft, DraftFactor};
use crate::scenarios::same_level;

/// More parameters than a search for the best scenarios has time for.
const MAX_PARAMETERS: usize = 100;

/// Leaves to each factor the levels that the design uses. `None` where something is wrong.
pub(super) fn check(draft: &Draft, factors: &mut [Factor], problems: &Problems) -> Option<Design> {
    let given = &draft.design;
    match given.kind.value {
        "two-level" | "fractional" | "plackett-burman" => {
            two_levels(&given.levels, factors, problems);
        }
        _ => {}
    }
    let names = Names::of(factors);
    match given.kind.value {
        "two-level" => Some(Design::TwoLevel),
        "fractional" => {
            let generators = generators(draft, &names, problems)?;
            Some(Design::Fractional { generators })
        }
        "plackett-burman" => {
            let scenarios = burman_size(draft, factors, problems)?;
            Some(Design::PlackettBurman { scenarios })
        }
        "d-optimal" => optimal(draft, factors, &names, problems),
        "latin-hypercube" => hypercube(draft, factors, problems),
        "one-at-a-time" => Some(Design::OneAtATime),
        "list" => design_list::check(draft, factors, problems),
        _ => Some(Design::Full),
    }
}

/// How many scenarios there are before exclusions; `None` beyond all numbers.
pub(super) fn scenario_count(design: &Design, factors: &[Factor]) -> Option<u128> {
    let is_free = |factor: &&Factor| match design {
        Design::Fractional { generators } => generators.iter().all(|g| g.factor != factor.name),
        _ => true,
    };
    let counts = factors
        .iter()
        .filter(is_free)
        .map(|f| f.levels.len() as u128);
    match design {
        Design::Full | Design::TwoLevel | Design::Fractional { .. } => {
            let mut counts = counts;
            counts.try_fold(1, u128::checked_mul)
        }
        Design::OneAtATime => Some(1 + counts.map(|count| count.saturating_sub(1)).sum::<u128>()),
        Design::List { scenarios } => Some(scenarios.len() as u128),
        Design::PlackettBurman { scenarios }
        | Design::DOptimal { scenarios, .. }
        | Design::LatinHypercube { scenarios } => Some(u128::from(*scenarios)),
    }
}

fn two_levels(given: &[DraftFactor], factors: &mut [Factor], problems: &Problems) {
    for chosen in given {
        let name = &chosen.name;
        let Some(factor) = factors.iter().find(|f| f.name == name.value) else {
            let known = factors.iter().map(|f| f.name.as_str());
            problems.push(Diagnostic::unknown(
                "factor",
                &name.value,
                name.span.clone(),
                known,
            ));
            continue;
        };
        if chosen.levels.len() != 2 {
            let message = format!("a two-level design needs two levels of `{}`", name.value);
            problems.push(Diagnostic::at(name.span.clone(), message));
        }
        for level in &chosen.levels {
            check_level(factor, level, problems);
        }
    }
    for factor in factors.iter_mut().filter(|f| f.levels.len() > 1) {
        let chosen = given.iter().find(|g| g.name.value == factor.name);
        let chosen = chosen.filter(|chosen| chosen.levels.len() == 2);
        factor.levels = match chosen {
            Some(chosen) => chosen.levels.iter().map(|l| l.value.clone()).collect(),
            None => extremes(&factor.levels),
        };
    }
}

/// The smallest and the largest of numbers; the first and the last of anything else.
fn extremes(levels: &[Level]) -> Vec<Level> {
    let mut levels = levels.to_vec();
    if levels.iter().all(|level| level.as_float().is_some()) {
        let number = |level: &Level| level.as_float().unwrap_or_default();
        levels.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    let last = levels.len().saturating_sub(1);
    levels.drain(1..last);
    levels
}

/// Whether the factor has it.
pub(super) fn check_level(factor: &Factor, level: &Located<Level>, problems: &Problems) -> bool {
    let is_known = factor.levels.iter().any(|l| same_level(l, &level.value));
    if !is_known {
        let message = format!("`{}` has no level `{}`", factor.name, level.value);
        let levels: Vec<String> = factor.levels.iter().map(ToString::to_string).collect();
        let text = level.value.to_string();
        let mut unknown = Diagnostic::at(level.span.clone(), message);
        if let Some(meant) = diagnostics::closest(&text, levels.iter().map(String::as_str)) {
            unknown = unknown.label(format!("did you mean `{meant}`?"));
        }
        problems.push(unknown.note(format!("its levels: {}", diagnostics::few_of(&levels))));
    }
    is_known
}

fn generators(draft: &Draft, names: &Names, problems: &Problems) -> Option<Vec<Generator>> {
    let given = &draft.design;
    let ways = [
        (!given.generators.is_empty()).then(|| given.generators[0].span.clone()),
        given.resolution.as_ref().map(|r| r.span.clone()),
        given.scenarios.as_ref().map(|s| s.span.clone()),
    ];
    let ways: Vec<_> = ways.into_iter().flatten().collect();
    if ways.len() != 1 {
        let span = ways.last().unwrap_or(&given.kind.span).clone();
        let message = "a fraction is chosen by one of `generators`, `resolution` and `scenarios`";
        problems.push(Diagnostic::at(span, message).label("for example resolution = 4"));
        return None;
    }
    if !given.generators.is_empty() {
        return names.generators(&given.generators, problems);
    }
    let factors = names.varied.len();
    let (chosen, span, message) = match (&given.resolution, &given.scenarios) {
        (Some(resolution), _) => (
            with_resolution(factors, resolution.value as usize),
            resolution.span.clone(),
            format!(
                "no fraction of resolution {} was found for {factors} factors",
                resolution.value
            ),
        ),
        (None, scenarios) => {
            let scenarios = scenarios.as_ref()?;
            let runs = scenarios.value as usize;
            let base = runs
                .is_power_of_two()
                .then(|| runs.trailing_zeros() as usize);
            (
                base.and_then(|base| minimum_aberration(factors, base)),
                scenarios.span.clone(),
                format!(
                    "no fraction of two-level designs of {factors} factors has {runs} scenarios"
                ),
            )
        }
    };
    let Some(chosen) = chosen else {
        let note = "sizes are powers of two, larger than the number of factors and at most 2 to its power; beyond 24 factors or 1024 scenarios, list generators";
        problems.push(Diagnostic::at(span, message).note(note));
        return None;
    };
    Some(named(&chosen, names))
}

fn named(chosen: &Chosen, names: &Names) -> Vec<Generator> {
    let name = |place: &usize| names.varied[*place].clone();
    let generator = |(place, product): (usize, &Vec<usize>)| Generator {
        factor: name(&(chosen.base + place)),
        product: Effect(product.iter().map(name).collect()),
        negative: false,
    };
    chosen.products.iter().enumerate().map(generator).collect()
}

fn burman_size(draft: &Draft, factors: &[Factor], problems: &Problems) -> Option<u32> {
    let given = &draft.design;
    let counts: Vec<usize> = factors.iter().map(|f| f.levels.len()).collect();
    let varied = counts.iter().filter(|count| **count > 1).count();
    let wanted = given.scenarios.as_ref().map(|s| s.value as usize);
    let mut sizes = plackett_burman_sizes().filter(|size| *size > varied);
    let size = wanted.or_else(|| sizes.next())?;
    if plackett_burman(&counts, size).is_some() {
        return u32::try_from(size).ok();
    }
    let sizes: Vec<String> = plackett_burman_sizes()
        .take(8)
        .map(|s| s.to_string())
        .collect();
    let (message, note) = match plackett_burman_sizes().any(|s| s == size) && varied < size {
        true => (
            format!(
                "{varied} factors are too few for {size} scenarios, some of which would be the same"
            ),
            "use kind = \"two-level\", or \"fractional\" with a resolution".to_owned(),
        ),
        false => (
            format!("no Plackett–Burman design of {varied} factors has {size} scenarios"),
            format!(
                "sizes: {} …; larger than the number of factors",
                sizes.join(", ")
            ),
        ),
    };
    let span = given
        .scenarios
        .as_ref()
        .map_or(&given.kind.span, |s| &s.span);
    problems.push(Diagnostic::at(span.clone(), message).note(note));
    None
}

/// The number that must be given.
fn scenarios(draft: &Draft, problems: &Problems) -> Option<Located<i64>> {
    let given = &draft.design;
    if given.scenarios.is_none() {
        let kind = given.kind.value;
        let missing = Diagnostic::at(
            given.kind.span.clone(),
            format!("`{kind}` needs `scenarios`"),
        );
        problems.push(missing.label("add scenarios = 20"));
    }
    given.scenarios.clone()
}

fn optimal(
    draft: &Draft,
    factors: &[Factor],
    names: &Names,
    problems: &Problems,
) -> Option<Design> {
    let scenarios = scenarios(draft, problems)?;
    let effect = |text: &Located<String>| names.effect(text, &text.value, problems);
    let read: Vec<Option<Effect>> = draft.design.interactions.iter().map(effect).collect();
    let interactions: Vec<Effect> = read.into_iter().collect::<Option<_>>()?;
    let needed = parameters(factors, &interactions);
    if needed > MAX_PARAMETERS {
        let message =
            format!("{needed} parameters: a D-optimal design can have at most {MAX_PARAMETERS}");
        let wrong = Diagnostic::at(draft.design.kind.span.clone(), message);
        problems.push(wrong.note("use fewer levels, or fewer interactions"));
        return None;
    }
    if scenarios.value < needed as i64 {
        let message = format!(
            "{} scenarios cannot estimate {needed} parameters",
            scenarios.value
        );
        let wrong = Diagnostic::at(scenarios.span, message).label(format!("at least {needed}"));
        problems.push(wrong.note("one for the mean, one for each level but the first, and their products for interactions"));
        return None;
    }
    Some(Design::DOptimal {
        scenarios: u32::try_from(scenarios.value).ok()?,
        interactions,
    })
}

/// Of the model: the mean, main effects and these interactions.
fn parameters(factors: &[Factor], interactions: &[Effect]) -> usize {
    let contrasts = |name: &String| {
        let factor = factors.iter().find(|f| f.name == *name);
        factor.map_or(0, |f| f.levels.len().saturating_sub(1))
    };
    let main: usize = factors.iter().map(|f| contrasts(&f.name)).sum();
    let product = |effect: &Effect| effect.0.iter().map(contrasts).product::<usize>();
    1 + main + interactions.iter().map(product).sum::<usize>()
}

fn hypercube(draft: &Draft, factors: &mut [Factor], problems: &Problems) -> Option<Design> {
    let scenarios = scenarios(draft, problems)?;
    let is_number =
        |f: &&mut Factor| f.levels.len() > 1 && f.levels.iter().all(|l| l.as_float().is_some());
    let mut any = false;
    for factor in factors.iter_mut().filter(is_number) {
        any = true;
        let Some(levels) = strata(&factor.levels, scenarios.value) else {
            let message = format!(
                "`{}` has fewer whole numbers than {} scenarios",
                factor.name, scenarios.value
            );
            let wrong = Diagnostic::at(scenarios.span.clone(), message);
            problems
                .push(wrong.note("use fewer scenarios, a wider range, or kind = \"d-optimal\""));
            return None;
        };
        factor.levels = levels;
        let rules = draft.head.exclude.iter().flat_map(|rule| &rule.conditions);
        for condition in rules.filter(|c| c.factor.value == factor.name) {
            let message = format!(
                "the levels of `{}` are chosen by the Latin hypercube",
                factor.name
            );
            let wrong = Diagnostic::at(condition.factor.span.clone(), message);
            problems.push(wrong.label("this excludes nothing"));
        }
    }
    if !any {
        let message = "no factor has several numbers as levels";
        let wrong = Diagnostic::at(draft.design.kind.span.clone(), message);
        problems.push(
            wrong
                .label("a Latin hypercube is for numbers")
                .note("for other factors: kind = \"d-optimal\""),
        );
        return None;
    }
    let scenarios = u32::try_from(scenarios.value).ok()?;
    Some(Design::LatinHypercube { scenarios })
}

/// The range of the levels in equal parts, the middle of each. `None` if it has fewer whole numbers.
fn strata(levels: &[Level], count: i64) -> Option<Vec<Level>> {
    let whole: Option<Vec<i64>> = levels.iter().map(Level::as_int).collect();
    if let Some(whole) = whole {
        let (from, to) = (*whole.iter().min()?, *whole.iter().max()?);
        let numbers = i128::from(to) - i128::from(from) + 1;
        let edge = |part: i64| i128::from(part) * numbers / i128::from(count);
        let middle = |part: i64| {
            let offset = (edge(part) + edge(part + 1) - 1) / 2;
            i64::try_from(i128::from(from) + offset)
                .ok()
                .map(Level::Int)
        };
        return match numbers < i128::from(count) {
            true => None,
            false => (0..count).map(middle).collect(),
        };
    }
    let numbers = levels.iter().filter_map(Level::as_float);
    let (from, to) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
        (low.min(number), high.max(number))
    });
    let middle = |part: i64| {
        let share = (part as f64 + 0.5) / count as f64;
        // Twelve digits, without what binary fractions add.
        let text = format!("{:.11e}", from + share * (to - from));
        text.parse().ok().map(Level::Float)
    };
    (0..count).map(middle).collect()
}
