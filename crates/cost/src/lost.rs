//! Expected cost of interruptions of a spot machine.

use model::money::Interruptions;
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

const SECONDS_PER_HOUR: f64 = 3600.0;
/// Beyond it a run hardly ever ends; the number only has to be huge.
const MOST: f64 = 1e9;

/// Over all attempts until a run is whole.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Expected {
    pub(crate) interruptions: Decimal,
    /// On top of the work itself.
    pub(crate) paid_seconds: f64,
    /// There would be more of them than can be computed with.
    pub(crate) is_capped: bool,
}

/// Interruptions come at random, as often in every hour (a Poisson process). A piece of work that
/// takes `w` and begins anew after each is interrupted e^(λw) − 1 times until it is done, and
/// spends (e^(λw) − 1)/λ in all (Daly, Future Generation Computer Systems 22, 2006, with nothing
/// spent on writing states). Where a machine taken away soon is not paid, only attempts that
/// lasted longer count; states that can be gone on from make machines live longer than a piece, so
/// there everything counts.
pub(crate) fn expected(work_seconds: Decimal, terms: &Interruptions) -> Expected {
    let work = work_seconds.to_f64().unwrap_or(0.0);
    let per_second = terms.per_hour.to_f64().unwrap_or(0.0) / SECONDS_PER_HOUR;
    let restart = f64::from(terms.restart_seconds);
    if per_second <= 0.0 || work <= 0.0 {
        return Expected::default();
    }
    let checkpoint = terms.checkpoint_seconds.filter(|seconds| *seconds > 0);
    let piece = checkpoint.map_or(work, |seconds| f64::from(seconds).min(work));
    let unpaid = match checkpoint {
        Some(_) => 0.0,
        None => f64::from(terms.unpaid_seconds),
    };
    let pieces = work / piece;
    let interruptions = pieces * (per_second * piece).exp_m1();
    let lost = pieces * lost_time(per_second, piece, unpaid);
    let is_within = interruptions <= MOST && lost <= MOST * SECONDS_PER_HOUR;
    let interruptions = interruptions.min(MOST);
    let lost = lost.min(MOST * SECONDS_PER_HOUR);
    Expected {
        is_capped: !is_within,
        interruptions: Decimal::from_f64(interruptions).unwrap_or_default(),
        paid_seconds: lost + interruptions * restart,
    }
}

/// Paid time of the attempts before the one that gets through.
fn lost_time(per_second: f64, piece: f64, unpaid: f64) -> f64 {
    if piece <= unpaid {
        return 0.0;
    }
    let still_there = |seconds: f64| (seconds + 1.0 / per_second) * (-per_second * seconds).exp();
    let of_one = still_there(unpaid) - still_there(piece);
    (of_one * (per_second * piece).exp()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(per_hour: &str, checkpoint: Option<u32>, unpaid: u32) -> Interruptions {
        Interruptions {
            per_hour: per_hour.parse().unwrap_or_default(),
            restart_seconds: 0,
            checkpoint_seconds: checkpoint,
            unpaid_seconds: unpaid,
        }
    }

    /// Attempts drawn one by one, against the formula.
    #[test]
    fn the_formula_is_what_drawing_attempts_gives() {
        let check = |per_hour: &str, hours: f64, unpaid: u32| {
            let work = hours * 3600.0;
            let rate = per_hour.parse::<f64>().unwrap_or(f64::NAN) / 3600.0;
            let mut random = seeded::SplitMix64::new(7);
            let mut draw = || ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            let (mut lost, mut cuts) = (0.0, 0_u64);
            let rounds = 200_000;
            for _ in 0..rounds {
                loop {
                    let until = -draw().ln() / rate;
                    if until >= work {
                        break;
                    }
                    cuts += 1;
                    if until > f64::from(unpaid) {
                        lost += until;
                    }
                }
            }
            let asked = Decimal::from_f64(work).unwrap_or_default();
            let expected = expected(asked, &terms(per_hour, None, unpaid));
            let drawn = lost / f64::from(rounds);
            let near = (expected.paid_seconds - drawn).abs() < 0.03 * drawn.max(1.0);
            assert!(
                near,
                "{per_hour} {hours} {unpaid}: {expected:?}, drawn {drawn}"
            );
            let times = cuts as f64 / f64::from(rounds);
            let told = expected.interruptions.to_f64().unwrap_or(f64::NAN);
            assert!(
                (told - times).abs() < 0.02 * times.max(0.1),
                "{told} {times}"
            );
        };
        check("0.1", 1.0, 0);
        check("0.5", 3.0, 0);
        check("0.5", 3.0, 3600);
        check("2", 0.5, 3600);
    }

    #[test]
    fn states_to_go_on_from_lose_less_and_nothing_lost_costs_nothing() {
        let hours = Decimal::from(36_000);
        let seconds = |terms: &Interruptions| expected(hours, terms).paid_seconds;
        let all = seconds(&terms("0.2", None, 0));
        let some = seconds(&terms("0.2", Some(600), 0));
        assert!(some < all / 10.0 && some > 0.0, "{some} of {all}");
        assert_eq!(seconds(&terms("0", None, 0)), 0.0);
        // A run of a year on machines that live a minute.
        let never = expected(Decimal::from(31_536_000), &terms("60", None, 0));
        assert!(never.paid_seconds.is_finite());
    }
}
