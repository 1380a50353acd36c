//! What was recognised, combined into a position.

use super::recognise::{Counter, EpochNumber, Observation, Purpose};
use super::{Position, Scope, Unit};

/// What the user knows and the output does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Given {
    pub epochs: Option<u64>,
    pub steps: Option<u64>,
}

/// More counters than these are no training.
const MOST_COUNTERS: usize = 32;

/// The rules, in the order in which they are tried:
///
/// 1. Numbered epochs with a total, printed or given, are the run. The first counter of an epoch is
///    its training; what counts after it is over (validation) or before the first epoch
///    (downloads) does not count.
/// 2. A bar whose every step is one pass of a bar inside it is the run, in epochs.
/// 3. Given steps, or given epochs and a counter that starts again for each, are the run.
/// 4. A bar beside which epochs are logged as fractions (Hugging Face), or whose total was announced
///    as that of the training, is the run.
/// 5. Everything else is a counter on its own: it may start again.
///
/// Counters never go back, except to start again.
#[derive(Debug, Default)]
pub struct Tracker {
    given: Given,
    epochs: Option<Epochs>,
    counters: Vec<Count>,
    /// The counter of the training inside an epoch.
    inner: Option<usize>,
    nested: Option<Nested>,
    planned_steps: Option<f64>,
    /// Numbers of epochs began anew: there are several trainings, of unknown number.
    began_anew: bool,
    /// As logged last, and not yet held against the bar that is drawn next.
    passed: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Epochs {
    /// 0 or 1, from where they are numbered.
    base: u64,
    /// `total` is how many there are, not the last one's number.
    is_exact: bool,
    number: u64,
    total: Option<u64>,
    /// Epochs that are over.
    over: u64,
    /// Of the epoch in progress: the counter's own share, at most 1.
    inside: f64,
    /// The counter of the epoch in progress reached its end.
    is_counted_out: bool,
    /// A line that may stand at the beginning of an epoch or at its end.
    is_ambiguous: bool,
}

#[derive(Debug)]
struct Count {
    label: String,
    is_bar: bool,
    first: f64,
    done: f64,
    total: Option<f64>,
    /// How often it started again.
    restarts: u64,
    is_run: bool,
    /// Of a bar of the whole run.
    epochs: Option<f64>,
}

impl Count {
    fn share(&self) -> Option<f64> {
        self.total.map(|total| (self.done / total).min(1.0))
    }

    fn is_over(&self) -> bool {
        self.total.is_some_and(|total| self.done >= total)
    }

    /// Rule 4: the bar that is drawn after epochs were logged has steps for an epoch at least, and
    /// has not started again. Where they agree, its epochs are known too.
    fn check_passed(&mut self, passed: &mut Option<f64>) {
        let Some(total) = self
            .total
            .filter(|_| self.is_bar && self.restarts == 0 && self.done > 0.0)
        else {
            return;
        };
        let Some(epochs) = passed
            .map(|passed| total * passed / self.done)
            .filter(|epochs| *epochs > 0.9)
        else {
            return;
        };
        *passed = None;
        self.is_run = true;
        let whole = epochs.round();
        if (epochs - whole).abs() < 0.02 && whole >= 1.0 {
            self.epochs = Some(whole);
        }
    }
}

/// Rule 2.
#[derive(Debug, Clone, Copy)]
struct Nested {
    outer: usize,
    inner: usize,
    /// Restarts of the inner one when the outer one last went on.
    restarts: u64,
}

impl Tracker {
    pub fn new(given: Given) -> Self {
        Tracker {
            given,
            ..Tracker::default()
        }
    }

    /// The position; none if the observation is not about the training. The same position comes
    /// again where time passes without steps, as at the end of an epoch.
    pub fn observe(&mut self, seen: &Observation) -> Option<Position> {
        if let Some(planned) = seen.planned_steps {
            self.planned_steps = Some(planned);
        }
        self.passed = seen.epochs_passed.or(self.passed);
        let training = seen
            .counter
            .as_ref()
            .filter(|counter| counter.purpose == Purpose::Training);
        if let Some(epoch) = seen.epoch {
            // In the label of a validation bar, too: the same epoch goes on.
            self.epoch(epoch, seen.counter.is_some(), seen.is_result);
        }
        let at = training.and_then(|counter| self.count(counter));
        match seen.epoch.is_some() || training.is_some() {
            true => self.position(at),
            false => None,
        }
    }

    fn epoch(&mut self, seen: EpochNumber, has_counter: bool, is_result: bool) {
        let Some(known) = &mut self.epochs else {
            let base = if seen.is_from_zero {
                0
            } else {
                seen.number.min(1)
            };
            let over = match (seen.is_over, has_counter, is_result) {
                (true, _, _) => seen.number,
                (_, false, true) => seen.number + 1 - base,
                _ => seen.number - base,
            };
            self.epochs = Some(Epochs {
                base: if seen.is_over { 1 } else { base },
                is_exact: base == 1 || seen.is_from_zero || seen.is_over,
                number: seen.number,
                total: seen.total,
                over,
                inside: 0.0,
                is_counted_out: false,
                is_ambiguous: !seen.is_over && !has_counter && !is_result,
            });
            // What counted before epochs did is something else, until it counts inside one.
            self.inner = None;
            return;
        };
        let is_of_another =
            seen.total.is_some() && known.total.is_some() && seen.total != known.total;
        if seen.number < known.number {
            if seen.number == known.base && !seen.is_over && (is_of_another || !is_result) {
                self.began_anew = true;
                known.total = seen.total;
                known.set(seen.number, 0);
            }
            return;
        }
        if is_of_another || known.total.is_some_and(|total| seen.number > total) {
            return;
        }
        known.total = known.total.or(seen.total);
        let ends = !seen.is_over && !has_counter && is_result;
        let over = match (seen.is_over, ends) {
            (true, _) => seen.number,
            (_, true) => seen.number + 1 - known.base,
            _ => seen.number.saturating_sub(known.base),
        };
        if seen.number > known.number || over > known.over {
            known.is_ambiguous &= !has_counter && !is_result;
            known.set(seen.number, over);
        }
    }

    /// Which counter went on, if it did.
    fn count(&mut self, seen: &Counter) -> Option<usize> {
        let same = |count: &Count| {
            count.label == seen.label
                && count.is_bar == seen.is_bar
                && (count.total == seen.total || count.total.is_none())
        };
        let at = match self.counters.iter().position(same) {
            Some(at) => at,
            None if self.counters.len() < MOST_COUNTERS => {
                self.counters.push(Count {
                    label: seen.label.clone(),
                    is_bar: seen.is_bar,
                    first: seen.done,
                    done: seen.done,
                    total: seen.total,
                    restarts: 0,
                    is_run: seen.total.is_some() && seen.total == self.planned_steps,
                    epochs: None,
                });
                self.counters.len() - 1
            }
            None => return None,
        };
        let count = self.counters.get_mut(at)?;
        count.total = seen.total;
        let before = count.done;
        if seen.done < before {
            // A step back is no new beginning.
            if seen.done > before / 2.0 || count.is_run {
                return None;
            }
            count.restarts += 1;
        }
        count.done = seen.done;
        count.check_passed(&mut self.passed);
        if seen.done > before {
            self.nest(at);
        }
        Some(at)
    }

    /// Rule 2: the counter that just went on may be an outer one.
    fn nest(&mut self, outer: usize) {
        if let Some(nested) = &mut self.nested {
            if nested.outer == outer {
                nested.restarts = self
                    .counters
                    .get(nested.inner)
                    .map_or(0, |inner| inner.restarts);
            }
            return;
        }
        let Some(count) = self.counters.get(outer) else {
            return;
        };
        // It went on once, and the next counter to appear was counted out meanwhile.
        let is_first_step =
            count.is_bar && count.total.is_some() && count.done == count.first + 1.0;
        let Some(inner) = self.counters.get(outer + 1) else {
            return;
        };
        let was_passed =
            inner.is_bar && inner.restarts == 0 && inner.share().is_some_and(|share| share > 0.5);
        if is_first_step
            && was_passed
            && !self.counters.iter().take(outer + 1).any(|c| c.restarts > 0)
        {
            self.nested = Some(Nested {
                outer,
                inner: outer + 1,
                restarts: inner.restarts,
            });
        }
    }

    fn position(&mut self, at: Option<usize>) -> Option<Position> {
        if self.epochs.is_some() {
            return self.in_epochs(at);
        }
        if let Some(Nested {
            outer,
            inner,
            restarts,
        }) = self.nested
        {
            let (outer, inner) = (self.counters.get(outer)?, self.counters.get(inner)?);
            // Until it starts again it shows the pass that is over.
            let inside = match inner.restarts > restarts {
                true => inner.share().unwrap_or(0.0),
                false => 0.0,
            };
            let total = outer.total?;
            let done = (outer.done + inside).min(total);
            return Some(exactly(Scope::Run, Unit::Epochs, done, Some(total)));
        }
        let run = self.counters.iter().position(|count| count.is_run);
        let count = self.counters.get(run.or(at)?)?;
        let share = count.share();
        if let (Some(epochs), Some(share)) = (self.given.epochs, share) {
            let done = count.restarts as f64 + share;
            if done <= epochs as f64 {
                return Some(exactly(Scope::Run, Unit::Epochs, done, Some(epochs as f64)));
            }
        }
        if let Some(steps) = self.given.steps {
            let done = count.restarts as f64 * count.total.unwrap_or(0.0) + count.done;
            if done <= steps as f64 {
                return Some(exactly(Scope::Run, Unit::Steps, done, Some(steps as f64)));
            }
        }
        if let (true, Some(epochs), Some(share)) = (count.is_run, count.epochs, share) {
            return Some(exactly(
                Scope::Run,
                Unit::Epochs,
                share * epochs,
                Some(epochs),
            ));
        }
        let scope = match count.is_run {
            true => Scope::Run,
            false => Scope::Counter,
        };
        Some(exactly(scope, Unit::Steps, count.done, count.total))
    }

    fn in_epochs(&mut self, at: Option<usize>) -> Option<Position> {
        let epochs = self.epochs.as_mut()?;
        // A counter without an end is no share of an epoch.
        let at = at.filter(|at| {
            self.counters
                .get(*at)
                .is_some_and(|count| count.total.is_some())
        });
        if let Some(at) = at {
            let inner = *self.inner.get_or_insert(at);
            let count = self.counters.get(inner)?;
            if inner == at
                && !epochs.is_counted_out
                && let Some(share) = count.share()
            {
                epochs.inside = epochs.inside.max(share);
                epochs.is_counted_out = count.is_over();
            }
        }
        let total = match self.began_anew {
            true => None,
            false => epochs.total.or(self.given.epochs),
        };
        let total = total.filter(|total| epochs.over <= *total);
        let is_exact = self.given.epochs.is_some() || epochs.total.is_none() || epochs.is_exact;
        let done = epochs.over as f64 + epochs.inside;
        Some(Position {
            scope: match total {
                Some(_) => Scope::Run,
                None => Scope::Counter,
            },
            unit: Unit::Epochs,
            done: total.map_or(done, |total| done.min(total as f64)),
            total: total.map(|total| total as f64),
            more: if is_exact { 0.0 } else { 1.0 },
            ahead: if epochs.is_ambiguous && self.inner.is_none() {
                1.0
            } else {
                0.0
            },
        })
    }
}

impl Epochs {
    fn set(&mut self, number: u64, over: u64) {
        self.number = number;
        if over != self.over {
            self.inside = 0.0;
            self.is_counted_out = false;
        }
        self.over = over;
    }
}

fn exactly(scope: Scope, unit: Unit, done: f64, total: Option<f64>) -> Position {
    Position {
        scope,
        unit,
        done,
        total,
        more: 0.0,
        ahead: 0.0,
    }
}

#[cfg(test)]
#[path = "tracker_tests.rs"]
mod tests;
