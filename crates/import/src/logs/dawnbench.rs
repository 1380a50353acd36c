//! Entries of DAWNBench's training tracks: one line an epoch, tabs between its columns, hours since
//! the start, accuracies in percent.

use super::told::{Ended, Told};

pub(super) fn is_own(text: &str) -> bool {
    Columns::of(text.lines().next().unwrap_or_default()).is_some()
}

struct Columns {
    epoch: usize,
    hours: usize,
    accuracy: usize,
}

impl Columns {
    /// The first guess counts where both are told.
    fn of(header: &str) -> Option<Self> {
        let place = |name: &str| header.split('\t').position(|column| column.trim() == name);
        Some(Columns {
            epoch: place("epoch")?,
            hours: place("hours")?,
            accuracy: place("top1Accuracy").or_else(|| place("top5Accuracy"))?,
        })
    }
}

pub(super) fn read(text: &str) -> Told {
    let mut told = Told::default();
    let mut lines = (1..).zip(text.lines());
    let columns = lines.next().and_then(|(_, header)| Columns::of(header));
    let Some(columns) = columns else {
        return told;
    };
    let mut before_seconds = 0.0;
    for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
        let cells: Vec<&str> = text.split('\t').map(str::trim).collect();
        let number = |place: usize| -> Option<f64> {
            let value: f64 = cells.get(place)?.parse().ok()?;
            value.is_finite().then_some(value)
        };
        let (Some(epoch), Some(hours)) = (number(columns.epoch), number(columns.hours)) else {
            told.cannot_read(line, text);
            continue;
        };
        let accuracy = number(columns.accuracy).map(|percent| percent / 100.0);
        let accuracy = accuracy.filter(|share| (0.0..=1.0).contains(share));
        let seconds = hours * 3600.0;
        // Epoch 0 is the accuracy before the first.
        if epoch >= 1.0 && seconds >= before_seconds {
            let own = told.epoch(epoch as u32);
            own.accuracy = accuracy;
            own.seconds = Some(seconds - before_seconds);
            before_seconds = seconds;
        }
        told.accuracy = accuracy.or(told.accuracy);
    }
    told.ended = Ended::Whole;
    told
}
