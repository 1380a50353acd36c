//! Money as a reader meets it: what was spent, what the results cost, prices that changed.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../../analyse/tests/common/mod.rs"]
mod common;
mod reading;

use analyse::{Input, analyse};
use common::{Recipe, World, studies};
use model::run::Origin;
use model::study::CommandWorkload;
use model::{RunRecord, Timestamp, Workload};
use reading::{csv, parse_csv};
use report::{ReportMeta, TerminalOptions, terminal};
use rust_decimal::Decimal;

struct Read {
    screen: String,
    page: String,
}

fn read(world: &World, superseded: &[RunRecord]) -> Read {
    let analysis = analyse(&Input {
        superseded,
        ..world.input()
    });
    let meta = ReportMeta {
        generated: Timestamp::from_second(1_710_000_000).unwrap(),
        bancada_version: "0.1.0",
        command: None,
        study_file: None,
    };
    let options = TerminalOptions {
        width: Some(2000),
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
        undated: false,
    };
}

#[test]
fn a_changed_price_is_told_to_every_reader() {
    let mut world = Recipe::default().world();
    read(&world, &[]).check_absent("bills are frozen");
    let now = world.study.environments[0].price.as_mut().unwrap();
    now.per_hour = "0.192 USD".parse().unwrap();
    read(&world, &[]).check("were billed at US$ 0.169/h (2024-03-01), the study now says US$ 0.192/h (2024-03-01): bills do not change after a run.");
}

#[test]
fn attempts_done_again_are_told_apart() {
    let world = Recipe::default().world();
    let plain = read(&world, &[]);
    plain.check(" of a budget of US$ 1.00");
    plain.check_absent("done again");
    let again = read(&world, &world.records[..2]);
    again.check(" is spent of a budget of US$ 1.00, US$ 0.0");
    again.check(" of it for re-run attempts");
    assert!(
        again
            .page
            .contains("Attempts that were re-run cost US$ 0.0")
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
        inputs: Vec::new(),
        log: Vec::new(),
    });
    let imported = read(&world, &[]);
    imported.check_absent("still to do");
    imported.check_absent("bancada run");
    assert!(imported.page.contains("of 20 imported"));
}

#[test]
fn what_pays_is_told_to_every_reader() {
    let world = studies::paying();
    let paying = read(&world, &[]);
    paying.check("97 % is reached cheapest by C1: ");
    paying.check("buying nuc is cheaper than renting cpu, over 4 combinations.");
    paying.check("of the cost in gpu is rounding up to 60 s: ");
    for title in [
        "Up to 97 %",
        "Break-even: buying or renting",
        "Break-even: the more expensive machine",
        "Wasted spend",
        "Machine size",
    ] {
        let title = format!("<h3>{title}</h3>");
        assert!(paying.page.contains(&title), "{title}");
    }
    // Six sentences at most on the screen; the page has them all.
    assert!(!paying.screen.contains("more about money in the report"));
    paying.check("the GPU is at most 25 % busy while the CPU is full");
    let plain = read(&Recipe::default().world(), &[]);
    plain.check_absent("Break-even");
    plain.check_absent("Wasted spend");
}

#[test]
fn parts_of_a_bill_are_exact_in_tables() {
    let world = studies::paying();
    let analysis = analyse(&world.input());
    let rows = parse_csv(&csv("runs", &analysis));
    let column = |name: &str| rows[0].iter().position(|c| c == name).unwrap();
    let (unused, run) = (column("unused_cost_usd"), column("run"));
    // Of a minute on the GPU: what the bill's line says, digit by digit.
    let row = rows.iter().find(|row| row[run] == "C9-r1").unwrap();
    let record = world.records.iter().find(|r| r.run.to_string() == "C9-r1");
    let lines = &record.unwrap().bill.as_ref().unwrap().lines;
    let line = lines
        .iter()
        .find(|l| l.what == "rounding up to 60 s")
        .unwrap();
    assert_eq!(row[unused], line.amount.amount.normalize().to_string());
    assert!(!row[column("to_target_seconds")].is_empty());
}

#[test]
fn bills_and_break_evens_are_tables_for_other_programs() {
    let world = studies::paying();
    let of = |repriced: Option<&str>| {
        analyse(&Input {
            repriced,
            ..world.input()
        })
    };
    let frozen = of(None);
    let rows = parse_csv(&csv("bills", &frozen));
    let column = |rows: &[Vec<String>], name: &str| rows[0].iter().position(|c| c == name);
    let amount = column(&rows, "amount").unwrap();
    let bills = world.records.iter().filter_map(|r| r.bill.as_ref());
    let (lines, total) = bills.fold((0, Decimal::ZERO), |(lines, total), bill| {
        (lines + bill.lines.len(), total + bill.total.amount)
    });
    assert_eq!(rows.len() - 1, lines);
    let written: Decimal = rows[1..]
        .iter()
        .map(|row| row[amount].parse::<Decimal>().unwrap())
        .sum();
    assert_eq!(written, total);

    let even = &frozen.money.break_even;
    let pairs = parse_csv(&csv("break-evens", &frozen));
    assert_eq!(
        pairs.len() - 1,
        even.buying.len() + even.more_expensive.len()
    );
    assert!(!even.buying.is_empty() && !even.more_expensive.is_empty());

    // No table of a what-if can be taken for what was paid.
    let asked = of(Some("What if: twice as expensive."));
    for table in ["runs", "scenarios", "bills", "break-evens"] {
        assert_eq!(column(&parse_csv(&csv(table, &frozen)), "billed"), None);
        let rows = parse_csv(&csv(table, &asked));
        let billed = column(&rows, "billed").unwrap();
        assert!(rows.len() > 1);
        assert!(
            rows[1..]
                .iter()
                .all(|r| r[billed] == "What if: twice as expensive.")
        );
        assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    }
}
