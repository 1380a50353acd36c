//! What the results say about money: the way to an accuracy, break-evens, what was paid and not
//! used, and machines of the wrong size.

use analyse::{Analysis, Target};

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
    page.open("money", "Money");
    if !money.sentences.is_empty() {
        page.list("findings", money.sentences.iter().map(String::as_str));
    }
    if let Some(table) = work {
        page.subtitle("What the work costs");
        page.table(&table);
    }
    if let Some(target) = &money.target {
        to_target(page, analysis, target);
    }
    breakeven::break_evens(page, analysis);
    if let Some(table) = unused {
        page.subtitle("Paid and not used");
        page.table(&table);
        page.note("Amounts carry their part of discounts and taxes. Not used is time that bills round up to, and what gave no result. What comes before and after the work is used, but not for it.");
        if money
            .unused
            .iter()
            .any(|one| !one.expected_lost.amount.is_zero())
        {
            page.note("What a provider is expected to take away is on the bill as an expectation.");
        }
    }
    if let Some(table) = provisioning {
        page.subtitle("Too large or too small");
        page.table(&table);
        page.note("The most that any run used of what it was given, while it worked. Where all of it is below 45 %, a machine of half the size would do; above 90 % of its memory, or of the CPU of a server, nothing is left. Short and imported runs, runs that others held back, clients that ask again as soon as they are answered, and workers on other machines say nothing of a size and are left out.");
    }
    page.close();
}

fn to_target(page: &mut Page, analysis: &Analysis, target: &Target) {
    page.subtitle(&format!("Up to {}", target.name()));
    page.table(&target_table(analysis, target));
    page.note("From the start of a run to the end of the first epoch whose accuracy on held-out images is high enough, over the runs that get there; the cost is that part of the run's bill which the time is of the run. Who tells an accuracy only at the end is taken to get there with the last epoch.");
}
