//! Services on this machine that hand out credentials: asked in the clear, so only at addresses
//! that do not leave it.

use std::net::IpAddr;
use std::time::Duration;

use ureq::http::Uri;

use crate::sagemaker::http::{Limits, Web};

/// Where there is no such service, packets often vanish unanswered: this much of a start is lost.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn web() -> Web {
    let limits = Limits {
        connect: PATIENCE,
        whole: 2 * PATIENCE,
    };
    Web::new(limits, true)
}

/// Whether an `http://` address is one of this machine's: loopback or link-local, or the one
/// that Amazon's clusters give to their agent (`fd00:ec2::/32`, never routed).
pub(super) fn is_local(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else {
        return false;
    };
    let named = uri
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'));
    let Some(host) = uri
        .host()
        .filter(|_| !named && uri.scheme_str() == Some("http"))
    else {
        return false;
    };
    match host.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_link_local(),
        Ok(IpAddr::V6(address)) => {
            address.is_loopback()
                || address.is_unicast_link_local()
                || address.segments()[..2] == [0xfd00, 0x0ec2]
        }
        Err(_) => host == "localhost",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_local() {
        for url in [
            "http://169.254.170.2/x",
            "http://127.0.0.1:80/",
            "http://localhost:8080/a",
            "http://[::1]/",
            "http://[fd00:ec2::23]/v1/credentials",
        ] {
            assert!(is_local(url), "{url}");
        }
        for url in [
            "http://example.com/",
            "http://10.0.0.1/",
            "http://127.0.0.1.example.com/",
            "http://127.0.0.1@example.com/",
            "http://localhost@127.0.0.1/",
            "http://localhost.example.com/",
            "https://127.0.0.1/",
            "ftp://127.0.0.1/",
            "/relative",
            "",
        ] {
            assert!(!is_local(url), "{url}");
        }
    }
}
