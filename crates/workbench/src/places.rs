//! The machines that the runs of a study go to, each with a place for every environment on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use model::location::{MachineAt, Slurm, Within};
use model::{Capacity, Environment, MachineLife, Order};
use place::ssh::{Ssh, SshOptions};
use place::{Description, Lack, Lacking, Place, PlaceError, Prepared, Remote, Runs, Sbatch};
use runner::{Assigned, ScenarioOrder};

use crate::error::Error;
use crate::here::Here;
use crate::open::Opened;

/// As [`place::Local`] calls itself.
const THIS_MACHINE: &str = "this machine";

/// Machines side by side; on each, one run at a time.
pub struct Places {
    machines: Vec<Machine>,
}

struct Machine {
    /// What tells it from others: two environments on one machine must not run at the same time.
    key: String,
    /// By environment.
    places: BTreeMap<String, AnyPlace>,
    rented: BTreeMap<String, MachineLife>,
    /// Jobs of a queue share what is made ready for them: the first of them does it.
    is_prepared_by_another: bool,
}

/// Another machine brings what its runs lack; this one is asked about it before (`Lacks`).
enum AnyPlace {
    Here(Arc<dyn Place>),
    Remote(Box<Remote>),
}

impl AnyPlace {
    fn get(&self) -> &dyn Place {
        match self {
            AnyPlace::Here(place) => &**place,
            AnyPlace::Remote(remote) => &**remote,
        }
    }
}

impl Machine {
    fn assigned(&self) -> Assigned<'_> {
        let places = self.places.iter();
        Assigned {
            places: places
                .map(|(name, place)| (name.clone(), place.get()))
                .collect(),
            rented: self.rented.clone(),
        }
    }
}

/// A place, and what tells its machine from others.
struct OnMachine {
    key: String,
    place: AnyPlace,
    is_prepared_by_another: bool,
}

/// What places are made of.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub opened: &'a Opened,
    pub here: &'a Here,
    /// Where the runs will be kept.
    pub results: Option<&'a Path>,
    /// Machines that were rented, by environment.
    pub rented: &'a BTreeMap<String, RentedHost>,
}

/// A machine by SSH.
struct Host {
    name: String,
    config: Option<PathBuf>,
    notices_of: Option<String>,
}

/// How a machine that was rented is reached.
#[derive(Debug, Clone)]
pub struct RentedHost {
    pub name: String,
    pub ssh_config: PathBuf,
    /// So far; names the rental in the records of its runs.
    pub life: MachineLife,
    /// Whose notices the machine waits for.
    pub provider: String,
}

impl Places {
    /// Of these environments.
    pub fn open(wanted: Wanted<'_>, environments: &BTreeSet<String>) -> Result<Self, Error> {
        let mut places = Places {
            machines: Vec::new(),
        };
        let all = wanted.opened.study.environments.iter();
        for environment in all.filter(|e| environments.contains(&e.name)) {
            for found in wanted.places_of(environment)? {
                let rented = wanted.rented.get(&environment.name);
                places.add(found, &environment.name, rented);
            }
        }
        Ok(places)
    }

    fn add(&mut self, found: OnMachine, environment: &str, rental: Option<&RentedHost>) {
        let OnMachine {
            key,
            place,
            is_prepared_by_another,
        } = found;
        let known = self.machines.iter().position(|machine| machine.key == key);
        let known = known.unwrap_or_else(|| {
            self.machines.push(Machine {
                key,
                places: BTreeMap::new(),
                rented: BTreeMap::new(),
                is_prepared_by_another,
            });
            self.machines.len() - 1
        });
        let machine = &mut self.machines[known];
        machine.places.insert(environment.to_owned(), place);
        if let Some(RentedHost { life, .. }) = rental {
            machine.rented.insert(environment.to_owned(), life.clone());
        }
    }

    /// For the runner.
    pub fn assigned(&self) -> Vec<Assigned<'_>> {
        self.machines.iter().map(Machine::assigned).collect()
    }

    /// One that does runs of this environment.
    pub fn of_environment(&self, name: &str) -> Option<&dyn Place> {
        let mut all = self.machines.iter();
        all.find_map(|machine| machine.places.get(name).map(AnyPlace::get))
    }

    /// What is known of the machine behind an environment.
    pub fn describe(&self, environment: &str) -> Result<Option<Description>, Error> {
        let place = self.of_environment(environment);
        let described = place.map(Place::describe).transpose();
        described.map_err(Error::other)
    }

    pub fn capacities(&self) -> Result<BTreeMap<String, Capacity>, Error> {
        let names = self.machines.iter().flat_map(|m| m.places.keys());
        let names: BTreeSet<&String> = names.collect();
        let mut capacities = BTreeMap::new();
        for name in names {
            if let Some(description) = self.describe(name)? {
                capacities.insert(name.clone(), description.capacity);
            }
        }
        Ok(capacities)
    }

    /// Every machine gets what its orders need, all at the same time. All that is missing anywhere is
    /// one message.
    pub fn prepare(
        &self,
        orders: &BTreeMap<u32, ScenarioOrder>,
        bring: Bring<'_>,
    ) -> Result<Prepared, Error> {
        let results: Vec<Result<Prepared, PlaceError>> = thread::scope(|scope| {
            let machines = self.machines.iter();
            let threads: Vec<_> = machines
                .filter(|machine| !machine.is_prepared_by_another)
                .map(|machine| scope.spawn(move || machine.prepare(orders, bring)))
                .collect();
            let failed = || vec![Err(PlaceError::Refused("preparing it failed".into()))];
            let joined = threads.into_iter();
            joined
                .flat_map(|thread| thread.join().unwrap_or_else(|_| failed()))
                .collect()
        });
        let mut all = Prepared::default();
        let mut problems = Vec::new();
        for result in results {
            match result {
                Ok(prepared) => {
                    all.decoded.extend(prepared.decoded);
                    all.images.extend(prepared.images);
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        match problems.is_empty() {
            true => Ok(all),
            false => Err(Error::other(problems.join("\n"))),
        }
    }
}

/// What is brought to other machines before their runs.
#[derive(Debug, Clone, Copy)]
pub struct Bring<'a> {
    /// Frameworks are set up and datasets fetched there; else what is missing is an error.
    pub lacks: bool,
    /// Of this machine: datasets that it has are sent.
    pub cache: &'a Path,
}

impl Machine {
    fn prepare(
        &self,
        orders: &BTreeMap<u32, ScenarioOrder>,
        bring: Bring<'_>,
    ) -> Vec<Result<Prepared, PlaceError>> {
        let prepare = |(name, place): (&String, &AnyPlace)| {
            let orders = orders.values().map(|built| &built.order);
            let orders = orders.filter(|order| order.environment == *name);
            let orders: Vec<Order> = orders.cloned().collect();
            if let AnyPlace::Remote(remote) = place {
                bring.to(remote, &orders)?;
            }
            place.get().prepare(&orders)
        };
        let places = self.places.iter();
        places
            .map(|of| prepare(of).map_err(|error| named(of.1.get(), error)))
            .collect()
    }
}

impl Bring<'_> {
    fn to(&self, remote: &Remote, orders: &[Order]) -> Result<(), PlaceError> {
        let Lacking {
            can_be_brought,
            own,
        } = remote.lacking(orders)?;
        if !own.is_empty() {
            return Err(PlaceError::Refused(own.join("; ")));
        }
        let mut missing = Vec::new();
        for lack in can_be_brought {
            if let Lack::Dataset { name } = &lack
                && fetch::is_here(name, self.cache)
            {
                let files = files_of(self.cache, &data::fetched_folder(self.cache, name));
                remote.send_cached(self.cache, &files)?;
            } else if self.lacks {
                remote.bring(&lack)?;
            } else {
                missing.push(match lack {
                    Lack::Environment { name, .. } => name,
                    Lack::Dataset { name } => format!("dataset {name}"),
                });
            }
        }
        match missing.is_empty() {
            true => Ok(()),
            false => Err(PlaceError::Refused(format!(
                "lacks {}; `bancada run … --prepare` installs what is missing there",
                missing.join(", ")
            ))),
        }
    }
}

/// Relative to the cache.
pub(crate) fn files_of(cache: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => {
                    files.extend(path.strip_prefix(cache).map(Path::to_owned))
                }
                _ => {}
            }
        }
    }
    files
}

/// Which of several machines it was.
fn named(place: &dyn Place, error: PlaceError) -> PlaceError {
    match place.name().as_str() {
        THIS_MACHINE => error,
        name => PlaceError::Refused(format!("{name}: {error}")),
    }
}

impl Wanted<'_> {
    fn places_of(&self, environment: &Environment) -> Result<Vec<OnMachine>, Error> {
        match &environment.location.machine {
            MachineAt::Here => self.here(environment),
            MachineAt::Ssh(hosts) => {
                let host = |name: &String| Host {
                    name: name.clone(),
                    config: None,
                    notices_of: None,
                };
                let hosts = hosts
                    .iter()
                    .map(|name| self.by_ssh(&host(name), environment));
                let hosts: Vec<Vec<OnMachine>> = hosts.collect::<Result<_, _>>()?;
                Ok(hosts.into_iter().flatten().collect())
            }
            MachineAt::Rented(_) => match self.rented.get(&environment.name) {
                Some(rented) => {
                    let host = Host {
                        name: rented.name.clone(),
                        config: Some(rented.ssh_config.clone()),
                        notices_of: Some(rented.provider.clone()),
                    };
                    self.by_ssh(&host, environment)
                }
                None => Err(Error::other(format!(
                    "the machine of environment `{}` is not there",
                    environment.name
                ))),
            },
        }
    }

    fn here(&self, environment: &Environment) -> Result<Vec<OnMachine>, Error> {
        let here = |place: Arc<dyn Place>| {
            vec![OnMachine {
                key: THIS_MACHINE.to_owned(),
                place: AnyPlace::Here(place),
                is_prepared_by_another: false,
            }]
        };
        Ok(match &environment.location.within {
            Within::Process => here(Arc::new(self.here.place(self.opened, self.results))),
            Within::Container(container) => {
                let name = &environment.name;
                let place = self.here.container_place(self.opened, name, container);
                here(Arc::new(place))
            }
            Within::Slurm(slurm) => {
                // One place for all its jobs: the queue is asked once for all of them.
                let queue: Arc<dyn Place> = Arc::new(Runs::new(
                    &self.here.program,
                    &self.opened.folder,
                    &self.slurm_folder(slurm, &environment.name),
                    Sbatch::new(&self.here.program, slurm),
                ));
                let job = |number| OnMachine {
                    key: job_key(&environment.name, number),
                    place: AnyPlace::Here(Arc::clone(&queue)),
                    is_prepared_by_another: number > 0,
                };
                (0..slurm.jobs.max(1)).map(job).collect()
            }
        })
    }

    /// On a file system that the nodes see as well: the cache is below the home folder.
    fn slurm_folder(&self, slurm: &Slurm, environment: &str) -> PathBuf {
        let name = self.name_at_host(environment);
        let cache = self.here.home.path().join("places");
        slurm.folder.clone().unwrap_or(cache).join(name)
    }

    fn by_ssh(&self, host: &Host, environment: &Environment) -> Result<Vec<OnMachine>, Error> {
        let within = &environment.location.within;
        let Host {
            name,
            config,
            notices_of,
        } = host;
        let json = match within {
            Within::Process => None,
            other => Some(serde_json::to_string(other).map_err(Error::other)?),
        };
        // A host does one run at a time; what a queue may hold is said by the study.
        let keys = match within {
            Within::Slurm(slurm) => (0..slurm.jobs.max(1))
                .map(|number| job_key(&format!("{} at {name}", environment.name), number))
                .collect(),
            Within::Process | Within::Container(_) => vec![format!("ssh {name}")],
        };
        let place = |(number, key): (usize, String)| {
            let options = SshOptions {
                program: place::ssh::program(std::env::var_os("BANCADA_SSH")),
                config: config.clone(),
                bancada: self.here.program.clone(),
                place: self.name_at_host(&environment.name),
                within: json.clone(),
                notices_of: notices_of.clone(),
            };
            let ssh = Ssh::new(name, options).map_err(Error::other)?;
            let remote = Remote::new(name, &self.opened.folder, ssh);
            Ok(OnMachine {
                key,
                place: AnyPlace::Remote(Box::new(remote)),
                is_prepared_by_another: number > 0,
            })
        };
        keys.into_iter().enumerate().map(place).collect()
    }

    /// Two studies, two results folders of one, or two environments do not meet at a host.
    fn name_at_host(&self, environment: &str) -> String {
        let results = self.results.map(std::path::absolute);
        let results = results.and_then(Result::ok).unwrap_or_default();
        let results = results.as_os_str().as_encoded_bytes();
        let whose = [results, b"\0", environment.as_bytes()].concat();
        let study = &self.opened.study.name;
        format!("{study}-{:016x}", seeded::fnv1a(&whose))
    }
}

/// Jobs of a queue are so many machines.
fn job_key(name: &str, number: u32) -> String {
    format!("job {number} of {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_QUEUES: &str = r#"
[study]
name = "queues"
objective = "time"
[factors]
environment = ["cpu", "gpu"]
[workload]
command = ["true"]
[environments.cpu]
price = "1 USD/h"
slurm = { partition = "cpu", jobs = 3, folder = "/shared" }
[environments.gpu]
price = "2 USD/h"
slurm = { partition = "gpu", jobs = 2, folder = "/shared" }
"#;

    /// Three jobs of a queue made ready at the same time in one folder removed each other's files.
    #[test]
    fn a_queue_is_made_ready_once_and_apart_from_others() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("study.toml");
        std::fs::write(&path, TWO_QUEUES).unwrap();
        let opened = crate::open_study(&path, None, &|_| {}).unwrap();
        let here = Here::find().unwrap();
        let wanted = Wanted {
            opened: &opened,
            here: &here,
            results: None,
            rented: &BTreeMap::new(),
        };
        let names = opened.study.environments.iter().map(|e| e.name.clone());
        let places = Places::open(wanted, &names.collect()).unwrap();
        let prepares = |name: &str| {
            let of = |m: &&Machine| m.places.contains_key(name) && !m.is_prepared_by_another;
            places.machines.iter().filter(of).count()
        };
        assert_eq!(places.machines.len(), 5);
        assert_eq!([prepares("cpu"), prepares("gpu")], [1, 1]);

        let folder = |environment: &Environment| match &environment.location.within {
            Within::Slurm(slurm) => wanted.slurm_folder(slurm, &environment.name),
            other => panic!("{other:?}"),
        };
        let folders: BTreeSet<PathBuf> = opened.study.environments.iter().map(folder).collect();
        assert_eq!(folders.len(), 2, "{folders:?}");
    }
}
