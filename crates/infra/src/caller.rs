//! From which addresses a machine may be reached.

use std::net::IpAddr;
use std::time::Duration;

use crate::error::InfraError;

/// Answers with the address that it sees, and nothing else.
const ECHO: &str = "https://checkip.amazonaws.com";
const PATIENCE: Duration = Duration::from_secs(10);
const MOST_BYTES: u64 = 200;

/// This machine's address as the world sees it, as a range of one: `203.0.113.7/32`.
pub fn caller_address() -> Result<String, InfraError> {
    let unknown = |why: &dyn std::fmt::Display| {
        InfraError::Refused(format!(
            "the address of this machine could not be found ({ECHO}: {why}): give the addresses that may connect with --caller 203.0.113.7/32"
        ))
    };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .build()
        .into();
    let mut response = agent.get(ECHO).call().map_err(|e| unknown(&e))?;
    let text = response.body_mut().with_config().limit(MOST_BYTES);
    let text = text.read_to_string().map_err(|e| unknown(&e))?;
    let address: IpAddr = text.trim().parse().map_err(|e| unknown(&e))?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    Ok(format!("{address}/{bits}"))
}

/// `203.0.113.7` or `203.0.113.0/24`, as a range.
pub fn check_range(text: &str) -> Result<String, InfraError> {
    let wrong = || {
        InfraError::Refused(format!(
            "`{}` is not an address or a range such as 203.0.113.7/32",
            text.escape_debug()
        ))
    };
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let most: u8 = if address.is_ipv4() { 32 } else { 128 };
    let bits = match bits {
        Some(bits) => bits.parse().ok().filter(|b| *b <= most).ok_or_else(wrong)?,
        None => most,
    };
    if bits == 0 {
        return Err(InfraError::Refused(format!(
            "`{text}` would let everybody connect"
        )));
    }
    Ok(format!("{address}/{bits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(check_range(text).ok().as_deref(), expected, "{text}");
        };
        check("203.0.113.7", Some("203.0.113.7/32"));
        check("203.0.113.0/24", Some("203.0.113.0/24"));
        check("2001:db8::1", Some("2001:db8::1/128"));
        check("0.0.0.0/0", None);
        check("203.0.113.7/33", None);
        check("${file(\"/etc/passwd\")}", None);
        check("", None);
    }
}
