//! Numbers and dates as the language of the scope writes them.

use crate::Language;

/// How a language writes numbers (Unicode CLDR 46).
struct Marks {
    decimal: char,
    thousands: char,
}

fn marks() -> Marks {
    let (decimal, thousands) = match Language::current() {
        Language::English => ('.', ','),
        Language::Portuguese | Language::Spanish => (',', '.'),
        Language::Russian => (',', '\u{a0}'),
    };
    Marks { decimal, thousands }
}

/// What stands between units and tenths.
pub fn decimal_mark() -> char {
    marks().decimal
}

/// What stands between thousands.
pub fn thousands_mark() -> char {
    marks().thousands
}

/// A number as a program writes it, with thousands apart from five digits on, and a real minus:
/// `-12345.6` is `−12,345.6` in English.
pub fn number(plain: &str) -> String {
    let marks = marks();
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let (sign, digits) = whole
        .strip_prefix('-')
        .map_or(("", whole), |digits| ("−", digits));
    let mut out = String::from(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len() >= 5 && (digits.len() - place) % 3 == 0 {
            out.push(marks.thousands);
        }
        out.push(digit);
    }
    if let Some(rest) = rest.strip_prefix('.') {
        out.push(marks.decimal);
        out.push_str(rest);
    }
    out
}

/// A day written as `2026-11-18`, in the language's order; anything else as it is.
pub fn date(iso: &str) -> String {
    let parts: Vec<&str> = iso.split('-').collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    match (Language::current(), parts.as_slice()) {
        (Language::English, _) => iso.to_owned(),
        (language, [year, month, day]) if parts.iter().all(is_number) => match language {
            Language::Russian => format!("{day}.{month}.{year}"),
            _ => format!("{day}/{month}/{year}"),
        },
        _ => iso.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_follow_the_language() {
        let check = |language: Language, plain: &str, expected: &str| {
            assert_eq!(language.scope(|| number(plain)), expected);
        };
        check(Language::English, "-12345.6", "−12,345.6");
        check(Language::English, "1234", "1234");
        check(Language::Portuguese, "1234567.89", "1.234.567,89");
        check(Language::Spanish, "12345", "12.345");
        check(Language::Russian, "-12345.6", "−12\u{a0}345,6");
        let check = |language: Language, iso: &str, expected: &str| {
            assert_eq!(language.scope(|| date(iso)), expected);
        };
        check(Language::English, "2026-11-18", "2026-11-18");
        check(Language::Portuguese, "2026-11-18", "18/11/2026");
        check(Language::Russian, "2026-11-18", "18.11.2026");
        check(Language::Russian, "2026-11", "2026-11");
    }
}
