//! Cells with spreads of their own, and one rate of false answers for many questions.

use proptest::prelude::*;
use seeded::SplitMix64;
use stats::{At, Blocks, CellMeans, Design, LevelPair, Observation, Question, weighted_holm};

fn observation(levels: &[usize], value: f64) -> Observation {
    Observation {
        levels: levels.to_vec(),
        value,
    }
}

/// `repetitions` values of every combination, given by a function of its levels.
fn factorial(
    levels: &[usize],
    repetitions: usize,
    mut value: impl FnMut(&[usize]) -> f64,
) -> (Design, Vec<Observation>) {
    let mut all = vec![Vec::new()];
    for count in levels {
        let longer = |known: &Vec<usize>| {
            let known = known.clone();
            (0..*count).map(move |level| [known.clone(), vec![level]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    let mut observations = Vec::new();
    for _ in 0..repetitions {
        observations.extend(all.iter().map(|levels| observation(levels, value(levels))));
    }
    let levels = levels.to_vec();
    (Design { levels }, observations)
}

fn normal(random: &mut SplitMix64) -> f64 {
    let uniform = |random: &mut SplitMix64| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (a, b) = (uniform(random).max(1e-300), uniform(random));
    (-2.0 * a.ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}

fn all_of(of: &[usize]) -> Blocks<'_> {
    let is_declared = false;
    Blocks { of, is_declared }
}

fn pair(factor: usize, level: usize, base: usize) -> LevelPair {
    LevelPair {
        factor,
        level,
        base,
    }
}

/// With two groups it is Welch's test.
#[test]
fn two_groups_are_welch() {
    let (a, b) = ([3.1, 2.9, 3.4, 3.0, 3.3], [4.0, 5.5, 2.5]);
    let mut data: Vec<Observation> = a.iter().map(|v| observation(&[0], *v)).collect();
    data.extend(b.iter().map(|v| observation(&[1], *v)));
    let means = CellMeans::new(&Design { levels: vec![2] }, &data, None).unwrap();
    let welch = stats::welch_difference(&b, &a, 0.95).unwrap();
    let test = means.test(&[0], 1).unwrap();
    assert!((test.p - welch.p).abs() < 1e-12, "{} {}", test.p, welch.p);
    let difference = means.difference(pair(0, 1, 0), &[]).unwrap();
    assert!((difference.value - welch.estimate.value).abs() < 1e-12);
    let estimate = difference.estimate(0.95, "", |v| v);
    let (ours, theirs) = (estimate.interval.unwrap(), welch.estimate.interval.unwrap());
    assert!((ours.low - theirs.low).abs() < 1e-9 && (ours.high - theirs.high).abs() < 1e-9);
}

/// Equal numbers and equal variances: the statistic is the usual F.
#[test]
fn equal_spreads_give_the_usual_f() {
    // Every cell has the same three deviations.
    let mut number = 0;
    let (design, data) = factorial(&[2, 3], 3, |levels| {
        number += 1;
        let deviation = [-1.0, 0.0, 1.0][(number - 1) / 6];
        (levels[0] * 3 + levels[1] * levels[1]) as f64 + deviation
    });
    let means = CellMeans::new(&design, &data, None).unwrap();
    let anova = stats::factorial(&design, &data, 2).unwrap();
    for factors in [vec![0], vec![1], vec![0, 1]] {
        let test = means.test(&factors, 2).unwrap();
        let f = anova.term(&factors).unwrap().f.unwrap();
        assert!(
            (test.statistic - f).abs() < 1e-9 * f.max(1.0),
            "{factors:?}"
        );
        let p = anova.term(&factors).unwrap().p.unwrap();
        assert!((test.p - p).abs() < 1e-9, "{factors:?} {} {p}", test.p);
    }
}

proptest! {
    /// The product of small matrices and the projection by a basis are the same test.
    #[test]
    fn both_ways_agree(seed in any::<u64>(), sizes in prop::sample::select(vec![vec![2, 2], vec![2, 3], vec![3, 2, 2]])) {
        let mut random = SplitMix64::new(seed);
        let (design, data) = factorial(&sizes, 3, |levels| {
            (1 + levels[0]) as f64 * normal(&mut random) + levels[1] as f64
        });
        let complete = CellMeans::new(&design, &data, None).unwrap();
        // One more level that occurs in one combination only: no longer complete.
        let mut other = design.clone();
        other.levels[0] += 1;
        let mut more = data.clone();
        let mut strange = vec![0; sizes.len()];
        strange[0] = sizes[0];
        more.extend((0..3).map(|_| observation(&strange, normal(&mut random))));
        let incomplete = CellMeans::new(&other, &more, None).unwrap();
        // The last factor's effect is told by the complete part alone.
        let last = sizes.len() - 1;
        let a = complete.test(&[last], 2).unwrap();
        let b = incomplete.test(&[last], 2).unwrap();
        prop_assert!((a.p - b.p).abs() < 1e-7, "{} {}", a.p, b.p);
        let a = complete.difference(pair(last, 1, 0), &[]).unwrap();
        let b = incomplete.difference(pair(last, 1, 0), &[]).unwrap();
        prop_assert!((a.value - b.value).abs() < 1e-9);
    }

    /// No weight is lost: the adjusted probability never goes below the plain one.
    #[test]
    fn adjusted_is_never_smaller(ps in prop::collection::vec(0.0..1.0f64, 1..12)) {
        let questions: Vec<Question> = ps.iter().map(|p| Question { p: *p, share: 1.0, is_all: true }).collect();
        let plain = holm(&ps);
        for (answer, (p, holm)) in weighted_holm(&questions, 0.05).iter().zip(ps.iter().zip(plain)) {
            prop_assert!(answer.adjusted_p >= *p - 1e-15);
            prop_assert!((answer.adjusted_p - holm).abs() < 1e-9);
            prop_assert_eq!(answer.is_yes, answer.adjusted_p <= 0.05);
        }
    }
}

/// Without shares (Holm 1979).
fn holm(ps: &[f64]) -> Vec<f64> {
    let adjusted = |p: &f64| {
        let smaller = |limit: f64| ps.iter().filter(|other| **other < limit).count();
        let each = ps.iter().filter(|other| **other <= *p);
        each.map(|other| other * (ps.len() - smaller(*other)) as f64)
            .fold(0.0, f64::max)
            .min(1.0)
    };
    ps.iter().map(adjusted).collect()
}

/// A half fraction with repetitions: main effects can be told, what they are mixed with cannot.
#[test]
fn a_fraction_has_main_effects() {
    let mut random = SplitMix64::new(7);
    let (design, all) = factorial(&[2, 2, 2], 3, |levels| {
        10.0 * levels[0] as f64 + normal(&mut random)
    });
    let is_in = |o: &Observation| o.levels.iter().sum::<usize>() % 2 == 0;
    let half: Vec<Observation> = all.into_iter().filter(is_in).collect();
    let means = CellMeans::new(&design, &half, None).unwrap();
    assert!(means.test(&[0], 1).unwrap().p < 1e-3);
    assert!(means.test(&[1], 1).unwrap().p > 0.01);
    assert_eq!(means.test(&[1, 2], 2), None);
    assert!(means.test(&[0], 2).is_none(), "A is mixed with B × C");
    let difference = means.difference(pair(0, 1, 0), &[]).unwrap();
    assert!((difference.value - 10.0).abs() < 2.0);
}

#[test]
fn an_effect_within_a_level_of_another_factor() {
    let (design, data) = factorial(&[2, 2], 2, |levels| match levels {
        [0, 0] => 1.0,
        [1, 0] => 31.0,
        [0, 1] => 20.0,
        _ => 2.0,
    });
    let means = CellMeans::new(&design, &data, None).unwrap();
    let within = |level: usize| {
        let at = At { factor: 1, level };
        means.difference(pair(0, 1, 0), &[at]).unwrap().value
    };
    assert_eq!([within(0), within(1)], [30.0, -18.0]);
    // Every value of a cell is the same: what differs differs.
    assert_eq!(means.test(&[0, 1], 2).unwrap().p, 0.0);
}

#[test]
fn once_each_shows_no_noise() {
    let (design, data) = factorial(&[2, 2], 1, |levels| levels[0] as f64);
    let error = CellMeans::new(&design, &data, None).unwrap_err();
    assert_eq!(error, stats::StatsError::NoRepetitions);
}

/// Ten quiet runs beside three noisy ones: 37 % of studies without a difference stated one.
#[test]
fn unequal_spreads_make_no_false_statements() {
    let mut false_ones = 0;
    let mut pooled = 0;
    let studies = 2000;
    for seed in 0..studies {
        let mut random = SplitMix64::new(seed);
        let mut data: Vec<Observation> = (0..10)
            .map(|_| observation(&[0], 0.01 * normal(&mut random)))
            .collect();
        data.extend((0..3).map(|_| observation(&[1], normal(&mut random))));
        let design = Design { levels: vec![2] };
        let means = CellMeans::new(&design, &data, None).unwrap();
        false_ones += usize::from(means.test(&[0], 1).unwrap().p < 0.05);
        let anova = stats::factorial(&design, &data, 1).unwrap();
        pooled += usize::from(anova.terms[0].p.unwrap() < 0.05);
    }
    assert!(
        false_ones <= studies as usize * 6 / 100,
        "{false_ones} of {studies}"
    );
    assert!(
        pooled > studies as usize / 4,
        "{pooled}: the data show nothing"
    );
}

/// Repetitions that differ as a whole hide an effect, unless they are taken out.
#[test]
fn blocks_are_taken_out() {
    let mut found = [0, 0];
    let mut false_ones = 0;
    for seed in 0..300 {
        let mut random = SplitMix64::new(seed);
        let blocks: Vec<f64> = (0..5).map(|_| 0.05 * normal(&mut random)).collect();
        let mut data = Vec::new();
        let mut block_of = Vec::new();
        for (block, effect) in blocks.iter().enumerate() {
            for a in 0..2 {
                for b in 0..2 {
                    let value = effect + 0.05 * a as f64 + 0.01 * normal(&mut random);
                    data.push(observation(&[a, b], value));
                    block_of.push(block);
                }
            }
        }
        let design = Design { levels: vec![2, 2] };
        let with = CellMeans::new(&design, &data, Some(all_of(&block_of))).unwrap();
        let without = CellMeans::new(&design, &data, None).unwrap();
        for (found, means) in found.iter_mut().zip([&with, &without]) {
            *found += usize::from(means.test(&[0], 2).unwrap().p < 0.05);
        }
        false_ones += usize::from(with.test(&[1], 2).unwrap().p < 0.05);
    }
    assert!(found[0] >= 295 && found[1] < 200, "{found:?}");
    assert!(false_ones <= 24, "{false_ones} of 300");
}

/// In a family of true "no"s the rate of any false "yes" is the level, whatever the shares.
#[test]
fn a_family_has_one_rate() {
    let mut any = 0;
    let families = 4000;
    for seed in 0..families {
        let mut random = SplitMix64::new(seed);
        let question = |place: usize| Question {
            p: (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64,
            share: if place < 3 { 6.0 } else { 1.0 },
            is_all: place.is_multiple_of(2),
        };
        let questions: Vec<Question> = (0..8).map(question).collect();
        let answers = weighted_holm(&questions, 0.05);
        any += usize::from(answers.iter().any(|answer| answer.is_yes));
    }
    let rate = any as f64 / families as f64;
    assert!((0.035..=0.06).contains(&rate), "{rate}");
}

/// Both factors always change together: neither can be blamed.
#[test]
fn confounded_levels_are_not_compared() {
    let data: Vec<Observation> = [(0, 1.0), (0, 1.1), (1, 2.0), (1, 2.3)]
        .iter()
        .map(|(level, value)| observation(&[*level, *level], *value))
        .collect();
    let design = Design { levels: vec![2, 2] };
    let means = CellMeans::new(&design, &data, None).unwrap();
    assert_eq!(means.test(&[0], 1), None);
    assert!(means.difference(pair(0, 1, 0), &[]).is_none());
}

/// Unequal numbers of values: cells count equally, as in R's `emmeans(lm(y ~ a * b), ~ a)`.
#[test]
fn cells_count_equally() {
    let cells: [(&[usize], &[f64]); 6] = [
        (&[0, 0], &[12.1, 13.4, 11.8]),
        (&[0, 1], &[15.2, 14.9]),
        (&[0, 2], &[19.5, 20.1, 18.7, 19.9]),
        (&[1, 0], &[10.3, 11.1]),
        (&[1, 1], &[16.8, 17.5, 16.1]),
        (&[1, 2], &[25.4, 24.8]),
    ];
    let values = |(levels, values): &(&[usize], &[f64])| -> Vec<Observation> {
        values.iter().map(|v| observation(levels, *v)).collect()
    };
    let data: Vec<Observation> = cells.iter().flat_map(values).collect();
    let means = CellMeans::new(&Design { levels: vec![2, 3] }, &data, None).unwrap();
    let difference = means.difference(pair(0, 1, 0), &[]).unwrap();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let cell: Vec<f64> = cells.iter().map(|(_, values)| mean(values)).collect();
    let expected = (cell[3] + cell[4] + cell[5] - cell[0] - cell[1] - cell[2]) / 3.0;
    assert!((difference.value - expected).abs() < 1e-12);
}

/// D = ABC: pairs of factors equal other pairs. Which one acts is not known, but that one does.
#[test]
fn interactions_that_equal_each_other_are_tested_together() {
    let mut random = SplitMix64::new(5);
    let mut data = Vec::new();
    for cell in 0..8_usize {
        let (a, b, c) = (cell >> 2, cell >> 1 & 1, cell & 1);
        let d = (a + b + c) % 2;
        let value = if c == d { 3.0 } else { 0.0 };
        data.extend((0..4).map(|_| observation(&[a, b, c, d], value + 0.1 * normal(&mut random))));
    }
    let design = Design { levels: vec![2; 4] };
    let anova = stats::factorial(&design, &data, 2).unwrap();
    let joint: Vec<_> = anova
        .terms
        .iter()
        .filter(|term| !term.inseparable.is_empty())
        .collect();
    assert_eq!(joint.len(), 3, "{joint:?}");
    let largest = joint.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    let largest = largest.unwrap();
    assert_eq!(largest.factors, [0, 1]);
    assert_eq!(largest.inseparable, [[2, 3]]);
    assert!(largest.share > 0.9 && largest.degrees_of_freedom == 1);
    assert!(anova.overlap.abs() < 1e-9, "{}", anova.overlap);
    let means = CellMeans::new(&design, &data, None).unwrap();
    assert!(means.test(&[0, 1], 2).is_none());
    let together = means.test_joint(&[&[0, 1], &[2, 3]], 2).unwrap();
    assert!(together.p < 1e-6, "{together:?}");
    let others = means.test_joint(&[&[0, 2], &[1, 3]], 2).unwrap();
    assert!(others.p > 0.001, "{others:?}");
}

/// Few cells are repeated: what the others borrow is one spread, not one for each of them.
#[test]
fn a_borrowed_spread_is_known_once() {
    let (design, data) = factorial(&[2, 2, 2], 1, |levels| levels[0] as f64);
    let repeat = |cells: usize, times: usize| {
        let mut random = SplitMix64::new(3);
        let mut data = data.clone();
        for cell in 0..cells {
            let levels = data[cell].levels.clone();
            data.extend((0..times).map(|_| observation(&levels, normal(&mut random))));
        }
        CellMeans::new(&design, &data, None)
    };
    assert_eq!(repeat(2, 1).unwrap_err(), stats::StatsError::FewRepetitions);
    let means = repeat(1, 5).unwrap();
    let contrast = means.difference(pair(0, 1, 0), &[]).unwrap();
    assert!(
        (contrast.degrees_of_freedom - 5.0).abs() < 1e-9,
        "{contrast:?}"
    );
    let test = means.test(&[0], 2).unwrap();
    assert!((test.denominator - 5.0).abs() < 1e-9, "{test:?}");
}

/// One cell in four is repeated, and nothing differs: at 5 % that is said of 5 % of studies.
#[test]
fn an_interrupted_study_states_no_more_differences() {
    let mut random = SplitMix64::new(11);
    let studies = 400;
    let mut found = 0;
    for _ in 0..studies {
        let (design, mut data) = factorial(&[2, 2, 2], 1, |_| normal(&mut random));
        for cell in 0..2 {
            let levels = data[cell].levels.clone();
            data.extend((0..2).map(|_| observation(&levels, normal(&mut random))));
        }
        let means = CellMeans::new(&design, &data, None).unwrap();
        found += usize::from(means.test(&[0], 2).unwrap().p < 0.05);
    }
    assert!(found <= 30, "{found} of {studies}");
}

/// Missing runs: least squares with additive blocks, here worked out block by block.
#[test]
fn blocks_that_miss_cells_adjust_means() {
    let values = [
        (0, 0, 10.1),
        (1, 0, 12.0),
        (0, 0, 9.9),
        (1, 1, 15.2),
        (0, 1, 13.1),
        (0, 2, 7.9),
        (0, 2, 8.2),
        (1, 2, 10.3),
        (1, 1, 14.9),
        (0, 3, 20.0),
    ];
    let data: Vec<Observation> = values
        .iter()
        .map(|(c, _, v)| observation(&[*c], *v))
        .collect();
    let of: Vec<usize> = values.iter().map(|(_, block, _)| *block).collect();
    let design = Design { levels: vec![2] };
    let is_declared = true;
    let blocks = Blocks {
        of: &of,
        is_declared,
    };
    let means = CellMeans::new(&design, &data, Some(blocks)).unwrap();
    let found = means.difference(pair(0, 1, 0), &[]).unwrap();
    let (value, error) = by_pairs(&values);
    assert!((found.value - value).abs() < 1e-9, "{found:?} {value}");
    assert!(
        (found.standard_error - error).abs() < 1e-9,
        "{found:?} {error}"
    );
    assert_eq!(found.degrees_of_freedom.round(), 5.0);
    let test = means.test(&[0], 1).unwrap();
    assert!((test.p - found.p()).abs() < 1e-9, "{test:?} {found:?}");
    assert!(means.is_adjusted() && !means.is_parted());
}

/// Two levels: each block gives a difference; they are weighed by what they know, n₁ n₂ / (n₁ + n₂).
fn by_pairs(values: &[(usize, usize, f64)]) -> (f64, f64) {
    let of = |cell: usize, block: usize| -> Vec<f64> {
        let all = values.iter().filter(|(c, b, _)| (*c, *b) == (cell, block));
        all.map(|(_, _, value)| *value).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mut weighed, mut weights) = (0.0, 0.0);
    for block in 0..3 {
        let (low, high) = (of(0, block), of(1, block));
        let (a, b) = (low.len() as f64, high.len() as f64);
        weighed += a * b / (a + b) * (mean(&high) - mean(&low));
        weights += a * b / (a + b);
    }
    let value = weighed / weights;
    let mut squares = 0.0;
    for block in 0..3 {
        let low = of(0, block).into_iter();
        let lifted: Vec<f64> = low.map(|v| v + value).chain(of(1, block)).collect();
        squares += lifted
            .iter()
            .map(|v| (v - mean(&lifted)).powi(2))
            .sum::<f64>();
    }
    (value, (squares / 5.0 / weights).sqrt())
}

/// `a` on Monday, `b` on Tuesday, `c` on both: a and b are compared over c; without it they are not.
#[test]
fn what_shares_no_block_is_not_compared() {
    let mut random = SplitMix64::new(9);
    let mut study = |rows: &[(usize, usize)]| {
        let of: Vec<usize> = rows.iter().flat_map(|(_, day)| [*day; 4]).collect();
        let values = rows.iter().flat_map(|(cell, day)| [(*cell, *day); 4]);
        let data: Vec<Observation> = values
            .map(|(cell, day)| observation(&[cell], 5.0 * day as f64 + 0.1 * normal(&mut random)))
            .collect();
        let is_declared = true;
        let blocks = Blocks {
            of: &of,
            is_declared,
        };
        let design = Design { levels: vec![3] };
        CellMeans::new(&design, &data, Some(blocks)).unwrap()
    };
    let apart = study(&[(0, 0), (1, 1)]);
    assert!(apart.is_parted());
    assert_eq!(apart.difference(pair(0, 1, 0), &[]), None);
    assert_eq!(apart.test(&[0], 1), None);
    let linked = study(&[(0, 0), (2, 0), (1, 1), (2, 1)]);
    let found = linked.difference(pair(0, 1, 0), &[]).unwrap();
    assert!(found.value.abs() < 0.5 && found.p() > 0.001, "{found:?}");
    assert!(linked.test(&[0], 1).unwrap().p > 0.001);
}
