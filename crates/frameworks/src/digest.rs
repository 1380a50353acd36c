//! A short name for what was made from a text, so that a changed text is noticed.

/// Sixteen hexadecimal digits: FNV-1a. Nobody forges these texts.
pub(crate) fn digest<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        // The zero keeps ("ab", "c") and ("a", "bc") apart.
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
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
