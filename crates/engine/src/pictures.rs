//! The images of a job: made in memory, or read from a cache batch by batch.

use data::cache::{self, CachedImages};
use data::{DataRequest, Images};
use model::job::DataJob;
use network::{Graph, Image, Shape};

use crate::error::EngineError;
use crate::learner::Batch;

pub(crate) struct Loaded {
    pub(crate) train: Pictures,
    pub(crate) held_out: Pictures,
    classes: u32,
}

pub(crate) enum Pictures {
    Made(Images),
    Cached(CachedImages),
}

/// From the job's cache, where it names one.
pub(crate) fn load(job: &DataJob) -> Result<Loaded, EngineError> {
    let Some(folder) = &job.cache else {
        let dataset = data::load(&request(job))?;
        return Ok(Loaded {
            train: Pictures::Made(dataset.train),
            held_out: Pictures::Made(dataset.held_out),
            classes: dataset.classes,
        });
    };
    let opened = cache::open(folder)?;
    let labels = opened.train.labels.iter().chain(&opened.held_out.labels);
    let told = labels.max().map_or(0, |&label| u32::from(label) + 1);
    Ok(Loaded {
        train: Pictures::Cached(opened.train),
        held_out: Pictures::Cached(opened.held_out),
        classes: opened.classes.unwrap_or(told).max(told),
    })
}

fn request(job: &DataJob) -> DataRequest {
    DataRequest {
        dataset: job.dataset.clone(),
        data_dir: job.data_dir.clone(),
        image: job.image,
        images: job.images,
        held_out: job.held_out,
        seed: job.seed,
    }
}

impl Loaded {
    /// Whether the network was made for these images.
    pub(crate) fn check_fit(&self, graph: &Graph) -> Result<(), EngineError> {
        let images = self.train.shape();
        match graph.nodes.first() {
            Some(input) if input.shape != images => Err(EngineError::InputShape {
                network: input.shape,
                images,
            }),
            _ if graph.classes != self.classes => Err(EngineError::Classes {
                network: graph.classes,
                images: self.classes,
            }),
            _ => Ok(()),
        }
    }
}

impl Pictures {
    pub(crate) fn len(&self) -> usize {
        self.labels().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.labels().is_empty()
    }

    pub(crate) fn batch(&self, rows: &[usize]) -> Result<Batch, EngineError> {
        let pixels = match self {
            Pictures::Made(images) => images.normalised(rows),
            Pictures::Cached(images) => images.batch(rows)?,
        };
        let labels = rows.iter().filter_map(|&row| self.labels().get(row));
        Ok(Batch {
            pixels,
            labels: labels.copied().collect(),
        })
    }

    fn labels(&self) -> &[u16] {
        match self {
            Pictures::Made(images) => &images.labels,
            Pictures::Cached(images) => &images.labels,
        }
    }

    fn shape(&self) -> Shape {
        let (channels, height, width) = match self {
            Pictures::Made(images) => (images.channels, images.height, images.width),
            Pictures::Cached(images) => (images.channels, images.height, images.width),
        };
        Shape::Image(Image {
            channels,
            height,
            width,
        })
    }
}
