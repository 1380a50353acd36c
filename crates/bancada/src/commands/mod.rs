//! One file per command. Each reads what it needs, calls a crate, prints.

mod ask;
mod caffe_train;
mod check;
mod data;
mod doctor;
mod endpoints;
mod engine_train;
mod export;
mod fits;
mod forecasting;
mod here;
mod image;
mod import;
mod import_log;
mod inputs;
mod load;
mod manual;
mod network;
mod only;
mod plan;
mod prepare;
pub(crate) mod price;
mod quantise;
mod reconcile;
mod results;
mod run;
mod run_files;
mod serve;
mod serverless;
mod setup;
mod verify;
mod what_if;
mod work;

use crate::args::Command;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

pub(crate) fn dispatch(command: Command, printer: &Printer) -> CommandResult {
    match command {
        Command::Run(args) => run::run(&args, printer),
        Command::Plan(args) => plan::plan(&args, printer),
        Command::Check(args) => check::check(&args, printer),
        Command::Init(args) => check::init(&args, printer),
        Command::Schema => {
            printer.data(&format!("{:#}", ::plan::schema()));
            Ok(Exit::Ok)
        }
        Command::Show(args) => results::show(&args, printer),
        Command::Report(args) => results::report(&args, printer),
        Command::Export(args) => export::export(&args, printer),
        Command::Import(args) => import::import(&args, printer),
        Command::Reconcile(args) => reconcile::reconcile(&args, printer),
        Command::Verify(args) => verify::verify(&args, printer),
        Command::Image(command) => image::image(command, printer),
        Command::Load(args) => load::load(&args, printer),
        Command::Quantise(args) => quantise::quantise(&args, printer),
        Command::Serve(args) => serve::serve(&args, printer),
        Command::Serverless(args) => serverless::serverless(&args, printer),
        Command::Price(command) => price::price(command, printer),
        Command::Network(command) => network::network(command, printer),
        Command::Data(command) => data::data(command, printer),
        Command::Setup(args) => setup::setup(&args, printer),
        Command::Doctor(args) => doctor::doctor(&args, printer),
        Command::Completions { shell } => manual::completions(shell, printer),
        Command::Man { dir } => manual::man(dir.as_deref(), printer),
        Command::Ask => ask::ask(),
        Command::Work(args) => work::work(&args),
        Command::MakeReady(args) => work::make_ready(&args, printer),
        Command::EngineTrain => engine_train::engine_train(),
        Command::CaffeTrain => caffe_train::caffe_train(),
    }
}
