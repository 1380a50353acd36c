//! A study, its results folder and its places.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::mpsc;

use model::{MachineLife, Order, Plan, RunId, RunRecord, Status, Stop, Study};
use place::{Fake, Place, Script};
use runner::{
    Assigned, Ended, Listed, Options, OrderBuilder, Progress, RunForecast, RunSelection,
    RunnerError, Schedule, ShortRuns, StudyRunner, due_runs,
};
use store::{Store, StudyIdentity};
use tempfile::TempDir;

pub(crate) struct Bench {
    pub(crate) study: Study,
    pub(crate) plan: Plan,
    pub(crate) folder: TempDir,
    pub(crate) wanted: RunSelection,
    pub(crate) expected: BTreeMap<u32, RunForecast>,
    pub(crate) over_budget: bool,
    /// Machines that are on, by environment.
    pub(crate) rented: BTreeMap<String, MachineLife>,
    pub(crate) stop: Stop,
}

/// What a session came to.
pub(crate) struct Came {
    pub(crate) ended: Result<Ended, RunnerError>,
    pub(crate) progress: Vec<Progress>,
}

impl Came {
    pub(crate) fn ended(&self) -> Ended {
        *self.ended.as_ref().unwrap()
    }

    /// In the order in which they ended.
    pub(crate) fn runs(&self) -> Vec<RunId> {
        let ends = self.progress.iter().filter_map(|progress| match progress {
            Progress::RunEnds { record, .. } => Some(record.run),
            _ => None,
        });
        ends.collect()
    }
}

impl Bench {
    /// Two levels of `n`, three repetitions, and these lines of the study.
    pub(crate) fn new(lines: &str) -> Self {
        Bench::of(&format!(
            "[study]\nname = \"s\"\nrepetitions = 3\norder = \"listed\"\n{lines}"
        ))
    }

    pub(crate) fn of(text: &str) -> Self {
        let catalog = cost::catalog();
        let options = plan::ReadOptions {
            folder: None,
            read: &|_: &Path| Err(io::Error::from(io::ErrorKind::NotFound)),
            requests_in: &|_| Ok(0),
            scale: None,
            catalog,
            today: None,
        };
        let study = plan::read_study(text, &options).unwrap();
        Bench {
            plan: plan::plan(&study),
            study,
            folder: tempfile::tempdir().unwrap(),
            wanted: RunSelection::default(),
            expected: BTreeMap::new(),
            over_budget: false,
            rented: BTreeMap::new(),
            stop: Stop::new(),
        }
    }

    pub(crate) fn store(&self) -> Store {
        let identity = StudyIdentity {
            name: self.study.name.clone(),
            fingerprint: plan::digest(&self.study),
        };
        Store::create_or_open(&self.folder.path().join("results"), &identity).unwrap()
    }

    pub(crate) fn records(&self) -> Vec<RunRecord> {
        self.store().records().unwrap()
    }

    pub(crate) fn statuses(&self) -> BTreeMap<RunId, Status> {
        self.store().statuses().unwrap()
    }

    pub(crate) fn due(&self) -> Vec<RunId> {
        due_runs(&self.plan, &self.statuses(), &self.wanted)
    }

    /// All environments at one place.
    pub(crate) fn run_at(&self, place: &dyn Place) -> Came {
        let environments = self.study.environments.iter();
        let all = environments.map(|e| e.name.clone()).collect();
        self.run(vec![(place, all)])
    }

    pub(crate) fn run(&self, places: Vec<(&dyn Place, BTreeSet<String>)>) -> Came {
        let mut schedule = Listed::new(self.due());
        self.run_by(&mut schedule, places)
    }

    pub(crate) fn run_by(
        &self,
        schedule: &mut dyn Schedule,
        places: Vec<(&dyn Place, BTreeSet<String>)>,
    ) -> Came {
        self.run_with(schedule, places, None)
    }

    pub(crate) fn run_with(
        &self,
        schedule: &mut dyn Schedule,
        places: Vec<(&dyn Place, BTreeSet<String>)>,
        short: Option<ShortRuns<'_>>,
    ) -> Came {
        let store = self.store();
        let _lock = store.lock().unwrap();
        let builder = OrderBuilder::new(&self.study, self.folder.path(), self.folder.path());
        let orders = builder.of_runs(&self.plan, &self.plan.runs).unwrap();
        let assigned = places.into_iter().map(|(place, environments)| Assigned {
            places: environments.into_iter().map(|name| (name, place)).collect(),
            rented: self.rented.clone(),
        });
        let runner = StudyRunner {
            study: &self.study,
            plan: &self.plan,
            store: &store,
            short,
            orders: &orders,
            machines: assigned.collect(),
            options: Options {
                stop: &self.stop,
                over_budget: self.over_budget,
                accept_changed: false,
                study_folder: self.folder.path(),
                git_commit: None,
                expected: self.expected.clone(),
            },
        };
        let (sender, progress) = mpsc::channel();
        let ended = runner.run(schedule, &sender);
        drop(sender);
        Came {
            ended,
            progress: progress.iter().collect(),
        }
    }
}

/// Every order ends well, after these seconds.
pub(crate) fn good(seconds: f64) -> Fake {
    fake(move |_| Script {
        seconds,
        ..Script::default()
    })
}

pub(crate) fn fake(scripts: impl Fn(&Order) -> Script + Send + Sync + 'static) -> Fake {
    Fake::new("fake", scripts)
}

pub(crate) fn run(text: &str) -> RunId {
    text.parse().unwrap()
}

pub(crate) const TWO_LEVELS: &str =
    "[factors]\nn = [1, 2]\n[workload]\ncommand = [\"true\", \"{n}\"]\n";
