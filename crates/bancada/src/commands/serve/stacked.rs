//! The same models with a different server: prepared, then this process executes it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use frameworks::{Front, Home, Machine, Spec, StackStart, StackWish, Stacks};
use workloads::models::Offered;

use super::all_offered;
use crate::args::ServeCommandArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn serve(args: &ServeCommandArgs, spec: &Spec, printer: &Printer) -> CommandResult {
    let home = Home::find().map_err(Failure::trouble)?;
    let machine = Machine::here();
    let stacks = Stacks {
        home: &home,
        machine: &machine,
    };
    let offered = the_one(args)?;
    let onnx = offered.on_disk(&home)?;
    let folder = offered.for_stack(spec, &stacks, &onnx, false)?;
    if args.server.prepare {
        printer.data(&folder.display().to_string());
        return Ok(Exit::Ok);
    }
    let wish = StackWish {
        model: &folder,
        port: port(args)?,
        workers: args.server.workers.and_then(|n| u32::try_from(n).ok()),
        threads: args.server.threads.and_then(|n| u32::try_from(n).ok()),
        front: match args.no_nginx {
            true => Front::Bare,
            false => Front::Nginx,
        },
        folder: None,
    };
    let start = stacks.start(spec, &wish).map_err(Failure::trouble)?;
    if args.start_json {
        printer.data(&serde_json::to_string(&start).map_err(Failure::trouble)?);
        return Ok(Exit::Ok);
    }
    become_it(spec, &offered, &wish, start, printer)
}

/// Only a failure comes back.
fn become_it(
    spec: &Spec,
    offered: &Offered,
    wish: &StackWish<'_>,
    start: StackStart,
    printer: &Printer,
) -> CommandResult {
    for difference in &start.differences {
        printer.talk(&format!("! {difference}"));
    }
    if offered.is_seeded() {
        printer.talk(&format!("! {}: {}", offered.name, serve::UNTRAINED));
    }
    printer.talk(&format!(
        "{} {} on http://127.0.0.1:{}: POST /invocations, GET /ping",
        spec.name(),
        start.version,
        wish.port
    ));
    let Some((program, arguments)) = start.command.split_first() else {
        return Err(Failure::trouble(format!("{spec} has no command")));
    };
    let failed = Command::new(program).args(arguments).envs(start.env).exec();
    Err(Failure::trouble(format!(
        "cannot start {program}: {failed}"
    )))
}

fn the_one(args: &ServeCommandArgs) -> Result<Offered, Failure> {
    let mut offered = all_offered(args)?;
    match (offered.pop(), offered.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => Err(Failure::trouble("a stack serves a single model: name one")),
    }
}

/// For 0, one that nobody uses now.
fn port(args: &ServeCommandArgs) -> Result<u16, Failure> {
    let options = args.server.options().map_err(Failure::trouble)?;
    match options.address.port() {
        0 => {
            let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
            let address = listener.and_then(|listener| listener.local_addr());
            Ok(address.map_err(Failure::trouble)?.port())
        }
        port => Ok(port),
    }
}
