//! Numbers as people's tools write them.

use crate::DecimalMark;

/// Nothing measured is larger, and sums of such stay finite.
const LARGEST: f64 = 1e100;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    Missing,
    Number(f64),
    /// Something, but no number.
    Other,
}

pub(crate) fn cell(text: &str, decimal_comma: bool) -> Cell {
    let text = text.trim();
    let absent = ["", "-", "?", "na", "n/a", "nan", "null", "none"];
    if absent.contains(&text.to_lowercase().as_str()) {
        return Cell::Missing;
    }
    // Only what a number is made of: Rust would take `infinity` for one.
    let digits: String = text
        .trim_end_matches('%')
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    if !digits
        .chars()
        .all(|c| c.is_ascii_digit() || "+-.,eE".contains(c))
    {
        return Cell::Other;
    }
    let plain = if decimal_comma {
        digits.replace('.', "").replace(',', ".")
    } else if has_thousands(&digits) {
        digits.replace(',', "")
    } else {
        digits
    };
    match plain.parse::<f64>() {
        Ok(value) if value.abs() <= LARGEST => Cell::Number(value),
        _ => Cell::Other,
    }
}

/// Whether the cells of a file write `1,5`. A comma before exactly three digits is one of
/// thousands where commas also part the cells.
pub(crate) fn uses_decimal_comma<'c>(
    mark: DecimalMark,
    delimiter: u8,
    mut cells: impl Iterator<Item = &'c str>,
) -> bool {
    let shows = |cell: &str| {
        let Some((whole, fraction)) = cell.trim().trim_end_matches('%').rsplit_once(',') else {
            return false;
        };
        let is_digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let digits = fraction.chars().take_while(char::is_ascii_digit).count();
        let whole_is_number = is_digits(&whole.replace(['.', ' ', '+', '-'], ""));
        whole_is_number
            && digits > 0
            && (digits != 3 || delimiter != b',')
            && !fraction.contains('.')
    };
    match mark {
        DecimalMark::Point => false,
        DecimalMark::Comma => true,
        DecimalMark::Auto => cells.any(shows),
    }
}

/// `1,234,567.8`
fn has_thousands(digits: &str) -> bool {
    let whole = digits.split_once('.').map_or(digits, |(whole, _)| whole);
    let mut groups = whole.trim_start_matches(['+', '-']).split(',');
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    let is_digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    rest.peek().is_some()
        && (1..=3).contains(&first.len())
        && is_digits(first)
        && rest.all(|group| group.len() == 3 && is_digits(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_missing_or_something_else() {
        let check = |text: &str, comma: bool, expected: Cell| {
            assert_eq!(cell(text, comma), expected, "{text}")
        };
        check("1.5", false, Cell::Number(1.5));
        check(" -2e-3 ", false, Cell::Number(-0.002));
        check("1,234,567.5", false, Cell::Number(1_234_567.5));
        check("12,34", false, Cell::Other);
        check("1,5", true, Cell::Number(1.5));
        check("1.234,5", true, Cell::Number(1234.5));
        check("95 %", false, Cell::Number(95.0));
        check("", false, Cell::Missing);
        check("NaN", false, Cell::Missing);
        check("n/a", false, Cell::Missing);
        check("inf", false, Cell::Other);
        check("1e999", false, Cell::Other);
        check("12 s", false, Cell::Other);
        check("+-", false, Cell::Other);
    }

    #[test]
    fn the_decimal_comma_is_found() {
        let check = |cells: &[&str], delimiter: u8, expected: bool| {
            let found = uses_decimal_comma(DecimalMark::Auto, delimiter, cells.iter().copied());
            assert_eq!(found, expected, "{cells:?}");
        };
        check(&["12", "1,5"], b';', true);
        check(&["1.5", "2.5"], b';', false);
        check(&["1,234"], b';', true);
        check(&["1,234"], b',', false);
        check(&["1,23"], b',', true);
        check(&["a,5"], b';', false);
        check(&["1,234.5"], b';', false);
    }
}
