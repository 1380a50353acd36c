//! Scenarios nothing is known of, from those that something is known of.

use std::collections::{BTreeMap, BTreeSet};

use model::{Phase, Scenario};
use stats::LogSpread;

use super::grounds::{ASSUMED_SPREAD, Grounds, PILOT_ERROR};
use super::{ExpectedRequests, RunForecast};

/// What levels do together, beyond what each does, is never believed to be smaller than this part
/// of the time: only the measured combinations could show it.
const LEAST_INTERACTION: f64 = 0.1;
/// With fewer degrees of freedom from repetitions, what the model of main effects leaves counts too.
const ENOUGH_REPEATED: usize = 2;

/// Scenarios nothing is known of get the product of their levels' effects: a model of main
/// effects on the logarithm, fitted to the scenarios that are known. Of one with a level that none
/// of these has, nothing can be said.
pub fn fill_unknown(known: &mut BTreeMap<u32, RunForecast>, scenarios: &[Scenario]) {
    let is_unknown = |s: &Scenario| !known.contains_key(&s.number);
    if known.is_empty() || !scenarios.iter().any(is_unknown) {
        return;
    }
    let rows = measured(known, scenarios);
    let model = Additive::new(&rows);
    let names: Vec<String> = phase_names(rows.iter().map(|row| &known[&row.number]));
    let logs = |of: &dyn Fn(&RunForecast) -> f64| -> Vec<f64> {
        let each = rows.iter().map(|row| of(&known[&row.number]));
        each.map(|value| value.max(1e-6).ln()).collect()
    };
    let phases: Vec<Effects> = names
        .iter()
        .map(|name| model.fit(&logs(&|forecast| phase_seconds(forecast, name))))
        .collect();
    let asked: Option<Vec<ExpectedRequests>> =
        rows.iter().map(|row| known[&row.number].requests).collect();
    let asked = asked.map(|_| {
        let of =
            |part: fn(ExpectedRequests) -> f64| model.fit(&logs(&|f| f.requests.map_or(0.0, part)));
        [
            of(|requests| requests.count),
            of(|requests| requests.seconds),
        ]
    });
    let interaction = model.left_by(&logs(&|forecast| forecast.seconds().value));
    let interaction = interaction
        .map_or(0.0, |left| left.sd)
        .max(LEAST_INTERACTION);
    let unit = |place: usize| {
        let mut values = vec![0.0; rows.len()];
        values[place] = 1.0;
        model.fit(&values)
    };
    let parts: Vec<Effects> = (0..rows.len()).map(unit).collect();
    let mut filled = Vec::new();
    for scenario in scenarios.iter().filter(|s| is_unknown(s)) {
        let Some(levels) = model.levels_of(scenario) else {
            continue;
        };
        let of_rows = rows.iter().zip(&parts);
        let of_rows = of_rows.map(|(row, part)| (&known[&row.number].grounds, part.at(&levels)));
        let phases = names.iter().zip(&phases).map(|(name, effects)| Phase {
            name: name.clone(),
            begin_seconds: 0.0,
            seconds: effects.at(&levels).exp(),
        });
        let forecast = RunForecast {
            requests: asked.as_ref().map(|[count, seconds]| ExpectedRequests {
                count: count.at(&levels).exp(),
                seconds: seconds.at(&levels).exp(),
            }),
            grounds: Grounds::combined(of_rows, interaction),
            ..RunForecast::exactly(phases.collect())
        };
        filled.push((scenario.number, forecast));
    }
    known.extend(filled);
}

/// Scenarios of which nothing can be said by their levels are taken for a usual one of those that
/// are known, somewhere between the shortest and the longest.
pub fn fill_with_usual(known: &mut BTreeMap<u32, RunForecast>, scenarios: &[&Scenario]) {
    let count = known.len() as f64;
    let seconds: Vec<f64> = known.values().map(|f| f.seconds().value).collect();
    if known.is_empty() || seconds.iter().sum::<f64>() <= 0.0 {
        return;
    }
    let between = LogSpread::measured(stats::LogMoments::of(&seconds).squares, known.len() - 1);
    let error = between.map_or(0.0, |spread| spread.sd).max(ASSUMED_SPREAD);
    let phase = |name: String| Phase {
        begin_seconds: 0.0,
        seconds: known.values().map(|f| phase_seconds(f, &name)).sum::<f64>() / count,
        name,
    };
    let phases = phase_names(known.values()).into_iter().map(phase);
    let usual = RunForecast {
        grounds: Grounds::shared(error),
        ..RunForecast::exactly(phases.collect())
    };
    for scenario in scenarios {
        known
            .entry(scenario.number)
            .or_insert_with(|| usual.clone());
    }
}

/// How far runs of one scenario lie apart: from repeated runs; where hardly any is, from what the
/// effects of levels leave unexplained too; assumed where neither says anything.
pub fn spread(known: &BTreeMap<u32, RunForecast>, scenarios: &[Scenario]) -> LogSpread {
    let repeated = known.values().map(|forecast| &forecast.grounds);
    let (mut squares, mut free) = (0.0, 0);
    for grounds in repeated {
        squares += grounds.squares;
        free += grounds.own_runs().saturating_sub(1);
    }
    if free < ENOUGH_REPEATED {
        let mut rows = measured(known, scenarios);
        rows.retain(|row| known[&row.number].grounds.own_runs() > 0);
        let logs = rows.iter().map(|row| known[&row.number].log_centre());
        let left = Additive::new(&rows).left_by(&logs.collect::<Vec<f64>>());
        if let Some(LogSpread {
            sd,
            degrees_of_freedom: Some(more),
        }) = left
        {
            squares += sd * sd * more as f64;
            free += more;
        }
    }
    let only_pilots = known.values().all(|forecast| forecast.grounds.has_pilot());
    let assumed = match only_pilots && !known.is_empty() {
        true => PILOT_ERROR,
        false => ASSUMED_SPREAD,
    };
    LogSpread::measured(squares, free).unwrap_or(LogSpread::assumed(assumed))
}

/// Scenarios that something is known of by itself.
fn measured<'s>(
    known: &BTreeMap<u32, RunForecast>,
    scenarios: &'s [Scenario],
) -> Vec<&'s Scenario> {
    let is_measured = |s: &&Scenario| {
        let found = known.get(&s.number);
        found.is_some_and(|forecast| !forecast.grounds.is_combined)
    };
    scenarios.iter().filter(is_measured).collect()
}

fn phase_names<'f>(forecasts: impl Iterator<Item = &'f RunForecast>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for phase in forecasts.flat_map(|f| &f.phases) {
        if !names.contains(&phase.name) {
            names.push(phase.name.clone());
        }
    }
    names
}

fn phase_seconds(forecast: &RunForecast, name: &str) -> f64 {
    forecast
        .phases
        .iter()
        .filter(|p| p.name == name)
        .map(|p| p.seconds)
        .sum()
}

/// Mean plus one effect a level, by backfitting (Friedman and Stuetzle 1981): each level's effect
/// is the mean of what the others leave unexplained.
struct Additive {
    /// By factor: the levels that occur.
    levels: Vec<Vec<String>>,
    /// Of every row, the place of its level in each factor.
    rows: Vec<Vec<usize>>,
}

struct Effects {
    mean: f64,
    by_factor: Vec<Vec<f64>>,
}

impl Effects {
    fn at(&self, levels: &[usize]) -> f64 {
        let effects = self.by_factor.iter().zip(levels);
        self.mean + effects.map(|(effects, level)| effects[*level]).sum::<f64>()
    }
}

impl Additive {
    const ROUNDS: usize = 60;

    fn new(rows: &[&Scenario]) -> Self {
        let factors = rows.first().map_or(0, |row| row.levels.len());
        let levels_of = |factor: usize| {
            let all = rows.iter().map(|row| row.levels[factor].level.to_string());
            all.collect::<BTreeSet<String>>().into_iter().collect()
        };
        let mut model = Additive {
            levels: (0..factors).map(levels_of).collect(),
            rows: Vec::new(),
        };
        model.rows = rows.iter().filter_map(|row| model.levels_of(row)).collect();
        model
    }

    /// None where one of them does not occur.
    fn levels_of(&self, scenario: &Scenario) -> Option<Vec<usize>> {
        let places = self.levels.iter().zip(&scenario.levels);
        let place = |(known, level): (&Vec<String>, &model::study::FactorLevel)| {
            let name = level.level.to_string();
            known.binary_search(&name).ok()
        };
        places.map(place).collect()
    }

    fn fit(&self, values: &[f64]) -> Effects {
        let zeros = |levels: &Vec<String>| vec![0.0; levels.len()];
        let mut effects = Effects {
            mean: values.iter().sum::<f64>() / values.len().max(1) as f64,
            by_factor: self.levels.iter().map(zeros).collect(),
        };
        let scale = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
        for _ in 0..Self::ROUNDS {
            let mut change = 0.0_f64;
            for factor in 0..self.levels.len() {
                let mut sums = vec![0.0; self.levels[factor].len()];
                let mut counts = sums.clone();
                for (row, value) in self.rows.iter().zip(values) {
                    sums[row[factor]] += value - effects.at(row);
                    counts[row[factor]] += 1.0;
                }
                for (effect, (sum, count)) in effects.by_factor[factor]
                    .iter_mut()
                    .zip(sums.iter().zip(counts))
                {
                    *effect += sum / count;
                    change = change.max((sum / count).abs());
                }
            }
            if change <= 1e-12 * scale {
                break;
            }
        }
        effects
    }

    /// What the model leaves of these values. Where levels are confounded it has fewer parameters
    /// than are counted here: the spread is then too large, never too small.
    fn left_by(&self, values: &[f64]) -> Option<LogSpread> {
        let effects = self.fit(values);
        let parameters = 1 + self
            .levels
            .iter()
            .map(|levels| levels.len() - 1)
            .sum::<usize>();
        let left = self.rows.iter().zip(values);
        let squares = left.map(|(row, value)| (value - effects.at(row)).powi(2));
        LogSpread::measured(squares.sum(), values.len().saturating_sub(parameters))
    }
}

#[cfg(test)]
mod tests {
    use model::study::FactorLevel;

    use super::*;

    fn scenario(number: u32, network: &str, image: i64) -> Scenario {
        let level = |factor: &str, level| FactorLevel {
            factor: factor.into(),
            level,
        };
        Scenario {
            number,
            levels: vec![
                level("network", network.into()),
                level("image", image.into()),
            ],
        }
    }

    fn of_runs(number: u32, seconds: &[f64]) -> (u32, RunForecast) {
        let phase = Phase {
            name: "train".into(),
            begin_seconds: 0.0,
            seconds: seconds.iter().sum::<f64>() / seconds.len() as f64,
        };
        let forecast = RunForecast {
            grounds: Grounds::of_runs(number, seconds),
            ..RunForecast::exactly(vec![phase])
        };
        (number, forecast)
    }

    fn four() -> [Scenario; 4] {
        [
            scenario(1, "rede1", 32),
            scenario(2, "rede1", 64),
            scenario(3, "rede2", 32),
            scenario(4, "rede2", 64),
        ]
    }

    #[test]
    fn an_unseen_combination_is_the_product_of_its_effects() {
        let mut known =
            BTreeMap::from([of_runs(1, &[2.0]), of_runs(2, &[6.0]), of_runs(3, &[3.0])]);
        fill_unknown(&mut known, &four());
        let filled = &known[&4];
        assert!((filled.seconds().value - 9.0).abs() < 1e-6, "{filled:?}");
        // C2 · C3 / C1: three errors, that of the combination itself, and that of the run.
        let weights: Vec<f64> = filled.grounds.sources.iter().map(|s| s.weight).collect();
        for (weight, expected) in weights.iter().zip([-1.0, 1.0, 1.0]) {
            assert!((weight - expected).abs() < 1e-9, "{weights:?}");
        }
        let spread = LogSpread::assumed(0.05);
        let [own, other] = [1, 4].map(|number| known[&number].grounds.half_width(spread));
        assert!((own - 1.96 * 0.05 * 2_f64.sqrt()).abs() < 1e-3, "{own}");
        let by_hand = 1.96 * (0.05_f64.powi(2) * 4.0 + LEAST_INTERACTION.powi(2)).sqrt();
        assert!((other - by_hand).abs() < 1e-3, "{other} {by_hand}");
    }

    #[test]
    fn of_a_level_that_nobody_saw_nothing_is_said() {
        let scenarios = [scenario(1, "rede1", 32), scenario(2, "rede2", 32)];
        let mut known = BTreeMap::from([of_runs(1, &[2.0])]);
        fill_unknown(&mut known, &scenarios);
        assert_eq!(known.keys().copied().collect::<Vec<u32>>(), [1]);
    }

    #[test]
    fn pilots_alone_are_assumed_to_be_nearer_than_a_single_run() {
        let (number, of_run) = of_runs(1, &[3.0]);
        let of_pilot = RunForecast {
            grounds: Grounds::of_pilot(2),
            ..of_run.clone()
        };
        let pilots = BTreeMap::from([(2, of_pilot.clone())]);
        assert_eq!(spread(&pilots, &four()), LogSpread::assumed(PILOT_ERROR));
        let both = BTreeMap::from([(number, of_run), (2, of_pilot)]);
        assert_eq!(spread(&both, &four()), LogSpread::assumed(ASSUMED_SPREAD));
    }

    #[test]
    fn the_spread_is_that_of_repeated_runs() {
        let one = BTreeMap::from([of_runs(1, &[3.0])]);
        assert_eq!(spread(&one, &four()), LogSpread::assumed(ASSUMED_SPREAD));
        let equal = BTreeMap::from([of_runs(1, &[3.0, 3.0, 3.0])]);
        let found = spread(&equal, &four());
        assert_eq!((found.sd, found.degrees_of_freedom), (0.0, Some(2)));
        // Pooled: scenarios of unlike length with the same relative spread.
        let two = BTreeMap::from([of_runs(1, &[1.0, 1.1]), of_runs(2, &[100.0, 110.0])]);
        let found = spread(&two, &four());
        assert!(
            (found.sd - 1.1_f64.ln() / 2_f64.sqrt()).abs() < 1e-9,
            "{found:?}"
        );
        // One run of each of four: what is left of the product of their effects.
        let single = [2.0, 6.0, 3.0, 9.9].map(|seconds| [seconds]);
        let single = single
            .iter()
            .zip(1..)
            .map(|(seconds, n)| of_runs(n, seconds));
        let found = spread(&single.collect(), &four());
        assert_eq!(found.degrees_of_freedom, Some(1));
        assert!((found.sd - 1.1_f64.ln() / 2.0).abs() < 1e-6, "{found:?}");
    }
}
