//! Credentials as JSON: what programs, containers and machines answer. One reader for the three,
//! whose fields differ by a name.

use jiff::Timestamp;
use serde::Deserialize;

use super::Credentials;
use crate::sagemaker::Secret;

/// Without `Debug`, so that it cannot be shown.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Wire {
    code: Option<String>,
    version: Option<u32>,
    access_key_id: Option<String>,
    secret_access_key: Option<String>,
    #[serde(alias = "SessionToken")]
    token: Option<String>,
    expiration: Option<String>,
}

/// The error is the end of a sentence and repeats nothing of the text.
pub(super) fn read(text: &[u8], source: &'static str) -> Result<Credentials, String> {
    let wire: Wire = serde_json::from_slice(text).map_err(|error| {
        format!(
            "its response is not JSON with credentials (line {}, column {})",
            error.line(),
            error.column()
        )
    })?;
    if let Some(code) = wire.code.filter(|code| code != "Success") {
        return Err(format!("it returned `{code}`"));
    }
    if let Some(version) = wire.version.filter(|version| *version != 1) {
        return Err(format!("its response has version {version}, not 1"));
    }
    let (Some(access_key_id), Some(secret)) = (wire.access_key_id, wire.secret_access_key) else {
        return Err("its response has no AccessKeyId or no SecretAccessKey".to_owned());
    };
    Ok(Credentials {
        access_key_id,
        secret_access_key: Secret::new(secret),
        session_token: wire
            .token
            .filter(|token| !token.is_empty())
            .map(Secret::new),
        expires: expiration(wire.expiration.as_deref())?,
        source,
    })
}

fn expiration(text: Option<&str>) -> Result<Option<Timestamp>, String> {
    let Some(text) = text else { return Ok(None) };
    let read = text.parse();
    read.map(Some)
        .map_err(|_| "its Expiration is not a time".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_names_of_the_token_are_read() {
        for name in ["Token", "SessionToken"] {
            let text = format!(
                r#"{{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "{name}": "c", "Expiration": "2026-01-01T00:00:00Z"}}"#
            );
            let read = read(text.as_bytes(), "a test").unwrap();
            assert_eq!(read.session_token, Some(Secret::new("c")));
            assert!(read.expires.is_some());
        }
    }

    #[test]
    fn mistakes_are_sentences_without_secrets() {
        let check = |text: &str, expected: &str| {
            let problem = read(text.as_bytes(), "a test").err().unwrap();
            assert!(problem.contains(expected), "{problem}");
            assert!(!problem.contains("hidden"), "{problem}");
        };
        check(r#"{"SecretAccessKey": "hidden""#, "not JSON");
        check(r#"{"SecretAccessKey": ["hidden"]}"#, "not JSON");
        check(r#"{"SecretAccessKey": "hidden"}"#, "no AccessKeyId");
        check(r#"{"Code": "Failed"}"#, "`Failed`");
        check(r#"{"Version": 2}"#, "version 2");
        check(
            r#"{"AccessKeyId": "a", "SecretAccessKey": "hidden", "Expiration": "soon"}"#,
            "not a time",
        );
    }
}
