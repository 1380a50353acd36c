//! Laws of growth in words.

use predict::growth::{Kind, Law, Refusal};
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
        column.map_or("time", |c| self.table.columns[c].label.as_str())
    }

    fn with(line: &GrowthLine) -> String {
        match line.phrase.as_str() {
            "" => String::new(),
            phrase => format!(" with {phrase}"),
        }
    }

    /// The law, and what it predicts beyond the levels.
    fn line(&self, line: &GrowthLine) -> Vec<String> {
        let Some(law) = &line.law else {
            return Vec::from_iter(line.refusal.as_ref().map(|r| self.refused(line, r)));
        };
        let mut text = format!(
            "{} against {}{}: {}",
            capital(self.noun()),
            self.factor(),
            Self::with(line),
            self.law(law)
        );
        let rivals: Vec<String> = law
            .rivals
            .iter()
            .map(|l| name(*l, self.growth.kind))
            .collect();
        if !rivals.is_empty() {
            text += &format!(" ({} fits nearly as well)", format::listed(&rivals, 3));
        }
        if let Some(fit) = law.laws.first().filter(|fit| fit.is_approximate()) {
            let away = format::percent(fit.deviation);
            text += &format!("; means deviate from it by typically {away}");
        }
        let mut texts = vec![text + "."];
        texts.extend(self.beyond(law));
        texts
    }

    fn beyond(&self, law: &GrowthLaw) -> Option<String> {
        let furthest = law.furthest().filter(|_| law.law != Law::Constant)?;
        let interval = furthest.typical.interval?;
        let write = |seconds: f64| format::duration(seconds);
        Some(format!(
            "Predicted, not measured: {} would take {} {}; nothing is predicted beyond that.",
            numeric_phrase(self.factor(), &level(furthest.at)),
            write(furthest.typical.value),
            format::interval(interval.low, interval.high, write)
        ))
    }

    fn law(&self, law: &GrowthLaw) -> String {
        let factor = self.factor();
        let parameter = |place: usize| law.parameters.get(place).map(|p| &p.estimate);
        let share = |place: usize| parameter(place).map(percent).unwrap_or_default();
        let value = |place: usize| parameter(place).map_or(f64::NAN, |e| e.value);
        let constant = |place: usize| format::duration(law.scale * value(place));
        match (law.law, self.growth.kind) {
            (Law::Constant, _) => "no growth found, a constant describes all levels".to_owned(),
            (Law::Amdahl, Kind::Count) => {
                let most = match value(0) > 0.0 {
                    true => format!(
                        ", so no number of {factor} is more than {} as fast as 1",
                        format::ratio(1.0 / value(0))
                    ),
                    false => String::new(),
                };
                format!("Amdahl's law, serial share {}{most}", share(0))
            }
            (Law::Scalability, _) => {
                let turning = law.turning_point;
                let known = turning.filter(|at| *at <= law.measured.high);
                let fastest = known.map(|at| {
                    format!("; fastest at about {} {factor}", format::significant(at, 2))
                });
                format!(
                    "universal scalability law, contention {}, coherence {}{}",
                    share(1),
                    share(0),
                    fastest.unwrap_or_default()
                )
            }
            (Law::Linear, _) => {
                let each = law.scale * (1.0 - value(0)) / law.reference;
                format!(
                    "linear, {} plus {} for each unit of {factor} (constant share at {}: {})",
                    constant(0),
                    format::duration(each),
                    level(law.reference),
                    share(0)
                )
            }
            (Law::Amdahl, Kind::Size) => format!(
                "a constant {} and a part that falls as 1/{factor} (constant share at {}: {})",
                constant(0),
                level(law.reference),
                share(0)
            ),
            (Law::Power, _) => format!(
                "{factor} to the power of {}: twice the {factor} takes {} the time",
                parameter(0).map(number).unwrap_or_default(),
                format::ratio(2.0_f64.powf(value(0)))
            ),
            (Law::PowerAndConstant | Law::PowerDecay | Law::ExponentialDecay, _) => format!(
                "a constant {} and a part that goes with {factor} to the power of {}",
                constant(1),
                parameter(0).map(number).unwrap_or_default()
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
        let named = counts
            .iter()
            .map(|(law, count)| format!("{} in {count}", name(*law, self.growth.kind)));
        let named: Vec<String> = named.collect();
        format!(
            "{} against {}, {}: {}; the report has their numbers.",
            capital(self.noun()),
            self.factor(),
            format::counted(self.growth.lines.len(), "combination", "combinations"),
            format::listed(&named, 6)
        )
    }

    fn refused(&self, line: &GrowthLine, refusal: &Refusal) -> String {
        let factor = self.factor();
        format!(
            "No law of {factor} is stated{}: {refusal}.",
            Self::with(line)
        )
    }

    /// One sentence where all are refused for the same reason; of different reasons, the first.
    fn all_refused(&self) -> Option<String> {
        let line = self.growth.lines.first()?;
        let reason = line.refusal.as_ref()?;
        let no_law = matches!(reason, Refusal::NoLawFits { .. });
        // Where nothing was found to differ, that a law is missing is no news.
        (self.growth.different || !no_law).then(|| {
            let factor = self.factor();
            format!("No law of {factor} is stated: {reason}.")
        })
    }

    fn cheapest(&self, line: &GrowthLine) -> Option<String> {
        let cheapest = line.cheapest.as_ref()?;
        let cost = cheapest.per_run.interval.map_or_else(String::new, |i| {
            format!(" {}", format::interval(i.low, i.high, |v| self.money(v)))
        });
        Some(format!(
            "Cheapest{} by the law of {}: {}, {} a run{cost}; {}.",
            Self::with(line),
            self.factor(),
            cheapest.level.phrase,
            self.money(cheapest.per_run.value),
            stability(cheapest)
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
        (!named.is_empty()).then(|| {
            format!(
                "Cheapest by the law of {}, with how often in resamplings: {}.",
                self.factor(),
                format::listed(&named, 6)
            )
        })
    }

    fn money(&self, value: f64) -> String {
        let symbol = self.table.currency.symbol();
        format!("{symbol} {}", format::significant(value, 3))
    }
}

fn stability(cheapest: &CheapestLevel) -> String {
    let own = cheapest.stability();
    let times = format::count(cheapest.resamplings);
    let mut text = format!(
        "the cheapest in {} of {times} resamplings",
        format::percent(own)
    );
    if own < STABLE {
        let others = cheapest.chances.iter();
        let others = others.filter(|c| c.level != cheapest.level).take(3);
        let named: Vec<String> = others
            .map(|c| {
                format!(
                    "{} in {} (costs {} more)",
                    c.level.phrase,
                    format::percent(c.share),
                    format::percent(c.above)
                )
            })
            .collect();
        text += &format!(", {}", named.join(", "));
    }
    text
}

/// `48`, `0.25`.
fn level(at: f64) -> String {
    let rounded = (at * 1e4).round() / 1e4;
    format!("{rounded}")
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
pub fn name(law: Law, kind: Kind) -> String {
    match (law, kind) {
        (Law::Constant, _) => "constant",
        (Law::Amdahl, Kind::Count) => "Amdahl's law",
        (Law::Amdahl, Kind::Size) => "constant and inverse",
        (Law::Scalability, _) => "universal scalability law",
        (Law::Linear, _) => "linear",
        (Law::Power, _) => "power law",
        (Law::PowerAndConstant, _) => "constant and power law",
        (Law::PowerDecay, _) => "constant and power decay",
        (Law::ExponentialDecay, _) => "constant and exponential decay",
    }
    .to_owned()
}
