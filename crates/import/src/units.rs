//! Units that people write, and the ones Bancada keeps: seconds, bytes, joules, watts, percent.

use model::run::metric;

/// How numbers of a unit become numbers of the one that is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Conversion<'u> {
    /// The unit kept.
    pub(crate) unit: &'u str,
    times: f64,
    over: f64,
}

impl Conversion<'_> {
    /// Divides by a thousand rather than multiplying by a thousandth, which no float is: 300 ms
    /// are 0.3 s to the last digit.
    pub(crate) fn apply(&self, value: f64) -> f64 {
        value * self.times / self.over
    }
}

const KIB: f64 = 1024.0;

/// Words for a unit, of which messages name the first; the unit that is kept; and what a number is
/// multiplied with and divided by to be in it.
const UNITS: &[(&[&str], &str, f64, f64)] = &[
    (&["ns", "nsec", "nanosecond", "nanoseconds"], "s", 1.0, 1e9),
    (
        &["us", "µs", "μs", "usec", "microsecond", "microseconds"],
        "s",
        1.0,
        1e6,
    ),
    (
        &["ms", "msec", "msecs", "millisecond", "milliseconds"],
        "s",
        1.0,
        1e3,
    ),
    (&["s", "sec", "secs", "second", "seconds"], "s", 1.0, 1.0),
    (&["min", "mins", "minute", "minutes"], "s", 60.0, 1.0),
    (&["h", "hr", "hrs", "hour", "hours"], "s", 3600.0, 1.0),
    (&["d", "day", "days"], "s", 86_400.0, 1.0),
    (&["B", "byte", "bytes"], "B", 1.0, 1.0),
    (&["kB", "KB"], "B", 1e3, 1.0),
    (&["MB"], "B", 1e6, 1.0),
    (&["GB"], "B", 1e9, 1.0),
    (&["TB"], "B", 1e12, 1.0),
    (&["KiB"], "B", KIB, 1.0),
    (&["MiB"], "B", KIB * KIB, 1.0),
    (&["GiB"], "B", KIB * KIB * KIB, 1.0),
    (&["TiB"], "B", KIB * KIB * KIB * KIB, 1.0),
    (&["%", "percent"], "%", 1.0, 1.0),
    (&["fraction"], "%", 100.0, 1.0),
    (&["J", "joule", "joules"], "J", 1.0, 1.0),
    (&["kJ"], "J", 1e3, 1.0),
    (&["Wh"], "J", 3600.0, 1.0),
    (&["kWh"], "J", 3.6e6, 1.0),
    (&["W", "watt", "watts"], "W", 1.0, 1.0),
    (&["mW"], "W", 1.0, 1e3),
    (&["kW"], "W", 1e3, 1.0),
    (
        &["1/s", "/s", "images/s", "img/s", "it/s", "req/s"],
        "1/s",
        1.0,
        1.0,
    ),
    (&["1/min", "/min"], "1/s", 1.0, 60.0),
    (&["", "-", "1"], "", 1.0, 1.0),
];

/// What the names of other metrics say of their unit.
const NAMED: &[(&str, &str)] = &[
    ("_seconds", "s"),
    ("_bytes", "B"),
    ("_joules", "J"),
    ("_percent", "%"),
    ("_per_second", "1/s"),
];

fn find(unit: &str) -> Option<Conversion<'static>> {
    let mut units = UNITS.iter();
    let (_, unit, times, over) = units.find(|(words, ..)| words.contains(&unit.trim()))?;
    Some(Conversion {
        unit,
        times: *times,
        over: *over,
    })
}

/// Whether numbers in it are converted.
pub(crate) fn is_known(unit: &str) -> bool {
    find(unit).is_some()
}

/// A unit that is not known is kept as it is.
pub(crate) fn conversion(unit: &str) -> Conversion<'_> {
    find(unit).unwrap_or(Conversion {
        unit: unit.trim(),
        times: 1.0,
        over: 1.0,
    })
}

/// The unit that a metric of this name is kept in; empty if the name does not say it.
pub(crate) fn of_name(metric: &str) -> &'static str {
    let ours = metric::definition(metric).map(|metric| metric.unit.symbol());
    let named = || NAMED.iter().find(|(end, _)| metric.ends_with(end));
    ours.or_else(|| named().map(|(_, kept)| *kept))
        .unwrap_or_default()
}

/// Fails where the name of the metric asks for another unit, and for what is probably a known unit
/// that is written in another way: `Sec`, `mb`.
pub(crate) fn check(metric: &str, unit: &str) -> Result<(), String> {
    let kept = of_name(metric);
    if !kept.is_empty() && conversion(unit).unit != kept {
        let words = UNITS.iter().filter(|(_, unit, ..)| *unit == kept);
        let words: Vec<&str> = words
            .filter_map(|(words, ..)| words.first().copied())
            .collect();
        return Err(format!(
            "`{unit}` is not a unit of `{metric}`: write {}",
            words.join(", ")
        ));
    }
    if is_known(unit) {
        return Ok(());
    }
    if let Some(metric) = metric::definition(unit) {
        let symbol = metric.unit.symbol();
        return Err(format!(
            "`{unit}` is a metric, not a unit: write {unit}:{symbol}"
        ));
    }
    let lower = unit.to_lowercase();
    let same = |word: &&&str| word.to_lowercase() == lower;
    let meant = UNITS.iter().flat_map(|(words, ..)| *words);
    let meant: Vec<&str> = meant.filter(same).copied().collect();
    match meant.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "`{unit}` is not a known unit: did you mean {}?",
            meant.join(" or ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_those_that_are_kept() {
        let check = |unit: &str, kept: &str, one: f64| {
            let conversion = conversion(unit);
            assert_eq!(
                (conversion.unit, conversion.apply(1.0)),
                (kept, one),
                "{unit}"
            );
        };
        check("minutes", "s", 60.0);
        check("mins", "s", 60.0);
        check("hours", "s", 3600.0);
        check("days", "s", 86_400.0);
        check("milliseconds", "s", 0.001);
        check("MiB", "B", 1_048_576.0);
        check("-", "", 1.0);
        check("rows", "rows", 1.0);
    }

    #[test]
    fn units_that_cannot_be_meant_are_refused() {
        let check_ok = |metric, unit| assert_eq!(check(metric, unit), Ok(()), "{metric}:{unit}");
        check_ok("train_seconds", "minutes");
        check_ok("peak_memory_bytes", "GiB");
        check_ok("accuracy_percent", "fraction");
        check_ok("images_per_second", "img/s");
        check_ok("queue_depth", "rows");
        check_ok("loss", "");
        let check_wrong = |metric, unit, expected: &str| {
            let said = check(metric, unit).expect_err(unit);
            assert!(said.contains(expected), "{said}");
        };
        check_wrong(
            "train_seconds",
            "fortnights",
            "write ns, us, ms, s, min, h, d",
        );
        check_wrong("highest_rate", "s", "write 1/s, 1/min");
        check_wrong("train_seconds", "", "is not a unit of `train_seconds`");
        check_wrong("train_seconds", "MB", "is not a unit of `train_seconds`");
        check_wrong("time", "Sec", "did you mean sec?");
        check_wrong("peak", "mb", "did you mean MB?");
        check_wrong("power", "MW", "did you mean mW?");
    }
}
