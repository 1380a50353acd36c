//! Speed-ups as a person says them: `2 workers train rede1 1.7× as fast as 1 (efficiency 85 %)`.

use messages::message;
use model::Study;

use crate::along::sort_by_number;
use crate::analysis::LevelFacts;
use crate::lists::unique;
use crate::speedup::{SpeedUp, SpeedUpKind, SpeedUpLine, SpeedUpPoint, geometric_mean};
use crate::words::comparison::Times;
use crate::words::format;

/// Up to so many combinations each has its sentence.
const MOST_SENTENCES: usize = 3;
/// What is called scaling well.
const GOOD_EFFICIENCY: f64 = 0.8;

pub(crate) struct Words<'a> {
    speed_up: &'a SpeedUp,
    trains: bool,
    /// The network, where no factor varies it.
    network: Option<&'a str>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(study: &'a Study, speed_up: &'a SpeedUp) -> Self {
        let train = study.workload.as_train();
        let network = train.map(|t| t.network.as_str());
        Words {
            speed_up,
            trains: train.is_some(),
            network: network.filter(|_| study.factor("network").is_none()),
        }
    }

    pub(crate) fn sentences(&self) -> Vec<String> {
        let lines = &self.speed_up.lines;
        if lines.is_empty() {
            return Vec::new();
        }
        let mut sentences: Vec<String> = match lines.len() <= MOST_SENTENCES {
            true => lines.iter().filter_map(|line| self.line(line)).collect(),
            false => self.all_together(),
        };
        sentences.extend(self.how_far());
        sentences
    }

    /// The highest level of a line, which people look for first.
    fn line(&self, line: &SpeedUpLine) -> Option<String> {
        let point = line.points.last()?;
        let who = &point.level.phrase;
        let base = short_base(&line.baseline, &point.level);
        let times = Times::of(&point.speed_up);
        let interval = point.speed_up.interval;
        if interval.is_some_and(|i| i.contains(1.0)) {
            let about = self.about(line, |network| message!("speed-for", network));
            let bounds = times.bounds;
            return Some(message!("speed-none", who, base, about, bounds));
        }
        let about = self.about(line, |network| message!("speed-network", network));
        let bounds = times.bounds;
        let times = times.value;
        let efficiency = point.efficiency.as_ref();
        let efficiency = efficiency.map_or_else(String::new, |e| {
            message!("speed-efficiency", percent = format::percent(e.value))
        });
        let verb = self.verb(&point.level);
        Some(match point.speed_up.value < 1.0 {
            true => message!(
                "speed-slower",
                who,
                verb,
                about,
                base,
                times,
                bounds,
                efficiency
            ),
            false => message!(
                "speed-faster",
                who,
                verb,
                about,
                base,
                times,
                bounds,
                efficiency
            ),
        })
    }

    /// ` rede1`, or ` with pytorch · rede1` where more than the network varies.
    fn about(&self, line: &SpeedUpLine, of_network: impl Fn(&str) -> String) -> String {
        match line.levels.as_slice() {
            [] => self.network.map(of_network).unwrap_or_default(),
            [only] if only.factor == "network" => of_network(&only.phrase),
            _ => message!("speed-with", levels = line.phrase),
        }
    }

    fn verb(&self, level: &LevelFacts) -> String {
        let several = self.speed_up.kind == SpeedUpKind::Count && level.number() != Some(1.0);
        message!("speed-verb", trains = self.trains, several)
    }

    fn points(&self) -> impl Iterator<Item = &'a SpeedUpPoint> {
        self.speed_up.lines.iter().flat_map(|l| &l.points)
    }

    /// One sentence a level for devices, one for the highest level of counts.
    fn all_together(&self) -> Vec<String> {
        let mut levels = unique(self.points().map(|point| &point.level));
        if self.speed_up.kind == SpeedUpKind::Count {
            sort_by_number(&mut levels);
            levels = levels.split_off(levels.len().saturating_sub(1));
        }
        levels.iter().filter_map(|l| self.together(l)).collect()
    }

    fn together(&self, level: &LevelFacts) -> Option<String> {
        let mut found: Vec<Found> = Vec::new();
        for line in &self.speed_up.lines {
            let points = line.points.iter().filter(|p| p.level == *level);
            found.extend(points.map(|point| Found { line, point }));
        }
        // Where the lowest level has no result another stands in, and ratios would mix.
        let base = found.first()?.line.baseline.clone();
        found.retain(|f| f.line.baseline == base);
        let values: Vec<f64> = found.iter().map(|f| f.point.speed_up.value).collect();
        let value = |f: &Found| f.point.speed_up.value;
        let least = found.iter().min_by(|a, b| value(a).total_cmp(&value(b)))?;
        let most = found.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?;
        let mean = geometric_mean(&values);
        let more = level.number().zip(base.number()).map(|(n, low)| n / low);
        let efficiency = match (self.speed_up.kind, more) {
            (SpeedUpKind::Count, Some(more)) => {
                message!("speed-efficiency", percent = format::percent(mean / more))
            }
            _ => String::new(),
        };
        let range = match found.len() {
            1 => String::new(),
            count => message!(
                "speed-range",
                count,
                least = format::ratio(value(least)),
                least_levels = least.line.phrase,
                most = format::ratio(value(most)),
                most_levels = most.line.phrase
            ),
        };
        Some(message!(
            "speed-together",
            who = level.phrase,
            verb = self.verb(level),
            times = format::ratio(mean),
            base = short_base(&base, level),
            efficiency,
            range
        ))
    }

    /// Up to which number it scales well: what decides how many to pay for.
    fn how_far(&self) -> Option<String> {
        let mut levels: Vec<&LevelFacts> = self.points().map(|p| &p.level).collect();
        sort_by_number(&mut levels);
        levels.dedup();
        if self.speed_up.kind != SpeedUpKind::Count || levels.len() < 2 {
            return None;
        }
        let mean = |level: &LevelFacts| {
            let values: Vec<f64> = self
                .points()
                .filter(|p| p.level == *level)
                .filter_map(|p| p.efficiency.as_ref().map(|e| e.value))
                .collect();
            geometric_mean(&values)
        };
        let good = levels
            .iter()
            .take_while(|level| mean(level) >= GOOD_EFFICIENCY)
            .last();
        let limit = format::percent(GOOD_EFFICIENCY);
        Some(match good {
            Some(level) => {
                let most = levels.last() == Some(level);
                message!("speed-good", limit, level = level.phrase, most)
            }
            None => message!("speed-bad", limit, level = levels.first()?.phrase),
        })
    }
}

struct Found<'a> {
    line: &'a SpeedUpLine,
    point: &'a SpeedUpPoint,
}

/// `1` where the unit was just said, `1 core` where it was not.
fn short_base(base: &LevelFacts, level: &LevelFacts) -> String {
    match level.number().is_some() && base.number().is_some() {
        true => base.level.clone(),
        false => base.phrase.clone(),
    }
}
