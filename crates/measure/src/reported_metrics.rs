//! Numbers that a workload reports under names of its own.

use std::collections::{BTreeMap, BTreeSet};

use model::Warning;
use model::run::{Metric, metric};

/// More metrics than these are not read by anybody.
const MOST_METRICS: usize = 1000;
/// A longer name does not fit in any table.
const MOST_NAME_BYTES: usize = 200;
/// Each refused name is a warning; these are enough to see what is wrong.
const MOST_REFUSED: usize = 10;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ReportedMetrics {
    taken: BTreeMap<String, Metric>,
    refused: BTreeSet<String>,
}

impl ReportedMetrics {
    /// The last value under a name stands.
    pub(crate) fn take(&mut self, name: &str, value: f64, unit: &str) {
        let is_name = !name.trim().is_empty()
            && name.len() <= MOST_NAME_BYTES
            && !name.contains(char::is_control)
            && !metric::is_of_bills(name);
        let has_room = self.taken.len() < MOST_METRICS || self.taken.contains_key(name);
        if !is_name || !has_room {
            self.refuse(name);
            return;
        }
        let unit = unit.to_owned();
        self.taken.insert(name.to_owned(), Metric { value, unit });
    }

    /// What was measured stands before what was reported.
    pub(crate) fn overrule(&mut self, measured: BTreeMap<String, Metric>) {
        for (name, metric) in measured {
            if self.taken.insert(name.clone(), metric).is_some() {
                self.refuse(&name);
            }
        }
    }

    fn refuse(&mut self, name: &str) {
        if self.refused.len() < MOST_REFUSED {
            let shown = name.chars().filter(|c| !c.is_control()).take(60);
            self.refused.insert(shown.collect());
        }
    }

    pub(crate) fn warnings(&self) -> impl Iterator<Item = Warning> {
        let names = self.refused.iter().cloned();
        names.map(|name| Warning::MetricRefused { name })
    }

    pub(crate) fn into_metrics(self) -> BTreeMap<String, Metric> {
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reported: &[&str], measured: &[&str], taken: &[&str], refused: &[&str]) {
        let mut metrics = ReportedMetrics::default();
        reported.iter().for_each(|name| metrics.take(name, 1.0, ""));
        let value = Metric {
            value: 2.0,
            unit: String::new(),
        };
        let measured = measured
            .iter()
            .map(|name| ((*name).to_owned(), value.clone()));
        metrics.overrule(measured.collect());
        let said: Vec<&String> = metrics.refused.iter().collect();
        assert_eq!(said, refused, "{reported:?}");
        let all = metrics.into_metrics();
        let names: Vec<&str> = all.keys().map(String::as_str).collect();
        assert_eq!(names, taken, "{reported:?}");
    }

    #[test]
    fn names_of_bancada_and_no_names_are_refused() {
        check(&["perplexity", "loss"], &[], &["loss", "perplexity"], &[]);
        check(&["", " ", "cost", "x"], &[], &["x"], &["", " ", "cost"]);
        check(
            &["cost_per_epoch", "a\u{1b}b"],
            &[],
            &[],
            &["ab", "cost_per_epoch"],
        );
        // What was measured stands.
        check(
            &["peak_memory_bytes"],
            &["peak_memory_bytes", "cpu_seconds"],
            &["cpu_seconds", "peak_memory_bytes"],
            &["peak_memory_bytes"],
        );
    }

    #[test]
    fn names_without_end_are_not_kept() {
        let mut metrics = ReportedMetrics::default();
        for number in 0..5000 {
            metrics.take(&format!("m{number}"), 1.0, "");
        }
        metrics.take("m0", 7.0, "");
        assert_eq!(metrics.warnings().count(), MOST_REFUSED);
        let all = metrics.into_metrics();
        assert_eq!((all.len(), all["m0"].value), (MOST_METRICS, 7.0));
    }
}
