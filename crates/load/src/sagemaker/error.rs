use crate::sagemaker::{CredentialsError, Refusal};

/// Why something could not be done at AWS. No variant holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum AwsError {
    /// The service refused.
    #[error("{asked} was refused: {refusal}")]
    Refused { asked: String, refusal: Refusal },
    #[error(
        "{asked} did not reach AWS: {problem}; check the network, the region and AWS_ENDPOINT_URL"
    )]
    Unreachable {
        asked: String,
        problem: String,
        /// Some of it may have arrived.
        sent: bool,
    },
    /// Not the answer that the service documents.
    #[error("the response to {asked} cannot be parsed: {problem}")]
    Answer { asked: String, problem: String },
    /// Everything else, as a sentence.
    #[error("{0}")]
    Other(String),
}

impl AwsError {
    pub(crate) fn other(sentence: impl Into<String>) -> Self {
        AwsError::Other(sentence.into())
    }

    /// The endpoint requested makes no sense; each sentence says why.
    pub(crate) fn spec(mistakes: &[String]) -> Self {
        let mistakes = mistakes.join("; ");
        AwsError::Other(format!("this endpoint cannot be created: {mistakes}"))
    }

    pub(crate) fn too_long(endpoint: &str, status: &str, seconds: u64) -> Self {
        AwsError::Other(format!(
            "the endpoint `{endpoint}` was still {status} after {seconds} s; its container must respond to GET /ping within 4 minutes"
        ))
    }

    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        match self {
            AwsError::Refused { refusal, .. } => Some(refusal),
            _ => None,
        }
    }
}

impl From<CredentialsError> for AwsError {
    fn from(error: CredentialsError) -> Self {
        AwsError::Other(error.to_string())
    }
}
