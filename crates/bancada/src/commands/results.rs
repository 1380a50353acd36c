use std::collections::BTreeMap;

use analyse::{Analysis, Wishes};
use model::Timestamp;
use report::{ReportMeta, TerminalOptions};
use store::Store;
use workbench::{OtherPrices, Results, open_results};

use crate::args::{CriteriaArgs, ReportArgs, ResultsArgs, ShowArgs, WhatIfArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

const WHAT_IF_REPORT: &str = "report-what-if.html";

pub(super) fn show(args: &ShowArgs, printer: &Printer) -> CommandResult {
    super::infra::mention_machines(printer);
    let Shown {
        analysis, results, ..
    } = Shown::by(&args.results, &args.what_if, &args.criteria, printer)?;
    print_tables(&analysis, printer);
    mention_left(&results.store, printer);
    let wishes = Wishes {
        deadline_seconds: args.deadline,
        most_cost: args.most_cost,
        most_joules: args.most_energy,
    };
    if !wishes.is_empty() {
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
    let shown = Shown::by(&args.results, &args.what_if, &args.criteria, printer)?;
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
        Shown::by(results, what_if, &CriteriaArgs::default(), printer)
    }

    /// With a Pareto set over other metrics than the study's, where these are asked for.
    fn by(
        results: &ResultsArgs,
        what_if: &WhatIfArgs,
        criteria: &CriteriaArgs,
        printer: &Printer,
    ) -> Result<Self, Failure> {
        let tell = printer.teller();
        let path = &results.study;
        let mut results = open_results(results.request(), &tell)?;
        let is_asked = !criteria.pareto.is_empty();
        if is_asked {
            results.study.pareto.clone_from(&criteria.pareto);
        }
        let other = OtherPrices::read(&what_if.request(), path, &results, &tell)?;
        let analysis = workbench::analyse(&results, other.as_ref(), &tell)?;
        if let Some(wrong) = analysis.best.left_out.first().filter(|_| is_asked) {
            return Err(Failure::wrong_arguments(wrong));
        }
        Ok(Shown {
            analysis,
            is_what_if: other.is_some(),
            results,
        })
    }
}

pub(super) fn print_tables(analysis: &Analysis, printer: &Printer) {
    let options = terminal_options(printer);
    printer.data_as_is(&report::terminal(analysis, &options));
}

pub(super) fn terminal_options(printer: &Printer) -> TerminalOptions {
    TerminalOptions {
        width: printer.data_width(),
        colour: printer.data_coloured,
        ..Default::default()
    }
}

pub(super) fn meta() -> ReportMeta<'static> {
    ReportMeta {
        generated: Timestamp::now(),
        bancada_version: env!("CARGO_PKG_VERSION"),
        command: None,
        study_file: None,
    }
}
