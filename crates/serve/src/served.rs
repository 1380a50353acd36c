//! A model as it is served: loaded once, asked by many.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::body::Reader;
use crate::description::{Description, Preparation};
use crate::meaning::Answered;
use crate::model::{Model, ModelError, Port, Predictor, Signature};
use crate::tensor::{Tensor, Values};

/// Reads a model that will be asked with so many threads first; called once, on a thread that may take its time.
pub type Loader = Box<dyn FnOnce(usize) -> Result<Box<dyn Model>, ModelError> + Send>;

/// A model to be served under its name.
pub struct Offer {
    pub name: String,
    pub description: Description,
    pub load: Loader,
}

/// A model that requests are waiting for, or that answers them.
pub(crate) struct Served {
    pub(crate) name: String,
    pub(crate) description: Description,
    load: Mutex<Option<Loader>>,
    loaded: OnceLock<Result<Loaded, ModelError>>,
}

pub(crate) struct Loaded {
    pub(crate) model: Box<dyn Model>,
    pub(crate) signature: Signature,
    pub(crate) preparation: Option<Preparation>,
    pub(crate) answered: Answered,
    /// Whether every answered output has a row for each example: only then are requests computed together.
    pub(crate) has_rows: bool,
    /// Whether the weights are drawn, not trained.
    pub(crate) untrained: bool,
    /// With all threads: for whoever is alone.
    pub(crate) wide: Mutex<Box<dyn Predictor>>,
    pub(crate) load_seconds: f64,
}

impl Served {
    pub(crate) fn new(offer: Offer) -> Served {
        Served {
            name: offer.name,
            description: offer.description,
            load: Mutex::new(Some(offer.load)),
            loaded: OnceLock::new(),
        }
    }

    /// Once; whoever waits then hears of it, however it ends.
    pub(crate) fn load(&self, threads: usize) -> Result<(), ModelError> {
        let Some(load) = self
            .load
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        else {
            return Ok(());
        };
        let loaded = self.loaded.get_or_init(|| {
            let named = |problem: ModelError| ModelError::new(format!("{}: {problem}", self.name));
            Loaded::new(load, &self.description, threads).map_err(named)
        });
        loaded.as_ref().map(|_| ()).map_err(ModelError::clone)
    }

    /// None while it is being loaded.
    pub(crate) fn ready(&self) -> Option<&Result<Loaded, ModelError>> {
        self.loaded.get()
    }

    pub(crate) fn wait(&self) -> &Result<Loaded, ModelError> {
        self.loaded.wait()
    }
}

impl Loaded {
    fn new(load: Loader, description: &Description, threads: usize) -> Result<Loaded, ModelError> {
        let begun = Instant::now();
        let model = load(threads)?;
        let signature = model.signature().clone();
        let preparation = description.preparation(&signature)?;
        let answered = Answered::new(description.output.as_ref(), &signature)?;
        check_classes(description, &answered)?;
        let mut wide = model.predictor(threads)?;
        if let Some(inputs) = trial(&signature, preparation.as_ref()) {
            wide.predict(&inputs, &answered.outputs)
                .map_err(|problem| {
                    ModelError::new(format!("it cannot process an input of zeros: {problem}"))
                })?;
        }
        Ok(Loaded {
            has_rows: answered.has_rows(&signature),
            untrained: description.untrained || signature.untrained,
            signature,
            preparation,
            answered,
            wide: Mutex::new(wide),
            load_seconds: begun.elapsed().as_secs_f64(),
            model,
        })
    }

    pub(crate) fn reader(&self, pixels: u64) -> Reader<'_> {
        Reader {
            signature: &self.signature,
            preparation: self.preparation.as_ref(),
            any_examples: self.has_rows,
            pixels,
        }
    }
}

/// Names of classes need an output that scores them.
fn check_classes(description: &Description, answered: &Answered) -> Result<(), ModelError> {
    let classes = description.classes.len();
    match answered.scores {
        _ if classes == 0 => Ok(()),
        None => Err(ModelError::new(format!(
            "the description names {classes} classes, but no output is known to score classes: write \"output\": \
             \"logits\" or \"probabilities\" into it"
        ))),
        Some(scores) => match scores.classes.filter(|&own| own != classes) {
            Some(own) => Err(ModelError::new(format!(
                "the description names {classes} classes, but the model has {own}"
            ))),
            None => Ok(()),
        },
    }
}

/// One example of zeros; `None` if the model leaves sizes open.
fn trial(signature: &Signature, preparation: Option<&Preparation>) -> Option<Vec<Tensor>> {
    let zeros = |port: &Port| {
        let shape = match preparation {
            Some(preparation) => preparation.size.shape().to_vec(),
            None => {
                let (first, rest) = port.sizes.split_first()?;
                let rest = rest.iter().copied().collect::<Option<Vec<usize>>>()?;
                [&[first.unwrap_or(1)], &rest[..]].concat()
            }
        };
        let count = shape.iter().product();
        Tensor::new(shape, Values::zeros(port.kind, count))
    };
    signature.inputs.iter().map(zeros).collect()
}
