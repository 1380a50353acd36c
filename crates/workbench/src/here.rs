//! This machine as a place for the runs of a study.

use std::path::{Path, PathBuf};

use frameworks::Home;
use model::location::Container;
use place::Local;
use runner::OrderBuilder;
use worker::Scratch;

use crate::error::Error;
use crate::open::Opened;

pub struct Here {
    pub program: PathBuf,
    pub home: Home,
    /// For files that only the place needs, and for pilots.
    pub scratch: Scratch,
}

impl Here {
    pub fn find() -> Result<Self, Error> {
        let home = Home::find().map_err(Error::other)?;
        Ok(Here {
            program: own_program()?,
            scratch: scratch(&home)?,
            home,
        })
    }

    /// `results` is where the runs will be kept.
    pub fn place(&self, opened: &Opened, results: Option<&Path>) -> Local {
        let local = Local::new(&self.program, &opened.folder, self.scratch.path());
        match results {
            Some(folder) => local.with_results(folder),
            None => local,
        }
    }

    /// The same, each run in a container. What was made ready for one environment is not for another.
    pub fn container_place(
        &self,
        opened: &Opened,
        environment: &str,
        container: &Container,
    ) -> Local {
        let scratch = self.scratch.path().join(format!("container-{environment}"));
        Local::new(&self.program, &opened.folder, &scratch).in_container(container.clone())
    }

    pub fn orders<'a>(&'a self, opened: &'a Opened) -> OrderBuilder<'a> {
        OrderBuilder::new(&opened.study, &opened.folder, self.home.path())
    }
}

/// A folder that goes when it is no longer used.
pub fn scratch(home: &Home) -> Result<Scratch, Error> {
    let home = home.path();
    Scratch::make(home).map_err(|e| {
        let home = home.display();
        Error::other(format!(
            "cannot use {home}: {e}; BANCADA_CACHE names another folder for the cache"
        ))
    })
}

/// This program's own file, to be started again for each run.
pub fn own_program() -> Result<PathBuf, Error> {
    std::env::current_exe()
        .map_err(|e| Error::other(format!("cannot find this program's own file: {e}")))
}
