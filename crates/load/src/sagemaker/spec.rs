//! Specification of an endpoint.

use std::collections::BTreeMap;

use crate::sagemaker::AwsError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A machine that is always on, paid by the hour.
    RealTime {
        /// `ml.m5.xlarge`
        instance_type: String,
    },
    /// A worker started on demand, paid by the GB-second.
    Serverless {
        memory_mb: u32,
        max_concurrency: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSpec {
    /// Of the endpoint, its configuration and its model alike.
    pub name: String,
    /// The container's image in Amazon's registry.
    pub image: String,
    /// `s3://bucket/model.tar.gz`; `None` if the image has the model inside.
    pub model_data: Option<String>,
    /// The role that the container runs as.
    pub role_arn: String,
    pub tags: BTreeMap<String, String>,
    pub kind: Kind,
}

impl EndpointSpec {
    /// All errors at once, before anything is made.
    pub fn check(&self) -> Result<(), AwsError> {
        let mut mistakes = Vec::new();
        if !is_name(&self.name) {
            mistakes.push(format!(
                "`{}` is not a valid name: use letters, digits and inner hyphens, at most 63",
                self.name
            ));
        }
        if self.image.is_empty() || self.image.contains(char::is_whitespace) {
            mistakes.push("the container image is missing".to_owned());
        }
        if !(self.role_arn.starts_with("arn:") && self.role_arn.contains(":role/")) {
            mistakes.push(format!(
                "`{}` is not a role: write arn:aws:iam::ACCOUNT:role/NAME",
                self.role_arn
            ));
        }
        if let Some(data) = self
            .model_data
            .as_deref()
            .filter(|data| !data.starts_with("s3://"))
        {
            mistakes.push(format!(
                "the model data `{data}` is not in S3: write s3://bucket/model.tar.gz"
            ));
        }
        mistakes.extend(self.kind.mistakes());
        match mistakes.is_empty() {
            true => Ok(()),
            false => Err(AwsError::spec(&mistakes)),
        }
    }
}

impl Kind {
    fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        match self {
            Kind::RealTime { instance_type } => {
                if !instance_type.starts_with("ml.") {
                    mistakes.push(format!(
                        "`{instance_type}` is not a SageMaker instance type: they begin with ml."
                    ));
                }
            }
            Kind::Serverless {
                memory_mb,
                max_concurrency,
            } => {
                if !(1024..=6144).contains(memory_mb) || memory_mb % 1024 != 0 {
                    mistakes.push(format!("{memory_mb} MB of memory is not available: use 1024, 2048, 3072, 4096, 5120 or 6144"));
                }
                if !(1..=200).contains(max_concurrency) {
                    mistakes.push(format!(
                        "a concurrency of {max_concurrency} is not available: use 1 to 200"
                    ));
                }
            }
        }
        mistakes
    }
}

/// Also what keeps a name from changing the path it becomes part of.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=63).contains(&name.len())
        && name.bytes().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

#[cfg(test)]
pub(crate) fn example(kind: Kind) -> EndpointSpec {
    EndpointSpec {
        name: "retina-2048".to_owned(),
        image: "123456789012.dkr.ecr.us-east-1.amazonaws.com/retina:1".to_owned(),
        model_data: Some("s3://bucket/model.tar.gz".to_owned()),
        role_arn: "arn:aws:iam::123456789012:role/endpoints".to_owned(),
        tags: BTreeMap::new(),
        kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["a", "a-b", "A1--2", &"x".repeat(63)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "-a", "a-", "a_b", "a/b", "ä", &"x".repeat(64)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn all_mistakes_are_told() {
        let good = example(Kind::RealTime {
            instance_type: "ml.m5.xlarge".to_owned(),
        });
        good.check().unwrap();
        let bad = EndpointSpec {
            name: "a/b".to_owned(),
            image: String::new(),
            model_data: Some("/opt/model".to_owned()),
            role_arn: "me".to_owned(),
            kind: Kind::Serverless {
                memory_mb: 1500,
                max_concurrency: 0,
            },
            ..good
        };
        let mistakes = bad.check().unwrap_err().to_string();
        assert_eq!(mistakes.split("; ").count(), 6, "{mistakes}");
    }
}
