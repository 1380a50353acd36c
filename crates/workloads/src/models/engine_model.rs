//! The embedded engine as a server's model: nothing has to be installed.

use std::sync::Arc;

use engine::Predictor as Engine;
use network::{Graph, Shape, Weights};
use serve::{Kind, Model, ModelError, Port, Predictor, Signature, Tensor};

/// Its answer, named as in the ONNX file of the same network.
pub(crate) const PROBABILITIES: &str = "probabilities";

pub(crate) struct EngineModel {
    graph: Graph,
    weights: Arc<Weights>,
    signature: Signature,
}

impl EngineModel {
    pub(crate) fn new(graph: Graph, weights: Weights) -> Result<EngineModel, ModelError> {
        weights.check(&graph).map_err(ModelError::new)?;
        let Some(Shape::Image(image)) = graph.nodes.first().map(|node| node.shape) else {
            return Err(ModelError::new("the network's input is not an image"));
        };
        let port = |name: &str, sizes: &[u32]| {
            let sizes = sizes.iter().map(|&size| Some(size as usize));
            Port {
                name: name.to_owned(),
                kind: Kind::Float32,
                sizes: [None].into_iter().chain(sizes).collect(),
            }
        };
        let signature = Signature {
            inputs: vec![port("input", &[image.channels, image.height, image.width])],
            outputs: vec![port(PROBABILITIES, &[graph.classes])],
            batched: true,
            softmax: Some(0),
            untrained: false,
            runtime: "embedded engine".to_owned(),
        };
        Ok(EngineModel {
            graph,
            weights: Arc::new(weights),
            signature,
        })
    }
}

impl Model for EngineModel {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn predictor(&self, threads: usize) -> Result<Box<dyn Predictor>, ModelError> {
        let threads = u32::try_from(threads).ok();
        let engine = Engine::new(self.graph.clone(), &self.weights, "cpu", threads);
        Ok(Box::new(EnginePredictor(engine.map_err(ModelError::new)?)))
    }
}

struct EnginePredictor(Engine);

impl Predictor for EnginePredictor {
    fn predict(&mut self, inputs: &[Tensor], _: &[usize]) -> Result<Vec<Tensor>, ModelError> {
        let pixels = match inputs {
            [input] => input.floats(),
            _ => None,
        };
        let pixels = pixels.ok_or_else(|| ModelError::new("expected one input of FP32 numbers"))?;
        let predictions = self.0.predict(pixels).map_err(ModelError::new)?;
        let images = predictions.len();
        let values: Vec<f32> = predictions
            .into_iter()
            .flat_map(|one| one.probabilities)
            .collect();
        let classes = values.len().checked_div(images).unwrap_or(0);
        let probabilities = Tensor::new(vec![images, classes], values)
            .ok_or_else(|| ModelError::new("the engine returned no matrix"))?;
        Ok(vec![probabilities])
    }
}
