//! Machine types, services and regions as catalogs and bills spell them.

use model::{PaidPhases, Price};

use crate::categories::{Service, rules};
use crate::charge::{Charge, Provider, contains};

/// At the end of a price's name, and in rows of such machines.
const SPOT_MARK: &str = "+spot";
const SPOT_WORDS: [&str; 2] = ["spot", "preemptible"];

/// `3 × azure/Standard_F4s_v2@eastus`, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Machines<'n> {
    /// Sixteen bits, so that no number typed into a record makes sums overflow.
    pub(crate) count: u16,
    pub(crate) name: &'n str,
}

impl<'n> Machines<'n> {
    pub(crate) fn parse(name: &'n str) -> Machines<'n> {
        let several = name.split_once(" × ").and_then(|(count, name)| {
            let count = count.parse().ok().filter(|count| *count > 0)?;
            Some(Machines { count, name })
        });
        several.unwrap_or(Machines { count: 1, name })
    }
}

/// What the runs of a price are looked for by on a bill.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sought {
    Machine(MachineName),
    Service(ServiceName),
    /// The price names nothing that a provider bills.
    Nothing,
}

impl Sought {
    pub(crate) fn of(price: &Price) -> Sought {
        let name = Machines::parse(&price.machine).name;
        let machine = || MachineName::parse(name).map_or(Sought::Nothing, Sought::Machine);
        ServiceName::of(price).map_or_else(machine, Sought::Service)
    }

    pub(crate) fn provider(&self) -> Option<Provider> {
        match self {
            Sought::Machine(name) => Some(name.provider),
            Sought::Service(name) => Some(name.provider),
            Sought::Nothing => None,
        }
    }
}

/// A service that is paid by requests.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServiceName {
    pub(crate) provider: Provider,
    pub(crate) service: &'static Service,
    region: Option<Vec<u8>>,
    /// Of a worker, where rows of the service tell it.
    gigabytes: Option<u32>,
}

impl ServiceName {
    fn of(price: &Price) -> Option<ServiceName> {
        if price.billing.paid != PaidPhases::Requests {
            return None;
        }
        let name = Machines::parse(&price.machine).name;
        let rule = price.billing.origin.as_ref().map(|origin| &origin.name);
        let by_rule = || rule.and_then(|rule| rules().service(rule));
        let service = rules().service(name).or_else(by_rule)?;
        let provider = service.name.split('/').next().unwrap_or_default();
        Some(ServiceName {
            provider: Provider::of_name(provider),
            service,
            region: region_of(name).map(sorted_letters),
            gigabytes: service.memory.as_ref().and_then(|_| gigabytes(name)),
        })
    }

    pub(crate) fn tells_memory(&self) -> bool {
        self.gigabytes.is_some()
    }

    pub(crate) fn is_in(&self, charge: &Charge) -> bool {
        is_of_provider(self.provider, charge)
            && is_in_region(self.region.as_deref(), &charge.region)
            && self.service.is_named(charge)
            && self.has_memory_of(charge)
    }

    /// A row that does not tell it may be of any.
    fn has_memory_of(&self, charge: &Charge) -> bool {
        let (Some(before), Some(wanted)) = (&self.service.memory, self.gigabytes) else {
            return true;
        };
        let texts = [&charge.meter, &charge.sku, &charge.description];
        let told = texts.iter().find_map(|text| {
            let (_, rest) = text.split_once(before.as_str())?;
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse::<u32>().ok()
        });
        told.is_none_or(|told| told == wanted)
    }
}

/// Of `aws/sagemaker-serverless-2048@us-east-1`.
fn gigabytes(name: &str) -> Option<u32> {
    let machine = name.split('@').next()?;
    let megabytes: u32 = machine.rsplit('-').next()?.parse().ok()?;
    Some(megabytes / 1024)
}

/// Without the currency and the mark that may stand behind it.
fn region_of(name: &str) -> Option<&str> {
    let (_, region) = name.split_once('@')?;
    region.split([':', '+']).next()
}

/// Bills of an unknown provider may be of any.
fn is_of_provider(wanted: Provider, charge: &Charge) -> bool {
    wanted == charge.provider || charge.provider == Provider::Other
}

/// Whether the row says that the machine is one that may be taken away.
pub(crate) fn is_spot(charge: &Charge) -> bool {
    let texts = [&charge.meter, &charge.sku, &charge.description];
    let has = |text: &str, word: &str| contains(text.as_bytes(), word.as_bytes());
    let mut words = SPOT_WORDS.iter();
    words.any(|word| texts.iter().any(|text| has(text, word)))
}

/// A machine type to look for in the texts of a bill.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MachineName {
    pub(crate) provider: Provider,
    /// Letters and digits in lower case, without Azure's `Standard`.
    squeezed: Vec<u8>,
    /// Letters of the region in alphabetical order.
    region: Option<Vec<u8>>,
    /// Priced as one that may be taken away.
    pub(crate) spot: bool,
}

impl MachineName {
    /// Of `azure/Standard_NC4as_T4_v3@eastus`. `None` if no provider is named: such a machine is
    /// on nobody's bill.
    pub(crate) fn parse(name: &str) -> Option<MachineName> {
        let (provider, rest) = name.split_once('/')?;
        let machine = rest.split(['@', ':', '+']).next().unwrap_or(rest);
        let lower = machine.to_ascii_lowercase();
        let bare = lower.strip_prefix("standard_").unwrap_or(&lower);
        let squeezed: Vec<u8> = bare.bytes().filter(u8::is_ascii_alphanumeric).collect();
        (!squeezed.is_empty()).then(|| MachineName {
            provider: Provider::of_name(provider),
            squeezed,
            region: region_of(name).map(sorted_letters),
            spot: name.ends_with(SPOT_MARK),
        })
    }

    /// Whether a row of a machine is of this one.
    pub(crate) fn is_machine_of(&self, charge: &Charge) -> bool {
        let texts = [
            &charge.machine,
            &charge.meter,
            &charge.sku,
            &charge.description,
        ];
        // What names a machine by itself is the last word on it.
        let texts = match charge.machine.is_empty() {
            true => &texts[..],
            false => &texts[..1],
        };
        is_of_provider(self.provider, charge)
            && is_in_region(self.region.as_deref(), &charge.region)
            && texts.iter().any(|text| self.is_in(text))
    }

    /// Whether the text names the machine: `NC4as T4 v3`, `USE1-BoxUsage:g4dn.xlarge`,
    /// `D2 v3/D2s v3`. Signs inside a name do not count; before and after it must not stand
    /// anything that makes it another name, such as `ml.` or `db.`.
    fn is_in(&self, text: &str) -> bool {
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
}

/// A row without region may be of any.
fn is_in_region(wanted: Option<&[u8]>, region: &str) -> bool {
    let Some(wanted) = wanted else {
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
            let found = is_in_region(name.region.as_deref(), region);
            assert_eq!(found, expected, "{machine} in {region}");
        };
        check("azure/X1@eastus", "EastUS", true);
        check("azure/X1@eastus", "US East", true);
        check("azure/X1@eastus", "eastus2", false);
        check("azure/X1@eastus", "", true);
        check("azure/X1@eastus+spot", "EastUS", true);
        check("azure/X1@eastus:BRL", "EastUS", true);
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

    #[test]
    fn several_machines_are_that_machine() {
        let mut price = Price {
            machine: "azure/Standard_F4s_v2@eastus".to_owned(),
            ..Price::typed_in(model::Money::zero(model::Currency::USD))
        };
        let alone = Sought::of(&price);
        price.of_machines(3);
        let (count, name) = (3, "azure/Standard_F4s_v2@eastus");
        assert_eq!(Machines::parse(&price.machine), Machines { count, name });
        assert_eq!(Sought::of(&price), alone);
        let check = |name: &str| assert_eq!(Machines::parse(name), Machines { count: 1, name });
        check("0 × azure/X1");
        check("99999999 × azure/X1");
        check("own");
    }
}
