//! What factors do to the time, in designs and data that invite a wrong sentence.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use analyse::{Analysis, Variation, VariationTerm, Verdict, analyse};
use common::times::world;
use common::{Recipe, World};
use model::Money;
use model::run::metric;
use rust_decimal::Decimal;
use seeded::SplitMix64;

fn found(world: &World) -> Analysis {
    analyse(&world.input())
}

fn time(found: &Analysis) -> &Variation {
    found.variation(metric::TRAIN_SECONDS).unwrap()
}

fn term<'a>(found: &'a Analysis, name: &str) -> &'a VariationTerm {
    let mut terms = time(found).terms.iter();
    terms.find(|t| t.name() == name).unwrap()
}

fn said(found: &Analysis) -> String {
    let findings = found.findings.iter().map(|f| f.text.clone());
    let all: Vec<String> = findings.chain(found.advice.iter().cloned()).collect();
    all.join("\n")
}

/// Normal noise that is the same in every test.
struct Noise(SplitMix64);

impl Noise {
    fn new(seed: u64) -> Self {
        Noise(SplitMix64::new(seed))
    }

    fn next(&mut self) -> f64 {
        let mut uniform = || (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let (length, angle) = (1.0 - uniform(), uniform());
        (-2.0 * length.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// So many values around a centre.
    fn around(&mut self, centre: f64, spread: f64, count: usize) -> Vec<f64> {
        (0..count).map(|_| centre + spread * self.next()).collect()
    }

    /// So many values, apart by a share of the centre.
    fn times(&mut self, centre: f64, share: f64, count: usize) -> Vec<f64> {
        let one = |noise: &mut Self| centre * (share * noise.next()).exp();
        (0..count).map(|_| one(self)).collect()
    }
}

fn of(factors: &[(&str, &[&str])], times: &[Vec<f64>]) -> Analysis {
    found(&world_of(factors, times))
}

fn world_of(factors: &[(&str, &[&str])], times: &[Vec<f64>]) -> World {
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    world(factors, &times)
}

/// 2^(4−1) of resolution IV: every pair of factors equals the other pair.
#[test]
fn an_aliased_interaction_is_found_and_hides_nothing() {
    let mut noise = Noise::new(1);
    let times: Vec<Vec<f64>> = (0..16_usize)
        .map(|cell| {
            let [a, b, c, d] = [cell >> 3 & 1, cell >> 2 & 1, cell >> 1 & 1, cell & 1];
            let mean = if c == d { 13.0 } else { 10.0 };
            match (a + b + c) % 2 == d {
                true => noise.around(mean, 0.02, 4),
                false => Vec::new(),
            }
        })
        .collect();
    let factors: [(&str, &[&str]); 4] = [
        ("batch", &["16", "64"]),
        ("optimizer", &["sgd", "adam"]),
        ("threads", &["1", "2"]),
        ("image", &["16", "32"]),
    ];
    let found = of(&factors, &times);
    let pair = term(&found, "batch × optimizer or threads × image");
    assert_eq!(pair.verdict, Verdict::Different);
    assert!(pair.share > 0.9, "{pair:?}");
    let text = said(&found);
    assert!(!text.contains("practically no effect"), "{text}");
    assert!(
        text.contains("batch × optimizer or threads × image"),
        "{text}"
    );
    // Nobody knows which of the four acts: none is the one to look at.
    assert!(!text.contains("look at"), "{text}");
}

/// What one factor did at the first level of the others is not what it does elsewhere.
#[test]
fn one_at_a_time_says_what_it_supposes() {
    let mut noise = Noise::new(2);
    let factors: [(&str, &[&str]); 3] = [
        ("batch", &["a0", "a1"]),
        ("stack", &["b0", "b1"]),
        ("precision", &["c0", "c1"]),
    ];
    let times = |of: &mut dyn FnMut(usize) -> f64, noise: &mut Noise| -> Vec<Vec<f64>> {
        (0..8)
            .map(|cell: usize| match cell.count_ones() {
                0 | 1 => noise.around(of(cell), 0.02, 4),
                _ => Vec::new(),
            })
            .collect()
    };
    let mut mean = |cell: usize| 10.0 + if cell == 4 { 2.0 } else { 0.0 };
    let found = of(&factors, &times(&mut mean, &mut noise));
    assert_eq!(term(&found, "batch").verdict, Verdict::Different);
    let text = said(&found);
    assert!(!text.contains("practically no effect"), "{text}");
    let supposed = time(&found).assumptions.join("\n");
    for part in ["assumed to be zero", "one combination"] {
        assert!(supposed.contains(part), "{supposed}");
    }
    assert!(!supposed.contains("weighted equally"), "{supposed}");
}

/// Three of four combinations: whether the factors interact is not known.
#[test]
fn a_missing_corner_is_not_weighed() {
    let mut noise = Noise::new(3);
    let times = vec![
        noise.times(10.0, 0.01, 5),
        noise.times(20.0, 0.01, 5),
        noise.times(12.0, 0.01, 5),
        Vec::new(),
    ];
    let factors: [(&str, &[&str]); 2] = [("batch", &["a0", "a1"]), ("stack", &["b0", "b1"])];
    let found = of(&factors, &times);
    assert_eq!(term(&found, "batch").verdict, Verdict::Different);
    let supposed = time(&found).assumptions.join("\n");
    assert!(supposed.contains("assumed to be zero"), "{supposed}");
    assert!(!supposed.contains("weighted equally"), "{supposed}");
}

/// The first repetition is complete, of the second there are two runs.
#[test]
fn an_interrupted_study_knows_its_noise_from_what_was_repeated() {
    let factors: [(&str, &[&str]); 3] = [
        ("batch", &["16", "32", "64"]),
        ("optimizer", &["sgd", "adam"]),
        ("threads", &["1", "2"]),
    ];
    let interrupted = |seed: u64, second: usize| {
        let mut noise = Noise::new(seed);
        let count = |cell: usize| if cell < second { 2 } else { 1 };
        let times: Vec<Vec<f64>> = (0..12)
            .map(|cell| noise.times(10.0, 0.05, count(cell)))
            .collect();
        of(&factors, &times)
    };
    let few = interrupted(1, 2);
    let problem = time(&few).problem.clone().unwrap();
    assert!(problem.contains("2 of 12"), "{problem}");
    let wrong = |seed: &u64| {
        let found = interrupted(*seed, 5);
        let mut terms = time(&found).terms.iter();
        terms.any(|term| term.verdict == Verdict::Different)
    };
    let wrong = (0..40).filter(wrong).count();
    assert!(wrong <= 5, "{wrong} of 40");
}

/// Where few scenarios are repeated, what factors do together is no difference between repetitions.
#[test]
fn what_repetitions_differ_by_is_seen_in_repetitions() {
    let mut noise = Noise::new(4);
    let times: Vec<Vec<f64>> = (0..16_u32)
        .map(|cell| {
            let mean = if cell.count_ones() % 2 == 0 {
                10.0
            } else {
                14.0
            };
            noise.around(mean, 0.02, if cell < 6 { 2 } else { 1 })
        })
        .collect();
    let factors: [(&str, &[&str]); 4] = [
        ("a", &["0", "1"]),
        ("b", &["0", "1"]),
        ("c", &["0", "1"]),
        ("d", &["0", "1"]),
    ];
    let found = of(&factors, &times);
    let variation = time(&found);
    let typical = variation.noise.as_ref().unwrap().typical;
    assert!(typical < 0.1, "{typical}");
}

const NETWORKS: [&str; 5] = ["n0", "n1", "n2", "n3", "n4"];

/// Longer with one network, nothing with four: the levels that happen to be furthest apart are not opposite.
#[test]
fn opposite_needs_evidence_in_both_directions() {
    let factors: [(&str, &[&str]); 2] = [("network", &NETWORKS), ("batch", &["a", "b"])];
    let mut interactions = 0;
    for seed in 0..15 {
        let mut noise = Noise::new(seed);
        let times: Vec<Vec<f64>> = (0..10)
            .map(|cell| noise.times(if cell == 1 { 12.0 } else { 10.0 }, 0.03, 5))
            .collect();
        let found = of(&factors, &times);
        let together = term(&found, "network × batch");
        let main = term(&found, "batch");
        assert_eq!(main.reversed_by, None, "{main:?}");
        if together.verdict == Verdict::Different {
            interactions += 1;
            let text = said(&found);
            assert!(text.contains("with n0, b takes"), "{text}");
            assert!(!text.contains("opposite"), "{text}");
        }
    }
    assert!(interactions > 5);
}

/// With one network longer, with the other shorter, on average nothing: the interaction is what there is to say.
#[test]
fn what_is_reversed_is_said_once_and_of_the_factor_that_acts() {
    let mut noise = Noise::new(6);
    let means = [10.0, 13.0, 33.0, 30.0];
    let times: Vec<Vec<f64>> = means.map(|mean| noise.around(mean, 0.2, 5)).to_vec();
    let factors: [(&str, &[&str]); 2] = [("network", &["n1", "n2"]), ("batch", &["a", "b"])];
    let found = of(&factors, &times);
    let main = term(&found, "batch");
    assert_eq!(main.reversed_by.as_deref(), Some("network"), "{main:?}");
    assert!(!main.verdict.is_different());
    let sentence = main.sentence.as_ref().unwrap();
    for part in ["with n1, b takes", "with n2, b takes"] {
        assert!(sentence.contains(part), "{sentence}");
    }
    let text = said(&found);
    assert!(text.contains("with n1, b takes"), "{text}");
}

/// A fifth of the runs is much shorter with one level and much longer with the other: without them the order turns.
#[test]
fn trimmed_means_do_not_contradict_means() {
    let mut noise = Noise::new(7);
    let mut level = |usual: f64, rare: f64| -> Vec<f64> {
        (0..40)
            .map(|n| if n % 5 == 0 { rare } else { usual } + 0.02 * noise.next())
            .collect()
    };
    let times = vec![level(1.0, 2.0), level(1.1, 0.1)];
    let found = of(&[("batch", &["a", "b"])], &times);
    let effect = &time(&found).effects[0];
    assert!(effect.estimate.value < 0.0, "{effect:?}");
    assert!(!time(&found).residuals.contains("trimmed means (Yuen)"));
    assert!(!said(&found).contains("b takes 8"), "{}", said(&found));
}

/// Two percent of a large task is a quarter of a small one.
#[test]
fn equal_on_average_is_not_equal_for_the_small_task() {
    let mut noise = Noise::new(8);
    let means = [1.5, 1.7, 100.0, 100.0];
    let times: Vec<Vec<f64>> = means.map(|mean| noise.around(mean, 0.3, 8)).to_vec();
    let factors: [(&str, &[&str]); 2] = [("network", &["small", "large"]), ("batch", &["a", "b"])];
    let found = of(&factors, &times);
    assert_ne!(term(&found, "batch").verdict, Verdict::PracticallyEqual);
    assert!(!said(&found).contains("no effect"), "{}", said(&found));
}

/// One of eight tasks takes longer, the others a little less: nothing on average, and no free choice.
#[test]
fn a_choice_is_free_if_it_is_for_every_task() {
    let networks: Vec<String> = (0..8).map(|n| format!("n{n}")).collect();
    let networks: Vec<&str> = networks.iter().map(String::as_str).collect();
    let study = |with: &[f64], spread: f64| {
        let mut noise = Noise::new(9);
        let times: Vec<Vec<f64>> = (0..16)
            .map(|cell| {
                let mean = if cell % 2 == 1 { with[cell / 2] } else { 10.0 };
                noise.times(mean, spread, 6)
            })
            .collect();
        of(&[("network", &networks), ("batch", &["a", "b"])], &times)
    };
    let mut with = [9.96; 8];
    with[0] = 10.3;
    let differs = study(&with, 0.02);
    assert_eq!(
        term(&differs, "batch").verdict,
        Verdict::PracticallyEqual,
        "on average"
    );
    let differs = said(&differs);
    assert!(!differs.contains("no effect"), "{differs}");
    let equal = said(&study(&[10.0; 8], 0.004));
    assert!(equal.contains("practically no effect"), "{equal}");
}

/// What decides the small network does nothing for the large one.
#[test]
fn what_to_look_at_first_is_said_per_task() {
    let mut noise = Noise::new(10);
    let means = [1.0, 3.0, 1.0, 3.0, 100.0, 100.0, 130.0, 130.0];
    let times: Vec<Vec<f64>> = means.map(|mean| noise.around(mean, 0.05, 4)).to_vec();
    let factors: [(&str, &[&str]); 3] = [
        ("network", &["small", "large"]),
        ("batch", &["a", "b"]),
        ("stack", &["x", "y"]),
    ];
    let text = said(&of(&factors, &times));
    let advice: Vec<&str> = text.lines().filter(|l| l.contains("first")).collect();
    assert_eq!(advice.len(), 1, "{text}");
    for part in ["stack for small", "batch for large"] {
        assert!(advice[0].contains(part), "{advice:?}");
    }
}

/// Most of nothing is noise; that is no reason for a quieter machine.
#[test]
fn little_noise_is_not_called_noisy() {
    let advice = |share: f64| {
        let mut noise = Noise::new(11);
        let times: Vec<Vec<f64>> = (0..2).map(|_| noise.times(10.0, share, 8)).collect();
        said(&of(&[("batch", &["a", "b"])], &times))
    };
    let quiet = advice(0.002);
    assert!(!quiet.contains("quieter"), "{quiet}");
    let noisy = advice(0.2);
    assert!(noisy.contains("quieter"), "{noisy}");
}

/// `a` ran on Monday, `b` on Tuesday.
#[test]
fn a_choice_that_is_a_day_is_not_a_choice() {
    let mut noise = Noise::new(12);
    let times = vec![
        noise.times(10.0, 0.01, 5),
        Vec::new(),
        Vec::new(),
        noise.times(13.0, 0.01, 5),
    ];
    let found = of(&[("day", &["mon", "tue"]), ("batch", &["a", "b"])], &times);
    let batch = term(&found, "batch");
    assert_eq!(batch.verdict, Verdict::NotEstimable);
    assert!(
        batch.sentence.as_ref().unwrap().contains("day"),
        "{batch:?}"
    );
    assert_eq!(batch.share(), None);
    assert!(time(&found).effects.is_empty());
    let text = said(&found);
    for wrong in ["longer than", "as long as", "Fastest: C", "takes 3"] {
        assert!(!text.contains(wrong), "{text}");
    }
}

const DAYS: [&str; 5] = ["d0", "d1", "d2", "d3", "d4"];

/// So many runs of `a` and `b` on days that differ by 20 %.
fn days(seed: u64, effect: f64, counts: impl Fn(usize, usize) -> usize) -> Analysis {
    let mut noise = Noise::new(seed);
    let mut times = Vec::new();
    for day in 0..DAYS.len() {
        let slow = (0.2 * noise.next()).exp();
        for (choice, factor) in [1.0, effect].into_iter().enumerate() {
            times.push(noise.times(10.0 * slow * factor, 0.005, counts(day, choice)));
        }
    }
    of(&[("day", &DAYS), ("batch", &["a", "b"])], &times)
}

#[test]
fn days_with_several_runs_are_blocks() {
    let several: [fn(usize, usize) -> usize; 4] = [
        |_, _| 1,
        |_, _| 2,
        // Unequal days, one of them without `b`.
        |day, choice| {
            if (day, choice) == (4, 1) {
                0
            } else {
                2 + day % 2
            }
        },
        |day, choice| 1 + (day + choice) % 3,
    ];
    for counts in several {
        let found = days(1, 1.05, counts);
        let batch = term(&found, "batch");
        assert_eq!(batch.verdict, Verdict::Different, "{batch:?}");
        let sentence = batch.sentence.as_ref().unwrap();
        let effect = &time(&found).effects[0].estimate;
        let size = match time(&found).effects[0].comparison {
            analyse::Comparison::Ratio => effect.value,
            analyse::Comparison::Difference => 1.0 + effect.value / 10.0,
        };
        assert!((size - 1.05).abs() < 0.02, "{sentence}");
        assert!(!said(&found).contains("quieter"), "{}", said(&found));
        // Days are no outliers and no heavy tails.
        assert_eq!(time(&found).outliers, []);
        assert!(!time(&found).residuals.contains("Yuen"));
        let wrong = |seed: &u64| {
            let found = days(*seed, 1.0, counts);
            term(&found, "batch").verdict == Verdict::Different
        };
        let wrong = (0..60).filter(wrong).count();
        assert!(wrong <= 7, "{wrong} of 60");
    }
}

/// With one factor nothing adds or multiplies.
#[test]
fn one_factor_has_nothing_to_multiply() {
    let mut noise = Noise::new(14);
    let times = vec![noise.times(10.0, 0.3, 10), noise.times(30.0, 0.3, 10)];
    let found = of(&[("batch", &["a", "b"])], &times);
    let reason = &time(&found).scale_reason;
    assert!(!reason.contains("multiplicative"), "{reason}");
    assert!(reason.contains("spread grows"), "{reason}");
}

/// The same number, up to the last bit, and the same amount, up to the last decimal that is kept.
#[test]
fn rounding_is_no_variation() {
    let next = f64::from_bits(10.0_f64.to_bits() + 1);
    let times = vec![vec![10.0, next, 10.0], vec![10.0, 10.0, next]];
    let factors: [(&str, &[&str]); 1] = [("batch", &["a", "b"])];
    let billed = Recipe::default().world().records[0].bill.clone();
    let mut world = world_of(&factors, &times);
    for (place, record) in world.records.iter_mut().enumerate() {
        let mut bill = billed.clone().unwrap();
        let amount = if place == 4 { 27_777_777 } else { 27_777_778 };
        bill.total = Money::new(Decimal::new(amount, 10), bill.total.currency);
        record.bill = Some(bill);
    }
    let found = found(&world);
    for name in [metric::TRAIN_SECONDS, metric::COST] {
        let variation = found.variation(name).unwrap();
        assert!(variation.terms.is_empty() && variation.noise.is_none());
        assert!(variation.problem.is_some(), "{name}");
    }
    // Large values that do differ: NIST's SmLs07 has such.
    let step = |tenths: f64| 1e12 + tenths / 10.0;
    let times = vec![
        vec![step(3.0), step(4.0), step(5.0)],
        vec![step(3.0), step(2.0), step(5.0)],
    ];
    assert!(!time(&of(&factors, &times)).terms.is_empty());
}
