use super::*;
use crate::progress::Scope;
use seeded::SplitMix64;

fn at(unit: Unit, done: f64, total: f64) -> Position {
    Position {
        scope: Scope::Run,
        unit,
        done,
        total: Some(total),
        more: 0.0,
        ahead: 0.0,
    }
}

fn unit(random: &mut SplitMix64) -> f64 {
    random.next_u64() as f64 / u64::MAX as f64
}

/// A training of `epochs` × `steps`, as a bar shows it: start, slow first steps, ends of epochs.
struct Training {
    epochs: usize,
    steps: usize,
    step: f64,
    end: f64,
    noise: f64,
}

impl Training {
    /// Every count with its time, and when all is over.
    fn counts(&self, seed: u64) -> (Vec<(f64, Position)>, f64) {
        let mut random = SplitMix64::new(seed);
        let mut now = 7.0;
        let mut counts = Vec::new();
        for epoch in 0..self.epochs {
            for step in 0..=self.steps {
                let done = epoch as f64 + step as f64 / self.steps as f64;
                counts.push((now, at(Unit::Epochs, done, self.epochs as f64)));
                let compiled = if epoch == 0 && step < 3 { 20.0 } else { 1.0 };
                let noise = 1.0 + self.noise * (unit(&mut random) - 0.5);
                now += self.step * compiled * noise;
            }
            now += self.end * (1.0 + self.noise * (unit(&mut random) - 0.5)) - self.step;
        }
        (counts, now)
    }
}

/// What is predicted once a share of the counts has come, and what it was.
fn predicted(training: &Training, share: f64, seed: u64) -> (Rest, f64) {
    let (counts, end) = training.counts(seed);
    let mut pace = Pace::default();
    let seen = (counts.len() as f64 * share) as usize;
    for (seconds, position) in counts.iter().take(seen) {
        pace.push(*seconds, position);
    }
    let rest = pace.rest().unwrap();
    let left = end - rest.at_seconds;
    (rest, left)
}

#[test]
fn warm_up_and_ends_of_epochs_are_kept_apart() {
    let training = Training {
        epochs: 20,
        steps: 50,
        step: 0.1,
        end: 2.0,
        noise: 0.0,
    };
    for share in [0.06, 0.1, 0.33, 0.5, 0.93] {
        let (rest, left) = predicted(&training, share, 1);
        assert_eq!(rest.basis, Basis::Epochs);
        let off = rest.seconds.value / left - 1.0;
        assert!(
            off.abs() < 0.01,
            "{share}: {} instead of {left}",
            rest.seconds.value
        );
    }
    // Inside the first epoch its end is not known, and that is said.
    let (rest, left) = predicted(&training, 0.03, 1);
    assert_eq!(rest.basis, Basis::StepsOfEpochs);
    assert!(rest.seconds.value < left && !rest.is_known_to(0.9, 0.0));
    let (rest, _) = predicted(&training, 0.1, 1);
    assert!(rest.is_known_to(0.2, 10.0) && !rest.is_known_to(0.2, 20.0));
}

#[test]
fn intervals_cover() {
    let training = Training {
        epochs: 12,
        steps: 60,
        step: 0.2,
        end: 1.5,
        noise: 0.3,
    };
    let covered = (0..200).filter(|seed| {
        let (rest, left) = predicted(&training, 0.2, *seed);
        rest.seconds.interval.unwrap().contains(left)
    });
    let covered = covered.count();
    assert!(covered >= 186, "{covered} of 200");
}

#[test]
fn epochs_alone_and_steps_alone() {
    let mut pace = Pace::default();
    for (epoch, seconds) in [30.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
        .iter()
        .enumerate()
    {
        pace.push(*seconds, &at(Unit::Epochs, epoch as f64, 10.0));
        // Printed again, as by a bar of the validation.
        pace.push(*seconds + 1.0, &at(Unit::Epochs, epoch as f64, 10.0));
    }
    let rest = pace.rest().unwrap();
    assert_eq!(
        (rest.seconds.value.round(), rest.basis),
        (40.0, Basis::Epochs)
    );
    let mut pace = Pace::default();
    for step in 0..=100 {
        pace.push(
            f64::from(step) * 0.5,
            &at(Unit::Steps, f64::from(step), 1000.0),
        );
    }
    let rest = pace.rest().unwrap();
    assert_eq!(
        (rest.seconds.value.round(), rest.basis),
        (450.0, Basis::Steps)
    );
    assert!(rest.seconds.interval.unwrap().contains(450.0));
}

#[test]
fn too_little_gives_no_interval_or_nothing() {
    let mut pace = Pace::default();
    assert_eq!(pace.rest(), None);
    pace.push(1.0, &at(Unit::Steps, 0.0, 100.0));
    pace.push(5.0, &at(Unit::Steps, 1.0, 100.0));
    assert_eq!(pace.rest(), None);
    pace.push(6.0, &at(Unit::Steps, 2.0, 100.0));
    let rest = pace.rest().unwrap();
    assert_eq!((rest.seconds.value, rest.seconds.interval), (98.0, None));
    // Another counter is a new beginning.
    pace.push(7.0, &at(Unit::Steps, 2.0, 50.0));
    assert_eq!(pace.rest(), None);
}

#[test]
fn what_the_output_leaves_open_widens_the_interval() {
    let mut pace = Pace::default();
    for epoch in 0..8 {
        let position = at(Unit::Epochs, f64::from(epoch), 10.0);
        let position = Position {
            more: 1.0,
            ahead: 1.0,
            ..position
        };
        pace.push(f64::from(epoch) * 10.0, &position);
    }
    let interval = pace.rest().unwrap().seconds.interval.unwrap();
    assert!(
        interval.low <= 20.0 && interval.high >= 40.0,
        "{interval:?}"
    );
}

/// Lines that are printed after steps, with nothing at the beginning of an epoch.
#[test]
fn ends_of_epochs_are_seen_without_a_sign_of_the_next_beginning() {
    let mut pace = Pace::default();
    let mut now = 5.0;
    for epoch in 0..3 {
        for step in 1..=10 {
            now += 0.1;
            pace.push(
                now,
                &at(
                    Unit::Epochs,
                    f64::from(epoch) + f64::from(step) / 10.0,
                    30.0,
                ),
            );
        }
        now += 2.0;
    }
    let rest = pace.rest().unwrap();
    assert_eq!(rest.basis, Basis::Epochs);
    // 27 epochs of a second, their ends, and the end in progress.
    let left = 27.0 + 28.0 * 2.0;
    assert!(
        (rest.seconds.value / left - 1.0).abs() < 0.02,
        "{}",
        rest.seconds.value
    );
}

#[test]
fn any_number_of_pairs_is_borne() {
    for (unit, inside) in [(Unit::Steps, 1), (Unit::Epochs, 1), (Unit::Epochs, 2)] {
        let mut pace = Pace::default();
        for count in 0..100_000 {
            let done = f64::from(count) / f64::from(inside);
            pace.push(f64::from(count), &at(unit, done, 200_000.0));
        }
        assert!(pace.pairs.len() <= MOST_PAIRS);
        let left = 200_000.0 * f64::from(inside) - 100_000.0;
        let value = pace.rest().unwrap().seconds.value;
        assert!(
            (value / left - 1.0).abs() < 0.01,
            "{unit:?}: {value} instead of {left}"
        );
    }
}

#[test]
fn many_pairs_are_thinned() {
    let training = Training {
        epochs: 10,
        steps: 20_000,
        step: 0.01,
        end: 30.0,
        noise: 0.1,
    };
    let (counts, end) = training.counts(3);
    let mut pace = Pace::default();
    for (seconds, position) in counts.iter().take(100_000) {
        pace.push(*seconds, position);
    }
    assert!(pace.pairs.len() <= MOST_PAIRS + 1, "{}", pace.pairs.len());
    let rest = pace.rest().unwrap();
    let off = rest.seconds.value / (end - rest.at_seconds) - 1.0;
    assert!(off.abs() < 0.01, "{off}");
}

#[test]
fn time_goes_on_after_the_last_count() {
    let rest = |low, high| Rest {
        seconds: Estimate {
            interval: Some(Interval { low, high }),
            ..Estimate::bare(100.0, 0.95, 10, "test")
        },
        at_seconds: 50.0,
        longest_wait_seconds: 105.0,
        seen_seconds: 40.0,
        basis: Basis::Steps,
    };
    let times = rest(90.0, 110.0).at(60.0);
    assert_eq!(
        (times.left_seconds.value, times.total_seconds.value),
        (90.0, 150.0)
    );
    let late = rest(90.0, 110.0).at(155.0);
    assert_eq!(
        (late.left_seconds.value, late.total_seconds.value),
        (0.0, 155.0)
    );
    let interval = late.total_seconds.interval.unwrap();
    assert_eq!((interval.low, interval.high), (155.0, 160.0));
    // Two minutes more than ever before: that is a delay.
    let stalled = Rest {
        longest_wait_seconds: 10.0,
        ..rest(90.0, 110.0)
    }
    .at(180.0);
    assert_eq!(
        (stalled.left_seconds.value, stalled.total_seconds.value),
        (90.0, 270.0)
    );
    let known = |rest: Rest| rest.is_known_to(0.05, 40.0);
    assert!(known(rest(95.0, 105.0)) && !known(rest(80.0, 120.0)));
    assert!(!rest(95.0, 105.0).is_known_to(0.05, 40.1));
}

/// As if nothing ever varied: a short beginning still shows little of the rest.
#[test]
fn a_short_beginning_has_a_wide_interval() {
    let margin = |seen: u32| {
        let mut pace = Pace::default();
        for step in 0..=seen {
            pace.push(
                f64::from(step) * 0.1,
                &at(Unit::Steps, f64::from(step), 36_000.0),
            );
        }
        pace.rest().unwrap().seconds.relative_margin().unwrap()
    };
    assert!(margin(100) > 0.09, "{}", margin(100));
    assert!(margin(100) > margin(1000) && margin(1000) > margin(10_000));
    assert!(margin(10_000) < 0.05, "{}", margin(10_000));
}
