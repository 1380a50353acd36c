//! SageMaker's operations on models, configurations and endpoints.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::sagemaker::{AwsError, Call, Client, EndpointSpec, Kind, Repeat, Service};

/// The name of the one variant that an endpoint made here has.
pub const VARIANT: &str = "AllTraffic";

/// What an endpoint is made of, in the order in which it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    Model,
    Configuration,
    Endpoint,
}

impl Resource {
    /// As the operations and their fields name it.
    fn operand(self) -> &'static str {
        match self {
            Resource::Model => "Model",
            Resource::Configuration => "EndpointConfig",
            Resource::Endpoint => "Endpoint",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Model => "model",
            Resource::Configuration => "endpoint configuration",
            Resource::Endpoint => "endpoint",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointStatus {
    /// `Creating`, `InService`, `Failed`, …
    pub status: String,
    pub failure_reason: Option<String>,
}

impl Client {
    pub fn describe_endpoint(&self, name: &str) -> Result<EndpointStatus, AwsError> {
        let body = json!({ "EndpointName": name });
        let answer = self.sagemaker("DescribeEndpoint", &body, Repeat::Faults)?;
        endpoint_status(&answer).ok_or_else(|| AwsError::Answer {
            asked: "DescribeEndpoint".to_owned(),
            problem: "it has no EndpointStatus".to_owned(),
        })
    }

    pub(crate) fn create(&self, resource: Resource, spec: &EndpointSpec) -> Result<(), AwsError> {
        let body = match resource {
            Resource::Model => model_body(spec),
            Resource::Configuration => configuration_body(spec),
            Resource::Endpoint => endpoint_body(spec),
        };
        let operation = format!("Create{}", resource.operand());
        self.sagemaker(&operation, &body, Repeat::Throttled)?;
        Ok(())
    }

    pub(crate) fn delete(&self, resource: Resource, name: &str) -> Result<(), AwsError> {
        let operand = resource.operand();
        let mut body = Map::new();
        body.insert(format!("{operand}Name"), name.into());
        self.sagemaker(&format!("Delete{operand}"), &body.into(), Repeat::Faults)?;
        Ok(())
    }

    fn sagemaker(&self, operation: &str, body: &Value, repeat: Repeat) -> Result<Value, AwsError> {
        self.call(&Call {
            service: Service::SageMaker,
            operation,
            body,
            repeat,
        })
    }
}

fn endpoint_status(answer: &Value) -> Option<EndpointStatus> {
    let text = |name: &str| answer.get(name)?.as_str().map(str::to_owned);
    Some(EndpointStatus {
        status: text("EndpointStatus")?,
        failure_reason: text("FailureReason"),
    })
}

fn model_body(spec: &EndpointSpec) -> Value {
    let mut container = json!({ "Image": spec.image });
    if let Some(data) = &spec.model_data {
        container["ModelDataUrl"] = json!(data);
    }
    let body = json!({
        "ModelName": spec.name,
        "ExecutionRoleArn": spec.role_arn,
        "PrimaryContainer": container,
    });
    with_tags(body, &spec.tags)
}

fn configuration_body(spec: &EndpointSpec) -> Value {
    let mut variant = json!({ "VariantName": VARIANT, "ModelName": spec.name });
    match &spec.kind {
        Kind::RealTime { instance_type } => {
            variant["InstanceType"] = json!(instance_type);
            variant["InitialInstanceCount"] = json!(1);
        }
        Kind::Serverless {
            memory_mb,
            max_concurrency,
        } => {
            variant["ServerlessConfig"] =
                json!({ "MemorySizeInMB": memory_mb, "MaxConcurrency": max_concurrency });
        }
    }
    let body = json!({ "EndpointConfigName": spec.name, "ProductionVariants": [variant] });
    with_tags(body, &spec.tags)
}

fn endpoint_body(spec: &EndpointSpec) -> Value {
    let body = json!({ "EndpointName": spec.name, "EndpointConfigName": spec.name });
    with_tags(body, &spec.tags)
}

/// Tags need a permission of their own, so none are sent where none are wanted.
fn with_tags(mut body: Value, tags: &BTreeMap<String, String>) -> Value {
    if !tags.is_empty() {
        let tag = |(key, value)| json!({ "Key": key, "Value": value });
        body["Tags"] = tags.iter().map(tag).collect();
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sagemaker::spec::example;

    #[test]
    fn bodies_are_as_documented() {
        let mut spec = example(Kind::Serverless {
            memory_mb: 2048,
            max_concurrency: 5,
        });
        spec.tags.insert("study".to_owned(), "b".to_owned());
        let tags = json!([{ "Key": "study", "Value": "b" }]);
        assert_eq!(
            model_body(&spec),
            json!({
                "ModelName": "retina-2048",
                "ExecutionRoleArn": "arn:aws:iam::123456789012:role/endpoints",
                "PrimaryContainer": {
                    "Image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/retina:1",
                    "ModelDataUrl": "s3://bucket/model.tar.gz"
                },
                "Tags": tags
            })
        );
        assert_eq!(
            configuration_body(&spec)["ProductionVariants"],
            json!([{
                "VariantName": "AllTraffic",
                "ModelName": "retina-2048",
                "ServerlessConfig": { "MemorySizeInMB": 2048, "MaxConcurrency": 5 }
            }])
        );
        spec.tags.clear();
        spec.kind = Kind::RealTime {
            instance_type: "ml.m5.xlarge".to_owned(),
        };
        assert_eq!(
            configuration_body(&spec),
            json!({
                "EndpointConfigName": "retina-2048",
                "ProductionVariants": [{
                    "VariantName": "AllTraffic",
                    "ModelName": "retina-2048",
                    "InstanceType": "ml.m5.xlarge",
                    "InitialInstanceCount": 1
                }]
            })
        );
    }

    #[test]
    fn states_are_read() {
        let answer = json!({ "EndpointStatus": "Failed", "FailureReason": "no ping" });
        let status = endpoint_status(&answer).unwrap();
        assert_eq!(status.failure_reason.as_deref(), Some("no ping"));
        assert_eq!(endpoint_status(&json!({})), None);
    }
}
