//! The studies that `bancada init` writes.

/// A commented study file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    pub name: &'static str,
    /// What it answers.
    pub about: &'static str,
    pub text: &'static str,
}

/// The first is the usual one.
pub const TEMPLATES: &[Template] = &[
    Template {
        name: "train",
        about: "training time and cost of networks and image sizes",
        text: include_str!("../templates/train.toml"),
    },
    Template {
        name: "serve",
        about: "latency and cost per request of a served model",
        text: include_str!("../templates/serve.toml"),
    },
    Template {
        name: "command",
        about: "any command of your own, by its settings",
        text: include_str!("../templates/command.toml"),
    },
    Template {
        name: "cores",
        about: "the cheapest number of cores that still scales",
        text: include_str!("../templates/cores.toml"),
    },
    Template {
        name: "batch",
        about: "time per image, memory and accuracy by batch size",
        text: include_str!("../templates/batch.toml"),
    },
    Template {
        name: "serverless",
        about: "serverless workers against a machine that is always on",
        text: include_str!("../templates/serverless.toml"),
    },
    Template {
        name: "cluster",
        about: "a training on nodes of a Slurm cluster",
        text: include_str!("../templates/cluster.toml"),
    },
];
