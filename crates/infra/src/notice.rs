//! A provider's notice that it will take a spot machine back, read on the machine itself.

use std::path::Path;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// In the home folder of the machine's user.
pub const NOTICE_FILE: &str = ".cache/bancada/notice.json";
const PATIENCE: Duration = Duration::from_secs(2);
/// AWS gives two minutes, Azure and Google thirty seconds.
const PAUSE: Duration = Duration::from_secs(2);
const MOST_BYTES: u64 = 1 << 16;

model::words! {
    /// Whose notice, and how it is asked for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Provider {
        Aws = "aws",
        Azure = "azure",
        Gcp = "gcp",
    }
}

/// The machine will be gone soon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub provider: String,
    /// `terminate`, `Preempt`, ….
    pub action: String,
    /// When the provider acts, as it writes it.
    pub when: Option<String>,
    pub seen: Timestamp,
}

impl Notice {
    /// For the outcome of the run that ends by it.
    pub fn reason(&self) -> String {
        let when = self.when.as_ref().map(|when| format!(" at {when}"));
        format!(
            "{} takes the spot machine back ({}{})",
            self.provider,
            self.action,
            when.unwrap_or_default()
        )
    }
}

impl Provider {
    /// The metadata service, as seen from a machine of the provider.
    pub fn endpoint(self) -> &'static str {
        match self {
            Provider::Aws | Provider::Azure => "http://169.254.169.254",
            Provider::Gcp => "http://metadata.google.internal",
        }
    }

    /// Nothing when there is no notice; an error when the service does not answer.
    pub fn read(self, endpoint: &str) -> Result<Option<Notice>, String> {
        let text = match self {
            Provider::Aws => aws(endpoint)?,
            Provider::Azure => {
                let path = "/metadata/scheduledevents?api-version=2020-07-01";
                get(&format!("{endpoint}{path}"), ("Metadata", "true"))?
            }
            Provider::Gcp => {
                let path = "/computeMetadata/v1/instance/preempted";
                get(&format!("{endpoint}{path}"), ("Metadata-Flavor", "Google"))?
            }
        };
        Ok(text.and_then(|text| self.parse(&text, Timestamp::now())))
    }

    fn parse(self, text: &str, seen: Timestamp) -> Option<Notice> {
        let (action, when) = match self {
            Provider::Aws => {
                let answer: Value = serde_json::from_str(text).ok()?;
                let word = |key: &str| answer[key].as_str().map(str::to_owned);
                (word("action")?, word("time"))
            }
            Provider::Azure => {
                let answer: Value = serde_json::from_str(text).ok()?;
                let events = answer["Events"].as_array()?;
                let ends = |event: &&Value| {
                    let kind = event["EventType"].as_str();
                    matches!(kind, Some("Preempt" | "Terminate"))
                };
                let event = events.iter().find(ends)?;
                let word = |key: &str| event[key].as_str().map(str::to_owned);
                (word("EventType")?, word("NotBefore"))
            }
            Provider::Gcp => match text.trim() {
                "TRUE" => ("preempted".to_owned(), None),
                _ => return None,
            },
        };
        Some(Notice {
            provider: self.word().to_owned(),
            action,
            when: when.filter(|when| !when.is_empty()),
            seen,
        })
    }

    /// Returns when a notice has come and is written to `file`, whole. A service that does not
    /// answer for a moment is asked again.
    pub fn watch(self, endpoint: &str, file: &Path) -> std::io::Result<Notice> {
        loop {
            if let Ok(Some(notice)) = self.read(endpoint) {
                if let Some(folder) = file.parent() {
                    host::create_private_folder(folder)?;
                }
                host::write_whole(file, serde_json::to_vec(&notice)?)?;
                return Ok(notice);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Written on this machine, if there is one.
pub fn written(file: &Path) -> Option<Notice> {
    let bytes = host::read_regular(file).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// With a token of its own (IMDSv2), which machines of ours require.
fn aws(endpoint: &str) -> Result<Option<String>, String> {
    let seconds = "X-aws-ec2-metadata-token-ttl-seconds";
    let mut response = agent()
        .put(format!("{endpoint}/latest/api/token"))
        .header(seconds, "60")
        .send_empty()
        .map_err(|e| e.to_string())?;
    let token = response.body_mut().with_config().limit(MOST_BYTES);
    let token = token.read_to_string().map_err(|e| e.to_string())?;
    let url = format!("{endpoint}/latest/meta-data/spot/instance-action");
    get(&url, ("X-aws-ec2-metadata-token", token.trim()))
}

/// Nothing where there is nothing (404).
fn get(url: &str, header: (&str, &str)) -> Result<Option<String>, String> {
    let (name, value) = header;
    match agent().get(url).header(name, value).call() {
        Ok(mut response) => {
            let text = response.body_mut().with_config().limit(MOST_BYTES);
            text.read_to_string().map(Some).map_err(|e| e.to_string())
        }
        Err(ureq::Error::StatusCode(404)) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        // What is asked is on the machine's own link.
        .proxy(None)
        .build()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As their documentation prints them.
    #[test]
    fn notices_of_the_providers() {
        let check = |provider: Provider, text: &str, expected: Option<&str>| {
            let notice = provider.parse(text, Timestamp::UNIX_EPOCH);
            let reason = notice.map(|notice| notice.reason());
            assert_eq!(reason.as_deref(), expected, "{text}");
        };
        check(
            Provider::Aws,
            r#"{"action": "terminate", "time": "2017-09-18T08:22:00Z"}"#,
            Some("aws takes the spot machine back (terminate at 2017-09-18T08:22:00Z)"),
        );
        check(
            Provider::Azure,
            r#"{"DocumentIncarnation": 1, "Events": [{"EventId": "A", "EventType": "Freeze", "NotBefore": ""},
                {"EventId": "B", "EventType": "Preempt", "NotBefore": "Mon, 19 Sep 2016 18:29:47 GMT"}]}"#,
            Some("azure takes the spot machine back (Preempt at Mon, 19 Sep 2016 18:29:47 GMT)"),
        );
        check(Provider::Azure, r#"{"Events": []}"#, None);
        check(
            Provider::Gcp,
            "TRUE\n",
            Some("gcp takes the spot machine back (preempted)"),
        );
        check(Provider::Gcp, "FALSE", None);
        check(Provider::Aws, "<html>", None);
    }
}
