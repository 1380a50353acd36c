//! Deletes an endpoint with all its parts, as far as they exist.

use std::fmt;
use std::thread;
use std::time::Instant;

use crate::sagemaker::{AwsError, Client, Patience, Refusal, Resource};

/// What became of each part.
#[derive(Debug, Default)]
pub struct TornDown {
    pub name: String,
    pub deleted: Vec<Resource>,
    /// Still there, and perhaps paid for.
    pub left: Vec<Left>,
}

#[derive(Debug)]
pub struct Left {
    pub resource: Resource,
    pub why: AwsError,
}

impl TornDown {
    pub fn is_clean(&self) -> bool {
        self.left.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.deleted.is_empty() && self.left.is_empty()
    }
}

impl fmt::Display for TornDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |resources: &[Resource]| {
            let names: Vec<String> = resources.iter().map(Resource::to_string).collect();
            names.join(", ")
        };
        match self.deleted.is_empty() {
            true => write!(f, "nothing of `{}` was deleted", self.name)?,
            false => write!(
                f,
                "of `{}` was deleted: {}",
                self.name,
                names(&self.deleted)
            )?,
        }
        for left in &self.left {
            write!(
                f,
                "; its {} could NOT be deleted and may cost money ({})",
                left.resource, left.why
            )?;
        }
        Ok(())
    }
}

/// Deletes endpoint, configuration and model of this name. What is not there is no error, so it
/// can be done again; one that cannot be deleted does not keep the others.
pub fn tear_down(client: &Client, name: &str, patience: &Patience) -> TornDown {
    let all = [Resource::Model, Resource::Configuration, Resource::Endpoint];
    tear_down_only(client, name, &all, patience)
}

/// Deletes in the reverse of the order given, which is that of making.
pub(crate) fn tear_down_only(
    client: &Client,
    name: &str,
    resources: &[Resource],
    patience: &Patience,
) -> TornDown {
    let mut torn_down = TornDown {
        name: name.to_owned(),
        ..TornDown::default()
    };
    for &resource in resources.iter().rev() {
        let result = match resource {
            Resource::Endpoint => delete_endpoint(client, name, patience),
            other => client.delete(other, name),
        };
        match result {
            Ok(()) => torn_down.deleted.push(resource),
            Err(error) if is(&error, Refusal::is_not_found) => {}
            Err(why) => torn_down.left.push(Left { resource, why }),
        }
    }
    torn_down
}

/// Deleted and gone: its configuration must not be deleted before, and its name is free after.
fn delete_endpoint(client: &Client, name: &str, patience: &Patience) -> Result<(), AwsError> {
    let begin = Instant::now();
    let mut accepted = false;
    loop {
        if !accepted {
            match client.delete(Resource::Endpoint, name) {
                Ok(()) => accepted = true,
                // One that is being made can be deleted only afterwards.
                Err(error) if is(&error, Refusal::is_in_progress) => {}
                Err(error) => return Err(error),
            }
        }
        let status = match client.describe_endpoint(name) {
            Ok(status) => status.status,
            Err(error) if accepted && is(&error, Refusal::is_not_found) => return Ok(()),
            Err(error) => return Err(error),
        };
        let waited = begin.elapsed();
        if waited >= patience.most {
            return Err(AwsError::too_long(name, &status, waited.as_secs()));
        }
        thread::sleep(patience.between);
    }
}

fn is(error: &AwsError, kind: fn(&Refusal) -> bool) -> bool {
    error.refusal().is_some_and(kind)
}
