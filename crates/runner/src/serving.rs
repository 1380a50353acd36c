//! A scenario that serves → the server's command, and what its client is asked to do.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use frameworks::{Front, Machine, Spec, StackWish, Stacks};
use model::job::{AskTarget, JOB_PROTOCOL, LoadJob};
use model::serving::Serverless;
use model::{AskJob, Environment, RunRecord, ServePrecision, ServeWorkload, Service};
use serde::{Deserialize, Serialize};

use crate::picture;
use crate::workload::{PreparedRun, Surroundings, WorkloadError};

/// By the container contract a server is healthy within four minutes, or has failed.
const START_TIMEOUT_SECONDS: f64 = 240.0;
/// Where nothing is known of a model's input.
const USUAL_SIDE: u32 = 224;
const BANCADA: &str = "bancada";
const COMMAND: &str = "command";
/// The client as a command; of a run whose server is elsewhere, the whole of it.
const ASK: &str = "ask";

/// A model as `bancada serve-ready` made it, before anything is measured: on the disk, converted,
/// optimised, quantised, so that no start is charged for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadyModel {
    /// What `bancada serve` is told to serve, with options.
    pub served: Vec<String>,
    /// What another stack reads.
    pub stack_folder: Option<PathBuf>,
    pub bytes: Option<u64>,
    /// What computes: `ONNX Runtime`, `the embedded engine`, or the stack's own.
    #[serde(default)]
    pub runtime: Option<String>,
    /// Of its square input.
    pub side: Option<u32>,
    /// On held-out images, percent; none where its weights were not trained.
    pub accuracy_percent: Option<f64>,
    /// Of a quantised model: how often it names the same class as the model it was made of.
    pub agreement_percent: Option<f64>,
}

/// Models made ready, each asked for once.
#[derive(Debug, Default)]
pub struct Models {
    known: RefCell<HashMap<Vec<String>, ReadyModel>>,
}

/// What a serving run asks, beside the server's own process.
#[derive(Debug, Clone)]
pub struct Asks {
    pub job: AskJob,
    pub model: Option<ReadyModel>,
    /// Whether the client is the run: nothing is started here but it.
    pub alone: bool,
}

impl Asks {
    /// Whether its client makes something that is paid for until it is deleted.
    pub(crate) fn makes_endpoint(&self) -> bool {
        match &self.job.target {
            AskTarget::Server { .. } => false,
            AskTarget::Service { service, .. } => !matches!(service, Service::Url(_)),
        }
    }
}

pub(crate) fn prepare_serving(
    workload: &ServeWorkload,
    environment: Environment,
    seed: u64,
    surroundings: Surroundings<'_>,
) -> Result<PreparedRun, WorkloadError> {
    let elsewhere = elsewhere(&environment, surroundings);
    let needs_model = workload.stack != COMMAND && elsewhere.is_none();
    let model = match needs_model {
        true => Some(surroundings.models.ready(workload, surroundings)?),
        false => None,
    };
    let load = load_job(workload, environment.service.as_ref(), seed, surroundings);
    let bodies = bodies(workload, model.as_ref(), surroundings)?;
    let job = |target: AskTarget| AskJob {
        protocol: JOB_PROTOCOL,
        target,
        content_type: content_type(&bodies).to_owned(),
        bodies: bodies.clone(),
        load: load.clone(),
        // In the run's folder, which is known when it begins.
        requests: PathBuf::from("requests.csv"),
        outcome: PathBuf::from("load.json"),
        record: PathBuf::from("serving.json"),
        endpoint: PathBuf::from("endpoint.json"),
    };
    if let Some(service) = elsewhere {
        check_headers(&service)?;
        let name = endpoint_name(&environment.name);
        return Ok(PreparedRun {
            command: own(surroundings, &[ASK]),
            asks: Some(Asks {
                job: job(AskTarget::Service { service, name }),
                model,
                alone: true,
            }),
            ..PreparedRun::new(environment)
        });
    }
    let port = free_port().map_err(|error| WorkloadError::Serving(error.to_string()))?;
    let Start { command, env } = match emulated(&environment) {
        Some(serverless) => {
            let inner = start(workload, model.as_ref(), "{port}", surroundings)?;
            before(serverless, port, inner, surroundings)
        }
        None => start(workload, model.as_ref(), &port.to_string(), surroundings)?,
    };
    Ok(PreparedRun {
        command,
        env,
        directory: Some(surroundings.study_folder.to_owned()),
        asks: Some(Asks {
            job: job(AskTarget::Server {
                address: format!("http://127.0.0.1:{port}"),
                start_timeout_seconds: START_TIMEOUT_SECONDS,
            }),
            model,
            alone: false,
        }),
        ..PreparedRun::new(environment)
    })
}

/// The place that answers, where that is not a server started here.
fn elsewhere(environment: &Environment, surroundings: Surroundings<'_>) -> Option<Service> {
    let service = environment.service.as_ref()?;
    let is_elsewhere = match service {
        Service::Url(_) => true,
        Service::RealTime(_) => surroundings.real,
        Service::Serverless(serverless) => surroundings.real && serverless.sagemaker.is_some(),
    };
    is_elsewhere.then(|| service.clone())
}

/// Whether a run asked a server that it did not start.
pub fn was_elsewhere(record: &RunRecord) -> bool {
    matches!(record.command.as_slice(), [_, word] if word == ASK)
}

fn emulated(environment: &Environment) -> Option<&Serverless> {
    match &environment.service {
        Some(Service::Serverless(serverless)) => Some(serverless),
        _ => None,
    }
}

struct Start {
    command: Vec<String>,
    env: Vec<(String, String)>,
}

fn own(surroundings: Surroundings<'_>, words: &[&str]) -> Vec<String> {
    let program = surroundings.bancada.to_string_lossy().into_owned();
    let words = words.iter().map(|word| (*word).to_owned());
    std::iter::once(program).chain(words).collect()
}

/// How a stack is started to listen at a port; `{port}` where another program fills it in.
fn start(
    workload: &ServeWorkload,
    model: Option<&ReadyModel>,
    port: &str,
    surroundings: Surroundings<'_>,
) -> Result<Start, WorkloadError> {
    let fill = |text: &String| text.replace("{port}", port);
    let bind = ("SAGEMAKER_BIND_TO_PORT".to_owned(), port.to_owned());
    match (workload.stack.as_str(), model) {
        (COMMAND, _) => {
            let mut env: Vec<(String, String)> = workload
                .env
                .iter()
                .map(|(name, value)| (name.clone(), fill(value)))
                .collect();
            env.push(bind);
            Ok(Start {
                command: workload.command.iter().map(fill).collect(),
                env,
            })
        }
        (BANCADA, Some(model)) => {
            let mut command = own(surroundings, &["serve"]);
            command.extend(model.served.iter().cloned());
            command.extend(["--port".to_owned(), port.to_owned()]);
            for (flag, value) in [
                ("--workers", workload.workers),
                ("--threads", workload.threads),
            ] {
                command.extend(
                    value
                        .into_iter()
                        .flat_map(|n| [flag.to_owned(), n.to_string()]),
                );
            }
            Ok(Start {
                command,
                env: Vec::new(),
            })
        }
        (name, model) => {
            let folder = model.and_then(|model| model.stack_folder.as_deref());
            let folder = folder.ok_or_else(|| {
                WorkloadError::Serving(format!("the model was not prepared for {name}"))
            })?;
            start_stack(name, folder, workload, port, surroundings)
        }
    }
}

fn start_stack(
    name: &str,
    folder: &Path,
    workload: &ServeWorkload,
    port: &str,
    surroundings: Surroundings<'_>,
) -> Result<Start, WorkloadError> {
    let failed = |error: &dyn std::fmt::Display| WorkloadError::Serving(error.to_string());
    let spec = Spec::parse(name).map_err(|error| failed(&error))?;
    let machine = Machine::here();
    let stacks = Stacks {
        home: surroundings.home,
        machine: &machine,
    };
    let wish = StackWish {
        model: folder,
        // Filled in below where it is another program's to choose.
        port: port.parse().unwrap_or(0),
        workers: workload.workers,
        threads: workload.threads,
        front: Front::Nginx,
        folder: None,
    };
    let start = stacks.start(&spec, &wish).map_err(|error| failed(&error))?;
    let mut env = start.env;
    // The emulator tells each worker its port by the contract's own variable.
    if port.parse::<u16>().is_err() {
        env.retain(|(name, _)| name != "SAGEMAKER_BIND_TO_PORT");
    }
    Ok(Start {
        command: start.command,
        env,
    })
}

/// The emulator before a stack.
fn before(
    serverless: &Serverless,
    port: u16,
    inner: Start,
    surroundings: Surroundings<'_>,
) -> Start {
    let mut command = own(surroundings, &["serverless"]);
    for (flag, value) in [
        ("--port", port.to_string()),
        ("--memory", serverless.memory_mb.to_string()),
        ("--idle", serverless.idle_seconds.to_string()),
        ("--concurrency", serverless.concurrency.to_string()),
    ] {
        command.extend([flag.to_owned(), value]);
    }
    command.push("--".to_owned());
    command.extend(inner.command);
    Start {
        command,
        env: inner.env,
    }
}

/// Asked of the system and given back: nobody else is likely to take it in the next moment.
fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// Unique to a run, within what the provider allows as a name.
fn endpoint_name(environment: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let environment: String = environment.chars().map(plain).take(30).collect();
    let moment = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis();
    format!("bancada-{}-{moment:x}", environment.trim_matches('-'))
}

fn load_job(
    workload: &ServeWorkload,
    service: Option<&Service>,
    seed: u64,
    surroundings: Surroundings<'_>,
) -> LoadJob {
    LoadJob {
        shape: workload.load,
        clients: workload.clients,
        rate: workload.rate,
        requests: workload.requests,
        // A provider's workers have an idle time of their own, which the protocol's pause is for.
        pause_seconds: workload.pause_at(service.filter(|_| !surroundings.real)),
        seconds: workload.seconds,
        under_seconds: workload.under_seconds,
        timeout_seconds: workload.timeout_seconds,
        trace: workload
            .trace
            .as_ref()
            .map(|path| surroundings.study_folder.join(path)),
        seed,
    }
}

/// The study's own pictures, or a drawn one.
fn bodies(
    workload: &ServeWorkload,
    model: Option<&ReadyModel>,
    surroundings: Surroundings<'_>,
) -> Result<Vec<PathBuf>, WorkloadError> {
    let Some(typed) = &workload.body else {
        let side = model.and_then(|model| model.side).or(workload.image);
        let drawn = picture::drawn(side.unwrap_or(USUAL_SIDE), surroundings.home.path());
        return Ok(vec![drawn.map_err(WorkloadError::Serving)?]);
    };
    let path = surroundings.study_folder.join(typed);
    load::body_files(&path).map_err(|error| WorkloadError::Serving(error.to_string()))
}

/// Before anything runs: a secret that is not there would fail every run.
fn check_headers(service: &Service) -> Result<(), WorkloadError> {
    let Service::Url(url) = service else {
        return Ok(());
    };
    for (header, value) in &url.headers {
        let named = value
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split_once('}'));
        for (name, _) in named {
            if std::env::var_os(name).is_none() {
                return Err(WorkloadError::Serving(format!(
                    "the header `{header}` of {} needs the environment variable {name}, which is not set",
                    url.url
                )));
            }
        }
    }
    Ok(())
}

fn content_type(bodies: &[PathBuf]) -> &'static str {
    let first = bodies.first().and_then(|path| load::content_type(path));
    first.unwrap_or(load::UNKNOWN_TYPE)
}

impl Models {
    fn ready(
        &self,
        workload: &ServeWorkload,
        surroundings: Surroundings<'_>,
    ) -> Result<ReadyModel, WorkloadError> {
        let command = ready_command(workload, surroundings);
        if let Some(model) = self.known.borrow().get(&command) {
            return Ok(model.clone());
        }
        let model = ask_ready(&command)
            .map_err(|why| WorkloadError::Serving(format!("model `{}`: {why}", workload.model)))?;
        self.known.borrow_mut().insert(command, model.clone());
        Ok(model)
    }
}

fn ready_command(workload: &ServeWorkload, surroundings: Surroundings<'_>) -> Vec<String> {
    let is_described = network::names().any(|name| name == workload.model);
    let model = match is_described {
        true => workload.model.clone(),
        false => {
            let path = surroundings.study_folder.join(&workload.model);
            path.to_string_lossy().into_owned()
        }
    };
    let mut command = own(surroundings, &["serve-ready"]);
    command.push(model);
    for (flag, value) in [("--image", workload.image), ("--classes", workload.classes)] {
        command.extend(
            value
                .into_iter()
                .flat_map(|n| [flag.to_owned(), n.to_string()]),
        );
    }
    if workload.stack != BANCADA {
        command.extend(["--stack".to_owned(), workload.stack.clone()]);
    }
    if workload.precision == ServePrecision::Int8 {
        command.push("--int8".to_owned());
    }
    command
}

/// Another process: who measures does not load what it measures.
fn ask_ready(command: &[String]) -> Result<ReadyModel, String> {
    let (program, arguments) = command.split_first().ok_or("no program")?;
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start {program}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("error: ");
        return Err(said.to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
