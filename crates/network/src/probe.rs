//! The networks that a probe trains: small, and each mostly one kind of work.

use model::profile::WorkKind;

use crate::description::{InputSpec, parse};
use crate::graph::Graph;

pub struct ProbedNetwork {
    pub name: &'static str,
    pub kind: WorkKind,
    pub graph: Graph,
    pub batch: u32,
}

struct Recipe {
    name: &'static str,
    kind: WorkKind,
    channels: u32,
    side: u32,
    batch: u32,
    layers: &'static str,
}

const CLASSES: u32 = 10;
const POOLED: &str = r#""global-avg-pool", { dense = { o = "classes" } }"#;
const FLAT: &str = r#"{ dense = { o = "classes" } }"#;

/// Where a kind has two networks, the second has the larger layers: small ones lie in a cache, and
/// gain less from more cores.
const RECIPES: [Recipe; 12] = [
    Recipe {
        name: "product-small",
        kind: WorkKind::MatrixProduct,
        channels: 12,
        side: 4,
        batch: 128,
        layers: r#""flatten", { dense = { o = 192 } }, { dense = { o = 192 } }, { dense = { o = 192 } }"#,
    },
    Recipe {
        name: "product-large",
        kind: WorkKind::MatrixProduct,
        channels: 48,
        side: 4,
        batch: 256,
        layers: r#""flatten", { dense = { o = 768 } }, { dense = { o = 768 } }"#,
    },
    Recipe {
        name: "convolution-small",
        kind: WorkKind::Convolution,
        channels: 16,
        side: 16,
        batch: 16,
        layers: r#"{ conv = { k = 3, p = 1, o = 16 }, times = 3 }"#,
    },
    Recipe {
        name: "convolution-large",
        kind: WorkKind::Convolution,
        channels: 64,
        side: 28,
        batch: 8,
        layers: r#"{ conv = { k = 3, p = 1, o = 64 }, times = 3 }"#,
    },
    Recipe {
        name: "pointwise-small",
        kind: WorkKind::Pointwise,
        channels: 64,
        side: 8,
        batch: 16,
        layers: r#"{ conv = { k = 1, o = 64 }, times = 3 }"#,
    },
    Recipe {
        name: "pointwise-large",
        kind: WorkKind::Pointwise,
        channels: 256,
        side: 14,
        batch: 8,
        layers: r#"{ conv = { k = 1, o = 256 }, times = 3 }"#,
    },
    Recipe {
        name: "depthwise-small",
        kind: WorkKind::Depthwise,
        channels: 32,
        side: 8,
        batch: 16,
        layers: r#"{ conv = { k = 3, p = 1, o = "channels", groups = "channels" }, times = 3 }"#,
    },
    Recipe {
        name: "depthwise-large",
        kind: WorkKind::Depthwise,
        channels: 64,
        side: 28,
        batch: 8,
        layers: r#"{ conv = { k = 3, p = 1, o = "channels", groups = "channels" }, times = 3 }"#,
    },
    Recipe {
        name: "elements-small",
        kind: WorkKind::Memory,
        channels: 16,
        side: 16,
        batch: 16,
        layers: r#""batch-norm", "relu", { max-pool = { k = 2, s = 2 } }, "batch-norm", "relu""#,
    },
    Recipe {
        name: "elements-large",
        kind: WorkKind::Memory,
        channels: 64,
        side: 32,
        batch: 32,
        layers: r#""batch-norm", "relu", { max-pool = { k = 2, s = 2 } }, "batch-norm", "relu""#,
    },
    Recipe {
        name: "update",
        kind: WorkKind::Update,
        channels: 8,
        side: 16,
        batch: 2,
        layers: r#""flatten", { dense = { o = 1024 } }"#,
    },
    Recipe {
        name: "calls",
        kind: WorkKind::Call,
        channels: 4,
        side: 4,
        batch: 1,
        layers: r#"{ conv = { k = 1, o = 4 } }, "relu", { conv = { k = 1, o = 4 } }, "relu",
            { conv = { k = 1, o = 4 } }, "relu", { conv = { k = 1, o = 4 } }, "relu",
            { conv = { k = 1, o = 4 } }, "relu", { conv = { k = 1, o = 4 } }, "relu""#,
    },
];

pub fn probe_networks() -> Vec<ProbedNetwork> {
    // The recipes are constants; a test makes all of them.
    RECIPES.iter().filter_map(Recipe::make).collect()
}

impl Recipe {
    fn make(&self) -> Option<ProbedNetwork> {
        let end = match self.layers.contains("flatten") {
            true => FLAT,
            false => POOLED,
        };
        let (name, layers) = (self.name, self.layers);
        let description =
            parse(&format!("name = \"{name}\"\nlayers = [{layers}, {end}]\n")).ok()?;
        let input = InputSpec::square(self.channels, self.side, CLASSES);
        Some(ProbedNetwork {
            name,
            kind: self.kind,
            graph: description.instantiate(input).ok()?,
            batch: self.batch,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_is_mostly_its_kind_of_work() {
        let made = probe_networks();
        assert_eq!(made.len(), RECIPES.len());
        // Rough rates of any machine: 50 GFLOP/s, 10 GB/s, a microsecond for a call.
        let seconds = |kind: WorkKind, size: f64| match kind {
            WorkKind::MatrixProduct | WorkKind::Convolution | WorkKind::Pointwise => size / 5e10,
            WorkKind::Depthwise => size / 5e9,
            WorkKind::Memory | WorkKind::Update => size / 1e10,
            WorkKind::Call => size * 1e-6,
        };
        for network in made {
            let work = network.graph.training_work(network.batch, 2).unwrap();
            let of = |wanted: &dyn Fn(WorkKind) -> bool| -> f64 {
                let some = work.iter().filter(|layer| wanted(layer.kind));
                some.map(|layer| seconds(layer.kind, layer.total())).sum()
            };
            let share = of(&|kind| kind == network.kind) / of(&|_| true);
            assert!(share > 0.7, "{}: {share}", network.name);
        }
    }
}
