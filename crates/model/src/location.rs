//! Where the runs of an environment happen: on which machine, and in what on that machine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The default is a plain process on this machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Location {
    pub machine: MachineAt,
    pub within: Within,
}

/// How the machine is reached.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MachineAt {
    #[default]
    Here,
    /// Hosts of the user's own SSH configuration, which share the runs of the environment.
    Ssh(Vec<String>),
    /// Made for the study by Terraform, and destroyed after it.
    Rented(Box<RentedMachine>),
}

/// What a run is started in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    #[default]
    Process,
    Container(Container),
    Slurm(Slurm),
}

/// A container for each run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Container {
    /// `docker` or `podman`; none means the one that the machine has.
    pub engine: Option<String>,
    pub image: ContainerImage,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContainerImage {
    /// By the name under which the engine finds or pulls it.
    Named(String),
    /// Built from the framework's set-up recipe on top of this image, which has Python.
    Base(String),
}

impl Default for ContainerImage {
    fn default() -> Self {
        ContainerImage::Named(String::new())
    }
}

/// Runs are jobs of a Slurm cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Slurm {
    pub partition: Option<String>,
    pub constraint: Option<String>,
    pub account: Option<String>,
    pub qos: Option<String>,
    /// Jobs of this environment in the queue at the same time.
    pub jobs: u32,
    /// Over which the workers of one run are spread; 0 means one.
    #[serde(default)]
    pub nodes: u32,
    /// No other job shares the nodes of a run.
    pub exclusive: bool,
    /// Of a job; none means what the forecast says.
    pub time_limit_seconds: Option<u64>,
    /// A folder that the login node and all nodes see under this path.
    pub folder: Option<PathBuf>,
    /// More words for `sbatch`, such as `--gres=gpu:1`.
    pub options: Vec<String>,
}

/// A machine that is made and destroyed by Terraform.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RentedMachine {
    /// `aws`, `azure` or `gcp`; whatever a module of the user's own says.
    pub provider: String,
    /// As the provider names it: `Standard_NC4as_T4_v3`.
    pub machine_type: String,
    pub region: String,
    pub spot: bool,
    pub disk_gigabytes: u32,
    /// The provider's name of a system image; none means the module's own choice.
    pub image: Option<String>,
    /// The machine ends itself when it has been on for so long.
    pub time_limit_seconds: u64,
    /// A Terraform module of the user's own, instead of Bancada's for the provider.
    pub module: Option<PathBuf>,
}

impl Location {
    pub fn is_here(&self) -> bool {
        *self == Location::default()
    }

    /// What runs of two locations must share to be comparable. Not the names of hosts, which may
    /// become more while a study grows, nor how many jobs wait at a time: a record has its machine.
    pub fn identity(&self) -> String {
        let machine = match &self.machine {
            MachineAt::Here => "here".to_owned(),
            MachineAt::Ssh(_) => "ssh".to_owned(),
            MachineAt::Rented(rented) => {
                format!("rented {}/{}", rented.provider, rented.machine_type)
            }
        };
        let within = match &self.within {
            Within::Process => String::new(),
            Within::Container(container) => match &container.image {
                ContainerImage::Named(name) => format!("image {name}"),
                ContainerImage::Base(name) => format!("base {name}"),
            },
            Within::Slurm(slurm) => {
                let partition = slurm.partition.as_deref().unwrap_or_default();
                let constraint = slurm.constraint.as_deref().unwrap_or_default();
                let nodes = slurm.nodes.max(1);
                let options = slurm.options.join(" ");
                format!(
                    "slurm partition={partition} constraint={constraint} nodes={nodes} {options}"
                )
            }
        };
        format!("{machine}; {within}")
    }

    /// For people: `node1, node2 by SSH`, `a container of python:3.11 on this machine`.
    pub fn words(&self) -> String {
        let machine = match &self.machine {
            MachineAt::Here => "this machine".to_owned(),
            MachineAt::Ssh(hosts) => format!("{} by SSH", hosts.join(", ")),
            MachineAt::Rented(rented) => {
                let RentedMachine {
                    provider,
                    machine_type,
                    region,
                    ..
                } = &**rented;
                format!("a rented {provider}/{machine_type}@{region}")
            }
        };
        match &self.within {
            Within::Process => machine,
            Within::Container(container) => {
                let image = match &container.image {
                    ContainerImage::Named(name) => name.clone(),
                    ContainerImage::Base(base) => format!("its framework on {base}"),
                };
                format!("a container of {image} on {machine}")
            }
            Within::Slurm(slurm) => {
                let partition = slurm.partition.as_ref();
                let partition = partition.map(|name| format!(", partition {name}"));
                format!(
                    "Slurm{} from {machine}",
                    partition.as_deref().unwrap_or_default()
                )
            }
        }
    }
}
