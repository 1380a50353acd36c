//! `/proc/pressure/*`: share of time in which some task waited for CPU, memory or disk.

use host::limits::bytes::{after, decimal, fields};

/// The `some` average over ten seconds, in percent.
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    let rest = after(text, b"some ")?;
    fields(rest)
        .next()?
        .strip_prefix(b"avg10=")
        .and_then(decimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_second_average_of_some_is_taken() {
        let text =
            b"some avg10=12.50 avg60=3.00 avg300=1.00 total=99\nfull avg10=1.00 avg60=0.00\n";
        assert_eq!(parse(text), Some(12.5));
        assert_eq!(parse(b"full avg10=1.00\n"), None);
        assert_eq!(parse(b""), None);
    }
}
