//! The numbers of a network on a device.

use burn_tensor::{Device, Tensor, TensorData};
use network::{Graph, Weights};

use crate::error::EngineError;

/// All tensors of a network that are kept, each as one row of numbers: optimisers need no more,
/// and layers give them their shape at no cost.
#[derive(Clone)]
pub(crate) struct Parameters {
    pub(crate) all: Vec<Parameter>,
}

#[derive(Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) shape: Vec<u32>,
    pub(crate) trained: bool,
    pub(crate) values: Tensor<1>,
}

impl Parameters {
    /// In the order of the graph.
    pub(crate) fn new(
        graph: &Graph,
        weights: &Weights,
        device: &Device,
    ) -> Result<Self, EngineError> {
        weights.check(graph)?;
        let described = graph.nodes.iter().flat_map(|node| &node.parameters);
        let all = described.filter_map(|parameter| {
            let tensor = weights.get(&parameter.name)?;
            let data = TensorData::new(tensor.values.clone(), [tensor.values.len()]);
            Some(Parameter {
                name: parameter.name.clone(),
                shape: parameter.shape.clone(),
                trained: parameter.trained,
                values: Tensor::from_data(data, device),
            })
        });
        Ok(Parameters { all: all.collect() })
    }

    /// The same numbers, with those that are trained marked as leaves of the gradient.
    pub(crate) fn as_leaves(&self) -> Self {
        let mut leaves = self.clone();
        for leaf in &mut leaves.all {
            let values = leaf.values.clone().autodiff();
            leaf.values = if leaf.trained {
                values.require_grad()
            } else {
                values
            };
        }
        leaves
    }

    /// Back from the device.
    pub(crate) fn to_weights(&self) -> Result<Weights, EngineError> {
        let tensors = self.all.iter().map(|parameter| {
            Ok(network::Tensor {
                name: parameter.name.clone(),
                shape: parameter.shape.clone(),
                values: numbers(parameter.values.clone())?,
            })
        });
        Ok(Weights {
            tensors: tensors.collect::<Result<_, EngineError>>()?,
        })
    }
}

/// The numbers of a tensor, row by row.
pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, EngineError> {
    tensor
        .try_into_vec_as::<f32>()
        .map_err(|error| EngineError::Numbers {
            problem: format!("{error:?}"),
        })
}
