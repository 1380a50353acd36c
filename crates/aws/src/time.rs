use jiff::Timestamp;
use serde_json::Value;

/// A time in an answer: seconds since 1970 as AWS's JSON has it, or text as some emulators do.
pub(crate) fn time_of(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(seconds) => {
            let milliseconds = seconds.as_f64()? * 1000.0;
            Timestamp::from_millisecond(milliseconds.round() as i64).ok()
        }
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Seconds since 1970, as AWS's JSON wants times.
pub(crate) fn seconds_of(time: Timestamp) -> f64 {
    time.as_millisecond() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_read() {
        let check = |value: Value, expected: Option<&str>| {
            assert_eq!(
                time_of(&value).map(|time| time.to_string()).as_deref(),
                expected
            );
        };
        check(json!(1440938160), Some("2015-08-30T12:36:00Z"));
        check(json!(1440938160.25), Some("2015-08-30T12:36:00.25Z"));
        check(json!("2015-08-30T12:36:00Z"), Some("2015-08-30T12:36:00Z"));
        check(json!("yesterday"), None);
        check(json!(1e30), None);
        check(json!(null), None);
    }
}
