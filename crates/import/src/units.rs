//! Units that people write, and the ones Bancada keeps: seconds, bytes, joules, watts, percent.

/// A value times `factor` is in `unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    pub unit: String,
    pub factor: f64,
}

/// A unit that is not known is kept as it is.
pub fn conversion(unit: &str) -> Conversion {
    let unit = unit.trim();
    let (kept, factor) = match unit {
        "ns" => ("s", 1e-9),
        "us" | "µs" | "μs" => ("s", 1e-6),
        "ms" => ("s", 1e-3),
        "s" | "sec" | "second" | "seconds" => ("s", 1.0),
        "min" | "minute" | "minutes" => ("s", 60.0),
        "h" | "hour" | "hours" => ("s", 3600.0),
        "B" | "byte" | "bytes" => ("B", 1.0),
        "kB" | "KB" => ("B", 1e3),
        "MB" => ("B", 1e6),
        "GB" => ("B", 1e9),
        "TB" => ("B", 1e12),
        "KiB" => ("B", 1024.0),
        "MiB" => ("B", 1024.0 * 1024.0),
        "GiB" => ("B", 1024.0 * 1024.0 * 1024.0),
        "TiB" => ("B", 1024.0 * 1024.0 * 1024.0 * 1024.0),
        "%" | "percent" => ("%", 1.0),
        "fraction" => ("%", 100.0),
        "J" => ("J", 1.0),
        "kJ" => ("J", 1e3),
        "Wh" => ("J", 3600.0),
        "kWh" => ("J", 3.6e6),
        "W" => ("W", 1.0),
        "mW" => ("W", 1e-3),
        "kW" => ("W", 1e3),
        "1/s" | "/s" | "images/s" | "img/s" | "it/s" | "req/s" => ("1/s", 1.0),
        "1/min" | "/min" => ("1/s", 1.0 / 60.0),
        "-" | "1" => ("", 1.0),
        other => (other, 1.0),
    };
    Conversion {
        unit: kept.to_owned(),
        factor,
    }
}
