//! Requests waiting for a worker: no more than fit, taken in their order.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How requests are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batching {
    /// At most so many requests are computed at once.
    pub most: usize,
    /// So long a request may wait for others.
    pub linger: Duration,
}

pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    longest: usize,
}

struct State<T> {
    waiting: VecDeque<T>,
    /// Workers that have taken something and not asked for more.
    busy: usize,
    closed: bool,
}

/// Why something was not taken in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    Full,
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new(longest: usize) -> Self {
        Queue {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                busy: 0,
                closed: false,
            }),
            changed: Condvar::new(),
            longest,
        }
    }

    pub(crate) fn put(&self, item: T) -> Result<(), NotTaken> {
        let mut state = self.lock();
        if state.closed {
            return Err(NotTaken::Closed);
        }
        if state.waiting.len() >= self.longest {
            return Err(NotTaken::Full);
        }
        state.waiting.push_back(item);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for something; none when the queue was closed and is empty. What is taken together is
    /// `alike`. The worker counts as busy until it calls [`Queue::done`].
    pub(crate) fn take(
        &self,
        batching: Batching,
        alike: impl Fn(&T, &T) -> bool,
    ) -> Option<Vec<T>> {
        let mut state = self.lock();
        let first = loop {
            if let Some(first) = state.waiting.pop_front() {
                break first;
            }
            if state.closed {
                return None;
            }
            state = self.wait(state, None);
        };
        state.busy += 1;
        let mut taken = vec![first];
        let until = Instant::now() + batching.linger;
        while taken.len() < batching.most {
            match state.waiting.front() {
                Some(next) if alike(&taken[0], next) => taken.extend(state.waiting.pop_front()),
                Some(_) => break,
                None => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() || state.closed {
                        break;
                    }
                    state = self.wait(state, Some(left));
                }
            }
        }
        Some(taken)
    }

    pub(crate) fn done(&self) {
        self.lock().busy -= 1;
    }

    /// Whether one worker alone has something to do, and nothing waits for another.
    pub(crate) fn is_calm(&self) -> bool {
        let state = self.lock();
        state.busy <= 1 && state.waiting.is_empty()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    pub(crate) fn busy(&self) -> usize {
        self.lock().busy
    }

    /// What waits is still done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// A worker that panicked left nothing half done in here.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'q>(
        &'q self,
        state: MutexGuard<'q, State<T>>,
        longest: Option<Duration>,
    ) -> MutexGuard<'q, State<T>> {
        match longest {
            None => self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(longest) => {
                let waited = self.changed.wait_timeout(state, longest);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Batching = Batching {
        most: 1,
        linger: Duration::ZERO,
    };

    #[test]
    fn in_order_and_not_more_than_fit() {
        let queue = Queue::new(2);
        assert_eq!(queue.put(1), Ok(()));
        assert_eq!(queue.put(2), Ok(()));
        assert_eq!(queue.put(3), Err(NotTaken::Full));
        assert_eq!(queue.take(ONE, |_, _| true), Some(vec![1]));
        assert!(!queue.is_calm(), "another waits");
        assert_eq!(queue.put(4), Ok(()));
        queue.close();
        assert_eq!(queue.put(5), Err(NotTaken::Closed));
        assert_eq!(queue.take(ONE, |_, _| true), Some(vec![2]));
        assert_eq!(queue.take(ONE, |_, _| true), Some(vec![4]));
        assert_eq!(queue.take(ONE, |_, _| true), None);
        queue.done();
        queue.done();
        assert!(queue.is_calm(), "one is left");
    }

    #[test]
    fn batches_are_of_what_is_alike() {
        let queue = Queue::new(9);
        for item in [1, 3, 5, 2, 7] {
            queue.put(item).unwrap();
        }
        let two = Batching {
            most: 2,
            linger: Duration::ZERO,
        };
        let many = Batching { most: 9, ..two };
        let odd = |a: &i32, b: &i32| a % 2 == b % 2;
        assert_eq!(queue.take(two, odd), Some(vec![1, 3]));
        assert_eq!(queue.take(many, odd), Some(vec![5]));
        assert_eq!(queue.take(many, odd), Some(vec![2]));
        assert_eq!(queue.take(many, odd), Some(vec![7]));
    }

    #[test]
    fn a_request_waits_for_others() {
        let queue = Queue::new(9);
        let patient = Batching {
            most: 2,
            linger: Duration::from_secs(60),
        };
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| queue.take(patient, |_, _| true));
            queue.put(1).unwrap();
            queue.put(2).unwrap();
            assert_eq!(taken.join().unwrap(), Some(vec![1, 2]));
        });
    }
}
