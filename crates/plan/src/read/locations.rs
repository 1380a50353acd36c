//! `ssh`, `rent`, `container` and `slurm` of an environment: where its runs happen.

use std::path::PathBuf;

use diagnostics::{Diagnostic, Located, Problems, Table, Value};
use model::Price;
use model::location::{
    Container, ContainerImage, Location, MachineAt, RentedMachine, Slurm, Within,
};

use super::take;
use crate::values;

pub(crate) const ENGINES: &[&str] = &["docker", "podman"];
pub(crate) const PROVIDERS: &[&str] = &["aws", "azure", "gcp"];
const MOST_JOBS: i64 = 10_000;
const DEFAULT_DISK_GIGABYTES: u32 = 50;
const DEFAULT_RENT_SECONDS: u64 = 6 * 3600;
/// A machine that is on for longer was forgotten.
const MOST_RENT_SECONDS: f64 = 30.0 * 86_400.0;

/// `price` is the environment's: it names the machine to rent where `rent` does not.
pub(super) fn read(table: &Table<'_>, price: Option<&Price>) -> Location {
    let machine = read_machine(table, price);
    let container = read_container(table);
    let slurm = read_slurm(table);
    if let (Some(_), Some(span)) = (&container, table.key_span("slurm")) {
        let both = Diagnostic::at(span, "`container` and `slurm` cannot be combined");
        let first = take::key_span(table, "container");
        table.complain(both.other(first, "remove one of them"));
    }
    if let (Some(_), MachineAt::Rented(_)) = (&slurm, &machine) {
        let span = take::key_span(table, "slurm");
        let message = "`slurm` cannot be combined with `rent`, which makes a single machine";
        table.complain(Diagnostic::at(span, message).label("remove one of them"));
    }
    let within = match (container, slurm) {
        (Some(container), _) => Within::Container(container),
        (None, Some(slurm)) => Within::Slurm(slurm),
        (None, None) => Within::Process,
    };
    let location = Location { machine, within };
    if let (false, Some(span)) = (location.is_here(), table.key_span("hosts")) {
        let message = "`hosts` distributes the workers of a run from this machine, but these runs happen elsewhere";
        table.complain(Diagnostic::at(span, message).label("remove it"));
    }
    location
}

fn read_machine(table: &Table<'_>, price: Option<&Price>) -> MachineAt {
    let ssh = table.get("ssh").map(|value| read_ssh(&value));
    let rented = read_rent(table, price);
    match (ssh, rented) {
        (Some(_), Some(_)) => {
            let both = Diagnostic::at(
                take::key_span(table, "rent"),
                "`ssh` and `rent` cannot be combined",
            );
            table.complain(both.other(take::key_span(table, "ssh"), "remove one of them"));
            MachineAt::Here
        }
        (Some(hosts), None) => MachineAt::Ssh(hosts),
        (None, Some(rented)) => MachineAt::Rented(Box::new(rented)),
        (None, None) => MachineAt::Here,
    }
}

/// One host or a list.
fn read_ssh(value: &Value<'_>) -> Vec<String> {
    let names = match value.kind() {
        "array" => take::texts(value, "ssh"),
        _ => value.text("ssh").into_iter().collect(),
    };
    if names.is_empty() && value.kind() == "array" {
        let empty = value.wrong("the list in `ssh` is empty");
        value.complain(empty);
    }
    super::hosts::check_names(&names, None, value.problems);
    names.into_iter().map(|name| name.value).collect()
}

/// An image's name, or a table.
fn read_container(table: &Table<'_>) -> Option<Container> {
    let value = table.get("container")?;
    if value.as_text().is_some() {
        let image = value.text("container")?;
        check_image(&image, table.problems);
        return Some(Container {
            engine: None,
            image: ContainerImage::Named(image.value),
        });
    }
    let inner = value.table("container")?;
    let engine = take::word(&inner, "engine", ENGINES);
    let image = inner.text("image");
    let base = inner.text("base");
    for name in image.iter().chain(&base) {
        check_image(name, table.problems);
    }
    let image = match (image, base) {
        (Some(_), Some(base)) => {
            let both = base.wrong("`image` and `base` cannot be combined");
            table.complain(both.label("remove one of them"));
            None
        }
        (Some(image), None) => Some(ContainerImage::Named(image.value)),
        (None, Some(base)) => Some(ContainerImage::Base(base.value)),
        (None, None) => {
            let none = value.wrong("`container` needs an image");
            table.complain(none.label("add image = \"…\", or base = \"…\" to build one"));
            None
        }
    };
    inner.finish();
    Some(Container {
        engine: engine.map(str::to_owned),
        image: image?,
    })
}

/// What an engine takes as a name, and no option of it.
fn check_image(name: &Located<String>, problems: &Problems) {
    let is_known = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    let text = name.value.as_str();
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins_well || !text.chars().all(is_known) {
        let message = format!("`{}` is not a valid image name", text.escape_debug());
        problems.push(name.wrong(message).label("such as \"python:3.11\""));
    }
}

fn read_slurm(table: &Table<'_>) -> Option<Slurm> {
    let inner = table.table("slurm")?;
    let word = |key: &str| {
        let text = inner.text(key)?;
        check_word(key, &text, table.problems);
        Some(text.value)
    };
    let (partition, constraint) = (word("partition"), word("constraint"));
    let (account, qos) = (word("account"), word("qos"));
    let jobs = take::whole(&inner, "jobs", 1..=MOST_JOBS);
    let nodes = take::whole(&inner, "nodes", 1..=MOST_JOBS);
    let exclusive = inner.boolean("exclusive");
    let limit = take::parsed(&inner, "time_limit", values::duration_seconds);
    let folder = inner.text("folder");
    if let Some(folder) = folder.as_ref().filter(|f| !f.value.starts_with('/')) {
        let message = "`folder` must be an absolute path that all nodes see";
        table.complain(folder.wrong(message));
    }
    let options = inner.get("options");
    let options = options.map(|value| take::texts(&value, "options"));
    for option in options.iter().flatten() {
        check_option(option, table.problems);
    }
    inner.finish();
    Some(Slurm {
        partition,
        constraint,
        account,
        qos,
        jobs: jobs
            .and_then(|jobs| u32::try_from(jobs.value).ok())
            .unwrap_or(1),
        nodes: nodes
            .and_then(|nodes| u32::try_from(nodes.value).ok())
            .unwrap_or(1),
        exclusive: exclusive.is_none_or(|exclusive| exclusive.value),
        time_limit_seconds: limit.map(|limit| limit.value.ceil() as u64),
        folder: folder.map(|folder| PathBuf::from(folder.value)),
        options: options
            .unwrap_or_default()
            .into_iter()
            .map(|option| option.value)
            .collect(),
    })
}

fn check_word(key: &str, text: &Located<String>, problems: &Problems) {
    // What the shell of a careless script would take for more than a name.
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || ";`$<>\"'\\".contains(c);
    if text.value.is_empty() || text.value.starts_with('-') || text.value.contains(is_odd) {
        let message = format!("`{}` is not a valid {key}", text.value.escape_debug());
        problems.push(text.wrong(message));
    }
}

/// Options by which Bancada knows its jobs and finds their files; a different value would lose them.
const OWN_OPTIONS: &[&str] = &[
    "array",
    "chdir",
    "error",
    "job-name",
    "nodes",
    "ntasks-per-node",
    "output",
    "parsable",
    "requeue",
    "test-only",
    "wait",
    "wrap",
    "help",
    "version",
    "usage",
];
/// The same in short.
const OWN_LETTERS: &str = "aDeJNoWhV";

fn check_option(option: &Located<String>, problems: &Problems) {
    let text = option.value.as_str();
    let long = text.strip_prefix("--");
    let name = long.map(|rest| rest.split('=').next().unwrap_or(rest));
    let letter = text.strip_prefix('-').and_then(|rest| rest.chars().next());
    let is_word = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let is_option = match (name, letter) {
        (Some(name), _) => !name.is_empty() && is_word(name),
        (None, letter) => letter.is_some_and(|letter| letter.is_ascii_alphanumeric()),
    };
    // sbatch takes the beginning of a name, too.
    let is_own = match (name, letter) {
        (Some(name), _) => OWN_OPTIONS.iter().any(|own| own.starts_with(name)),
        (None, letter) => letter.is_some_and(|letter| OWN_LETTERS.contains(letter)),
    };
    let at = |message: String| option.wrong(message);
    let shown = text.escape_debug();
    if !is_option || text.contains(char::is_control) {
        let unknown = at(format!("`{shown}` is not an option of sbatch"));
        problems.push(unknown.label("such as \"--gres=gpu:1\""));
    } else if is_own {
        problems.push(at(format!("Bancada sets `{shown}` itself")).label("remove it"));
    }
}

/// The parts of a catalog name, `azure/Standard_F4s_v2@eastus`.
struct CatalogName<'a> {
    provider: &'a str,
    machine_type: &'a str,
    region: &'a str,
}

impl<'a> CatalogName<'a> {
    fn of(price: &'a Price) -> Option<Self> {
        let (provider, rest) = price.machine.split_once('/')?;
        let (machine_type, region) = rest.split_once('@')?;
        Some(CatalogName {
            provider,
            machine_type,
            region,
        })
    }
}

fn read_rent(table: &Table<'_>, price: Option<&Price>) -> Option<RentedMachine> {
    let inner = table.table("rent")?;
    let span = take::key_span(table, "rent");
    let module = inner.text("module");
    let known = price.and_then(CatalogName::of);
    let of_price = |key: &str, known: Option<&str>| match inner.text(key) {
        Some(text) => {
            check_word(key, &text, table.problems);
            Some(text.value)
        }
        None => known.map(str::to_owned),
    };
    let provider = of_price("provider", known.as_ref().map(|name| name.provider));
    let machine_type = of_price("machine", known.as_ref().map(|name| name.machine_type));
    let region = of_price("region", known.as_ref().map(|name| name.region));
    let image = of_price("image", None);
    let spot = inner.boolean("spot");
    let disk = take::whole(&inner, "disk", 8..=65_536);
    let limit = take::parsed(&inner, "time_limit", values::duration_seconds);
    if let Some(limit) = limit
        .as_ref()
        .filter(|l| !(60.0..=MOST_RENT_SECONDS).contains(&l.value))
    {
        let message = "`time_limit` must be from one minute to 30 days";
        table.complain(limit.wrong(message));
    }
    let asked = [
        ("provider", &provider),
        ("machine", &machine_type),
        ("region", &region),
    ];
    let missing = asked.iter().filter(|(_, found)| found.is_none());
    let missing: Vec<String> = missing.map(|(key, _)| format!("`{key}`")).collect();
    if !missing.is_empty() && module.is_none() {
        let message = format!(
            "`rent` needs {}, or a price of the catalog that says it",
            missing.join(", ")
        );
        let label = "such as price = \"aws/c7i.xlarge@us-east-1\"";
        table.complain(Diagnostic::at(span.clone(), message).label(label));
    }
    if let (Some(provider), None) = (&provider, &module)
        && !PROVIDERS.contains(&provider.as_str())
    {
        let known = PROVIDERS.iter().copied();
        let span = inner.key_span("provider").unwrap_or(span);
        let unknown = Diagnostic::unknown("provider", provider, span, known);
        table.complain(unknown.note("or name a Terraform module of your own: module = \"…\""));
    }
    inner.finish();
    Some(RentedMachine {
        provider: provider.unwrap_or_default(),
        machine_type: machine_type.unwrap_or_default(),
        region: region.unwrap_or_default(),
        spot: spot.is_some_and(|spot| spot.value),
        disk_gigabytes: disk
            .and_then(|disk| u32::try_from(disk.value).ok())
            .unwrap_or(DEFAULT_DISK_GIGABYTES),
        image,
        time_limit_seconds: limit.map_or(DEFAULT_RENT_SECONDS, |limit| limit.value.ceil() as u64),
        module: module.map(|module| PathBuf::from(module.value)),
    })
}
