use std::collections::BTreeMap;

use analyse::{Analysis, Wishes};
use model::Timestamp;
use report::{ReportMeta, TerminalOptions};
use store::Store;
use workbench::{OtherPrices, Results, open_results};

use crate::args::{ReportArgs, ResultsArgs, ShowArgs, WhatIfArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

const WHAT_IF_REPORT: &str = "report-what-if.html";

pub(super) fn show(args: &ShowArgs, printer: &Printer) -> CommandResult {
    super::infra::mention_machines(printer);
    let Shown {
        analysis, results, ..
    } = Shown::open(&args.results, &args.what_if, printer)?;
    print_tables(&analysis, printer);
    mention_left(&results.store, printer);
    let wishes = Wishes {
        deadline_seconds: args.deadline,
        most_cost: args.most_cost,
    };
    if args.deadline.is_some() || args.most_cost.is_some() {
        let said = analyse::recommend(&analysis, &wishes).map_err(Failure::wrong_arguments)?;
        said.iter()
            .for_each(|sentence| printer.data(&format!("  → {sentence}")));
    }
    Ok(Exit::Ok)
}

/// Runs of which other machines still have something; nothing where that is unknown.
pub(super) fn mention_left(store: &Store, printer: &Printer) {
    let mut places: BTreeMap<(String, bool), Vec<String>> = BTreeMap::new();
    for left in runner::left_at_places(store).unwrap_or_default() {
        let runs = places.entry((left.place, left.is_kept)).or_default();
        runs.push(left.run.to_string());
    }
    for ((place, is_kept), runs) in places {
        let runs = runs.join(", ");
        let what = match is_kept {
            true => "could not be cleaned up at",
            false => "may still be in progress at",
        };
        printer.talk(&format!(
            "! {runs} {what} {place}: the next `bancada run` of this study tries again"
        ));
    }
}

pub(super) fn report(args: &ReportArgs, printer: &Printer) -> CommandResult {
    let shown = Shown::open(&args.results, &args.what_if, printer)?;
    let results = &shown.results;
    // The report of what was paid stays what it is.
    let what_if = shown
        .is_what_if
        .then(|| results.folder.join(WHAT_IF_REPORT));
    let to = args.to.as_deref().or(what_if.as_deref());
    let tell = printer.teller();
    let path = workbench::write_report(&shown.analysis, results, to, meta(), &tell)?;
    printer.data(&path.display().to_string());
    Ok(Exit::Ok)
}

/// What `show`, `report` and `export` are about.
pub(super) struct Shown {
    pub(super) results: Results,
    pub(super) analysis: Analysis,
    is_what_if: bool,
}

impl Shown {
    pub(super) fn open(
        results: &ResultsArgs,
        what_if: &WhatIfArgs,
        printer: &Printer,
    ) -> Result<Self, Failure> {
        let tell = printer.teller();
        let path = &results.study;
        let results = open_results(results.request(), &tell)?;
        let other = OtherPrices::read(&what_if.request(), path, &results, &tell)?;
        Ok(Shown {
            analysis: workbench::analyse(&results, other.as_ref(), &tell)?,
            is_what_if: other.is_some(),
            results,
        })
    }
}

pub(super) fn print_tables(analysis: &Analysis, printer: &Printer) {
    let options = TerminalOptions {
        width: printer.data_width(),
        colour: printer.data_coloured,
        ..Default::default()
    };
    printer.data_as_is(&report::terminal(analysis, &options));
}

pub(super) fn meta() -> ReportMeta<'static> {
    ReportMeta {
        generated: Timestamp::now(),
        bancada_version: env!("CARGO_PKG_VERSION"),
        command: None,
    }
}
