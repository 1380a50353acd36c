//! Machine types and regions as catalogs and bills spell them.

use crate::charge::Provider;

/// A machine type to look for in the texts of a bill.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MachineName {
    pub(crate) provider: Provider,
    /// Letters and digits in lower case, without Azure's `Standard`.
    squeezed: Vec<u8>,
    /// Letters of the region in alphabetical order.
    region: Option<Vec<u8>>,
}

impl MachineName {
    /// Of `azure/Standard_NC4as_T4_v3@eastus`. None where no provider is named: such a machine is
    /// on nobody's bill.
    pub(crate) fn parse(name: &str) -> Option<MachineName> {
        let (provider, rest) = name.split_once('/')?;
        let (machine, region) = match rest.split_once('@') {
            Some((machine, region)) => (machine, Some(region)),
            None => (rest, None),
        };
        let lower = machine.to_ascii_lowercase();
        let bare = lower.strip_prefix("standard_").unwrap_or(&lower);
        let squeezed: Vec<u8> = bare.bytes().filter(u8::is_ascii_alphanumeric).collect();
        (!squeezed.is_empty()).then(|| MachineName {
            provider: Provider::of_name(provider),
            squeezed,
            region: region.map(sorted_letters),
        })
    }

    /// Whether the text names the machine: `NC4as T4 v3`, `USE1-BoxUsage:g4dn.xlarge`,
    /// `D2 v3/D2s v3`. Signs inside a name do not count; before and after it must not stand
    /// anything that makes it another name, such as `ml.` or `db.`.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        (0..bytes.len()).any(|at| {
            let begins = match at.checked_sub(1).map(|before| bytes[before]) {
                None => true,
                // `Standard_` is the one prefix that changes nothing.
                Some(b'_') => ends_with_standard(&bytes[..at - 1]),
                Some(before) => !is_of_a_name(before),
            };
            begins && self.matches_at(&bytes[at..])
        })
    }

    fn matches_at(&self, text: &[u8]) -> bool {
        let mut wanted = self.squeezed.iter();
        let mut next = wanted.next();
        for (at, byte) in text.iter().enumerate() {
            match next {
                None => return ends_here(&text[at..]),
                Some(letter) if byte.eq_ignore_ascii_case(letter) => next = wanted.next(),
                Some(_) if at > 0 && matches!(byte, b' ' | b'_' | b'-' | b'.') => {}
                Some(_) => return false,
            }
        }
        next.is_none()
    }

    /// A row without region may be of any.
    pub(crate) fn is_in_region(&self, region: &str) -> bool {
        let Some(wanted) = self.region.as_deref() else {
            return true;
        };
        let found = sorted_letters(region);
        if found.is_empty() || found == wanted {
            return true;
        }
        // `us-east-1a` is a zone of `us-east-1`, and `us-central1-a` of `us-central1`.
        let zone = region.trim_end_matches(|c: char| c.is_ascii_lowercase());
        sorted_letters(zone) == wanted
    }
}

/// `eastus`, `US East` and `EastUS` are one region: only the letters are the same, not their
/// order. No two regions of a provider have the same ones.
fn sorted_letters(text: &str) -> Vec<u8> {
    let mut letters: Vec<u8> = text
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|b| b.to_ascii_lowercase())
        .collect();
    letters.sort_unstable();
    letters
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

fn ends_with_standard(text: &[u8]) -> bool {
    let word = b"standard";
    text.len() >= word.len() && text[text.len() - word.len()..].eq_ignore_ascii_case(word)
}

/// `v3 Spot` and `v3/D2s` end the name; `v3_Promo` and `xlarge.search` make it another.
fn ends_here(rest: &[u8]) -> bool {
    match rest {
        [first, ..] => !is_of_a_name(*first) || rest == b".",
        [] => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_known_in_every_spelling() {
        let check = |machine: &str, text: &str, expected: bool| {
            let name = MachineName::parse(machine).unwrap();
            assert_eq!(name.is_in(text), expected, "{machine} in {text}");
        };
        let t4 = "azure/Standard_NC4as_T4_v3@eastus";
        check(t4, "NC4as T4 v3", true);
        check(t4, "Standard_NC4as_T4_v3", true);
        check(t4, "standard_nc4as_t4_v3", true);
        check(t4, "NC4as T4 v3 Spot", true);
        check(
            t4,
            "Virtual Machines NCasT4 v3 - NC4as T4 v3 - US East",
            true,
        );
        check(t4, "NC4as T4 v30", false);
        check(t4, "XNC4as T4 v3", false);
        check("azure/Standard_D2s_v3", "D2 v3/D2s v3", true);
        check("azure/Standard_D2_v3", "D2 v3/D2s v3", true);
        check("azure/Standard_D2_v3", "D2s v3", false);
        check(
            "aws/g4dn.xlarge@us-east-1",
            "USE1-BoxUsage:g4dn.xlarge",
            true,
        );
        check(
            "aws/g4dn.xlarge",
            "$0.526 per On Demand Linux g4dn.xlarge Instance Hour",
            true,
        );
        check("aws/m5.xlarge", "USE1-Host:ml.m5.xlarge", false);
        check("sagemaker/ml.m5.xlarge", "USE1-Host:ml.m5.xlarge", true);
        check("aws/m5.large", "db.m5.large", false);
        check("aws/m5.large", "m5.large.search", false);
        check("aws/m5.large", "m5.2xlarge", false);
        check("gcp/n1-standard-4@us-central1", "n1-standard-4", true);
        check("gcp/n1-standard-4", "n1-standard-48", false);
        check("gcp/n1-standard-4", "", false);
    }

    #[test]
    fn regions_are_known_in_every_spelling() {
        let check = |machine: &str, region: &str, expected: bool| {
            let name = MachineName::parse(machine).unwrap();
            assert_eq!(name.is_in_region(region), expected, "{machine} in {region}");
        };
        check("azure/X1@eastus", "EastUS", true);
        check("azure/X1@eastus", "US East", true);
        check("azure/X1@eastus", "eastus2", false);
        check("azure/X1@eastus", "", true);
        check("azure/X1", "westeurope", true);
        check("aws/x1@us-east-1", "us-east-1b", true);
        check("aws/x1@us-east-1", "us-east-2", false);
        check("gcp/x1@us-central1", "us-central1-a", true);
    }

    #[test]
    fn own_machines_are_on_no_bill() {
        assert_eq!(MachineName::parse("own"), None);
        assert_eq!(MachineName::parse("azure/"), None);
    }
}
