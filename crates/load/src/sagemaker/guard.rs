//! What a set-up has created so far. Unless it is kept, it is deleted, even if the caller panics.

use crate::sagemaker::tear_down::tear_down_only;
use crate::sagemaker::{AwsError, Client, EndpointSpec, Patience, Resource, TornDown};

pub(crate) struct Guard<'a> {
    client: &'a Client,
    name: &'a str,
    patience: Patience,
    /// Only these: what was there before belongs to someone else.
    made: Vec<Resource>,
}

impl<'a> Guard<'a> {
    pub(crate) fn new(client: &'a Client, name: &'a str, patience: Patience) -> Self {
        Guard {
            client,
            name,
            patience,
            made: Vec::new(),
        }
    }

    pub(crate) fn create(
        &mut self,
        resource: Resource,
        spec: &EndpointSpec,
    ) -> Result<(), AwsError> {
        let created = self.client.create(resource, spec);
        if created.as_ref().err().is_none_or(may_be_made) {
            self.made.push(resource);
        }
        created
    }

    pub(crate) fn keep(mut self) {
        self.made.clear();
    }

    pub(crate) fn undo(mut self) -> TornDown {
        self.delete()
    }

    fn delete(&mut self) -> TornDown {
        let made = std::mem::take(&mut self.made);
        tear_down_only(self.client, self.name, &made, &self.patience)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.made.is_empty() {
            self.delete();
        }
    }
}

/// Refused is refused; a fault or a lost answer may have come after the deed.
fn may_be_made(error: &AwsError) -> bool {
    match error {
        AwsError::Refused { refusal, .. } => refusal.is_passing_fault(),
        AwsError::Unreachable { sent, .. } => *sent,
        AwsError::Answer { .. } => true,
        _ => false,
    }
}
