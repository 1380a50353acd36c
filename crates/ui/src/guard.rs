//! Who is answered: a browser on this machine that was given the address. Another site that the same
//! browser has open can send requests here; it knows no token, and is told apart by the headers that a
//! browser sets itself.

use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Method, StatusCode};

/// Digits of the token: 128 bits.
pub(crate) const TOKEN_DIGITS: usize = 32;

/// Nothing is loaded from elsewhere or inline, nothing may frame the page, forms go here only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A report brings its own script, and runs apart from this site: it cannot ask for anything here.
const REPORT_POLICY: &str = "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; \
                             script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; \
                             font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) token: String,
    pub(crate) port: u16,
}

/// Why a request is not answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) why: &'static str,
}

impl Guard {
    /// What follows the token in the path.
    pub(crate) fn admit<'p>(
        &self,
        method: &Method,
        path: &'p str,
        headers: &HeaderMap,
    ) -> Result<&'p str, Refused> {
        let refused = |status, why| Err(Refused { status, why });
        if !self.is_own_host(headers) {
            return refused(
                StatusCode::MISDIRECTED_REQUEST,
                "this is not the host asked for",
            );
        }
        let Some(rest) = self.behind_token(path) else {
            let why = "open the address that `bancada ui` printed: it contains a token";
            return refused(StatusCode::FORBIDDEN, why);
        };
        let foreign = || refused(StatusCode::FORBIDDEN, "requests of other sites are refused");
        match headers.get(ORIGIN) {
            Some(origin) if !self.is_own_origin(origin) => return foreign(),
            // Every browser says where a form comes from.
            None if *method == Method::POST => return foreign(),
            _ => {}
        }
        let fetch = |name: &'static str| {
            let value = headers.get(HeaderName::from_static(name));
            value.and_then(|value| value.to_str().ok()).unwrap_or("")
        };
        let is_visit = *method == Method::GET && fetch("sec-fetch-mode") == "navigate";
        match fetch("sec-fetch-site") {
            "" | "none" | "same-origin" => Ok(rest),
            _ if is_visit && fetch("sec-fetch-dest") == "document" => Ok(rest),
            _ => foreign(),
        }
    }

    /// A name of another site may point to this machine.
    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        let only = (hosts.next(), hosts.next());
        let (Some(host), None) = only else {
            return false;
        };
        self.own_hosts().iter().any(|own| host == own.as_str())
    }

    fn is_own_origin(&self, origin: &HeaderValue) -> bool {
        let own = self.own_hosts();
        own.iter()
            .any(|host| origin == format!("http://{host}").as_str())
    }

    fn own_hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port))
    }

    /// The time does not depend on how many digits are right.
    fn behind_token<'p>(&self, path: &'p str) -> Option<&'p str> {
        let given = path.strip_prefix('/')?;
        let (given, rest) = given.split_at_checked(TOKEN_DIGITS)?;
        let pairs = given.bytes().zip(self.token.bytes());
        let difference = pairs.fold(0, |difference, (a, b)| difference | (a ^ b));
        let is_token = difference == 0 && self.token.len() == TOKEN_DIGITS;
        (is_token && (rest.is_empty() || rest.starts_with('/'))).then_some(rest)
    }
}

/// On every answer.
pub(crate) fn secure(headers: &mut HeaderMap, is_report: bool) {
    let policy = match is_report {
        true => REPORT_POLICY,
        false => POLICY,
    };
    for (name, value) in [
        ("content-security-policy", policy),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        // The address has the token in it.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        let name = HeaderName::from_static(name);
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(
        method: &Method,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<String, u16> {
        let guard = Guard {
            token: "0123456789abcdef0123456789abcdef".to_owned(),
            port: 8000,
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let admitted = guard.admit(method, path, &map);
        admitted
            .map(str::to_owned)
            .map_err(|refused| refused.status.as_u16())
    }

    const PATH: &str = "/0123456789abcdef0123456789abcdef/s/1";
    const HOST: (&str, &str) = ("host", "127.0.0.1:8000");

    #[test]
    fn the_token_and_the_host_are_needed() {
        let check = |path: &str, headers: &[(&'static str, &str)], expected: Result<&str, u16>| {
            let expected = expected.map(str::to_owned);
            assert_eq!(
                admitted(&Method::GET, path, headers),
                expected,
                "{path} {headers:?}"
            );
        };
        check(PATH, &[HOST], Ok("/s/1"));
        check(PATH, &[("host", "localhost:8000")], Ok("/s/1"));
        check(&PATH[..33], &[HOST], Ok(""));
        check("/", &[HOST], Err(403));
        check("/s/1", &[HOST], Err(403));
        check("/0123456789abcdef0123456789abcdee/s/1", &[HOST], Err(403));
        check("/0123456789abcdef0123456789abcdef0/s/1", &[HOST], Err(403));
        check("/0123456789abcdef0123456789abcdeé", &[HOST], Err(403));
        check(PATH, &[], Err(421));
        check(PATH, &[("host", "127.0.0.1")], Err(421));
        check(PATH, &[("host", "evil.example:8000")], Err(421));
        check(PATH, &[HOST, ("host", "evil.example:8000")], Err(421));
    }

    #[test]
    fn other_sites_are_refused_even_with_the_token() {
        let check =
            |method: &Method, headers: &[(&'static str, &str)], expected: Result<&str, u16>| {
                let headers = [&[HOST], headers].concat();
                let expected = expected.map(str::to_owned);
                assert_eq!(
                    admitted(method, PATH, &headers),
                    expected,
                    "{method} {headers:?}"
                );
            };
        let own = ("origin", "http://127.0.0.1:8000");
        check(&Method::POST, &[own], Ok("/s/1"));
        check(&Method::POST, &[], Err(403));
        check(&Method::POST, &[("origin", "null")], Err(403));
        for foreign in [
            "http://evil.example",
            "http://127.0.0.1:8001",
            "https://127.0.0.1:8000",
        ] {
            check(&Method::POST, &[("origin", foreign)], Err(403));
            check(&Method::GET, &[("origin", foreign)], Err(403));
        }
        check(
            &Method::GET,
            &[("sec-fetch-site", "same-origin")],
            Ok("/s/1"),
        );
        for site in ["cross-site", "same-site"] {
            check(&Method::GET, &[("sec-fetch-site", site)], Err(403));
            check(&Method::POST, &[own, ("sec-fetch-site", site)], Err(403));
            let framed = [
                ("sec-fetch-site", site),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "iframe"),
            ];
            check(&Method::GET, &framed, Err(403));
            // The address in a mail or a notebook may be followed.
            let visit = [
                ("sec-fetch-site", site),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ];
            check(&Method::GET, &visit, Ok("/s/1"));
        }
    }
}
