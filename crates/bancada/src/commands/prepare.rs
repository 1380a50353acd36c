//! `run --prepare`: installs and fetches what the runs need and this machine lacks.

use frameworks::Home;
use workbench::{Lacks, Missing};

use super::{data, setup};
use crate::exit::Failure;
use crate::printer::Printer;

pub(super) fn bring(lacks: &mut Lacks, home: &Home, printer: &Printer) -> Result<(), Failure> {
    for Missing { spec, gpu } in std::mem::take(&mut lacks.environments).values() {
        setup::set_up_one(spec, *gpu, home, printer)?;
    }
    for dataset in std::mem::take(&mut lacks.datasets) {
        data::fetch_one(&dataset, home.path(), printer)?;
    }
    Ok(())
}
