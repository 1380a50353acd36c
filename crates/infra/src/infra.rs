//! The life of rented machines: apply, boot, destroy, list.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use host::{FileLock, LockError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::InfraError;
use crate::journal::{Event, Journal, Rental};
use crate::keys;
use crate::machine::{Booted, Machine, Outputs, ssh_config};
use crate::modules;
use crate::start_script::StartScript;
use crate::terraform::{Terraform, find_program};
use crate::wanted::Wanted;

const DESTROY_TRIES: u32 = 3;
const DESTROY_PAUSE: Duration = Duration::from_secs(5);

/// All rented machines of this user on this machine.
#[derive(Debug, Clone)]
pub struct Infra {
    root: PathBuf,
}

/// What a creation needs to know beside the machine.
#[derive(Debug, Clone)]
pub struct Apply {
    /// Addresses that may connect by SSH: `203.0.113.7/32`.
    pub caller_cidr: String,
}

/// What a machine's folder is for, kept so that it can be ended without the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    wanted: Wanted,
    ends_at: Timestamp,
}

impl Infra {
    /// `$BANCADA_STATE/infra`, else `$XDG_STATE_HOME/bancada/infra`, else
    /// `~/.local/state/bancada/infra`. Not the cache: that may be deleted at any time.
    pub fn find() -> Result<Infra, InfraError> {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let state = variable("BANCADA_STATE")
            .map(PathBuf::from)
            .or_else(|| variable("XDG_STATE_HOME").map(|p| Path::new(&p).join("bancada")))
            .or_else(|| variable("HOME").map(|p| Path::new(&p).join(".local/state/bancada")));
        let state = state.ok_or_else(|| {
            InfraError::Refused("set BANCADA_STATE: there is no HOME to keep state in".to_owned())
        })?;
        let state = std::path::absolute(&state).map_err(InfraError::io("find", &state))?;
        Ok(Infra::at(&state.join("infra")))
    }

    pub fn at(root: &Path) -> Infra {
        Infra {
            root: root.to_owned(),
        }
    }

    /// Creates the machine, or finds it as it should be. May be repeated at any time, also after a
    /// program that did the same was killed.
    pub fn apply(&self, wanted: &Wanted, how: &Apply) -> Result<Machine, InfraError> {
        let program = find_program()?;
        let id = wanted.id();
        let folder = self.folder(&id);
        host::create_private_folder(&folder).map_err(InfraError::io("create", &folder))?;
        let _lock = lock(&folder, &id)?;
        let kept = keep(&folder, wanted)?;
        write_files(&folder, &id, &kept, how)?;
        let terraform = self.terraform(program, &folder);
        // Before the journal: what cannot be initialised was never begun.
        terraform.init()?;
        let wanted = Box::new(wanted.clone());
        self.journal().append(&id, Event::Applying { wanted })?;
        terraform.apply()?;
        let outputs = Outputs::read(&terraform.outputs()?)?;
        let machine = write_ssh(&folder, &id, &outputs)?;
        let address = machine.address.clone();
        self.journal().append(&id, Event::Applied { address })?;
        Ok(machine)
    }

    /// Waits until a machine that was applied is ready for work, and writes down how long it took.
    pub fn boot(&self, machine: &Machine, patience: Duration) -> Result<Booted, InfraError> {
        let rental = self.rental(&machine.id)?;
        let booted = machine.wait_until_ready(rental.since, patience)?;
        // Whoever saw it first measured it.
        if let Some((boot_seconds, install_seconds)) =
            rental.boot_seconds.zip(rental.install_seconds)
        {
            return Ok(Booted {
                boot_seconds,
                install_seconds,
                ..booted
            });
        }
        let event = Event::Ready {
            boot_seconds: booted.boot_seconds,
            install_seconds: booted.install_seconds,
        };
        self.journal().append(&machine.id, event)?;
        Ok(booted)
    }

    /// A machine that was applied, for whoever comes later.
    pub fn machine(&self, id: &str) -> Result<Machine, InfraError> {
        let folder = self.folder(id);
        let path = folder.join("outputs.json");
        let bytes = fs::read(&path).map_err(InfraError::io("read", &path))?;
        let outputs = serde_json::from_slice(&bytes)
            .map_err(|e| InfraError::Io(format!("{}: {e}", path.display())))?;
        machine(&folder, id, &Outputs::read(&outputs)?)
    }

    /// Destroys a machine by its id. Only when Terraform has, and its state is empty, is it off the
    /// list; its folder goes with it.
    pub fn destroy(&self, id: &str) -> Result<Rental, InfraError> {
        let program = find_program()?;
        let rental = self.rental(id);
        let folder = self.folder(id);
        if !folder.is_dir() {
            return match rental {
                Ok(rental) => Err(InfraError::Io(format!(
                    "{} is missing, which Terraform needs to destroy {id}: delete {} at the provider, then `bancada infra forget {id}`",
                    folder.display(),
                    rental.wanted.machine_words()
                ))),
                Err(error) => Err(error),
            };
        }
        let _lock = lock(&folder, id)?;
        if rental.is_ok() {
            self.journal().append(id, Event::Destroying)?;
        }
        let terraform = self.terraform(program, &folder);
        if folder.join("module").is_dir() && folder.join("variables.tfvars.json").is_file() {
            retried_destroy(&terraform)?;
        } else if terraform.resources()? > 0 {
            return Err(InfraError::Io(format!(
                "{} has a state but no module: destroy {id} at the provider",
                folder.display()
            )));
        }
        let ended = match rental {
            Ok(_) => {
                self.journal().append(id, Event::Destroyed)?;
                let rentals = self.journal().rentals()?;
                rentals.into_iter().rfind(|rental| rental.machine == id)
            }
            // Prepared and never begun: there is nothing to tell of it.
            Err(_) => None,
        };
        fs::remove_dir_all(&folder).map_err(InfraError::io("remove", &folder))?;
        ended.ok_or_else(|| unknown(id))
    }

    /// Takes a machine off the list because a person says that it is gone.
    pub fn forget(&self, id: &str) -> Result<(), InfraError> {
        self.rental(id)?;
        self.journal().append(id, Event::Forgotten)?;
        let folder = self.folder(id);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(InfraError::io("remove", &folder)(error))
            }
            _ => Ok(()),
        }
    }

    /// Everything that was ever asked for and not yet seen destroyed, oldest first.
    pub fn list(&self) -> Result<Vec<Rental>, InfraError> {
        let mut open = self.journal().rentals()?;
        open.retain(Rental::is_open);
        for kept in self.folders() {
            let id = kept.wanted.id();
            let is_known = open.iter().any(|rental| rental.machine == id);
            // A folder with a state that no line of the journal speaks of: the journal was lost.
            let has_state = self.folder(&id).join("terraform.tfstate").is_file();
            if !is_known && has_state {
                open.push(found(id, kept));
            }
        }
        Ok(open)
    }

    /// All rentals, those that are over too.
    pub fn history(&self) -> Result<Vec<Rental>, InfraError> {
        self.journal().rentals()
    }

    fn rental(&self, id: &str) -> Result<Rental, InfraError> {
        let mut open = self.list()?;
        open.retain(|rental| rental.machine == id);
        open.pop().ok_or_else(|| unknown(id))
    }

    fn journal(&self) -> Journal {
        Journal::at(&self.root)
    }

    pub(crate) fn folder(&self, id: &str) -> PathBuf {
        self.root.join("machines").join(id)
    }

    fn folders(&self) -> Vec<Kept> {
        let Ok(entries) = fs::read_dir(self.root.join("machines")) else {
            return Vec::new();
        };
        let read = |path: PathBuf| read_kept(&path).ok().flatten();
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        paths.filter_map(read).collect()
    }

    pub(crate) fn terraform<'a>(&self, program: PathBuf, folder: &'a Path) -> Terraform<'a> {
        Terraform {
            program,
            folder,
            plugins: self.root.join("plugins"),
        }
    }
}

fn unknown(id: &str) -> InfraError {
    InfraError::Refused(format!(
        "no machine `{}` is on (bancada infra list shows those that are)",
        id.escape_debug()
    ))
}

fn found(id: String, kept: Kept) -> Rental {
    let since = kept.ends_at.checked_sub(kept.wanted.time_limit());
    Rental::new(id, kept.wanted, since.unwrap_or(kept.ends_at))
}

/// One program at a time works on a machine.
fn lock(folder: &Path, id: &str) -> Result<FileLock, InfraError> {
    FileLock::take(&folder.join("lock")).map_err(|error| match error {
        LockError::Taken { holder } => {
            let holder = holder.map(|pid| format!(" (process {pid})"));
            InfraError::Refused(format!(
                "another bancada{} is working on {id}",
                holder.unwrap_or_default()
            ))
        }
        LockError::Io(error) | LockError::Unsupported(error) => {
            InfraError::io("lock", folder)(error)
        }
    })
}

fn read_kept(folder: &Path) -> Result<Option<Kept>, InfraError> {
    let path = folder.join("wanted.json");
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|e| InfraError::Io(format!("{}: {e}", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(InfraError::io("read", &path)(error)),
    }
}

/// A machine that is on stays what it is; one whose time is over gets new time.
fn keep(folder: &Path, wanted: &Wanted) -> Result<Kept, InfraError> {
    let now = Timestamp::now();
    if let Some(before) = read_kept(folder)? {
        let has_state = folder.join("terraform.tfstate").is_file();
        if has_state && before.wanted.rented != wanted.rented {
            return Err(InfraError::Refused(format!(
                "a different machine is on for environment `{}` ({}): end it first with `bancada infra destroy`",
                wanted.environment,
                before.wanted.machine_words()
            )));
        }
        if before.ends_at > now && before.wanted == *wanted {
            return Ok(before);
        }
    }
    let ends_at = now.checked_add(wanted.time_limit());
    let kept = Kept {
        wanted: wanted.clone(),
        // To the second: providers take no more.
        ends_at: Timestamp::from_second(ends_at.unwrap_or(now).as_second()).unwrap_or(now),
    };
    write_private(&folder.join("wanted.json"), &json!(kept))?;
    Ok(kept)
}

/// Module, keys and variables, in the machine's private folder.
pub(crate) fn prepare(
    folder: &Path,
    wanted: &Wanted,
    ends_at: Timestamp,
    how: &Apply,
) -> Result<(), InfraError> {
    let id = wanted.id();
    let module = folder.join("module");
    match &wanted.rented.module {
        Some(own) => modules::copy(&wanted.folder.join(own), &module)?,
        None => modules::named(&wanted.rented.provider)
            .filter(|module| module.name != "sagemaker")
            .ok_or_else(|| {
                let provider = wanted.rented.provider.escape_debug();
                InfraError::Refused(format!("there is no module for the provider `{provider}`"))
            })?
            .write(&module)?,
    }
    let client = keys::pair(&folder.join("client"))?;
    let host = keys::pair(&folder.join("host"))?;
    let private = folder.join("host");
    let private = fs::read_to_string(&private).map_err(InfraError::io("read", &private))?;
    let script = StartScript {
        time_limit_seconds: wanted.rented.time_limit_seconds,
        host_private_key: &private,
        host_public_key: &host,
        client_public_key: &client,
    };
    let variables = json!({
        "name": id,
        "machine_type": wanted.rented.machine_type,
        "region": wanted.rented.region,
        "spot": wanted.rented.spot,
        "disk_gigabytes": wanted.rented.disk_gigabytes,
        "image": wanted.rented.image,
        "time_limit_seconds": wanted.rented.time_limit_seconds,
        "ends_at": ends_at.to_string(),
        "ssh_public_key": client,
        "caller_cidr": how.caller_cidr,
        "tags": {
            "study": Wanted::tag(&wanted.study),
            "environment": Wanted::tag(&wanted.environment),
        },
        "user_data": script.text(),
    });
    write_private(&folder.join("variables.tfvars.json"), &variables)
}

fn write_files(folder: &Path, id: &str, kept: &Kept, how: &Apply) -> Result<(), InfraError> {
    prepare(folder, &kept.wanted, kept.ends_at, how)?;
    let host = folder.join("host.pub");
    let host = fs::read_to_string(&host).map_err(InfraError::io("read", &host))?;
    write_known_hosts(folder, id, &host)
}

fn write_known_hosts(folder: &Path, id: &str, key: &str) -> Result<(), InfraError> {
    let path = folder.join("known_hosts");
    let written = host::write_private(&path, format!("{id} {}\n", key.trim()));
    written.map_err(InfraError::io("write", &path))
}

/// Everything that `ssh` needs.
fn write_ssh(folder: &Path, id: &str, outputs: &Outputs) -> Result<Machine, InfraError> {
    if let Some(key) = &outputs.host_key {
        write_known_hosts(folder, id, key)?;
    }
    let config = ssh_config(id, outputs, folder)?;
    let path = folder.join("ssh_config");
    host::write_private(&path, config).map_err(InfraError::io("write", &path))?;
    let value = |value: serde_json::Value| json!({ "value": value });
    let again = json!({
        "address": value(json!(outputs.address)),
        "user": value(json!(outputs.user)),
        "port": value(json!(outputs.port)),
        "host_key": value(json!(outputs.host_key)),
        "boot": value(json!(outputs.boot)),
    });
    write_private(&folder.join("outputs.json"), &again)?;
    machine(folder, id, outputs)
}

fn machine(folder: &Path, id: &str, outputs: &Outputs) -> Result<Machine, InfraError> {
    Ok(Machine {
        id: id.to_owned(),
        address: outputs.address.clone(),
        user: outputs.user.clone(),
        port: outputs.port,
        ssh_config: folder.join("ssh_config"),
        boot: outputs.boot.clone(),
    })
}

/// A provider may still be busy with what was created a moment ago.
fn retried_destroy(terraform: &Terraform<'_>) -> Result<(), InfraError> {
    terraform.init()?;
    let mut tries = 1;
    loop {
        match terraform.destroy() {
            Err(InfraError::Terraform(_)) if tries < DESTROY_TRIES => {
                thread::sleep(DESTROY_PAUSE * tries);
                tries += 1;
            }
            ended => return ended,
        }
    }
}

fn write_private(path: &Path, value: &serde_json::Value) -> Result<(), InfraError> {
    host::write_private(path, format!("{value:#}\n")).map_err(InfraError::io("write", path))
}
