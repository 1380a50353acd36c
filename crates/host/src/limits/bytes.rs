//! Numbers out of the kernel's text files, without allocating.

/// The fields of a line, cut at blanks.
pub fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| matches!(b, b' ' | b'\t' | b'\n'))
        .filter(|field| !field.is_empty())
}

pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| *b == b'\n')
}

/// A whole number in decimal; nothing else may stand next to it.
pub fn number(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    field.iter().try_fold(0_u64, |sum, digit| {
        let digit = digit.checked_sub(b'0').filter(|d| *d <= 9)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A number such as `12.34`, as the kernel writes averages.
pub fn decimal(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// What follows `key` on the line that begins with it.
pub fn after<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    lines(text).find_map(|line| line.strip_prefix(key))
}

/// The first number after `key` on the line that begins with it: `MemTotal:  24682416 kB`.
pub fn value(text: &[u8], key: &[u8]) -> Option<u64> {
    after(text, key)
        .and_then(|rest| fields(rest).next())
        .and_then(number)
}

/// Numbers of processes or threads cut at blanks, as `children` and `cgroup.procs` list them.
pub fn parse_ids(text: &[u8]) -> impl Iterator<Item = i32> {
    fields(text)
        .filter_map(number)
        .filter_map(|n| i32::try_from(n).ok())
        .filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_whole_fields() {
        let check = |text: &str, expected| assert_eq!(number(text.as_bytes()), expected, "{text}");
        check("0", Some(0));
        check("18446744073709551615", Some(u64::MAX));
        check("18446744073709551616", None);
        check("", None);
        check("-1", None);
        check("12x", None);
    }

    #[test]
    fn values_are_found_by_the_beginning_of_a_line() {
        let text = b"oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(value(text, b"oom_kill "), Some(3));
        assert_eq!(value(text, b"nothing "), None);
    }

    #[test]
    fn lists_of_processes_are_read() {
        let ids = parse_ids(b"12 13 \n14\n-1 x");
        assert_eq!(ids.collect::<Vec<_>>(), [12, 13, 14]);
    }

    proptest! {
        #[test]
        fn any_number_comes_back(n: u64) {
            prop_assert_eq!(number(n.to_string().as_bytes()), Some(n));
        }

        #[test]
        fn any_bytes_are_survived(text: Vec<u8>, key: Vec<u8>) {
            let _ = value(&text, &key);
            let _ = decimal(&text);
            let _ = parse_ids(&text).count();
        }
    }
}
