//! Results read, billed and analysed.

use std::fs;
use std::path::{Path, PathBuf};

use analyse::{Analysis, Input, ScenarioResult, Timeline};
use model::{MachineLife, RunRecord, Status};
use plan::Recognizer;
use report::ReportMeta;
use runner::TooSmall;

use crate::Tell;
use crate::error::Error;
use crate::open::{Results, STUDY_COPY};
use crate::run_files::{self, Read};
use crate::what_if::OtherPrices;

/// At other prices, where they are asked for.
pub fn analyse(
    results: &Results,
    other: Option<&OtherPrices>,
    tell: Tell<'_>,
) -> Result<Analysis, Error> {
    tell_damaged(results, tell)?;
    let mut runs = Paid::read(results)?;
    leave_out_others(&mut runs.records, results, tell);
    if let Some(other) = other {
        other.bill(&mut runs.records);
        other.bill(&mut runs.superseded);
    }
    runs.settle();
    let study = other.map_or(&results.study, OtherPrices::study);
    let unpriced = runner::drop_unfounded_costs(&mut runs.records, study);
    runner::drop_unfounded_costs(&mut runs.superseded, study);
    if other.is_some() {
        refuse_if_none_is_priced(&runs.records, &unpriced)?;
    }
    let mut analysis = analyse::analyse(&Input {
        study,
        plan: &results.plan,
        records: &runs.records,
        superseded: &runs.superseded,
        searched: runner::searched(&results.store)?.as_ref(),
        repriced: other.map(|other| other.sentence.as_str()),
    });
    let unpriced = unpriced.iter().map(|too_small| format!("{too_small}."));
    analysis.notes.extend(unpriced);
    Ok(analysis)
}

/// All that was paid for.
pub struct Paid {
    pub records: Vec<RunRecord>,
    /// Attempts that later ones replaced.
    pub superseded: Vec<RunRecord>,
    /// Of machines that were rented for them.
    lives: Vec<MachineLife>,
}

impl Paid {
    /// With the bills of their rentals.
    pub fn settled(results: &Results) -> Result<Self, Error> {
        let mut runs = Paid::read(results)?;
        runs.settle();
        Ok(runs)
    }

    fn read(results: &Results) -> Result<Self, Error> {
        Ok(Paid {
            records: results.store.records()?,
            superseded: results.store.superseded()?,
            lives: runner::machine_lives(&results.store)?,
        })
    }

    fn settle(&mut self) {
        let all = self.records.iter_mut().chain(&mut self.superseded);
        runner::settle(all, &self.lives);
    }
}

/// A what-if without a single cost is no answer.
fn refuse_if_none_is_priced(records: &[RunRecord], unpriced: &[TooSmall]) -> Result<(), Error> {
    if unpriced.is_empty() || records.iter().any(|record| record.bill.is_some()) {
        return Ok(());
    }
    let reasons: Vec<String> = unpriced.iter().map(ToString::to_string).collect();
    Err(Error::bad_study(reasons.join("; ")))
}

/// Folders may be carried here by hand: one of another study would be taken for a result.
fn leave_out_others(records: &mut Vec<RunRecord>, results: &Results, tell: Tell<'_>) {
    let recognizer = Recognizer::new(&results.study, &results.plan);
    records.retain(|record| {
        let ours = recognizer.is_in_place(record);
        if !ours {
            tell(&format!(
                "! {} is skipped: it is not a run of this scenario (its study is `{}`, its levels are {}); bancada \
                 run sets it aside",
                record.run,
                record.study,
                record.scenario.levels_label()
            ));
        }
        ours
    });
}

/// Reports bundles that cannot be read, and files of the others that are damaged.
pub fn tell_damaged(results: &Results, tell: Tell<'_>) -> Result<(), Error> {
    for damaged in results.store.damaged() {
        tell(&format!(
            "! {} is skipped: {}",
            damaged.path.display(),
            damaged.why
        ));
    }
    for sentence in damaged_files(results)? {
        tell(&format!("! {sentence}"));
    }
    Ok(())
}

fn damaged_files(results: &Results) -> Result<Vec<String>, Error> {
    const MOST: usize = 5;
    let damaged = results.store.damaged_files()?;
    let more = damaged.len().saturating_sub(MOST);
    let sentence = |damaged: &store::Damaged| {
        format!(
            "{} is damaged: {} (its run counts: the results are in run.json)",
            damaged.path.display(),
            damaged.why
        )
    };
    let mut sentences: Vec<String> = damaged.iter().take(MOST).map(sentence).collect();
    if more > 0 {
        let files = report::format::counted(more, "more file is", "more files are");
        sentences.push(format!("{files} damaged"));
    }
    Ok(sentences)
}

/// Of scenarios, the first run that ended well, and what is wrong with files that cannot be drawn.
fn timelines(analysis: &Analysis, results: &Results) -> Read<Vec<Timeline>> {
    const MOST_SCENARIOS: usize = 48;
    let mut wrong: Vec<String> = Vec::new();
    let first = |scenario: &ScenarioResult| {
        let mut runs = analysis.runs.iter();
        let run = runs.find(|r| r.scenario == scenario.number && r.status == Status::Ok)?;
        let samples = run_files::samples(results, run.run);
        wrong.extend(samples.wrong);
        Some(Timeline {
            scenario: run.scenario,
            run: run.run,
            points: analyse::use_over_time(&samples.found?),
        })
    };
    let scenarios = analysis.scenarios.iter().filter_map(first);
    let found = scenarios.take(MOST_SCENARIOS).collect();
    let more = wrong.len().saturating_sub(1);
    let wrong = wrong.into_iter().next().map(|first| match more {
        0 => first,
        more => format!("{first} (and {more} more like it)"),
    });
    Read { found, wrong }
}

/// The report as [`write_report`] writes it.
pub fn report_html(
    analysis: &Analysis,
    results: &Results,
    meta: &ReportMeta<'_>,
    tell: Tell<'_>,
) -> Result<String, Error> {
    let timelines = timelines(analysis, results);
    let mut with_courses = analysis.clone();
    with_courses.timelines = timelines.found;
    if let Some(wrong) = timelines.wrong {
        tell(&format!("! {wrong}"));
        with_courses.notes.push(format!("{wrong}."));
    }
    let damaged = damaged_files(results)?.into_iter();
    with_courses.notes.extend(damaged.map(|text| text + "."));
    let command = format!("bancada report {}", results.folder.display());
    // Results of before it was kept have none.
    let study_file = fs::read_to_string(results.folder.join(STUDY_COPY)).ok();
    Ok(report::html(
        &with_courses,
        &ReportMeta {
            command: Some(&command),
            study_file: study_file.as_deref(),
            ..meta.clone()
        },
    ))
}

/// To the folder of the results unless another file is named.
pub fn write_report(
    analysis: &Analysis,
    results: &Results,
    to: Option<&Path>,
    meta: ReportMeta<'_>,
    tell: Tell<'_>,
) -> Result<PathBuf, Error> {
    let html = report_html(analysis, results, &meta, tell)?;
    match to {
        Some(path) => {
            fs::write(path, html)
                .map_err(|e| Error::other(format!("cannot write {}: {e}", path.display())))?;
            Ok(path.to_owned())
        }
        None => {
            results.store.save_file("report.html", html.as_bytes())?;
            Ok(results.folder.join("report.html"))
        }
    }
}
