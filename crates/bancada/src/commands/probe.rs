//! `bancada probe`: measures this machine and keeps what was found.

use std::path::Path;

use frameworks::{Home, Spec};
use model::profile::{FrameworkProbe, HostRates, Measured, StepTime};
use model::{MachineProfile, WorkKind};
use report::format;
use workbench::ProbeRequest;
use worker::probe::Subject;

use crate::args::ProbeArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::signals::{self, STOP};
use crate::table::Table;

/// Rounds of a quiet machine differ by less.
const QUIET_SPREAD: f64 = 0.1;

pub(super) fn probe(args: &ProbeArgs, printer: &Printer) -> CommandResult {
    let home = Home::find().map_err(Failure::trouble)?;
    if args.list {
        return list(&home, args, printer);
    }
    let profile = match &args.add {
        Some(path) => added(path, args.name.as_deref())?,
        None => measured(args, printer)?,
    };
    let kept = workbench::keep_machine(home.path(), &profile)?;
    match args.json {
        true => {
            let text = serde_json::to_string_pretty(&profile).map_err(Failure::trouble)?;
            printer.data(&text);
        }
        false => printer.data(&text(&profile)),
    }
    printer.talk(&format!(
        "Stored as `{}` ({}).",
        profile.name,
        kept.display()
    ));
    Ok(Exit::Ok)
}

fn added(path: &Path, name: Option<&str>) -> Result<MachineProfile, Failure> {
    let mut profile = workbench::read_machine(path)?;
    if let Some(name) = name {
        profile.name = name.to_owned();
    }
    Ok(profile)
}

fn measured(args: &ProbeArgs, printer: &Printer) -> Result<MachineProfile, Failure> {
    let parsed = args.framework.iter().map(|text| Spec::parse(text));
    let parsed: Result<Vec<Spec>, _> = parsed.collect();
    let specs = parsed.map_err(|e| Failure::new(Exit::BadStudy, e))?;
    let mut networks = Vec::new();
    for name in &args.network {
        let graph = workloads::models::instantiate(name, args.input.wish())?;
        let subject = Subject::new(name, graph, args.batch);
        networks.push(subject.map_err(|e| Failure::new(Exit::BadStudy, format!("{name}: {e}")))?);
    }
    signals::listen();
    let request = ProbeRequest {
        name: args.name.as_deref(),
        cores: args.cores,
        frameworks: &specs,
        networks,
        rounds: args.rounds,
    };
    Ok(workbench::probe_machine(request, &STOP, &printer.teller())?)
}

fn list(home: &Home, args: &ProbeArgs, printer: &Printer) -> CommandResult {
    let found = workbench::machines(home.path());
    for damaged in &found.damaged {
        printer.complain(&format!("! {damaged}"));
    }
    if args.json {
        let text = serde_json::to_string_pretty(&found.profiles).map_err(Failure::trouble)?;
        printer.data(&text);
        return Ok(Exit::Ok);
    }
    if found.profiles.is_empty() {
        printer.talk("No machine was probed yet: run `bancada probe`.");
        return Ok(Exit::Ok);
    }
    let mut table = Table::default()
        .text("machine")
        .number("cores")
        .text("processor")
        .number("memory")
        .text("frameworks")
        .text("probed");
    for profile in &found.profiles {
        let probes = profile.frameworks.iter();
        let frameworks: Vec<&str> = probes.map(|probe| probe.framework.as_str()).collect();
        table.row(vec![
            profile.name.clone(),
            format::bare_ratio(profile.cores),
            profile.machine.cpu_model.clone(),
            format::memory(profile.machine.memory_bytes),
            frameworks.join(", "),
            day(profile),
        ]);
    }
    printer.data(&table.rendered());
    Ok(Exit::Ok)
}

fn day(profile: &MachineProfile) -> String {
    profile.measured.to_string().chars().take(10).collect()
}

fn text(profile: &MachineProfile) -> String {
    let machine = &profile.machine;
    let mut text = format!(
        "{}: {}, {} cores, {} of memory; probed on {} in {}\n",
        profile.name,
        machine.cpu_model,
        format::bare_ratio(profile.cores),
        format::memory(machine.memory_bytes),
        day(profile),
        format::duration(profile.seconds),
    );
    for probe in &profile.frameworks {
        text += &format!("\n{}\n", steps(probe, profile.one_core.as_ref()));
    }
    text += &format!("\n{}", host(&profile.host));
    for gpu in &machine.gpus {
        text += &format!(
            "GPU: {}, {} of memory; not measured\n",
            gpu.name,
            format::memory(gpu.memory_bytes)
        );
    }
    if let Some(noisiest) = profile
        .noisiest()
        .filter(|step| step.seconds.spread > QUIET_SPREAD)
    {
        text += &format!(
            "\n! This machine is noisy: rounds of {} differ by ±{}. Close other programs and probe again; \
             predictions from this profile have wider intervals.\n",
            noisiest.network,
            format::percent(noisiest.seconds.spread),
        );
    }
    text
}

fn steps(probe: &FrameworkProbe, one_core: Option<&FrameworkProbe>) -> String {
    let is_engine = probe.framework == "engine";
    let one_core = one_core.filter(|_| is_engine);
    let mut table = Table::default()
        .text(&format!("{} {}", probe.framework, probe.version))
        .text("mostly")
        .number("a step")
        .number("±")
        .number("rate");
    if one_core.is_some() {
        table = table.number("one core takes");
    }
    for step in &probe.steps {
        let mut row = vec![
            step.network.clone(),
            step.kind.map_or("a network", WorkKind::words).to_owned(),
            format::duration(step.seconds.median),
            spread(&step.seconds),
            rate(step),
        ];
        if let Some(one_core) = one_core {
            let slowdown = step.slowdown(one_core);
            row.push(slowdown.map_or_else(String::new, |times| {
                format!("{}×", format::bare_ratio(times))
            }));
        }
        table.row(row);
    }
    table.rendered()
}

fn spread(measured: &Measured) -> String {
    let known = measured.known_spread();
    known.map_or_else(|| format::NONE.to_owned(), format::percent)
}

fn rate(step: &StepTime) -> String {
    let Some((kind, rate)) = step.kind.zip(step.rate()) else {
        return String::new();
    };
    match kind {
        WorkKind::MatrixProduct
        | WorkKind::Convolution
        | WorkKind::Pointwise
        | WorkKind::Depthwise => {
            format!("{} GFLOP/s", format::significant(rate / 1e9, 3))
        }
        WorkKind::Memory | WorkKind::Update => format!("{}/s", format::bytes(rate)),
        WorkKind::Call => format!("{} each", format::duration(1.0 / rate)),
    }
}

fn host(host: &HostRates) -> String {
    let mut text = String::new();
    let mut line = |name: &str, measured: Option<Measured>, write: &dyn Fn(f64) -> String| {
        let shown = measured.map_or("not measured".to_owned(), |measured| {
            let known = measured.known_spread().map(format::percent);
            let spread = known.map_or_else(String::new, |spread| format!(" ±{spread}"));
            format!("{}{spread}", write(measured.median))
        });
        text += &format!("{name}: {shown}\n");
    };
    let rate = |bytes: f64| format!("{}/s", format::bytes(bytes));
    line("memory copied", host.memory_bytes_per_second, &rate);
    line("waking a thread", host.wake_up_seconds, &format::duration);
    line("disk, written", host.disk_write_bytes_per_second, &rate);
    line("disk, read", host.disk_read_bytes_per_second, &rate);
    text
}
