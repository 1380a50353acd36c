//! One file per command. Each reads what it needs, calls a crate, prints.

mod agent;
mod ask;
mod check;
mod compare;
mod data;
mod designs;
mod doctor;
mod endpoints;
mod export;
mod forecasting;
mod image;
mod import;
mod import_log;
mod infra;
mod init;
mod load;
mod manual;
mod network;
mod onboard;
mod plan;
mod predict;
mod prepare;
mod price;
mod probe;
mod quantise;
mod reconcile;
mod rented;
mod results;
mod run;
mod serve;
mod serverless;
mod setup;
mod studies;
mod time;
mod ui;
mod verify;
mod watch;
mod work;

use crate::args::Command;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::signals::{self, STOP};

pub(crate) fn dispatch(command: Command, printer: &Printer) -> CommandResult {
    match command {
        Command::Run(args) => run::run(&args, printer),
        Command::Plan(args) => plan::plan(&args, printer),
        Command::Check(args) => check::check(&args, printer),
        Command::Init(args) => init::init(&args, printer),
        Command::Studies(args) => studies::studies(&args, printer),
        Command::Schema => {
            printer.data(&format!("{:#}", ::plan::schema()));
            Ok(Exit::Ok)
        }
        Command::Show(args) => args.language.scope(|| results::show(&args, printer)),
        Command::Compare(args) => args.language.scope(|| compare::compare(&args, printer)),
        Command::Report(args) => args.language.scope(|| results::report(&args, printer)),
        Command::Export(args) => args.language.scope(|| export::export(&args, printer)),
        Command::Import(args) => import::import(&args, printer),
        Command::Reconcile(args) => reconcile::reconcile(&args, printer),
        Command::Verify(args) => verify::verify(&args, printer),
        Command::Image(command) => image::image(command, printer),
        Command::Load(args) => load::load(&args, printer),
        Command::Quantise(args) => quantise::quantise(&args, printer),
        Command::Serve(args) => serve::serve(&args, printer),
        Command::Serverless(args) => serverless::serverless(&args, printer),
        Command::Price(command) => price::price(command, printer),
        Command::Probe(args) => probe::probe(&args, printer),
        Command::Network(command) => network::network(command, printer),
        Command::Infra(command) => infra::infra(command, printer),
        Command::Onboard(args) => onboard::onboard(&args, printer),
        Command::Time(args) => time::time(&args, printer),
        Command::Watch(args) => watch::watch(&args, printer),
        Command::Ui(args) => ui::ui(&args, printer),
        Command::WatchNotice(args) => infra::watch_notice(&args, printer),
        Command::Data(command) => data::data(command, printer),
        Command::Setup(args) => setup::setup(&args, printer),
        Command::Doctor(args) => doctor::doctor(&args, printer),
        Command::Completions { shell } => manual::completions(shell, printer),
        Command::Man { dir } => manual::man(dir.as_deref(), printer),
        Command::Ask => ask::ask(),
        Command::Work(args) => work::work(&args),
        Command::MakeReady(args) => work::make_ready(&args),
        Command::Agent(args) => agent::agent(&args),
        Command::EngineTrain => done(workloads::train_with_engine()),
        Command::CaffeTrain => {
            signals::listen();
            done(workloads::caffe::train(&STOP))
        }
    }
}

fn done(result: Result<(), workloads::Error>) -> CommandResult {
    result?;
    Ok(Exit::Ok)
}
