//! What Caffe logs of the first steps, as the report that `bancada verify` compares.

use model::verify::{LayerMagnitude, Magnitudes, VerifyReport};
use network::Graph;
use network::formats::caffe::{DebugNames, DebugValue, LogEvent, log_line};

/// Gathers from a log with `debug_info: true` that ends with the first batch once more.
pub(super) struct Observed<'g> {
    graph: &'g Graph,
    names: DebugNames,
    steps: u64,
    /// Of the first step alone.
    mean_absolutes: Magnitudes,
    losses: Vec<f64>,
    /// Of the first batch, after all steps.
    last_loss: Option<f64>,
}

impl<'g> Observed<'g> {
    pub(super) fn new(graph: &'g Graph, steps: u32) -> Self {
        Observed {
            graph,
            names: DebugNames::of(graph),
            steps: steps.into(),
            mean_absolutes: Magnitudes::default(),
            losses: Vec::new(),
            last_loss: None,
        }
    }

    pub(super) fn line(&mut self, line: &str) {
        if let Some(LogEvent::Iteration {
            iteration, loss, ..
        }) = log_line(line)
        {
            match iteration < self.steps {
                true => self.losses.push(loss),
                false => self.last_loss = Some(loss),
            }
        }
        // Values are logged before the loss of their step.
        if !self.losses.is_empty() {
            return;
        }
        match self.names.read(line) {
            Some(DebugValue::Layer {
                name,
                mean_absolute,
            }) => self.mean_absolutes.layers.push(LayerMagnitude {
                layer: name.to_owned(),
                value: mean_absolute,
            }),
            Some(DebugValue::Gradient {
                name,
                mean_absolute,
            }) => {
                let gradients = &mut self.mean_absolutes.gradients;
                gradients.insert(name.to_owned(), mean_absolute);
            }
            None => {}
        }
    }

    /// What is missing of the log is missing in the report, or no number.
    pub(super) fn report(self, version: String) -> Result<VerifyReport, String> {
        if self.mean_absolutes.gradients.is_empty() {
            return Err(
                "caffe logged no gradients although its solver has debug_info: true".to_owned(),
            );
        }
        let parameters = self.graph.nodes.iter().flat_map(|node| &node.parameters);
        let seen = parameters.filter(|p| self.mean_absolutes.gradients.contains_key(&p.name));
        Ok(VerifyReport {
            framework: "caffe".to_owned(),
            version,
            parameters: seen.map(|p| p.elements()).sum(),
            losses: self.losses,
            last_loss: self.last_loss.unwrap_or(f64::NAN),
            norms: Magnitudes::default(),
            mean_absolutes: self.mean_absolutes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        let text =
            "name = \"n\"\nlayers = [\"flatten\", { name = \"d\", dense = { o = \"classes\" } }]";
        let description = network::parse(text).unwrap();
        description
            .instantiate(network::InputSpec::square(1, 2, 3))
            .unwrap()
    }

    #[test]
    fn the_first_step_and_all_losses_are_kept() {
        let graph = graph();
        let mut observed = Observed::new(&graph, 2);
        let lines = [
            "    [Forward] Layer data, top blob data data: 0.5",
            "    [Forward] Layer flatten1, top blob flatten1 data: 0.5",
            "    [Forward] Layer d, top blob d data: 0.25",
            "    [Forward] Layer d, param blob 0 data: 0.9",
            "    [Backward] Layer d, param blob 0 diff: 0.125",
            "    [Backward] Layer d, param blob 1 diff: 0.0625",
            "Iteration 0 (0 iter/s, 0.001s/1 iters), loss = 1.5",
            "    [Backward] Layer d, param blob 0 diff: 77",
            "Iteration 1 (4 iter/s, 0.001s/1 iters), loss = 1.25",
            "    [Forward] Layer d, top blob d data: 88",
            "Iteration 2, loss = 1",
        ];
        for line in lines {
            observed.line(&format!("I0515 10:11:12.123456  4242 net.cpp:1] {line}"));
        }
        let report = observed.report("1.0.0".to_owned()).unwrap();
        assert_eq!(report.parameters, 15);
        assert_eq!((report.losses, report.last_loss), (vec![1.5, 1.25], 1.0));
        let means = report.mean_absolutes;
        let layers: Vec<(&str, f64)> = means
            .layers
            .iter()
            .map(|l| (l.layer.as_str(), l.value))
            .collect();
        assert_eq!(layers, [("flatten1", 0.5), ("d", 0.25)]);
        assert_eq!(means.gradients["d.weight"], 0.125);
        assert_eq!(means.gradients["d.bias"], 0.0625);
        assert!(report.norms.gradients.is_empty());
    }

    #[test]
    fn a_log_without_values_is_a_sentence() {
        let graph = graph();
        let mut observed = Observed::new(&graph, 1);
        observed.line("I0515 10:11:12.1  4242 solver.cpp:1] Iteration 0, loss = 1.5");
        let problem = observed.report(String::new()).unwrap_err();
        assert!(problem.contains("logged no gradients"), "{problem}");
    }
}
