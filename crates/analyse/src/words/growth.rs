//! Laws of growth in words.

use messages::{message, word};
use predict::growth::{Kind, LEAST_LEVELS, Law, Refusal};
use stats::Estimate;

use crate::growth::{CheapestLevel, GrowthLaw, GrowthLine, GrowthResult};
use crate::table::Table;
use crate::words::format;
use crate::words::names::numeric_phrase;

/// With more combinations the report's table has them.
const MOST_SENTENCES: usize = 3;
/// Below this the next ones are named too.
const STABLE: f64 = 0.9;

pub(crate) fn sentences(table: &Table, growth: &GrowthResult) -> Vec<String> {
    let words = Words { table, growth };
    let lines = &growth.lines;
    let mut texts: Vec<String> = Vec::new();
    let refused = lines.iter().filter(|line| line.law.is_none()).count();
    if refused == lines.len() {
        texts.extend(words.all_refused());
        return texts;
    }
    if growth.different {
        match lines.len() <= MOST_SENTENCES {
            true => lines.iter().for_each(|line| texts.extend(words.line(line))),
            false => texts.push(words.all_together()),
        }
    }
    match lines.len() <= MOST_SENTENCES {
        true => texts.extend(lines.iter().filter_map(|line| words.cheapest(line))),
        false => texts.extend(words.cheapest_of_all()),
    }
    texts
}

struct Words<'w, 'a> {
    table: &'w Table<'a>,
    growth: &'w GrowthResult,
}

impl Words<'_, '_> {
    fn factor(&self) -> &str {
        &self.growth.factor
    }

    fn noun(&self) -> &str {
        let column = self.table.column(&self.growth.metric);
        column.map_or(word!("noun-time"), |c| self.table.columns[c].label.as_str())
    }

    fn with(line: &GrowthLine) -> String {
        match line.phrase.as_str() {
            "" => String::new(),
            levels => message!("growth-with", levels),
        }
    }

    /// The law, and what it predicts beyond the levels.
    fn line(&self, line: &GrowthLine) -> Vec<String> {
        let Some(law) = &line.law else {
            return Vec::from_iter(line.refusal.as_ref().map(|r| self.refused(line, r)));
        };
        let rivals: Vec<String> = law
            .rivals
            .iter()
            .map(|l| name(*l, self.growth.kind).to_owned())
            .collect();
        let rivals = match rivals.is_empty() {
            true => String::new(),
            false => message!("growth-rivals", rivals = format::listed(&rivals, 3)),
        };
        let rough = law.laws.first().filter(|fit| fit.is_approximate());
        let deviation = rough.map_or_else(String::new, |fit| {
            message!("growth-deviation", away = format::percent(fit.deviation))
        });
        let mut texts = vec![message!(
            "growth-is",
            noun = capital(self.noun()),
            factor = self.factor(),
            with = Self::with(line),
            law = self.law(law),
            rivals,
            deviation
        )];
        texts.extend(self.beyond(law));
        texts
    }

    fn beyond(&self, law: &GrowthLaw) -> Option<String> {
        let furthest = law.furthest().filter(|_| law.law != Law::Constant)?;
        let interval = furthest.typical.interval?;
        let write = |seconds: f64| format::duration(seconds);
        Some(message!(
            "growth-predicted",
            level = numeric_phrase(self.factor(), &plain(furthest.at)),
            time = write(furthest.typical.value),
            interval = format::interval(interval.low, interval.high, write)
        ))
    }

    fn law(&self, law: &GrowthLaw) -> String {
        let factor = self.factor();
        let parameter = |place: usize| law.parameters.get(place).map(|p| &p.estimate);
        let share = |place: usize| parameter(place).map(percent).unwrap_or_default();
        let value = |place: usize| parameter(place).map_or(f64::NAN, |e| e.value);
        let constant = |place: usize| format::duration(law.scale * value(place));
        match (law.law, self.growth.kind) {
            (Law::Constant, _) => message!("growth-constant"),
            (Law::Amdahl, Kind::Count) => {
                let most = match value(0) > 0.0 {
                    true => {
                        let times = format::ratio(1.0 / value(0));
                        message!("growth-amdahl-most", factor, times)
                    }
                    false => String::new(),
                };
                message!("growth-amdahl", share = share(0), most)
            }
            (Law::Scalability, _) => {
                let turning = law.turning_point;
                let measured = law.measured.low..=law.measured.high;
                let known = turning.filter(|at| measured.contains(at));
                let fastest = known.map_or_else(String::new, |at| {
                    message!("growth-fastest", at = format::significant(at, 2), factor)
                });
                let (contention, coherence) = (share(1), share(0));
                message!("growth-scalability", contention, coherence, fastest)
            }
            (Law::Linear, _) => {
                let each = law.scale * (1.0 - value(0)) / law.reference;
                message!(
                    "growth-linear",
                    constant = constant(0),
                    each = format::duration(each),
                    factor,
                    reference = level(law.reference),
                    share = share(0)
                )
            }
            (Law::Amdahl, Kind::Size) => message!(
                "growth-inverse",
                constant = constant(0),
                factor,
                reference = level(law.reference),
                share = share(0)
            ),
            (Law::Power, _) => message!(
                "growth-power",
                factor,
                power = parameter(0).map(number).unwrap_or_default(),
                times = format::ratio(2.0_f64.powf(value(0)))
            ),
            (Law::PowerAndConstant | Law::PowerDecay | Law::ExponentialDecay, _) => message!(
                "growth-power-and-constant",
                constant = constant(1),
                factor,
                power = parameter(0).map(number).unwrap_or_default()
            ),
        }
    }

    fn all_together(&self) -> String {
        let mut counts: Vec<(Law, usize)> = Vec::new();
        for law in self
            .growth
            .lines
            .iter()
            .filter_map(|line| line.law.as_ref())
        {
            match counts.iter_mut().find(|(known, _)| *known == law.law) {
                Some((_, count)) => *count += 1,
                None => counts.push((law.law, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let named = counts.iter().map(|(law, count)| {
            message!("growth-law-in", law = name(*law, self.growth.kind), count)
        });
        let named: Vec<String> = named.collect();
        message!(
            "growth-together",
            noun = capital(self.noun()),
            factor = self.factor(),
            lines = self.growth.lines.len(),
            more = self.growth.left_out,
            all = self.growth.lines.len() + self.growth.left_out,
            laws = format::listed(&named, 6)
        )
    }

    fn refused(&self, line: &GrowthLine, refusal: &Refusal) -> String {
        message!(
            "growth-refused",
            factor = self.factor(),
            with = Self::with(line),
            refusal = refused(refusal)
        )
    }

    /// One sentence where all are refused for the same reason; of different reasons, the first.
    fn all_refused(&self) -> Option<String> {
        let line = self.growth.lines.first()?;
        let reason = line.refusal.as_ref()?;
        let no_law = matches!(reason, Refusal::NoLawFits { .. });
        // Where nothing was found to differ, that a law is missing is no news.
        (self.growth.different || !no_law).then(|| {
            let (factor, refusal) = (self.factor(), refused(reason));
            message!("growth-refused", factor, with = "", refusal)
        })
    }

    fn cheapest(&self, line: &GrowthLine) -> Option<String> {
        let cheapest = line.cheapest.as_ref()?;
        let bounds = cheapest.per_run.interval.map_or_else(String::new, |i| {
            format!(" {}", format::interval(i.low, i.high, |v| self.money(v)))
        });
        Some(message!(
            "growth-cheapest",
            with = Self::with(line),
            factor = self.factor(),
            level = cheapest.level.phrase,
            money = self.money(cheapest.per_run.value),
            bounds,
            stability = stability(cheapest)
        ))
    }

    fn cheapest_of_all(&self) -> Option<String> {
        let lines = self.growth.lines.iter();
        let named: Vec<String> = lines
            .filter_map(|line| {
                let cheapest = line.cheapest.as_ref()?;
                let sure = format::percent(cheapest.stability());
                Some(format!(
                    "{} ({}, {sure})",
                    cheapest.level.phrase, line.phrase
                ))
            })
            .collect();
        let factor = self.factor();
        let is_any = !named.is_empty();
        is_any.then(|| {
            message!(
                "growth-cheapest-all",
                factor,
                named = format::listed(&named, 6)
            )
        })
    }

    fn money(&self, value: f64) -> String {
        format::in_currency(self.table.currency, &format::significant(value, 3))
    }
}

fn stability(cheapest: &CheapestLevel) -> String {
    let own = cheapest.stability();
    let mut named = String::new();
    if own < STABLE {
        let others = cheapest.chances.iter();
        let others = others.filter(|c| c.level != cheapest.level).take(3);
        for other in others {
            let share = format::percent(other.share);
            let above = format::percent(other.above);
            let said = message!("growth-other", level = other.level.phrase, share, above);
            named += &format!(", {said}");
        }
    }
    message!(
        "growth-stability",
        share = format::percent(own),
        times = cheapest.resamplings,
        others = named
    )
}

/// `48`, `0.25`: as levels are written in a study.
fn plain(at: f64) -> String {
    let rounded = (at * 1e4).round() / 1e4;
    format!("{rounded}")
}

fn level(at: f64) -> String {
    plain(at).replace('.', &messages::decimal_mark().to_string())
}

/// Why no law is stated.
pub fn refused(refusal: &Refusal) -> String {
    match *refusal {
        Refusal::TooFewLevels { levels } => {
            message!("growth-few-levels", levels, least = LEAST_LEVELS)
        }
        Refusal::NotPositive => message!("growth-not-positive"),
        Refusal::TooFewRepetitions { .. } => message!("growth-few-repetitions"),
        Refusal::NoLawFits { deviation, .. } => {
            let deviation = format!("{:.0} %", 100.0 * deviation);
            message!("growth-no-law", deviation)
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// `10 % [9.2 %, 11 %]`.
fn percent(estimate: &Estimate) -> String {
    bounds(estimate, |v| match v {
        0.0 => "0 %".to_owned(),
        v => format!("{} %", format::significant(100.0 * v, 2)),
    })
}

fn number(estimate: &Estimate) -> String {
    bounds(estimate, |v| format::significant(v, 3))
}

fn bounds(estimate: &Estimate, write: impl Fn(f64) -> String) -> String {
    match estimate.interval {
        Some(i) => format!(
            "{} {}",
            write(estimate.value),
            format::interval(i.low, i.high, write)
        ),
        None => write(estimate.value),
    }
}

/// A law by its name.
pub fn name(law: Law, kind: Kind) -> &'static str {
    match (law, kind) {
        (Law::Constant, _) => word!("law-constant"),
        (Law::Amdahl, Kind::Count) => word!("law-amdahl"),
        (Law::Amdahl, Kind::Size) => word!("law-inverse"),
        (Law::Scalability, _) => word!("law-scalability"),
        (Law::Linear, _) => word!("law-linear"),
        (Law::Power, _) => word!("law-power"),
        (Law::PowerAndConstant, _) => word!("law-power-and-constant"),
        (Law::PowerDecay, _) => word!("law-power-decay"),
        (Law::ExponentialDecay, _) => word!("law-exponential-decay"),
    }
}
