//! Emulates a serverless service in front of a serving stack.

use std::net::SocketAddr;
use std::time::Duration;

use model::EventKind;
use model::run::metric;
use workloads::protocol::Events;
use workloads::serverless::{Bill, BillingTerms, EmulatorEvent, Engine, Options, Size, Stack};

use crate::args::ServerlessArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

/// Clients' connections: below what a process may usually open, with room for the workers'.
const CONNECTIONS: usize = 512;

/// Some thirty years: what is longer is a slip of the hand.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

pub(super) fn serverless(args: &ServerlessArgs, printer: &Printer) -> CommandResult {
    let options = options(args)?;
    let (size, concurrency) = (options.size, options.concurrency);
    let talker = *printer;
    let bill = workloads::serverless::emulate(options, move |told| {
        talker.talk(&in_words(&told, size, concurrency));
    });
    let bill = bill.map_err(Failure::trouble)?;
    tell_billed(&bill)?;
    printer.data(&bill.to_string());
    Ok(Exit::Ok)
}

/// In a run, whose client may have been stopped before it could ask for the bill.
fn tell_billed(bill: &Bill) -> Result<(), Failure> {
    let billed = EventKind::Metric {
        name: metric::BILLED_SECONDS.to_owned(),
        value: bill.billed_ms as f64 / 1e3,
        unit: "s".to_owned(),
    };
    Events::open()?.tell(billed);
    Ok(())
}

fn options(args: &ServerlessArgs) -> Result<Options, Failure> {
    let mut terms = BillingTerms::sagemaker();
    terms.bills_setup = args.bill_setup;
    let size = match args.any_memory {
        true => Size::any(args.memory, args.mb_per_cpu),
        false => Size::sold(&terms, args.memory, args.mb_per_cpu),
    };
    Ok(Options {
        address: SocketAddr::new(args.host, args.port),
        stack: stack(args)?,
        size: size.map_err(Failure::wrong_arguments)?,
        concurrency: args.concurrency,
        idle: seconds(args.idle, "--idle")?,
        start_timeout: seconds(args.start_timeout, "--start-timeout")?,
        timeout: seconds(args.timeout, "--timeout")?,
        grace: seconds(args.grace, "--grace")?,
        drain: seconds(args.drain, "--drain")?,
        body_bytes: args.max_body.saturating_mul(1_000_000),
        connections: CONNECTIONS,
        terms,
    })
}

fn stack(args: &ServerlessArgs) -> Result<Stack, Failure> {
    let Some(image) = &args.container else {
        return Ok(Stack::Command(args.command.clone()));
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let arguments = match args.command.as_slice() {
        [] => vec!["serve".to_owned()],
        arguments => arguments.to_vec(),
    };
    Ok(Stack::Container {
        engine: Engine::find(&path).map_err(Failure::trouble)?,
        image: image.clone(),
        arguments,
    })
}

fn seconds(number: f64, option: &str) -> Result<Duration, Failure> {
    let time = Duration::try_from_secs_f64(number).ok();
    time.filter(|time| *time <= LONGEST).ok_or_else(|| {
        Failure::wrong_arguments(format!("{option} {number} is not a time in seconds"))
    })
}

fn in_words(told: &EmulatorEvent, size: Size, concurrency: usize) -> String {
    match told {
        EmulatorEvent::Listening { address } => {
            let word = if concurrency == 1 {
                "worker"
            } else {
                "workers"
            };
            format!(
                "listening on http://{address} with up to {concurrency} {word} of {} MB and {} cores: POST \
                 /invocations, GET /ping, /bancada/bill, /bancada/workers",
                size.memory_mb, size.cpus
            )
        }
        EmulatorEvent::Warning(warning) => format!("! {warning}"),
        EmulatorEvent::Ready { worker, setup } => format!(
            "worker {worker} is ready after {}",
            report::format::duration(setup.as_secs_f64())
        ),
        EmulatorEvent::Ended { worker, why } => format!("worker {worker} has ended: {why}"),
        EmulatorEvent::Draining => "shutting down: finishing requests in progress".to_owned(),
    }
}
