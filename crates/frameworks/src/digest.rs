//! A short name for what was made from a text, so that a changed text is noticed.

/// Sixteen hexadecimal digits.
pub(crate) fn digest<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    // The zero keeps ("ab", "c") and ("a", "bc") apart.
    let bytes = |text: &'t str| text.bytes().chain([0]);
    let all: Vec<u8> = texts.into_iter().flat_map(bytes).collect();
    format!("{:016x}", seeded::fnv1a(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_texts_have_different_digests() {
        let check = |a: &[&str], b: &[&str]| {
            assert_ne!(digest(a.iter().copied()), digest(b.iter().copied()));
        };
        check(&["ab", "c"], &["a", "bc"]);
        check(&["ab"], &["ba"]);
        assert_eq!(digest(["ab"]), digest(["ab"]));
        assert_eq!(digest([]).len(), 16);
    }
}
