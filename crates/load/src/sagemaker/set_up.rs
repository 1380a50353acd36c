//! Creates an endpoint and waits for it. A failed set-up leaves nothing behind, or reports what.

use std::thread;
use std::time::{Duration, Instant};

use crate::sagemaker::guard::Guard;
use crate::sagemaker::{AwsError, Client, EndpointSpec, Resource, TornDown};

/// How long the service may take, and how often it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until the endpoint is in service; or, when it is torn down, until it is gone.
    pub most: Duration,
    pub between: Duration,
}

impl Default for Patience {
    /// Real-time endpoints take 3 to 10 minutes; the service itself gives up after an hour at most.
    fn default() -> Self {
        Patience {
            most: Duration::from_secs(30 * 60),
            between: Duration::from_secs(5),
        }
    }
}

/// An endpoint that is in service.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    pub name: String,
    /// From the request to make it until it was seen in service, by this machine's clock, as
    /// coarse as [`Patience::between`].
    pub set_up: Duration,
}

#[derive(Debug, thiserror::Error)]
#[error("{why}{}", match .torn_down.is_empty() {
    true => String::new(),
    false => format!("; {torn_down}"),
})]
pub struct SetUpError {
    #[source]
    pub why: AwsError,
    /// What became of that which had been made.
    pub torn_down: Box<TornDown>,
}

/// Makes the model, the configuration and the endpoint, and waits until it is in service.
/// It is stopped when `go_on`, asked after every step, is false: then all is deleted again, as
/// after a failure.
pub fn set_up(
    client: &Client,
    spec: &EndpointSpec,
    patience: &Patience,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Endpoint, SetUpError> {
    let mut guard = Guard::new(client, &spec.name, *patience);
    match make(client, spec, patience, &mut guard, go_on) {
        Ok(endpoint) => {
            guard.keep();
            Ok(endpoint)
        }
        Err(why) => Err(SetUpError {
            why,
            torn_down: Box::new(guard.undo()),
        }),
    }
}

fn make(
    client: &Client,
    spec: &EndpointSpec,
    patience: &Patience,
    guard: &mut Guard<'_>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Endpoint, AwsError> {
    spec.check()?;
    let mut begin = Instant::now();
    for resource in [Resource::Model, Resource::Configuration, Resource::Endpoint] {
        begin = Instant::now();
        guard.create(resource, spec)?;
        check(spec, go_on)?;
    }
    wait(client, spec, patience, begin, go_on)?;
    Ok(Endpoint {
        name: spec.name.clone(),
        set_up: begin.elapsed(),
    })
}

fn wait(
    client: &Client,
    spec: &EndpointSpec,
    patience: &Patience,
    begin: Instant,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), AwsError> {
    loop {
        let status = client.describe_endpoint(&spec.name)?;
        match status.status.as_str() {
            "InService" => return Ok(()),
            "Creating" | "Updating" | "SystemUpdating" => {}
            _ => {
                let reason = status.failure_reason.as_deref();
                return Err(AwsError::other(format!(
                    "the endpoint `{0}` did not come into service (status {1}): {2}; its container's log is in CloudWatch, /aws/sagemaker/Endpoints/{0}",
                    spec.name,
                    status.status,
                    reason
                        .unwrap_or("no reason was given")
                        .trim_end_matches('.')
                )));
            }
        }
        let waited = begin.elapsed();
        if waited >= patience.most {
            let seconds = waited.as_secs();
            return Err(AwsError::too_long(&spec.name, &status.status, seconds));
        }
        check(spec, go_on)?;
        thread::sleep(patience.between);
    }
}

fn check(spec: &EndpointSpec, go_on: &mut dyn FnMut() -> bool) -> Result<(), AwsError> {
    match go_on() {
        true => Ok(()),
        false => Err(AwsError::other(format!(
            "waiting for the endpoint `{}` was stopped",
            spec.name
        ))),
    }
}
