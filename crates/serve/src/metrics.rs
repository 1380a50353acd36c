//! Figures for Prometheus, in its text format 0.0.4.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Upper ends of the intervals in seconds: half a doubling apart around what networks take.
const BOUNDS: [f64; 16] = [
    0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0,
    30.0,
];
const STATUSES: [u16; 10] = [200, 400, 404, 405, 408, 413, 415, 500, 503, 504];

pub(crate) struct Metrics {
    begun: Instant,
    ready_micros: AtomicU64,
    answers: [AtomicU64; STATUSES.len()],
    images: AtomicU64,
    requests: Histogram,
    predictions: Histogram,
}

/// What is counted elsewhere.
pub(crate) struct Now {
    pub(crate) waiting: usize,
    pub(crate) busy: usize,
    pub(crate) connections: usize,
}

impl Metrics {
    pub(crate) fn new(begun: Instant) -> Metrics {
        Metrics {
            begun,
            ready_micros: AtomicU64::new(0),
            answers: Default::default(),
            images: AtomicU64::new(0),
            requests: Histogram::default(),
            predictions: Histogram::default(),
        }
    }

    pub(crate) fn ready(&self) {
        self.ready_micros
            .store(self.begun.elapsed().as_micros() as u64, Ordering::Relaxed);
    }

    pub(crate) fn answered(&self, status: u16, took: Duration) {
        if let Some(place) = STATUSES.iter().position(|&known| known == status) {
            self.answers[place].fetch_add(1, Ordering::Relaxed);
        }
        self.requests.add(took);
    }

    pub(crate) fn predicted(&self, images: usize, took: Duration) {
        self.images.fetch_add(images as u64, Ordering::Relaxed);
        self.predictions.add(took);
    }

    pub(crate) fn text(&self, now: &Now) -> String {
        let mut text = String::new();
        head(
            &mut text,
            "bancada_requests_total",
            "counter",
            "Invocations by response status",
        );
        for (status, count) in STATUSES.iter().zip(&self.answers) {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(
                text,
                "bancada_requests_total{{status=\"{status}\"}} {count}"
            );
        }
        let images = self.images.load(Ordering::Relaxed) as f64;
        let ready = self.ready_micros.load(Ordering::Relaxed) as f64 / 1e6;
        let uptime = self.begun.elapsed().as_secs_f64();
        let mut figure = |name: &str, kind: &str, about: &str, value: f64| {
            head(&mut text, name, kind, about);
            let _ = writeln!(text, "{name} {value}");
        };
        let waiting = "Requests waiting for a worker";
        let loaded = "Time from the start until all models were loaded; 0 before";
        figure(
            "bancada_images_total",
            "counter",
            "Images predicted",
            images,
        );
        figure(
            "bancada_queue_waiting",
            "gauge",
            waiting,
            now.waiting as f64,
        );
        figure(
            "bancada_workers_busy",
            "gauge",
            "Busy workers",
            now.busy as f64,
        );
        let connections = now.connections as f64;
        figure(
            "bancada_connections",
            "gauge",
            "Open connections",
            connections,
        );
        figure("bancada_ready_seconds", "gauge", loaded, ready);
        figure(
            "bancada_uptime_seconds",
            "gauge",
            "Time since the start",
            uptime,
        );
        self.requests.text(
            &mut text,
            "bancada_request_seconds",
            "Time from a request's header to its response",
        );
        self.predictions.text(
            &mut text,
            "bancada_prediction_seconds",
            "Time of the model alone, per batch",
        );
        text
    }
}

#[derive(Default)]
struct Histogram {
    counts: [AtomicU64; BOUNDS.len()],
    all: AtomicU64,
    sum_micros: AtomicU64,
}

impl Histogram {
    fn add(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        if let Some(place) = BOUNDS.iter().position(|&bound| seconds <= bound) {
            self.counts[place].fetch_add(1, Ordering::Relaxed);
        }
        self.all.fetch_add(1, Ordering::Relaxed);
        self.sum_micros
            .fetch_add(time.as_micros() as u64, Ordering::Relaxed);
    }

    fn text(&self, text: &mut String, name: &str, about: &str) {
        head(text, name, "histogram", about);
        let mut below = 0;
        for (bound, count) in BOUNDS.iter().zip(&self.counts) {
            below += count.load(Ordering::Relaxed);
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {below}");
        }
        // Counted while this is written: never below the last bucket.
        let all = self.all.load(Ordering::Relaxed).max(below);
        let sum = self.sum_micros.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(
            text,
            "{name}_bucket{{le=\"+Inf\"}} {all}\n{name}_sum {sum}\n{name}_count {all}"
        );
    }
}

fn head(text: &mut String, name: &str, kind: &str, about: &str) {
    let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up() {
        let metrics = Metrics::new(Instant::now());
        metrics.answered(200, Duration::from_micros(2500));
        metrics.answered(503, Duration::from_secs(99));
        metrics.predicted(4, Duration::from_millis(2));
        let now = Now {
            waiting: 3,
            busy: 1,
            connections: 7,
        };
        let text = metrics.text(&now);
        for line in [
            "bancada_requests_total{status=\"200\"} 1",
            "bancada_requests_total{status=\"503\"} 1",
            "bancada_request_seconds_bucket{le=\"0.002\"} 0",
            "bancada_request_seconds_bucket{le=\"0.003\"} 1",
            "bancada_request_seconds_bucket{le=\"30\"} 1",
            "bancada_request_seconds_bucket{le=\"+Inf\"} 2",
            "bancada_request_seconds_sum 99.0025",
            "bancada_images_total 4",
            "bancada_queue_waiting 3",
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "{line} is missing in\n{text}"
            );
        }
    }
}
