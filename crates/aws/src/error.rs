use std::fmt;

use crate::{CredentialsError, Refusal};

/// Why something could not be done at AWS. No variant holds a secret.
#[derive(Debug)]
pub enum AwsError {
    Credentials(CredentialsError),
    NoRegion,
    Region {
        region: String,
    },
    /// The address given instead of AWS's is invalid.
    Address {
        url: String,
    },
    /// The endpoint requested makes no sense; each sentence says why.
    Spec {
        mistakes: Vec<String>,
    },
    /// The service refused.
    Refused {
        asked: String,
        refusal: Refusal,
    },
    Unreachable {
        asked: String,
        problem: String,
        /// Some of it may have arrived.
        sent: bool,
    },
    /// Not the answer that the service documents.
    Answer {
        asked: String,
        problem: String,
    },
    /// The service could not bring the endpoint into service.
    Failed {
        endpoint: String,
        status: String,
        reason: String,
    },
    TooLong {
        endpoint: String,
        status: String,
        seconds: u64,
    },
    /// The caller did not want to wait longer.
    Stopped {
        endpoint: String,
    },
}

impl AwsError {
    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        match self {
            AwsError::Refused { refusal, .. } => Some(refusal),
            _ => None,
        }
    }
}

impl fmt::Display for AwsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AwsError::Credentials(error) => error.fmt(f),
            AwsError::NoRegion => f.write_str(
                "the AWS region is not set; set AWS_REGION, or `region` in the AWS profile",
            ),
            AwsError::Region { region } => {
                write!(f, "`{region}` is not an AWS region such as us-east-1")
            }
            AwsError::Address { url } => write!(
                f,
                "`{url}` is not a valid address; write http://host:port or https://host"
            ),
            AwsError::Spec { mistakes } => {
                write!(
                    f,
                    "this endpoint cannot be created: {}",
                    mistakes.join("; ")
                )
            }
            AwsError::Refused { asked, refusal } => write!(f, "{asked} was refused: {refusal}"),
            AwsError::Unreachable { asked, problem, .. } => write!(
                f,
                "{asked} did not reach AWS: {problem}; check the network, the region and AWS_ENDPOINT_URL"
            ),
            AwsError::Answer { asked, problem } => {
                write!(f, "the response to {asked} cannot be parsed: {problem}")
            }
            AwsError::Failed {
                endpoint,
                status,
                reason,
            } => write!(
                f,
                "the endpoint `{endpoint}` did not come into service (status {status}): {}; its container's log is in CloudWatch, /aws/sagemaker/Endpoints/{endpoint}",
                reason.trim_end_matches('.')
            ),
            AwsError::TooLong {
                endpoint,
                status,
                seconds,
            } => write!(
                f,
                "the endpoint `{endpoint}` was still {status} after {seconds} s; its container must respond to GET /ping within 4 minutes"
            ),
            AwsError::Stopped { endpoint } => {
                write!(f, "waiting for the endpoint `{endpoint}` was stopped")
            }
        }
    }
}

impl std::error::Error for AwsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            AwsError::Credentials(error) => Some(error),
            _ => None,
        }
    }
}

impl From<CredentialsError> for AwsError {
    fn from(error: CredentialsError) -> Self {
        AwsError::Credentials(error)
    }
}
