//! What an apply would create, without creating anything.

use std::fs;

use jiff::Timestamp;
use model::Money;
use rust_decimal::Decimal;
use serde::Serialize;
use serde_json::Value;

use crate::error::InfraError;
use crate::infra::{Apply, Infra, prepare};
use crate::terraform::find_program;
use crate::wanted::Wanted;

/// A machine that an apply would create.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Planned {
    pub machine: String,
    pub environment: String,
    /// `aws/c7i.xlarge@us-east-1`.
    pub machine_words: String,
    pub disk_gigabytes: u32,
    pub time_limit_seconds: u64,
    pub per_hour: Option<Money>,
    /// If nobody ends it before its time limit does.
    pub at_most: Option<Money>,
    pub is_on: bool,
    /// Addresses in Terraform's plan, `aws_instance.machine`, or why there is no plan.
    pub resources: Result<Vec<String>, String>,
}

impl Infra {
    /// Nothing is created: Terraform plans in a folder of its own, which goes afterwards. Without
    /// credentials or without a connection the rest is known all the same.
    pub fn plan(&self, wanted: &Wanted, how: &Apply) -> Result<Planned, InfraError> {
        let id = wanted.id();
        let is_on = self.list()?.iter().any(|rental| rental.machine == id);
        let resources = self.plan_resources(wanted, how);
        let hours = Decimal::from(wanted.rented.time_limit_seconds) / Decimal::from(3600);
        let at_most = wanted.per_hour.and_then(|per_hour| {
            let amount = per_hour.amount.checked_mul(hours)?;
            Some(Money::new(amount, per_hour.currency))
        });
        Ok(Planned {
            environment: wanted.environment.clone(),
            machine_words: wanted.machine_words(),
            disk_gigabytes: wanted.rented.disk_gigabytes,
            time_limit_seconds: wanted.rented.time_limit_seconds,
            per_hour: wanted.per_hour,
            at_most,
            is_on,
            resources: match resources {
                // The user's own mistake is no part of a plan.
                Err(InfraError::Refused(why)) => return Err(InfraError::Refused(why)),
                other => other.map_err(|error| error.to_string()),
            },
            machine: id,
        })
    }

    fn plan_resources(&self, wanted: &Wanted, how: &Apply) -> Result<Vec<String>, InfraError> {
        let program = find_program()?;
        let name = format!("{}.plan-{}", wanted.id(), std::process::id());
        let folder = self.folder(&name);
        host::create_private_folder(&folder).map_err(InfraError::io("create", &folder))?;
        let now = Timestamp::now();
        let ends_at = now.checked_add(wanted.time_limit()).unwrap_or(now);
        let planned = prepare(&folder, wanted, ends_at, how).and_then(|()| {
            let terraform = self.terraform(program, &folder);
            terraform.init()?;
            terraform.plan()
        });
        // It holds keys that nobody will use.
        let removed = fs::remove_dir_all(&folder).map_err(InfraError::io("remove", &folder));
        let created = created(&planned?);
        removed.map(|()| created)
    }
}

/// Of Terraform's plan in JSON.
fn created(plan: &Value) -> Vec<String> {
    let changes = plan["resource_changes"].as_array();
    let is_new = |change: &&Value| {
        let actions = change["change"]["actions"].as_array();
        actions.is_some_and(|actions| actions.iter().any(|action| action == "create"))
    };
    let changes = changes.into_iter().flatten().filter(is_new);
    let addresses = changes.filter_map(|change| change["address"].as_str());
    addresses.map(str::to_owned).collect()
}
