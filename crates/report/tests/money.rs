//! Money as a reader meets it: what was spent, what the results cost, prices that changed.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../../analyse/tests/common/mod.rs"]
mod common;

use analyse::{Analysis, Input, analyse};
use common::{Recipe, World};
use model::run::Origin;
use model::study::CommandWorkload;
use model::{RunRecord, Timestamp, Workload};
use report::{ReportMeta, TerminalOptions, terminal};

struct Read {
    screen: String,
    page: String,
}

fn read(world: &World, superseded: &[RunRecord]) -> Read {
    let analysis: Analysis = analyse(&Input {
        study: &world.study,
        plan: &world.plan,
        records: &world.records,
        superseded,
        repriced: None,
    });
    let meta = ReportMeta {
        generated: Timestamp::from_second(1_710_000_000).unwrap(),
        bancada_version: "0.1.0",
        command: None,
    };
    let options = TerminalOptions {
        width: 2000,
        ..TerminalOptions::default()
    };
    Read {
        screen: terminal(&analysis, &options),
        page: report::html(&analysis, &meta).replace('\u{a0}', " "),
    }
}

impl Read {
    fn check(&self, said: &str) {
        assert!(self.screen.contains(said), "{said}\n{}", self.screen);
        assert!(self.page.contains(said), "the page lacks: {said}");
    }

    fn check_absent(&self, said: &str) {
        assert!(!self.screen.contains(said), "{said}\n{}", self.screen);
        assert!(!self.page.contains(said), "the page has: {said}");
    }
}

fn import(record: &mut RunRecord) {
    record.origin = Origin::Imported {
        file: "old.csv".into(),
        line: 2,
    };
}

#[test]
fn a_changed_price_is_told_to_every_reader() {
    let mut world = Recipe::default().world();
    read(&world, &[]).check_absent("bills are frozen");
    let now = world.study.environments[0].price.as_mut().unwrap();
    now.per_hour = "0.192 USD".parse().unwrap();
    read(&world, &[]).check("were billed at US$ 0.169/h (2024-03-01), the study now says US$ 0.192/h (2024-03-01): bills are frozen with their runs.");
}

#[test]
fn attempts_done_again_are_told_apart() {
    let world = Recipe::default().world();
    let plain = read(&world, &[]);
    plain.check(" of a budget of US$ 1.00");
    plain.check_absent("done again");
    let again = read(&world, &world.records[..2]);
    again.check(" is spent of a budget of US$ 1.00, US$ 0.0");
    again.check(" of it for attempts done again");
    assert!(
        again
            .page
            .contains("Attempts that were done again cost US$ 0.0")
    );
}

#[test]
fn imported_runs_cost_but_spend_nothing_of_the_budget() {
    let mut world = Recipe::default().world();
    world.records[2..].iter_mut().for_each(import);
    let mixed = read(&world, &[]);
    mixed.check(" is spent of a budget of US$ 1.00");
    assert!(mixed.page.contains("<dt>cost of the results</dt>"));
    world.records.iter_mut().for_each(import);
    let imported = read(&world, &[]);
    imported.check(" and cost US$ 0.0");
    imported.check_absent("of a budget");
    assert!(!imported.page.contains("<dt>spent</dt>"));
}

#[test]
fn an_imported_study_is_not_told_to_run() {
    let mut world = Recipe::default().world();
    world.records.truncate(20);
    world.records.iter_mut().for_each(import);
    read(&world, &[]).check("4 runs are still to do");
    world.study.workload = Workload::Command(CommandWorkload {
        command: Vec::new(),
        env: Default::default(),
        directory: None,
        log: Vec::new(),
    });
    let imported = read(&world, &[]);
    imported.check_absent("still to do");
    imported.check_absent("bancada run");
    assert!(imported.page.contains("of 20 imported"));
}
