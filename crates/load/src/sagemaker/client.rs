//! Signed calls to AWS's JSON services, with the region, the addresses and the credentials they need.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::sagemaker::address::{Address, region};
use crate::sagemaker::credentials::Profile;
use crate::sagemaker::http::{Answer, Ask, Limits, Web, was_sent};
use crate::sagemaker::sign::{Scope, Unsigned, sign};
use crate::sagemaker::{
    AwsError, Backoff, Credentials, Header, Refusal, Service, Variables, find_credentials,
};

/// The longest that a model may take for an answer is 60 s.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(10),
    whole: Duration::from_secs(75),
};

/// What may be sent again by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Only what was surely not done: requests that were throttled.
    Throttled,
    /// Also what may have been done: asking or deleting twice does no harm.
    Faults,
}

/// One operation of a JSON service.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    pub service: Service,
    /// `CreateModel`
    pub operation: &'a str,
    pub body: &'a Value,
    pub repeat: Repeat,
}

#[derive(Debug)]
pub struct Client {
    region: String,
    sagemaker: Address,
    runtime: Address,
    cloudwatch: Address,
    variables: Variables,
    held: Mutex<Option<Credentials>>,
    web: Web,
    backoff: Backoff,
}

impl Client {
    /// `region` before the variables' and the profile's. Credentials are looked for when they are
    /// first needed.
    pub fn new(variables: Variables, region_given: Option<&str>) -> Result<Client, AwsError> {
        let profile = Profile::read(&variables)?;
        let region = region(region_given, &variables, &profile)?;
        let address = |service| Address::of(service, &region, &variables, &profile);
        Ok(Client {
            sagemaker: address(Service::SageMaker)?,
            runtime: address(Service::Runtime)?,
            cloudwatch: address(Service::CloudWatch)?,
            region,
            variables,
            held: Mutex::new(None),
            web: Web::new(LIMITS, false),
            backoff: Backoff::default(),
        })
    }

    pub fn with_backoff(self, backoff: Backoff) -> Client {
        Client { backoff, ..self }
    }

    /// Looked for once, and again when they are about to end.
    pub fn credentials(&self, now: Timestamp) -> Result<Credentials, AwsError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held
            .as_ref()
            .filter(|credentials| credentials.is_fresh(now))
        {
            Some(credentials) => Ok(credentials.clone()),
            None => Ok(held.insert(find_credentials(&self.variables)?).clone()),
        }
    }

    /// The answer to an operation, after as many tries as it needs and may have.
    pub fn call(&self, call: &Call<'_>) -> Result<Value, AwsError> {
        let mut failed = 0;
        loop {
            let error = match self.call_once(call) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            failed += 1;
            match self.backoff.pause(failed) {
                Some(pause) if may_repeat(&error, call.repeat) => thread::sleep(pause),
                _ => return Err(error),
            }
        }
    }

    fn call_once(&self, call: &Call<'_>) -> Result<Value, AwsError> {
        let body = call.body.to_string();
        let names = call.service.names();
        let target = format!("{}.{}", names.target_prefix, call.operation);
        let headers = [
            Header::new("content-type", names.content_type),
            Header::new("x-amz-target", target),
        ];
        let sending = Sending {
            service: call.service,
            path: "/",
            headers: &headers,
            body: body.as_bytes(),
        };
        let now = Timestamp::now();
        let signed = self.signed(&sending, now, &self.credentials(now)?);
        let url = format!("{}/", self.address(call.service).base);
        let answer = self.post(&url, &signed, body.as_bytes(), call.operation)?;
        if answer.body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer.body).map_err(|error| AwsError::Answer {
            asked: call.operation.to_owned(),
            problem: error.to_string(),
        })
    }

    /// Sends once; an answer that is no success becomes an error without anything secret in it.
    pub(crate) fn post(
        &self,
        url: &str,
        headers: &[Header],
        body: &[u8],
        asked: &str,
    ) -> Result<Answer, AwsError> {
        let answer = self.web.send(&Ask {
            method: "POST",
            url,
            headers,
            body: Some(body),
        });
        let answer = answer.map_err(|error| AwsError::Unreachable {
            asked: asked.to_owned(),
            problem: error.to_string(),
            sent: was_sent(&error),
        })?;
        if (200..300).contains(&answer.status) {
            return Ok(answer);
        }
        let refusal = Refusal::read(&answer);
        Err(AwsError::Refused {
            asked: asked.to_owned(),
            refusal: Refusal {
                message: self.without_secrets(&refusal.message),
                ..refusal
            },
        })
    }

    fn without_secrets(&self, text: &str) -> String {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_ref() {
            Some(credentials) => credentials.hide_in(text),
            None => text.to_owned(),
        }
    }

    /// The headers of a signed POST, `Host` not among them: whoever sends writes it.
    pub(crate) fn signed(
        &self,
        sending: &Sending<'_>,
        now: Timestamp,
        credentials: &Credentials,
    ) -> Vec<Header> {
        let address = self.address(sending.service);
        let mut headers = vec![Header::new("host", address.host.as_str())];
        headers.extend_from_slice(sending.headers);
        let request = Unsigned {
            method: "POST",
            path: &format!("{}{}", address.path, sending.path),
            query: &[],
            headers: &headers,
            body: sending.body,
        };
        let scope = Scope {
            now,
            region: &self.region,
            service: sending.service.names().signing,
        };
        let mut signed = sign(&request, &scope, credentials);
        signed.retain(|header| header.name != "host");
        signed
    }

    pub(crate) fn address(&self, service: Service) -> &Address {
        match service {
            Service::SageMaker => &self.sagemaker,
            Service::Runtime => &self.runtime,
            Service::CloudWatch => &self.cloudwatch,
        }
    }
}

/// A POST that is to be signed and sent.
pub(crate) struct Sending<'a> {
    pub(crate) service: Service,
    /// Of the service itself, without what the address puts before it.
    pub(crate) path: &'a str,
    pub(crate) headers: &'a [Header],
    pub(crate) body: &'a [u8],
}

fn may_repeat(error: &AwsError, repeat: Repeat) -> bool {
    match error {
        AwsError::Refused { refusal, .. } => {
            refusal.is_throttle() || (repeat == Repeat::Faults && refusal.is_passing_fault())
        }
        AwsError::Unreachable { .. } => repeat == Repeat::Faults,
        _ => false,
    }
}
