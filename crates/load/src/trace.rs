//! Recorded requests: a time in seconds on each line.

use std::time::Duration;

/// Times from the beginning; empty lines say nothing. The error is a sentence.
pub fn parse_trace(text: &str) -> Result<Vec<Duration>, String> {
    let mut times: Vec<Duration> = Vec::new();
    let lines = text.lines().map(str::trim).zip(1..);
    for (text, line) in lines.filter(|(text, _)| !text.is_empty()) {
        let seconds = text.parse().ok();
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let Some(time) = time else {
            let text: String = text.chars().take(LONGEST_SHOWN).collect();
            return Err(format!("line {line}: `{text}` is not a time in seconds"));
        };
        if times.last().is_some_and(|last| *last > time) {
            return Err(format!(
                "line {line}: its time is earlier than on the previous line"
            ));
        }
        times.push(time);
    }
    match times.is_empty() {
        true => Err("it contains no times: write one time in seconds per line".to_owned()),
        false => Ok(times),
    }
}

/// A file that is no trace at all may be one line of megabytes.
const LONGEST_SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let ms = Duration::from_millis;
        let check = |text, expected: &[Duration]| assert_eq!(parse_trace(text).unwrap(), expected);
        check("0\n0.5\n\n 0.5 \n1e0", &[ms(0), ms(500), ms(500), ms(1000)]);
    }

    #[test]
    fn what_is_no_trace_is_said_with_its_line() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parse_trace(text).unwrap_err(), expected);
        };
        check(
            "",
            "it contains no times: write one time in seconds per line",
        );
        check(
            "\n  \n",
            "it contains no times: write one time in seconds per line",
        );
        check("0\n\nsoon\n", "line 3: `soon` is not a time in seconds");
        check("-1", "line 1: `-1` is not a time in seconds");
        check("NaN", "line 1: `NaN` is not a time in seconds");
        check(
            "2\n1",
            "line 2: its time is earlier than on the previous line",
        );
        let long = "x".repeat(1000);
        assert!(parse_trace(&long).unwrap_err().len() < 100);
    }
}
