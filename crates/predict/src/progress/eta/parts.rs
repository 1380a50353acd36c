//! Counts taken apart: training, and the ends of epochs.

use super::Pair;
use crate::progress::Unit;

/// Pairs taken apart: the training, with the time at ends of epochs taken out, and these times.
pub(super) struct Parts {
    pub(super) training: Vec<Pair>,
    pub(super) ends: Vec<f64>,
    /// Seconds since the last epoch was counted out, where none goes on yet.
    pub(super) end_in_progress: Option<f64>,
    /// Nothing is counted inside epochs: their ends are part of them.
    pub(super) has_only_ends: bool,
}

impl Parts {
    pub(super) fn of(pairs: &[Pair], unit: Unit) -> Self {
        let mut parts = Parts {
            training: Vec::with_capacity(pairs.len()),
            ends: Vec::new(),
            end_in_progress: None,
            has_only_ends: unit == Unit::Epochs
                && pairs.iter().all(|pair| pair.done.fract() == 0.0),
        };
        if unit == Unit::Steps || parts.has_only_ends {
            parts.training.extend_from_slice(pairs);
            parts.training.dedup_by(|later, first| {
                let is_same = later.done == first.done;
                is_same && unit == Unit::Epochs
            });
            return parts;
        }
        if let Some(last) = pairs
            .last()
            .filter(|last| last.done > 0.0 && last.done.fract() == 0.0)
        {
            let begun = pairs
                .iter()
                .rev()
                .take_while(|pair| pair.done == last.done)
                .last();
            parts.end_in_progress = begun.map(|begun| last.seconds - begun.seconds);
        }
        let per_unit = rate_inside(pairs);
        let (mut taken_out, mut was_end) = (0.0, true);
        for (at, pair) in pairs.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| pairs.get(at));
            // The next epoch's first count came without a sign of its beginning.
            if let Some(before) = before
                && is_crossing(before, pair)
                && !was_end
            {
                let step = per_unit * (pair.done - before.done);
                let seconds = (pair.seconds - before.seconds - step).max(0.0);
                taken_out += seconds;
                parts.ends.push(seconds);
            }
            was_end = before.is_none_or(|before| before.done == pair.done);
            if let Some(before) = before
                && before.done == pair.done
                && pair.done.fract() == 0.0
            {
                let seconds = pair.seconds - before.seconds;
                taken_out += seconds;
                // Before the first step there is a start, not an end; the last one may go on.
                if at > 1 && at + 1 < pairs.len() {
                    parts.ends.push(seconds);
                }
                continue;
            }
            parts.training.push(Pair {
                seconds: pair.seconds - taken_out,
                done: pair.done,
            });
        }
        parts
    }
}

/// From one epoch into the next one.
fn is_crossing(before: &Pair, pair: &Pair) -> bool {
    let units = pair.done - before.done;
    units > 0.0 && units < 1.0 && pair.done.ceil() - 1.0 >= before.done
}

/// Seconds of a unit inside epochs, without their ends.
fn rate_inside(pairs: &[Pair]) -> f64 {
    let (mut seconds, mut units) = (0.0, 0.0);
    for two in pairs.windows(2) {
        if two[0].done < two[1].done && !is_crossing(&two[0], &two[1]) {
            seconds += two[1].seconds - two[0].seconds;
            units += two[1].done - two[0].done;
        }
    }
    if units > 0.0 { seconds / units } else { 0.0 }
}
