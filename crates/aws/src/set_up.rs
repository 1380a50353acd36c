//! Creates an endpoint and waits for it. A failed set-up leaves nothing behind, or reports what.

use std::fmt;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use crate::guard::Guard;
use crate::{AwsError, Client, EndpointSpec, EndpointStatus, Resource, TornDown};

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

/// What is told while an endpoint is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    Made(Resource),
    Waiting { status: String, waited: Duration },
}

/// An endpoint that is in service.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    pub name: String,
    pub arn: String,
    /// From the request to make it until it was seen in service, by this machine's clock, as
    /// coarse as [`Patience::between`].
    pub set_up: Duration,
}

#[derive(Debug)]
pub struct SetUpError {
    pub why: AwsError,
    /// What became of that which had been made.
    pub torn_down: Box<TornDown>,
}

impl fmt::Display for SetUpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)?;
        match self.torn_down.is_empty() {
            true => Ok(()),
            false => write!(f, "; {}", self.torn_down),
        }
    }
}

impl std::error::Error for SetUpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.why)
    }
}

/// Makes the model, the configuration and the endpoint, and waits until it is in service.
/// `progress` may break: then all is deleted again, as after a failure.
pub fn set_up(
    client: &Client,
    spec: &EndpointSpec,
    patience: &Patience,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Endpoint, SetUpError> {
    let mut guard = Guard::new(client, &spec.name, *patience);
    match make(client, spec, patience, &mut guard, progress) {
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
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Endpoint, AwsError> {
    spec.check()?;
    let mut begin = Instant::now();
    for resource in [Resource::Model, Resource::Configuration, Resource::Endpoint] {
        begin = Instant::now();
        guard.create(resource, spec)?;
        tell(spec, progress, &Progress::Made(resource))?;
    }
    let status = wait(client, spec, patience, begin, progress)?;
    Ok(Endpoint {
        name: spec.name.clone(),
        arn: status.arn,
        set_up: begin.elapsed(),
    })
}

fn wait(
    client: &Client,
    spec: &EndpointSpec,
    patience: &Patience,
    begin: Instant,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<EndpointStatus, AwsError> {
    loop {
        let status = client.describe_endpoint(&spec.name)?;
        match status.status.as_str() {
            "InService" => return Ok(status),
            "Creating" | "Updating" | "SystemUpdating" => {}
            _ => {
                return Err(AwsError::Failed {
                    endpoint: spec.name.clone(),
                    status: status.status,
                    reason: status
                        .failure_reason
                        .unwrap_or_else(|| "no reason was given".to_owned()),
                });
            }
        }
        let waited = begin.elapsed();
        if waited >= patience.most {
            return Err(AwsError::TooLong {
                endpoint: spec.name.clone(),
                status: status.status,
                seconds: waited.as_secs(),
            });
        }
        let waiting = Progress::Waiting {
            status: status.status,
            waited,
        };
        tell(spec, progress, &waiting)?;
        thread::sleep(patience.between);
    }
}

fn tell(
    spec: &EndpointSpec,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    what: &Progress,
) -> Result<(), AwsError> {
    match progress(what) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(AwsError::Stopped {
            endpoint: spec.name.clone(),
        }),
    }
}
