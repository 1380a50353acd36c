//! Rented machines: shown, created, listed, destroyed.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use infra::{Apply, Infra, InfraError, Machine, Phase, Planned, Rental, Wanted};
use model::{Money, Timestamp};
use report::format;
use workbench::open_study;

use crate::args::{
    InfraApplyArgs, InfraCommand, InfraDestroyArgs, InfraListArgs, InfraPlanArgs, RentedArgs,
    WatchNoticeArgs,
};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::signals::{self, STOP};
use crate::table::Table;

pub(super) fn infra(command: InfraCommand, printer: &Printer) -> CommandResult {
    match command {
        InfraCommand::Plan(args) => plan(&args, printer),
        InfraCommand::Apply(args) => apply(&args, printer),
        InfraCommand::Destroy(args) => destroy(&args, printer),
        InfraCommand::List(args) => list(&args, printer),
        InfraCommand::Forget { machine } => {
            Infra::find()
                .and_then(|infra| infra.forget(&machine))
                .map_err(failure)?;
            printer.talk(&format!(
                "{machine} is off the list. If it still exists, it still costs money."
            ));
            Ok(Exit::Ok)
        }
        InfraCommand::Module { name, folder } => module(&name, &folder, printer),
    }
}

/// One line on stderr when machines are on; nothing otherwise, and nothing when that is unknown:
/// the command that was asked for does not depend on it.
pub(super) fn mention_machines(printer: &Printer) {
    let open = Infra::find().and_then(|infra| infra.list());
    if let Some(line) = open.ok().and_then(|open| still_on(&open)) {
        printer.talk(&line);
    }
}

fn still_on(open: &[Rental]) -> Option<String> {
    let count = format::counted(open.len(), "rented machine is", "rented machines are");
    let per_hour = per_hour_words(open.iter().map(|rental| rental.wanted.per_hour));
    (!open.is_empty()).then(|| {
        format!(
            "! {count} on ({per_hour}): bancada infra list; bancada infra destroy --all ends them"
        )
    })
}

/// Summed by currency.
fn per_hour_words(prices: impl Iterator<Item = Option<Money>>) -> String {
    sum_words(prices, "/h")
}

fn sum_words(prices: impl Iterator<Item = Option<Money>>, unit: &str) -> String {
    let mut sums: Vec<Money> = Vec::new();
    let mut unpriced = 0;
    for price in prices {
        let Some(price) = price else {
            unpriced += 1;
            continue;
        };
        match sums.iter_mut().find(|sum| sum.currency == price.currency) {
            Some(sum) => sum.amount = sum.amount.saturating_add(price.amount),
            None => sums.push(price),
        }
    }
    let mut words: Vec<String> = sums.iter().map(|sum| format!("{sum}{unit}")).collect();
    if unpriced > 0 {
        words.push(format!("{unpriced} without a price"));
    }
    words.join(" + ")
}

/// The machines that a study rents.
fn wanted(which: &RentedArgs, printer: &Printer) -> Result<Vec<Wanted>, Failure> {
    let wanted = all_wanted(&which.study, &which.environment, printer)?;
    match wanted.is_empty() {
        false => Ok(wanted),
        true => Err(Failure::new(
            Exit::BadStudy,
            "this study rents no machine (`rent = {}` in an environment does)",
        )),
    }
}

fn all_wanted(
    study: &Path,
    environments: &[String],
    printer: &Printer,
) -> Result<Vec<Wanted>, Failure> {
    let opened = open_study(study, None, &printer.teller())?;
    let mut wanted = Wanted::of_study(&opened.study, &opened.folder);
    if let Some(unknown) = environments
        .iter()
        .find(|name| !wanted.iter().any(|w| w.environment == **name))
    {
        return Err(Failure::wrong_arguments(format!(
            "no environment `{unknown}` of this study is rented"
        )));
    }
    wanted.retain(|w| environments.is_empty() || environments.contains(&w.environment));
    Ok(wanted)
}

/// Who may connect: as typed, as `BANCADA_CALLER` says, or this machine.
pub(super) fn how(caller: Option<&str>) -> Result<Apply, Failure> {
    let named = std::env::var("BANCADA_CALLER").ok();
    let caller = caller.map(str::to_owned);
    let caller = caller.or(named.filter(|text| !text.is_empty()));
    let caller_cidr = match caller {
        Some(text) => infra::check_range(&text).map_err(failure)?,
        None => infra::caller_address().map_err(failure)?,
    };
    Ok(Apply { caller_cidr })
}

fn plan(args: &InfraPlanArgs, printer: &Printer) -> CommandResult {
    let wanted = wanted(&args.which, printer)?;
    let infra = Infra::find().map_err(failure)?;
    let how = how(args.which.caller.as_deref())?;
    let planned = wanted.iter().map(|wanted| infra.plan(wanted, &how));
    let planned: Vec<Planned> = planned.collect::<Result<_, _>>().map_err(failure)?;
    if args.json {
        let value = serde_json::json!({ "machines": planned, "caller": how.caller_cidr });
        printer.data(&format!("{value:#}"));
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for machine in &planned {
        text.push_str(&planned_words(machine));
    }
    if planned.len() > 1 {
        let per_hour = planned.iter().map(|machine| machine.per_hour);
        let most = planned.iter().map(|machine| machine.at_most);
        let (per_hour, most) = (sum_words(per_hour, "/h"), sum_words(most, ""));
        _ = writeln!(text, "  Together {per_hour}, at most {most}.");
    }
    _ = writeln!(
        text,
        "  SSH from {} only. Nothing was created; bancada infra apply {} creates {}.",
        how.caller_cidr,
        args.which.study.display(),
        format::counted(planned.len(), "machine", "machines"),
    );
    printer.data(&text);
    Ok(Exit::Ok)
}

fn planned_words(machine: &Planned) -> String {
    let is_on = if machine.is_on { "   already on" } else { "" };
    let limit = format::duration(machine.time_limit_seconds as f64);
    let cost = match (machine.per_hour, machine.at_most) {
        (Some(per_hour), Some(most)) => format!("{per_hour}/h, at most {most}"),
        _ => "no price in the study".to_owned(),
    };
    let mut text = format!(
        "  {}   {}{is_on}\n    name        {}\n    disk        {} GB\n    time limit  {limit}, then it ends itself\n    cost        {cost}\n",
        machine.environment, machine.machine_words, machine.machine, machine.disk_gigabytes,
    );
    match &machine.resources {
        Ok(resources) => _ = writeln!(text, "    creates     {}\n", resources.join(", ")),
        Err(why) => _ = writeln!(text, "    Terraform could not plan it: {why}\n"),
    }
    text
}

fn apply(args: &InfraApplyArgs, printer: &Printer) -> CommandResult {
    let wanted = wanted(&args.which, printer)?;
    let infra = Infra::find().map_err(failure)?;
    let how = how(args.which.caller.as_deref())?;
    signals::listen();
    for wanted in &wanted {
        let patience = Duration::from_secs(args.patience);
        let created = create(&infra, wanted, &how, patience, printer)
            .inspect_err(|_| mention_machines(printer))?;
        printer.data(&created.words);
    }
    let open = infra.list().map_err(failure)?;
    let ours: Vec<String> = wanted.iter().map(Wanted::id).collect();
    let open: Vec<Rental> = open
        .into_iter()
        .filter(|r| ours.contains(&r.machine))
        .collect();
    printer.talk(&format!(
        "{}, {} until destroyed: bancada infra destroy {}",
        format::counted(open.len(), "machine is on", "machines are on"),
        per_hour_words(open.iter().map(|rental| rental.wanted.per_hour)),
        args.which.study.display()
    ));
    Ok(Exit::Ok)
}

pub(super) struct Created {
    pub(super) machine: Machine,
    pub(super) words: String,
}

/// Terraform is let finish what it began: a creation that is broken off leaves what nobody knows.
pub(super) fn create(
    infra: &Infra,
    wanted: &Wanted,
    how: &Apply,
    patience: Duration,
    printer: &Printer,
) -> Result<Created, Failure> {
    let environment = &wanted.environment;
    printer.talk(&format!(
        "{environment}   creating {}",
        wanted.machine_words()
    ));
    let machine = infra.apply(wanted, how).map_err(failure)?;
    if STOP.asked() != model::Asked::Nothing {
        printer.talk(&format!("Interrupted: destroying {} again.", machine.id));
        infra.destroy(&machine.id).map_err(failure)?;
        return Err(Failure::new(Exit::Interrupted, "interrupted"));
    }
    printer.talk(&format!(
        "{environment}   {} exists, waiting for SSH",
        machine.address
    ));
    let booted = infra.boot(&machine, patience).map_err(failure)?;
    if let Some(note) = &booted.note {
        printer.talk(&format!("! {environment}: {note}"));
    }
    if let Some(note) = &machine.boot {
        printer.talk(&format!("{environment}   {note}"));
    }
    let words = format!(
        "  {environment}   ready after {} (boot {}, install {})\n    ssh -F {} {}",
        format::duration(booted.boot_seconds + booted.install_seconds),
        format::duration(booted.boot_seconds),
        format::duration(booted.install_seconds),
        host::shell::quoted(&machine.ssh_config.display().to_string()),
        machine.id
    );
    Ok(Created { machine, words })
}

fn destroy(args: &InfraDestroyArgs, printer: &Printer) -> CommandResult {
    let infra = Infra::find().map_err(failure)?;
    let open = infra.list().map_err(failure)?;
    let ids: Vec<String> = match &args.study {
        None => open.iter().map(|rental| rental.machine.clone()).collect(),
        Some(named) => {
            let name = named.display().to_string();
            match open.iter().find(|rental| rental.machine == name) {
                Some(rental) => vec![rental.machine.clone()],
                None => {
                    let wanted = all_wanted(named, &args.environment, printer)?;
                    let ids = wanted.iter().map(Wanted::id);
                    ids.filter(|id| open.iter().any(|r| r.machine == *id))
                        .collect()
                }
            }
        }
    };
    if ids.is_empty() {
        printer.talk("No machine to destroy.");
        return Ok(Exit::Ok);
    }
    signals::listen();
    // One that cannot be destroyed must not keep the others on.
    let mut failed = Vec::new();
    for id in ids {
        printer.talk(&format!("destroying {id}"));
        match infra.destroy(&id) {
            Ok(rental) => printer.data(&gone(&rental)),
            Err(error) => failed.push(format!("{id}: {error}")),
        }
    }
    match failed.is_empty() {
        true => Ok(Exit::Ok),
        false => Err(Failure::trouble(format!(
            "{}\n  = still on the list: bancada infra list; a machine that cannot be destroyed ends itself after its time limit",
            failed.join("\n")
        ))),
    }
}

pub(super) fn gone(rental: &Rental) -> String {
    let seconds = rental.life(Timestamp::now()).total_seconds;
    let cost = rental.cost_so_far(Timestamp::now());
    let cost = cost.map(|cost| format!(", about {cost}"));
    format!(
        "  {} is destroyed after {}{}",
        rental.machine,
        format::duration(seconds),
        cost.unwrap_or_default()
    )
}

fn list(args: &InfraListArgs, printer: &Printer) -> CommandResult {
    let infra = Infra::find().map_err(failure)?;
    let rentals = match args.all {
        true => infra.history(),
        false => infra.list(),
    };
    let rentals = rentals.map_err(failure)?;
    if args.json {
        let value = serde_json::json!({ "machines": rentals });
        printer.data(&format!("{value:#}"));
        return Ok(Exit::Ok);
    }
    if rentals.is_empty() {
        printer.data("No rented machine is on.");
        return Ok(Exit::Ok);
    }
    let now = Timestamp::now();
    let mut table = Table::default();
    for header in [
        "machine",
        "study",
        "environment",
        "type",
        "state",
        "since",
        "per hour",
        "so far",
        "ends itself",
    ] {
        table = table.text(header);
    }
    for rental in &rentals {
        let money = |money: Option<Money>| money.map_or("–".to_owned(), |m| m.to_string());
        table.row(vec![
            rental.machine.clone(),
            rental.wanted.study.clone(),
            rental.wanted.environment.clone(),
            rental.wanted.machine_words(),
            phase_words(rental.phase).to_owned(),
            minute(rental.since),
            money(rental.wanted.per_hour),
            money(rental.cost_so_far(now)),
            minute(rental.ends_itself()),
        ]);
    }
    let lines: Vec<String> = table
        .within(printer.data_width())
        .lines()
        .map(|line| format!("  {line}"))
        .collect();
    printer.data(&lines.join("\n"));
    if rentals.iter().any(Rental::is_open) {
        printer.talk("bancada infra destroy MACHINE ends one, --all ends all of them.");
    }
    Ok(Exit::Ok)
}

/// In UTC, without seconds.
fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    let minute: String = text.chars().take("2026-01-01T00:00".len()).collect();
    minute.replace('T', " ")
}

fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Applying => "creation not finished",
        Phase::Applied => "on, not ready",
        Phase::Ready => "on",
        Phase::Destroying => "destruction not finished",
        Phase::Destroyed => "destroyed",
        Phase::Forgotten => "forgotten",
    }
}

fn module(name: &str, folder: &Path, printer: &Printer) -> CommandResult {
    let module = infra::modules::named(name)
        .ok_or_else(|| Failure::wrong_arguments(format!("no module `{name}`")))?;
    let taken = module.file_names().find(|file| folder.join(file).exists());
    if let Some(file) = taken {
        let path = folder.join(file);
        return Err(Failure::wrong_arguments(format!(
            "{} exists: choose a different folder",
            path.display()
        )));
    }
    module.write(folder).map_err(failure)?;
    for file in module.file_names() {
        printer.data(&folder.join(file).display().to_string());
    }
    Ok(Exit::Ok)
}

pub(super) fn watch_notice(args: &WatchNoticeArgs, printer: &Printer) -> CommandResult {
    let provider = infra::notice::Provider::named(&args.provider)
        .ok_or_else(|| Failure::wrong_arguments("unknown provider"))?;
    let endpoint = args.endpoint.as_deref().unwrap_or(provider.endpoint());
    let home = std::env::var_os("HOME").unwrap_or_default();
    let default = Path::new(&home).join(infra::notice::NOTICE_FILE);
    let file = args.to.as_deref().unwrap_or(&default);
    let notice = provider.watch(endpoint, file).map_err(Failure::trouble)?;
    printer.talk(&notice.reason());
    Ok(Exit::Ok)
}

pub(super) fn failure(error: InfraError) -> Failure {
    match error {
        InfraError::Refused(_) => Failure::wrong_arguments(error),
        _ => Failure::trouble(error),
    }
}
