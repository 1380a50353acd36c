//! A machine made ready for orders, by a process of its own: models that it loads for that are not
//! loaded in the coordinator.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::location::Container;
use model::measurement::ReadyRequest;
use model::{Order, Ready};

use crate::error::PlaceError;
use crate::files;
use crate::{Description, Prepared};

const READY_FILE: &str = "ready.json";
const CONTAINER_FILE: &str = "container.json";
const REQUEST_FILE: &str = "ready-request.json";

/// The machine that a place is on.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// The program that has `work` and `make-ready`: this one.
    pub(crate) program: PathBuf,
    /// Where the files of the study are.
    pub(crate) study_folder: PathBuf,
    /// For files that only the place needs.
    pub(crate) scratch: PathBuf,
    /// Where results will be, for runs over several hosts that share it.
    pub(crate) results: Option<PathBuf>,
    /// In which every run is started.
    pub(crate) container: Option<Container>,
}

impl Machine {
    fn container_file(&self) -> PathBuf {
        self.scratch.join(CONTAINER_FILE)
    }

    fn ready_file(&self) -> PathBuf {
        self.scratch.join(READY_FILE)
    }

    /// What is known since it was made ready.
    pub(crate) fn known(&self) -> Result<Option<Description>, PlaceError> {
        let ready: Option<Ready> = files::read(&self.ready_file())?;
        Ok(ready.map(description))
    }

    pub(crate) fn describe(&self) -> Result<Description, PlaceError> {
        match self.known()? {
            Some(known) => Ok(known),
            None => Ok(description(self.make_ready(&[], &|words| self.run(words))?)),
        }
    }

    pub(crate) fn prepare(&self, orders: &[Order]) -> Result<Prepared, PlaceError> {
        self.prepare_by(orders, &|words| self.run(words))
    }

    /// `run` carries the program out with these arguments where the orders will be.
    pub(crate) fn prepare_by(
        &self,
        orders: &[Order],
        run: &dyn Fn(&[PathBuf]) -> Result<(), PlaceError>,
    ) -> Result<Prepared, PlaceError> {
        let ready = self.make_ready(orders, run)?;
        Ok(Prepared {
            decoded: ready.decoded,
            images: ready.images,
        })
    }

    /// The program, here.
    pub(crate) fn run(&self, words: &[PathBuf]) -> Result<(), PlaceError> {
        let output = Command::new(&self.program)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output();
        let output = output.map_err(|error| PlaceError::io("start", &self.program, &error))?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let complaint = complaint.trim().trim_start_matches("error: ");
            return Err(PlaceError::Refused(complaint.to_owned()));
        }
        Ok(())
    }

    fn make_ready(
        &self,
        orders: &[Order],
        run: &dyn Fn(&[PathBuf]) -> Result<(), PlaceError>,
    ) -> Result<Ready, PlaceError> {
        let made = host::create_private_folder(&self.scratch);
        made.map_err(|error| PlaceError::io("make", &self.scratch, &error))?;
        if let Some(container) = &self.container {
            files::write_private(&self.container_file(), container)?;
        }
        let request = self.scratch.join(REQUEST_FILE);
        files::write_private(
            &request,
            &ReadyRequest {
                orders: orders.to_vec(),
                results: self.results.clone(),
                container: self.container.clone(),
            },
        )?;
        // What an earlier one wrote must not be taken for this one's.
        _ = std::fs::remove_file(self.ready_file());
        let ran = run(&[
            PathBuf::from("make-ready"),
            request.clone(),
            self.ready_file(),
            PathBuf::from("--files"),
            self.study_folder.clone(),
        ]);
        // The variables of commands do not stay there.
        _ = std::fs::remove_file(&request);
        ran?;
        let ready: Option<Ready> = files::read(&self.ready_file())?;
        let ready = ready.ok_or_else(|| PlaceError::Refused("make-ready wrote nothing".into()))?;
        match ready.problems.is_empty() {
            true => Ok(ready),
            false => Err(PlaceError::Refused(ready.problems.join("\n"))),
        }
    }

    /// The arguments with which [`Self::program`] carries out an order in its folder.
    pub(crate) fn work_arguments(&self, order: &Path, folder: &Path) -> Vec<PathBuf> {
        let mut words = vec![
            PathBuf::from("work"),
            order.to_owned(),
            folder.to_owned(),
            PathBuf::from("--files"),
            self.study_folder.clone(),
        ];
        if self.ready_file().is_file() {
            words.extend([PathBuf::from("--ready"), self.ready_file()]);
        }
        if self.container.is_some() {
            words.extend([PathBuf::from("--container"), self.container_file()]);
        }
        words
    }
}

fn description(ready: Ready) -> Description {
    Description {
        machine: ready.machine,
        capacity: ready.capacity,
        price: None,
    }
}
