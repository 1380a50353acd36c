//! Runs a load on its threads and merges their records.

use std::thread;

use crate::clock::{Clock, unix_seconds};
use crate::limit::client_limited;
use crate::outcome::Client;
use crate::pace::Share;
use crate::plan::Plan;
use crate::record::Record;
use crate::worker::Worker;
use crate::{Load, LoadError, Options, Outcome, Request, Watch};

/// Carries out a load and waits for its end.
pub fn run(request: &Request, load: &Load, options: &Options) -> Result<Outcome, LoadError> {
    run_watched(request, load, options, &Watch::default())
}

/// The same, seen and stopped through a [`Watch`].
pub fn run_watched(
    request: &Request,
    load: &Load,
    options: &Options,
    watch: &Watch,
) -> Result<Outcome, LoadError> {
    let plan = Plan::new(request, load, options)?;
    let began_unix_seconds = unix_seconds();
    let records = on_threads(&plan, watch)?;
    let client = busiest(&records);
    let mut all = Record::default();
    records.into_iter().for_each(|record| all.merge(record));
    let mut outcome = all.outcome(began_unix_seconds, client);
    outcome.client_limited = client_limited(&outcome, load);
    Ok(outcome)
}

/// The thread that had most to do: the others cannot have been the limit.
fn busiest(records: &[Record]) -> Client {
    let wanted = |a: &Client, b: &Client| a.wanted_share().total_cmp(&b.wanted_share());
    let busiest = records
        .iter()
        .map(Record::client)
        .max_by(wanted)
        .unwrap_or_default();
    Client {
        threads: records.len(),
        ..busiest
    }
}

fn on_threads(plan: &Plan, watch: &Watch) -> Result<Vec<Record>, LoadError> {
    let clock = Clock::start();
    let threads = plan.threads as u64;
    thread::scope(|scope| {
        let mut started = Vec::new();
        for thread in 0..threads {
            let share = Share { thread, threads };
            let work = move || Worker::new(plan, watch, clock, share)?.run();
            let handle = thread::Builder::new()
                .name(format!("load-{thread}"))
                .spawn_scoped(scope, work)
                .map_err(LoadError::system("start a thread"));
            // Without all its threads the load is another one: those that run are to end.
            started.push(handle.inspect_err(|_| watch.stop())?);
        }
        started.into_iter().map(joined).collect()
    })
}

fn joined(
    handle: thread::ScopedJoinHandle<'_, std::io::Result<Record>>,
) -> Result<Record, LoadError> {
    match handle.join() {
        Ok(record) => record.map_err(LoadError::system("wait for sockets")),
        Err(_) => Err(LoadError::Plan(
            "a load thread ended unexpectedly".to_owned(),
        )),
    }
}
