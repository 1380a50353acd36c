//! The machines that a `run` rents: created before its first run, destroyed after its last.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use infra::{Infra, Rental, Wanted};
use model::{Asked, Timestamp};
use store::Store;
use workbench::{Opened, RentedHost};

use super::infra::{create, failure, gone, how, mention_machines};
use crate::exit::Failure;
use crate::printer::Printer;
use crate::signals::STOP;

/// From the first word to Terraform until everything is installed.
const BOOT_PATIENCE: Duration = Duration::from_secs(900);

#[derive(Default)]
pub(super) struct Rented {
    hosts: BTreeMap<String, RentedHost>,
    /// Names of the machines.
    ids: Vec<String>,
}

impl Rented {
    /// Those of these environments; a machine that is on already is used. If one cannot be had, those
    /// before it are destroyed again.
    pub(super) fn create(
        opened: &Opened,
        environments: &BTreeSet<String>,
        printer: &Printer,
    ) -> Result<Self, Failure> {
        let mut wanted = Wanted::of_study(&opened.study, &opened.folder);
        wanted.retain(|machine| environments.contains(&machine.environment));
        let mut rented = Rented::default();
        if wanted.is_empty() {
            return Ok(rented);
        }
        let infra = Infra::find().map_err(failure)?;
        let how = how(None)?;
        for wanted in &wanted {
            rented.ids.push(wanted.id());
            let created = match create(&infra, wanted, &how, BOOT_PATIENCE, printer) {
                Ok(created) => created,
                Err(error) => {
                    rented.destroy(None, printer);
                    return Err(error);
                }
            };
            printer.talk(&created.words);
            let open = infra.list().map_err(failure)?;
            let is_it = |rental: &&Rental| rental.machine == created.machine.id;
            let rental = open.iter().find(is_it).ok_or_else(|| {
                let id = &created.machine.id;
                Failure::trouble(format!("{id} is not in the list of machines any more"))
            })?;
            let host = RentedHost {
                name: created.machine.id,
                ssh_config: created.machine.ssh_config,
                life: rental.life(Timestamp::now()),
                provider: wanted.rented.provider.clone(),
            };
            rented.hosts.insert(wanted.environment.clone(), host);
        }
        Ok(rented)
    }

    pub(super) fn hosts(&self) -> &BTreeMap<String, RentedHost> {
        &self.hosts
    }

    /// Unless a person wants to keep them, or has no patience: then they are listed.
    pub(super) fn end(self, keep: bool, store: &Store, printer: &Printer) {
        match keep || STOP.asked() == Asked::Now {
            true => mention_machines(printer),
            false => self.destroy(Some(store), printer),
        }
    }

    /// One that cannot be destroyed must not keep the others on.
    fn destroy(self, store: Option<&Store>, printer: &Printer) {
        let Ok(infra) = Infra::find() else { return };
        for id in self.ids {
            printer.talk(&format!("destroying {id}"));
            match infra.destroy(&id) {
                Ok(rental) => {
                    printer.talk(&gone(&rental));
                    let life = rental.life(Timestamp::now());
                    if let Some(store) = store
                        && let Err(error) = runner::add_machine_life(store, &life)
                    {
                        printer.complain(&format!(
                            "the bill lacks the start and end of {id}: {error}"
                        ));
                    }
                }
                Err(error) => printer.complain(&format!(
                    "{id} could not be destroyed: {error}\n  = bancada infra destroy {id} tries again; it ends itself after its time limit"
                )),
            }
        }
    }
}
