//! AWS Signature Version 4 as pure functions: canonical request → string to sign → signing key →
//! `Authorization` header. The time is passed in.

use jiff::Timestamp;

use host::{Digest, hex};

use crate::sagemaker::hmac::hmac_sha256;
use crate::sagemaker::{Credentials, Header, Secret};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a signature covers. Every header given is signed, so those that others add on the way
/// (`Content-Length`, `User-Agent`) must not be among them; `Host` must.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unsigned<'a> {
    pub(crate) method: &'a str,
    /// As it stands in the URL, percent-encoded where it has to be.
    pub(crate) path: &'a str,
    /// Names and values before percent-encoding.
    pub(crate) query: &'a [(&'a str, &'a str)],
    pub(crate) headers: &'a [Header],
    pub(crate) body: &'a [u8],
}

/// When and for which service a signature counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) now: Timestamp,
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
}

impl Scope<'_> {
    /// `20150830T123600Z`
    pub(crate) fn time(&self) -> String {
        self.now.strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    fn day(&self) -> String {
        self.now.strftime("%Y%m%d").to_string()
    }

    fn text(&self) -> String {
        let Scope {
            region, service, ..
        } = self;
        format!("{}/{region}/{service}/aws4_request", self.day())
    }
}

/// The headers to send: those given, the time, the session's token, and the signature over all.
pub(crate) fn sign(
    request: &Unsigned<'_>,
    scope: &Scope<'_>,
    credentials: &Credentials,
) -> Vec<Header> {
    let mut headers = request.headers.to_vec();
    headers.push(Header::new("x-amz-date", scope.time()));
    if let Some(token) = &credentials.session_token {
        headers.push(Header::new("x-amz-security-token", token.reveal()));
    }
    let complete = Unsigned {
        headers: &headers,
        ..*request
    };
    let value = authorization(&complete, scope, credentials);
    headers.push(Header::new("authorization", value));
    headers
}

/// The `Authorization` header's value for a request that has all its headers.
pub(crate) fn authorization(
    request: &Unsigned<'_>,
    scope: &Scope<'_>,
    credentials: &Credentials,
) -> String {
    let to_sign = string_to_sign(scope, &canonical_request(request));
    let key = signing_key(&credentials.secret_access_key, scope);
    format!(
        "{ALGORITHM} Credential={}/{}, SignedHeaders={}, Signature={}",
        credentials.access_key_id,
        scope.text(),
        signed_names(&canonical_headers(request.headers)),
        signature(&key, &to_sign)
    )
}

pub(crate) fn canonical_request(request: &Unsigned<'_>) -> String {
    let headers = canonical_headers(request.headers);
    let lines: String = headers
        .iter()
        .map(|header| format!("{}:{}\n", header.name, header.value))
        .collect();
    format!(
        "{}\n{}\n{}\n{lines}\n{}\n{}",
        request.method,
        canonical_path(request.path),
        canonical_query(request.query),
        signed_names(&headers),
        Digest::of(request.body)
    )
}

pub(crate) fn string_to_sign(scope: &Scope<'_>, canonical_request: &str) -> String {
    format!(
        "{ALGORITHM}\n{}\n{}\n{}",
        scope.time(),
        scope.text(),
        Digest::of(canonical_request)
    )
}

pub(crate) fn signing_key(secret: &Secret, scope: &Scope<'_>) -> [u8; 32] {
    let start = format!("AWS4{}", secret.reveal());
    let key = hmac_sha256(start.as_bytes(), scope.day().as_bytes());
    let key = hmac_sha256(&key, scope.region.as_bytes());
    let key = hmac_sha256(&key, scope.service.as_bytes());
    hmac_sha256(&key, b"aws4_request")
}

pub(crate) fn signature(key: &[u8; 32], string_to_sign: &str) -> String {
    hex(&hmac_sha256(key, string_to_sign.as_bytes()))
}

/// Names in lower case and in order, values with single blanks, equal names in one line.
fn canonical_headers(headers: &[Header]) -> Vec<Header> {
    let mut sorted: Vec<Header> = headers
        .iter()
        .map(|header| Header {
            name: header.name.to_ascii_lowercase(),
            value: single_blanks(&header.value),
        })
        .collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut joined: Vec<Header> = Vec::new();
    for header in sorted {
        match joined.last_mut() {
            Some(last) if last.name == header.name => {
                last.value.push(',');
                last.value.push_str(&header.value);
            }
            _ => joined.push(header),
        }
    }
    joined
}

fn single_blanks(value: &str) -> String {
    value
        .split([' ', '\t'])
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn signed_names(headers: &[Header]) -> String {
    let names: Vec<&str> = headers.iter().map(|header| header.name.as_str()).collect();
    names.join(";")
}

/// Every service but S3 encodes the path of the URL once more.
fn canonical_path(path: &str) -> String {
    if path.is_empty() {
        return "/".to_owned();
    }
    path.split('/')
        .map(percent_encoded)
        .collect::<Vec<_>>()
        .join("/")
}

fn canonical_query(query: &[(&str, &str)]) -> String {
    let mut pairs: Vec<(String, String)> = query
        .iter()
        .map(|(name, value)| (percent_encoded(name), percent_encoded(value)))
        .collect();
    pairs.sort();
    let pairs: Vec<String> = pairs
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

/// RFC 3986: everything but the unreserved characters.
fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
#[path = "sign_tests.rs"]
mod tests;
