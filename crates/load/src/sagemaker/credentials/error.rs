use std::io;
use std::path::Path;

/// Why there are no credentials, as a sentence. Never holds one.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CredentialsError(String);

impl CredentialsError {
    pub(super) fn new(sentence: impl Into<String>) -> Self {
        CredentialsError(sentence.into())
    }

    /// One half without the other.
    pub(super) fn half(place: &str, missing: &str) -> Self {
        CredentialsError(format!(
            "{place} has incomplete credentials: {missing} is missing"
        ))
    }

    pub(super) fn not_yet(way: &str, profile: &str) -> Self {
        CredentialsError(format!(
            "credentials by {way} are not supported yet; export them first: eval \"$(aws configure export-credentials --profile {profile} --format env)\""
        ))
    }

    pub(super) fn file(path: &Path, error: &io::Error) -> Self {
        CredentialsError(format!("{} cannot be read: {error}", path.display()))
    }

    /// The place answered something else than credentials.
    pub(super) fn answer(place: &str, why: &str) -> Self {
        CredentialsError(format!("{place} gave no credentials: {why}"))
    }

    /// An address to which credentials must not be requested in the clear.
    pub(super) fn foreign(variable: &str, url: &str) -> Self {
        CredentialsError(format!(
            "{variable} names `{url}`, but credentials are only requested from this machine (http:// with a loopback or link-local address)"
        ))
    }
}
