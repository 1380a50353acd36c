use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there are no credentials. Never holds one.
#[derive(Debug)]
pub enum CredentialsError {
    /// No place of the chain had any.
    Nowhere {
        tried: Vec<String>,
    },
    /// One half without the other.
    Half {
        place: String,
        missing: &'static str,
    },
    NoProfile {
        name: String,
        known: Vec<String>,
    },
    /// A way that is not spoken here.
    NotYet {
        way: String,
        profile: String,
    },
    File {
        path: PathBuf,
        error: io::Error,
    },
    /// `credential_process` did not do its work.
    Process {
        profile: String,
        why: String,
    },
    /// The place answered something else than credentials.
    Answer {
        place: &'static str,
        why: String,
    },
    /// An address to which credentials must not be requested in the clear.
    Foreign {
        variable: &'static str,
        url: String,
    },
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialsError::Nowhere { tried } => write!(
                f,
                "no AWS credentials were found ({}); set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws configure`",
                tried.join("; ")
            ),
            CredentialsError::Half { place, missing } => {
                write!(
                    f,
                    "{place} has incomplete credentials: {missing} is missing"
                )
            }
            CredentialsError::NoProfile { name, known } => {
                write!(f, "there is no AWS profile `{name}`")?;
                match known.is_empty() {
                    true => f.write_str("; the AWS files have none"),
                    false => write!(f, "; the AWS files have {}", known.join(", ")),
                }
            }
            CredentialsError::NotYet { way, profile } => write!(
                f,
                "credentials by {way} are not supported yet; export them first: eval \"$(aws configure export-credentials --profile {profile} --format env)\""
            ),
            CredentialsError::File { path, error } => {
                write!(f, "{} cannot be read: {error}", path.display())
            }
            CredentialsError::Process { profile, why } => {
                write!(
                    f,
                    "the credential_process of the AWS profile `{profile}` {why}"
                )
            }
            CredentialsError::Answer { place, why } => {
                write!(f, "{place} gave no credentials: {why}")
            }
            CredentialsError::Foreign { variable, url } => write!(
                f,
                "{variable} names `{url}`, but credentials are only requested from this machine (http:// with a loopback or link-local address)"
            ),
        }
    }
}

impl std::error::Error for CredentialsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CredentialsError::File { error, .. } => Some(error),
            _ => None,
        }
    }
}
