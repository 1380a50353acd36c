//! An order that serves → the server's command, and what its client is asked to do.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use frameworks::{Front, Machine, Spec, StackWish, Stacks};
use model::job::{JOB_PROTOCOL, LoadJob, LoadTarget};
use model::order::{COMMAND_STACK, ServeOrder};
use model::serving::Serverless;
use model::{LoadClientJob, Order, Ready, ReadyModel, ServeWorkload, Service};

use crate::bind::{Bound, Context};
use crate::error::WorkError;
use crate::finish::{ENDPOINT_FILE, SERVING_FILE};
use crate::picture;

/// By the container contract a server is healthy within four minutes, or has failed.
const START_TIMEOUT_SECONDS: f64 = 240.0;
/// Where nothing is known of a model's input.
const USUAL_SIDE: u32 = 224;
const BANCADA: &str = "bancada";
/// The client as a command; of a run whose server is elsewhere, the whole of it.
const ASK: &str = "ask";

/// The client of a serving run, in addition to the server's own process.
#[derive(Debug, Clone)]
pub(crate) struct LoadClient {
    pub(crate) job: LoadClientJob,
    pub(crate) model: Option<ReadyModel>,
    /// Whether the client is the run: nothing is started here but it.
    pub(crate) alone: bool,
}

pub(crate) fn bind_serving(
    order: &Order,
    serve: &ServeOrder,
    ready: &Ready,
    context: Context<'_>,
) -> Result<Bound, WorkError> {
    let workload = &serve.workload;
    let model = match serve.model_wish() {
        Some(wish) => Some(ready.model(&wish).cloned().ok_or_else(|| {
            WorkError::Serving(format!("model `{}` was not made ready", wish.model))
        })?),
        None => None,
    };
    let bodies = bodies(workload, model.as_ref(), context)?;
    let job = |target: LoadTarget| LoadClientJob {
        protocol: JOB_PROTOCOL,
        target,
        content_type: content_type(&bodies).to_owned(),
        bodies: bodies.clone(),
        load: load_job(serve, context),
        // In the run's folder, which is known when it begins.
        requests: PathBuf::from("requests.csv"),
        outcome: PathBuf::from("load.json"),
        record: PathBuf::from(SERVING_FILE),
        endpoint: PathBuf::from(ENDPOINT_FILE),
    };
    if let Some(service) = serve.elsewhere().cloned() {
        check_headers(&service)?;
        let name = endpoint_name(&order.environment);
        return Ok(Bound {
            command: own(context, &[ASK]),
            client: Some(LoadClient {
                job: job(LoadTarget::Service { service, name }),
                model,
                alone: true,
            }),
            ..Bound::default()
        });
    }
    let port = free_port().map_err(|error| WorkError::Serving(error.to_string()))?;
    let Start { command, env } = match &serve.service {
        Some(Service::Serverless(serverless)) => {
            let inner = start(workload, model.as_ref(), "{port}", context)?;
            before(serverless, port, inner, context)
        }
        _ => start(workload, model.as_ref(), &port.to_string(), context)?,
    };
    Ok(Bound {
        command,
        env,
        directory: Some(context.files.to_owned()),
        client: Some(LoadClient {
            job: job(LoadTarget::Server {
                address: format!("http://127.0.0.1:{port}"),
                start_timeout_seconds: START_TIMEOUT_SECONDS,
            }),
            model,
            alone: false,
        }),
        ..Bound::default()
    })
}

struct Start {
    command: Vec<String>,
    env: Vec<(String, String)>,
}

fn own(context: Context<'_>, words: &[&str]) -> Vec<String> {
    let program = context.bancada.to_string_lossy().into_owned();
    let words = words.iter().map(|word| (*word).to_owned());
    std::iter::once(program).chain(words).collect()
}

/// How a stack is started to listen at a port; `{port}` where another program fills it in.
fn start(
    workload: &ServeWorkload,
    model: Option<&ReadyModel>,
    port: &str,
    context: Context<'_>,
) -> Result<Start, WorkError> {
    let fill = |text: &String| text.replace("{port}", port);
    let bind = ("SAGEMAKER_BIND_TO_PORT".to_owned(), port.to_owned());
    match (workload.stack.as_str(), model) {
        (COMMAND_STACK, _) => {
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
            let mut command = own(context, &["serve"]);
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
                WorkError::Serving(format!("the model was not made ready for {name}"))
            })?;
            start_stack(name, folder, workload, port, context)
        }
    }
}

fn start_stack(
    name: &str,
    folder: &Path,
    workload: &ServeWorkload,
    port: &str,
    context: Context<'_>,
) -> Result<Start, WorkError> {
    let failed = |error: &dyn std::fmt::Display| WorkError::Serving(error.to_string());
    let spec = Spec::parse(name).map_err(|error| failed(&error))?;
    let machine = Machine::here();
    let stacks = Stacks {
        home: context.home,
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
fn before(serverless: &Serverless, port: u16, inner: Start, context: Context<'_>) -> Start {
    let mut command = own(context, &["serverless"]);
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

fn load_job(serve: &ServeOrder, context: Context<'_>) -> LoadJob {
    let workload = &serve.workload;
    let trace = workload.trace.as_ref();
    LoadJob {
        shape: workload.load,
        clients: workload.clients,
        rate: workload.rate,
        requests: workload.requests,
        // A provider's workers have an idle time of their own, which the protocol's pause is for.
        pause_seconds: workload.pause_at(serve.service.as_ref().filter(|_| !serve.real)),
        seconds: workload.seconds,
        under_seconds: workload.under_seconds,
        timeout_seconds: workload.timeout_seconds,
        trace: trace.map(|path| context.files.join(path)),
        seed: serve.seed,
    }
}

/// The study's own pictures, or a drawn one.
fn bodies(
    workload: &ServeWorkload,
    model: Option<&ReadyModel>,
    context: Context<'_>,
) -> Result<Vec<PathBuf>, WorkError> {
    let Some(typed) = &workload.body else {
        let side = model.and_then(|model| model.side).or(workload.image);
        let drawn = picture::drawn(side.unwrap_or(USUAL_SIDE), context.home.path());
        return Ok(vec![drawn.map_err(WorkError::Serving)?]);
    };
    let path = context.files.join(typed);
    load::body_files(&path).map_err(|error| WorkError::Serving(error.to_string()))
}

/// Before anything runs: a secret that is not there would fail every run.
fn check_headers(service: &Service) -> Result<(), WorkError> {
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
                return Err(WorkError::Serving(format!(
                    "the header `{header}` of {} needs the variable {name}, which is not set",
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
