//! What a person does with a study, without a screen: open it, see what this machine lacks for it,
//! forecast it, keep its results, analyse them, ask what other prices would make of them.
//!
//! The command line is one user of this crate, a page in a browser would be another. Nothing is
//! printed here: what a person should know beside the result is passed to a [`Tell`].

mod analysis;
mod carried;
mod catalog;
mod claim;
mod control;
mod designs;
mod draft;
mod elsewhere;
mod error;
mod fits;
mod forecast;
mod here;
mod inputs;
mod lacks;
mod live;
mod machines;
mod only;
mod open;
mod places;
mod prediction;
mod probe;
mod rough;
mod run_files;
mod studies;
mod timing;
pub mod toml_text;
mod until;
mod what_if;

pub use analysis::{Paid, analyse, report_html, tell_damaged, write_report};
pub use carried::{Bound, Carried, CarriedScenario, Carrier};
pub use catalog::{age_note, catalog, price_as_typed, tell_left_out, today};
pub use claim::{Claim, Claimed};
pub use control::{EndedStudy, StartedStudy, Wish, ask_to_end, running, start_study};
pub use designs::{DesignOption, Designs, Impossible, designs};
pub use draft::{Draft, DraftPlan, draft, save_draft};
pub use elsewhere::{Given, given_elsewhere};
pub use error::{Error, ErrorKind};
pub use fits::{CapacityQuestion, refuse_too_large};
pub use forecast::{Ask, forecast, forecast_without_pilot, money_words, time_words, without};
pub use here::{Here, own_program, scratch};
pub use inputs::{Changed, changed_inputs, changed_runs};
pub use lacks::{Lacks, Missing};
pub use live::{LiveReader, LiveWriter, News, log_in_progress, log_kept, scenario_words};
pub use machines::{Machines, keep_machine, machines, read_machine};
pub use only::only;
pub use open::{
    Opened, Results, ResultsRequest, open_results, open_study, open_text, results_folder,
    save_question, saved_study, study_file_text,
};
pub use places::{Bring, Places, RentedHost, Wanted};
pub use prediction::{CheckedPredictions, CheckedRun, check_predictions, runs_to_check};
pub use probe::{ProbeRequest, probe_machine};
pub use rough::{ROUGH, rough_forecast};
pub use run_files::{Read, record, steps};
pub use studies::{RunCounts, StudyState, StudySummary, studies};
pub use timing::{TimeRequest, Timed, TimedCommand, TimedRun, Vary, kept_study, time};
pub use until::{set_goal, set_until};
pub use what_if::{AskedIn, OtherPrices, WhatIfRequest, quoted};

/// Where sentences go that a person should read, one at a time.
pub type Tell<'a> = &'a dyn Fn(&str);
