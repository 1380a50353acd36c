//! This machine as a place for the runs of a study.

use std::path::{Path, PathBuf};

use frameworks::Home;
use place::Local;
use runner::OrderBuilder;
use worker::Scratch;

use super::work::own_program;
use crate::exit::Failure;
use crate::locate::Opened;

pub(super) struct Here {
    pub(super) program: PathBuf,
    pub(super) home: Home,
    /// For files that only the place needs, and for pilots.
    pub(super) scratch: Scratch,
}

impl Here {
    pub(super) fn find() -> Result<Self, Failure> {
        let home = Home::find().map_err(Failure::trouble)?;
        Ok(Here {
            program: own_program()?,
            scratch: scratch(&home)?,
            home,
        })
    }

    /// `results` is where the runs will be kept.
    pub(super) fn place(&self, opened: &Opened, results: Option<&Path>) -> Local {
        let local = Local::new(&self.program, &opened.folder, self.scratch.path());
        match results {
            Some(folder) => local.with_results(folder),
            None => local,
        }
    }

    pub(super) fn orders<'a>(&'a self, opened: &'a Opened) -> OrderBuilder<'a> {
        OrderBuilder::new(&opened.study, &opened.folder, self.home.path())
    }
}

/// A folder that goes when it is no longer used.
pub(super) fn scratch(home: &Home) -> Result<Scratch, Failure> {
    let home = home.path();
    Scratch::make(home).map_err(|e| {
        let home = home.display();
        Failure::trouble(format!(
            "cannot use {home}: {e}; BANCADA_CACHE names another folder for the cache"
        ))
    })
}
