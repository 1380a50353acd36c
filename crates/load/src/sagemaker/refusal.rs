//! Error responses of a service.

use std::fmt;

use serde_json::Value;

use crate::sagemaker::http::Answer;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// `AccessDeniedException`; empty where the answer names none.
    pub code: String,
    pub message: String,
    pub status: u16,
}

impl Refusal {
    pub(crate) fn read(answer: &Answer) -> Refusal {
        let text = String::from_utf8_lossy(&answer.body);
        let error_type = answer.header("x-amzn-errortype");
        refusal(answer.status, error_type, &text)
    }

    /// For a while only: the same request may be answered later.
    pub(crate) fn is_throttle(&self) -> bool {
        const CODES: [&str; 8] = [
            "ThrottlingException",
            "Throttling",
            "ThrottledException",
            "RequestThrottled",
            "RequestThrottledException",
            "TooManyRequestsException",
            "RequestLimitExceeded",
            "SlowDown",
        ];
        CODES.contains(&self.code.as_str())
            || self.status == 429
            || (self.status == 400 && self.message == "Rate exceeded")
    }

    pub(crate) fn is_passing_fault(&self) -> bool {
        [500, 502, 503, 504].contains(&self.status)
    }

    /// SageMaker has no code of its own for what is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        self.code == "ResourceNotFound"
            || (self.code.starts_with("Validation") && self.message.starts_with("Could not find"))
    }

    /// An endpoint that is being made cannot be deleted before it is made.
    pub(crate) fn is_in_progress(&self) -> bool {
        self.code == "ResourceInUse"
            || (self.code.starts_with("Validation") && self.message.contains("in-progress"))
    }

    /// What a person can do.
    fn advice(&self) -> Option<&'static str> {
        Some(match self.code.as_str() {
            "AccessDeniedException" | "AccessDenied" | "UnauthorizedOperation" => {
                "the credentials are valid but lack permission: add the action to their IAM policy (creating a model also needs iam:PassRole for its role)"
            }
            "ExpiredTokenException" | "ExpiredToken" | "RequestExpired" => {
                "the credentials have expired: sign in again and export new ones"
            }
            "UnrecognizedClientException" | "InvalidClientTokenId" | "InvalidAccessKeyId" => {
                "the access key is unknown: check AWS_ACCESS_KEY_ID, AWS_SESSION_TOKEN, AWS_PROFILE and the region's partition"
            }
            "InvalidSignatureException" | "SignatureDoesNotMatch" | "RequestTimeTooSkewed" => {
                "check the secret access key, and that this machine's clock is right"
            }
            "ResourceLimitExceeded" | "ServiceQuotaExceededException" => {
                "ask for a higher quota (Service Quotas, Amazon SageMaker), use a different instance type or less concurrency, or delete unused endpoints"
            }
            "ModelError" => "the model's container returned this: see its log in CloudWatch",
            "ModelNotReadyException" => "the worker is still starting: retry",
            _ if self.is_throttle() => {
                "too many concurrent requests: send fewer, or raise the endpoint's concurrency"
            }
            _ if self.is_not_found() => "check its name and the region",
            _ => return None,
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code.is_empty() {
            true => write!(f, "status {}", self.status)?,
            false => write!(f, "{} (status {})", self.code, self.status)?,
        }
        if !self.message.is_empty() {
            write!(f, ": {}", self.message.trim_end_matches('.'))?;
        }
        match self.advice() {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}

fn refusal(status: u16, error_type: Option<&str>, text: &str) -> Refusal {
    let json: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let field = |names: [&str; 3]| {
        let found = names.iter().find_map(|name| json.get(name)?.as_str());
        found.map(str::to_owned)
    };
    let code = error_type
        .map(str::to_owned)
        .or_else(|| field(["__type", "code", "Code"]))
        .or_else(|| element(text, "Code"))
        .unwrap_or_default();
    let message = field(["message", "Message", "errorMessage"])
        .or_else(|| element(text, "Message"))
        .unwrap_or_else(|| first_line(text));
    Refusal {
        code: bare(&code),
        message: with_original(message, &json),
        status,
    }
}

/// `com.amazonaws.sagemaker#ThrottlingException` and `ThrottlingException:http://…` without what
/// is around.
fn bare(code: &str) -> String {
    let code = code.rsplit('#').next().unwrap_or(code);
    code.split(':').next().unwrap_or(code).trim().to_owned()
}

/// What the model's container said, beside what the service says of it.
fn with_original(message: String, json: &Value) -> String {
    match json.get("OriginalMessage").and_then(Value::as_str) {
        Some(original) if !message.contains(original) => format!("{message} ({original})"),
        _ => message,
    }
}

/// The content of an XML element: emulators and front ends answer so, whatever the protocol.
fn element(text: &str, name: &str) -> Option<String> {
    let begin = text.split_once(&format!("<{name}>"))?.1;
    Some(begin.split_once(&format!("</{name}>"))?.0.to_owned())
}

/// Of an answer in no known form; enough to recognise a proxy's page.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, error_type: Option<&str>, text: &str, code: &str, message: &str) {
        let read = refusal(status, error_type, text);
        assert_eq!((read.code.as_str(), read.message.as_str()), (code, message));
    }

    #[test]
    fn refusals_are_read() {
        check(
            400,
            None,
            r#"{"__type": "com.amazonaws.x#ThrottlingException", "message": "Rate exceeded"}"#,
            "ThrottlingException",
            "Rate exceeded",
        );
        check(
            403,
            Some("AccessDeniedException:http://internal/"),
            r#"{"Message": "no"}"#,
            "AccessDeniedException",
            "no",
        );
        check(
            400,
            None,
            "<ErrorResponse><Error><Code>A</Code><Message>b</Message></Error></ErrorResponse>",
            "A",
            "b",
        );
        check(
            424,
            Some("ModelError"),
            r#"{"Message": "Received server error", "OriginalMessage": "{\"error\": \"no picture\"}"}"#,
            "ModelError",
            "Received server error ({\"error\": \"no picture\"})",
        );
        check(502, None, "<html>\nBad", "", "<html>");
        check(500, None, "", "", "");
    }

    proptest::proptest! {
        #[test]
        fn any_answer_is_read(text in "\\PC{0,80}", error_type in "\\PC{0,20}") {
            let shown = refusal(400, Some(&error_type), &text).to_string();
            proptest::prop_assert!(!shown.is_empty());
        }
    }

    #[test]
    fn what_to_do_is_said() {
        let check = |status, code: &str, expected: &str| {
            let text = format!(r#"{{"__type": "{code}", "message": "m."}}"#);
            let shown = refusal(status, None, &text).to_string();
            assert!(shown.contains(expected), "{shown}");
        };
        check(
            400,
            "AccessDeniedException",
            "m; the credentials are valid but lack",
        );
        check(403, "ExpiredTokenException", "sign in again");
        check(400, "ResourceLimitExceeded", "higher quota");
        check(403, "InvalidSignatureException", "clock");
        check(429, "Unheard", "send fewer");
        check(400, "Unheard", "Unheard (status 400): m");
    }

    #[test]
    fn kinds_are_told_apart() {
        let validation = |message: &str| Refusal {
            code: "ValidationException".to_owned(),
            message: message.to_owned(),
            status: 400,
        };
        assert!(validation("Could not find endpoint \"a\".").is_not_found());
        assert!(validation("Cannot update in-progress endpoint \"a\".").is_in_progress());
        assert!(!validation("1 validation error").is_not_found());
        assert!(validation("Rate exceeded").is_throttle());
    }
}
