//! The same network in every framework, from the same weights, on the same images: do they compute
//! the same? What was found is kept, and every run says whether it was checked.

use std::fs;
use std::path::{Path, PathBuf};

use frameworks::{Home, Kind, Spec};
use measure::Stop;
use model::job::{DataJob, VerifyJob};
use model::run::{FrameworkRecord, Verified};
use model::study::Limits;
use model::verify::VerifyReport;
use model::{Optimizer, Order, Precision, Timestamp, TrainJob, Warning, Work};
use network::{Graph, Image, Op, Shape};
use seeded::SplitMix64;

use crate::agreement::{Agreement, Trained, compare};
use crate::bind::{Context, Trainer, graph_of, start};
use crate::error::WorkError;
use crate::reported::Reported;
use crate::work::write_json;

/// What is compared.
#[derive(Debug, Clone)]
pub struct Question {
    pub network: String,
    pub graph: Graph,
    pub batch: u32,
    pub steps: u32,
    pub seed: u64,
    pub timeout_seconds: f64,
}

/// What one framework answered.
#[derive(Debug)]
pub struct Answer {
    pub framework: String,
    pub result: Result<Compared, String>,
}

#[derive(Debug)]
pub struct Compared {
    pub report: VerifyReport,
    /// With the embedded engine.
    pub agreement: Agreement,
}

/// A network of a study, and what the study trains it in.
pub struct StudyQuestion {
    pub network: String,
    pub graph: Graph,
    pub specs: Vec<Spec>,
}

/// Every network of these orders at every size, with its frameworks.
pub fn questions(orders: &[Order]) -> Result<Vec<StudyQuestion>, WorkError> {
    let mut questions: Vec<StudyQuestion> = Vec::new();
    for order in orders {
        let Work::Train(train) = &order.work else {
            continue;
        };
        let spec = Spec::parse(&train.framework).map_err(WorkError::Framework)?;
        let graph: Graph = graph_of(train)?;
        let known = questions.iter_mut().find(|q| q.graph == graph);
        match known {
            Some(question) if question.specs.contains(&spec) => {}
            Some(question) => question.specs.push(spec),
            None => questions.push(StudyQuestion {
                network: train.network.clone(),
                graph,
                specs: vec![spec],
            }),
        }
    }
    Ok(questions)
}

const MOMENTUM: f64 = 0.9;
/// What the first step may take off the loss. With larger steps deep networks multiply differences
/// in the last digit until the losses have nothing in common.
const FIRST_STEP_SHARE: f64 = 0.01;

/// Asks the engine and then each of the frameworks; a framework that fails is an answer, too.
/// Tells each name before it is asked. `folder` is for scratch, and emptied by the caller.
pub fn verify(
    question: &Question,
    specs: &[Spec],
    context: Context<'_>,
    folder: &Path,
    stop: &Stop,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<Answer>, WorkError> {
    let mut scene = Scene::make(question, context, folder, stop)?;
    let engine = Spec::parse("engine").map_err(WorkError::Framework)?;
    tell("engine");
    let asked = match scene.ask(&engine, 0)? {
        Ok(first) => {
            scene.job.optimizer = small_steps(&first);
            scene.ask(&engine, question.steps)?
        }
        Err(why) => Err(why),
    };
    let reference = match asked {
        Ok(report) => report,
        Err(why) => {
            return Ok(vec![Answer {
                framework: "engine".to_owned(),
                result: Err(why),
            }]);
        }
    };
    let trained = trained(&question.graph);
    let compared = |report: VerifyReport| Compared {
        agreement: compare(&report, &reference, &trained),
        report,
    };
    let mut answers = vec![Answer {
        framework: "engine".to_owned(),
        result: Ok(compared(reference.clone())),
    }];
    for spec in specs.iter().filter(|s| s.framework.kind != Kind::Engine) {
        if stop.asked() != measure::Asked::Nothing {
            break;
        }
        tell(&spec.to_string());
        let result = scene.ask(spec, question.steps)?.map(compared);
        if let Ok(compared) = &result {
            keep(question, spec, compared, context.home)?;
        }
        answers.push(Answer {
            framework: spec.to_string(),
            result,
        });
    }
    Ok(answers)
}

/// Weights and images on disk, the same for all.
struct Scene<'a> {
    job: TrainJob,
    context: Context<'a>,
    folder: &'a Path,
    stop: &'a Stop,
    timeout_seconds: f64,
}

impl<'a> Scene<'a> {
    fn make(
        question: &Question,
        context: Context<'a>,
        folder: &'a Path,
        stop: &'a Stop,
    ) -> Result<Self, WorkError> {
        let job = job(question, folder)?;
        Ok(Scene {
            job,
            context,
            folder,
            stop,
            timeout_seconds: question.timeout_seconds,
        })
    }

    /// The framework's report, or why there is none.
    fn ask(&self, spec: &Spec, steps: u32) -> Result<Result<VerifyReport, String>, WorkError> {
        let start = match start(spec, &self.job, self.context) {
            Ok(start) => start,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let folder = self.folder.join(spec.to_string());
        fs::create_dir_all(&folder).map_err(|e| WorkError::write(&folder, e))?;
        let report = folder.join("report.json");
        let job = TrainJob {
            framework: spec.name().to_owned(),
            verify: Some(VerifyJob {
                steps,
                report: report.clone(),
            }),
            ..self.job.clone()
        };
        let reported = Reported {
            start,
            job: &job,
            folder: &folder,
            report: &report,
            limits: Limits::default(),
            timeout_seconds: self.timeout_seconds,
        };
        reported.carry_out(self.stop)
    }
}

/// A job for any framework, with weights and images on disk.
pub(crate) fn job(question: &Question, folder: &Path) -> Result<TrainJob, WorkError> {
    let graph = without_dropout(&question.graph);
    let weights = folder.join("initial.safetensors");
    let bytes = network::initial_weights(&graph, question.seed).to_bytes();
    fs::write(&weights, bytes).map_err(|e| WorkError::write(&weights, e))?;
    let cache = folder.join("images");
    let images = question.batch.saturating_mul(question.steps.max(1));
    write_noise(&graph, images, question.seed, &cache)?;
    let network = serde_json::to_value(&graph).map_err(|e| WorkError::Network {
        network: question.network.clone(),
        why: e.to_string(),
    })?;
    let side = match graph.nodes.first().map(|node| node.shape) {
        Some(Shape::Image(image)) => image.height,
        _ => 0,
    };
    let plain = TrainJob::plain(network, question.seed);
    Ok(TrainJob {
        data: DataJob {
            image: side,
            images: Some(images),
            held_out: Some(0),
            cache: Some(cache),
            ..plain.data
        },
        batch: question.batch,
        optimizer: sgd(0.0),
        weights: Some(weights),
        ..plain
    })
}

pub(crate) fn sgd(learning_rate: f64) -> Optimizer {
    Optimizer::Sgd {
        learning_rate,
        momentum: MOMENTUM,
    }
}

/// A step of gradient descent lowers the loss by the rate times the gradient's square, as long as
/// it is small.
fn small_steps(first: &VerifyReport) -> Optimizer {
    let squares: f64 = first.norms.gradients.values().map(|norm| norm * norm).sum();
    let loss = first.losses.first().copied().unwrap_or(0.0);
    let rate = FIRST_STEP_SHARE * loss / squares;
    sgd(if rate.is_finite() { rate } else { 0.0 })
}

/// Every framework drops other values: with dropout nothing could be compared.
fn without_dropout(graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    for node in &mut graph.nodes {
        if let Op::Dropout { rate } = &mut node.op {
            *rate = 0.0;
        }
    }
    graph
}

fn trained(graph: &Graph) -> Vec<Trained> {
    let parameters = graph.nodes.iter().flat_map(|node| &node.parameters);
    parameters
        .filter(|p| p.trained)
        .map(|p| Trained {
            name: p.name.clone(),
            elements: p.elements(),
        })
        .collect()
}

/// Pixels of 8 bits, scaled to −1 … 1 as those of images are (Caffe reads nothing else), and labels,
/// so that networks for any input can be compared without a dataset.
fn write_noise(graph: &Graph, images: u32, seed: u64, folder: &Path) -> Result<(), WorkError> {
    let (channels, height, width) = match graph.nodes.first().map(|node| node.shape) {
        Some(Shape::Image(Image {
            channels,
            height,
            width,
        })) => (channels as usize, height as usize, width as usize),
        _ => (0, 0, 0),
    };
    let mut random = SplitMix64::new(seed);
    let count = images as usize;
    let mut pixel = || data::normalise(random.below(256) as u8);
    let pixels: Vec<f32> = (0..count * channels * height * width)
        .map(|_| pixel())
        .collect();
    let classes = graph.classes as usize;
    let labels: Vec<i32> = (0..count).map(|_| random.below(classes) as i32).collect();
    let written = fs::create_dir_all(folder);
    written.map_err(|e| WorkError::write(folder, e))?;
    let train = data::cache::write(
        folder,
        "train",
        &pixels,
        [count, channels, height, width],
        &labels,
    );
    let held_out =
        || data::cache::write(folder, "held-out", &[], [0, channels, height, width], &[]);
    train.and_then(|()| held_out()).map_err(WorkError::Data)
}

fn keep(
    question: &Question,
    spec: &Spec,
    compared: &Compared,
    home: &Home,
) -> Result<(), WorkError> {
    let Agreement {
        first_loss,
        last_loss,
        differs_at,
        ..
    } = &compared.agreement;
    let verified = Verified {
        when: Timestamp::now(),
        // JSON has no word for what is no number.
        first_loss_difference: finite(*first_loss),
        last_loss_difference: finite(*last_loss),
        steps: question.steps,
        differs_at: differs_at.clone(),
    };
    let path = place(&question.graph, spec.name(), &compared.report.version, home);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| WorkError::write(parent, e))?;
    }
    write_json(&path, &verified)
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::MAX }
}

/// By everything that decides what is computed: the graph with its shapes, framework, version and
/// the adapters, which are another program once they are changed.
fn place(graph: &Graph, framework: &str, version: &str, home: &Home) -> PathBuf {
    let graph = serde_json::to_value(graph).unwrap_or_default();
    home.path()
        .join("verified")
        .join(plan::fingerprint(&graph))
        .join(frameworks::adapters_digest())
        .join(format!("{framework}-{version}.json"))
}

/// What is known of the framework of a run that is over.
pub(crate) fn of_run(
    trainer: &Trainer,
    job: Option<&TrainJob>,
    told: Option<&FrameworkRecord>,
    home: &Home,
) -> FrameworkRecord {
    let told = told.and_then(|t| t.version.clone());
    let version = told.or_else(|| trainer.version.clone());
    let name = trainer.framework.name.clone();
    let verified = version.as_ref().and_then(|version| {
        let bytes = fs::read(place(&trainer.graph, &name, version, home)).ok()?;
        serde_json::from_slice::<Verified>(&bytes).ok()
    });
    // What differs where it was compared is not made equal by being computed in another way.
    let shown = cannot_be_shown(trainer, job).is_none();
    let verified = verified.filter(|v| shown || v.differs_at.is_some());
    FrameworkRecord {
        name,
        version,
        verified,
    }
}

/// Why comparing says nothing of this run, as the end of a sentence: it is done on a CPU, in 32 bits,
/// and as the framework computes unless it is told.
fn cannot_be_shown(trainer: &Trainer, job: Option<&TrainJob>) -> Option<String> {
    let framework = trainer.framework;
    let job = job?;
    let other_compile = |&compile: &bool| !framework.compiles_by_custom(compile);
    if job.device.split(',').any(|device| device.trim() != "cpu") {
        let device = &job.device;
        Some(format!(
            "bancada verify compares on a CPU, but this ran on {device}"
        ))
    } else if job.precision == Precision::Mixed {
        Some("bancada verify compares in 32 bits, but this ran in mixed precision".to_owned())
    } else {
        let compile = job.compile.filter(other_compile)?;
        Some(format!(
            "bancada verify compares with the default compilation, but this ran with compile = {compile}"
        ))
    }
}

/// The embedded engine is what the others are compared with.
pub(crate) fn warning(
    trainer: &Trainer,
    job: Option<&TrainJob>,
    record: Option<&FrameworkRecord>,
) -> Option<Warning> {
    if trainer.framework.kind == Kind::Engine {
        return None;
    }
    let framework = trainer.framework.name.clone();
    let network = trainer.network.clone();
    match record.and_then(|r| r.verified.as_ref()) {
        None => Some(Warning::NotVerified {
            framework,
            network,
            cannot: cannot_be_shown(trainer, job),
        }),
        Some(verified) => verified
            .differs_at
            .clone()
            .map(|layer| Warning::ComputesOtherwise {
                framework,
                network,
                layer,
            }),
    }
}
