//! What `fit` of Keras prints, in all its verbosities, and files of its CSVLogger.
//!
//! ```text
//! Epoch 1/5
//! 469/469 [==============================] - 3s 6ms/step - loss: 0.25 - accuracy: 0.92 - val_accuracy: 0.95
//! 469/469 ━━━━━━━━━━━━━━━━━━━━ 3s 6ms/step - accuracy: 0.92 - loss: 0.25 - val_accuracy: 0.95
//! 469/469 - 3s - 6ms/step - accuracy: 0.92 - loss: 0.25
//! ```
//!
//! Until TensorFlow 2.1 it counted images, and said so before the first epoch or by the unit:
//!
//! ```text
//! Train on 60000 samples, validate on 10000 samples
//! 60000/60000 [==============================] - 7s 110us/step - loss: 0.25 - acc: 0.92
//! 60000/60000 - 7s - loss: 0.25
//!  - 7s - loss: 0.25 - acc: 0.92
//! ```

use csv::ReaderBuilder;

use super::counted::{Counted, Counts};
use super::told::{Ended, Told};

pub(super) fn is_own(line: &str) -> bool {
    let line = plain(line);
    line.split('\r')
        .any(|update| header(update).is_some() || Bar::of(update).is_some())
}

pub(super) fn read(text: &str) -> Told {
    let mut told = Told::default();
    let (mut epoch, mut epochs, mut announced) = (0, None, None);
    for update in plain(text).split(['\n', '\r']) {
        announced = Announced::of(update).or(announced);
        if let Some((number, all)) = header(update) {
            (epoch, epochs) = (number, Some(all));
        }
        // Bars of an evaluation have no epoch; those in progress have the mean until then.
        let bar = Bar::of(update).or_else(|| Bar::without_count(update, announced));
        if let Some(bar) = bar.filter(|bar| bar.is_whole() && epoch > 0) {
            let own = told.epoch(epoch);
            own.loss = bar.value("loss").filter(|loss| loss.is_finite());
            own.accuracy = bar.accuracy();
            own.seconds = bar.seconds();
            told.accuracy = bar.accuracy().or(told.accuracy);
            told.counted.push(Counted {
                epoch,
                count: bar.count.map(|(_, all)| all),
                counts: bar.counts(announced),
                loss: bar.value("loss"),
                seconds: bar.seconds(),
            });
        }
    }
    told.end_by_errors(text);
    let is_whole = told
        .epochs
        .last()
        .is_some_and(|last| Some(last.epoch) == epochs);
    if told.ended == Ended::Whole && !is_whole {
        told.ended = Ended::Cut;
    }
    told
}

/// Without what colours a terminal and moves its cursor.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => _ = chars.find(char::is_ascii_alphabetic),
            '\u{8}' => {}
            c => out.push(c),
        }
    }
    out
}

/// `Epoch 1/5`.
fn header(update: &str) -> Option<(u32, u32)> {
    let (number, all) = update.trim().strip_prefix("Epoch ")?.split_once('/')?;
    let (number, all) = (number.parse().ok()?, all.parse().ok()?);
    (number > 0 && number <= all).then_some((number, all))
}

/// What all epochs have, said before the first: `Train on 60000 samples, validate on …`,
/// `Train for 938 steps`.
#[derive(Clone, Copy)]
struct Announced {
    count: u64,
    counts: Counts,
}

impl Announced {
    fn of(update: &str) -> Option<Self> {
        let rest = update.trim().strip_prefix("Train ")?;
        let rest = rest.strip_prefix("on ").or(rest.strip_prefix("for "))?;
        let mut words = rest.split([' ', ',']);
        let count = words.next()?.parse().ok()?;
        let counts = match words.next()? {
            "samples" => Counts::Images,
            "steps" => Counts::Steps,
            _ => return None,
        };
        Some(Announced { count, counts })
    }
}

/// A progress bar with its numbers.
struct Bar<'t> {
    /// Done, and of how many; `verbose` 2 of Keras 1 and 2 has none.
    count: Option<(u64, u64)>,
    parts: Vec<&'t str>,
}

impl<'t> Bar<'t> {
    fn of(update: &'t str) -> Option<Self> {
        let (progress, rest) = update.trim().split_once(' ')?;
        let (done, all) = progress.split_once('/')?;
        let (done, all) = (done.parse().ok()?, all.parse().ok()?);
        // The bar itself.
        let rest = rest.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '-');
        let parts = parts(rest)?;
        (all > 0).then_some(Bar {
            count: Some((done, all)),
            parts,
        })
    }

    /// ` - 7s - loss: 0.25`, which is of a whole epoch.
    fn without_count(update: &'t str, announced: Option<Announced>) -> Option<Self> {
        let parts = parts(update.trim())?;
        Rounded::of(parts.first()?.split(' ').next()?)?;
        let count = announced.map(|all| (all.count, all.count));
        Some(Bar { count, parts })
    }

    fn is_whole(&self) -> bool {
        self.count.is_none_or(|(done, all)| done == all)
    }

    fn counts(&self, announced: Option<Announced>) -> Counts {
        let has = |unit: &str| self.parts.iter().any(|part| part.contains(unit));
        match announced {
            _ if has("/sample") => Counts::Images,
            Some(announced) => announced.counts,
            None if has("/step") => Counts::Steps,
            None => Counts::Unclear,
        }
    }

    fn value(&self, name: &str) -> Option<f64> {
        let named = self.parts.iter().filter_map(|part| part.split_once(": "));
        let mut named = named.filter(|(own, _)| *own == name);
        named.next()?.1.trim().parse().ok()
    }

    /// On held-out images.
    fn accuracy(&self) -> Option<f64> {
        let named = self.parts.iter().filter_map(|part| part.split_once(": "));
        let mut found = named.filter(|(name, _)| is_held_out(name));
        let value: f64 = found.next()?.1.trim().parse().ok()?;
        (0.0..=1.0).contains(&value).then_some(value)
    }

    /// Of the epoch. Both times are rounded: the one with more digits counts.
    fn seconds(&self) -> Option<f64> {
        let words = self.parts.iter().flat_map(|part| part.split(' '));
        let times = words
            .filter(|word| !word.contains("/epoch"))
            .filter_map(|word| {
                let each = word
                    .strip_suffix("/step")
                    .or_else(|| word.strip_suffix("/sample"));
                let (text, times) = match each {
                    Some(text) => (text, self.count?.1 as f64),
                    None => (word, 1.0),
                };
                let time = Rounded::of(text)?;
                Some((time.digits, time.seconds * times))
            });
        let best = times.reduce(|a, b| if b.0 > a.0 { b } else { a });
        best.map(|(_, seconds)| seconds)
            .filter(|seconds| *seconds > 0.0)
    }
}

/// Parts between dashes, where one is a loss.
fn parts(text: &str) -> Option<Vec<&str>> {
    let parts: Vec<&str> = text
        .split(" - ")
        .map(|part| part.trim_start_matches("- ").trim())
        .collect();
    let is_bar = parts.iter().any(|part| part.contains("loss: "));
    is_bar.then_some(parts)
}

/// `3s`, `6ms`, `140us`.
struct Rounded {
    /// The number itself: the larger, the less is lost by rounding.
    digits: f64,
    seconds: f64,
}

impl Rounded {
    fn of(text: &str) -> Option<Self> {
        let unit = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ')?;
        let (number, unit) = text.split_at(unit);
        let digits: f64 = number.parse().ok()?;
        let scale = match unit {
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            _ => return None,
        };
        Some(Rounded {
            digits,
            seconds: digits * scale,
        })
    }
}

fn is_held_out(name: &str) -> bool {
    name.starts_with("val_") && name.contains("acc") && !name.contains("top")
}

/// `epoch,accuracy,loss,val_accuracy,val_loss`, epochs from zero.
pub(super) fn is_csv(text: &str) -> bool {
    let header = text.lines().next().unwrap_or_default();
    let mut names = header.split([',', ';', '\t']).map(str::trim);
    names.next() == Some("epoch") && names.any(|name| name == "loss")
}

pub(super) fn read_csv(text: &str) -> Told {
    let mut told = Told::default();
    let header = text.lines().next().unwrap_or_default();
    let delimiter = [b';', b'\t']
        .into_iter()
        .find(|c| header.contains(char::from(*c)));
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .delimiter(delimiter.unwrap_or(b','))
        .from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    let place = |is: &dyn Fn(&str) -> bool| header.iter().position(is);
    let (epoch, loss) = (
        place(&|name| name == "epoch"),
        place(&|name| name == "loss"),
    );
    let accuracy = place(&is_held_out);
    for row in reader.records().flatten() {
        let line = row.position().map_or(0, csv::Position::line);
        let number = |place: Option<usize>| -> Option<f64> { row.get(place?)?.parse().ok() };
        let Some(number_of) = number(epoch).filter(|n| (0.0..1e9).contains(n)) else {
            told.cannot_read(line, &row.iter().collect::<Vec<_>>().join(","));
            continue;
        };
        let accuracy = number(accuracy).filter(|share| (0.0..=1.0).contains(share));
        let own = told.epoch(number_of as u32 + 1);
        own.loss = number(loss).filter(|loss| loss.is_finite());
        own.accuracy = accuracy;
        told.accuracy = accuracy.or(told.accuracy);
    }
    // It has whole epochs only, and nothing of an end.
    told.ended = Ended::Whole;
    told
}
