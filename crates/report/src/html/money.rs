//! What the results say about money: the way to an accuracy, break-evens, what was paid and not
//! used, and machines of the wrong size.

use analyse::{Analysis, Target};
use messages::{message, word};

use super::breakeven;
use super::page::Page;
use crate::tables::{provisioning_table, target_table, unused_table, work_table};

pub(super) fn money(page: &mut Page, analysis: &Analysis) {
    let money = &analysis.money;
    let unused = unused_table(&money.unused);
    let provisioning = provisioning_table(&money.provisioning);
    let work = work_table(analysis);
    let tables = [&work, &unused, &provisioning];
    let is_empty = money.target.is_none() && tables.iter().all(|table| table.is_none());
    if is_empty && !breakeven::is_there(analysis) {
        return;
    }
    page.open("money", word!("section-money"));
    if let Some(table) = work {
        page.subtitle(word!("money-cost"));
        page.table(word!("money-cost-caption"), &table);
    }
    if let Some(target) = &money.target {
        to_target(page, analysis, target);
    }
    breakeven::break_evens(page, analysis);
    if let Some(table) = unused {
        page.subtitle(word!("money-unused"));
        page.table(word!("money-unused-caption"), &table);
        page.note(word!("money-unused-note"));
        if money
            .unused
            .iter()
            .any(|one| !one.expected_lost.amount.is_zero())
        {
            page.note(word!("money-expected"));
        }
    }
    if let Some(table) = provisioning {
        page.subtitle(word!("money-size"));
        page.table(word!("money-size-caption"), &table);
        page.note(word!("money-size-note"));
    }
    page.close();
}

fn to_target(page: &mut Page, analysis: &Analysis, target: &Target) {
    page.subtitle(&message!("target-title", target = target.name()));
    page.table(
        &message!("target-caption", target = target.name()),
        &target_table(analysis, target),
    );
    page.note(word!("target-note"));
}
