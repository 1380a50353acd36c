//! Units that people write, and the ones Bancada keeps: seconds, bytes, joules, watts, percent.

#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    /// The unit kept.
    pub unit: String,
    times: f64,
    over: f64,
}

impl Conversion {
    /// Divides by a thousand rather than multiplying by a thousandth, which no float is: 300 ms
    /// are 0.3 s to the last digit.
    pub fn apply(&self, value: f64) -> f64 {
        value * self.times / self.over
    }
}

/// A unit that is not known is kept as it is.
pub fn conversion(unit: &str) -> Conversion {
    let unit = unit.trim();
    let (kept, times, over) = match unit {
        "ns" => ("s", 1.0, 1e9),
        "us" | "µs" | "μs" => ("s", 1.0, 1e6),
        "ms" => ("s", 1.0, 1e3),
        "s" | "sec" | "second" | "seconds" => ("s", 1.0, 1.0),
        "min" | "minute" | "minutes" => ("s", 60.0, 1.0),
        "h" | "hour" | "hours" => ("s", 3600.0, 1.0),
        "B" | "byte" | "bytes" => ("B", 1.0, 1.0),
        "kB" | "KB" => ("B", 1e3, 1.0),
        "MB" => ("B", 1e6, 1.0),
        "GB" => ("B", 1e9, 1.0),
        "TB" => ("B", 1e12, 1.0),
        "KiB" => ("B", 1024.0, 1.0),
        "MiB" => ("B", 1024.0 * 1024.0, 1.0),
        "GiB" => ("B", 1024.0 * 1024.0 * 1024.0, 1.0),
        "TiB" => ("B", 1024.0 * 1024.0 * 1024.0 * 1024.0, 1.0),
        "%" | "percent" => ("%", 1.0, 1.0),
        "fraction" => ("%", 100.0, 1.0),
        "J" => ("J", 1.0, 1.0),
        "kJ" => ("J", 1e3, 1.0),
        "Wh" => ("J", 3600.0, 1.0),
        "kWh" => ("J", 3.6e6, 1.0),
        "W" => ("W", 1.0, 1.0),
        "mW" => ("W", 1.0, 1e3),
        "kW" => ("W", 1e3, 1.0),
        "1/s" | "/s" | "images/s" | "img/s" | "it/s" | "req/s" => ("1/s", 1.0, 1.0),
        "1/min" | "/min" => ("1/s", 1.0, 60.0),
        "-" | "1" => ("", 1.0, 1.0),
        other => (other, 1.0, 1.0),
    };
    Conversion {
        unit: kept.to_owned(),
        times,
        over,
    }
}
