//! What the results say about money: the way to an accuracy, break-evens, what was paid and not
//! used, and machines of the wrong size.

use analyse::{Analysis, Target};
use messages::word;

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
        page.subtitle("Cost");
        page.table("Cost per unit of work", &table);
    }
    if let Some(target) = &money.target {
        to_target(page, analysis, target);
    }
    breakeven::break_evens(page, analysis);
    if let Some(table) = unused {
        page.subtitle("Wasted spend");
        page.table("What was paid and not used, by environment", &table);
        page.note("Amounts include their share of discounts and taxes. Wasted is time added by rounding, idle time, and attempts without a result. Phases before and after the work are overhead.");
        if money
            .unused
            .iter()
            .any(|one| !one.expected_lost.amount.is_zero())
        {
            page.note("The expected cost of interrupted attempts is on the bill as an average.");
        }
    }
    if let Some(table) = provisioning {
        page.subtitle("Machine size");
        page.table("Highest use of each environment", &table);
        page.note("The highest use by any run during training or load, in percent of what was available. If everything is below 45 %, a machine of half the size would be enough; above 90 % of memory, or of a server's CPU, there is no reserve. Excluded because they do not show the needed size: short and imported runs, runs slowed down by other programs, closed-loop loads, and workers on other machines.");
    }
    page.close();
}

fn to_target(page: &mut Page, analysis: &Analysis, target: &Target) {
    page.subtitle(&format!("Up to {}", target.name()));
    page.table(
        &format!("Time and cost up to {}", target.name()),
        &target_table(analysis, target),
    );
    page.note("From the start of a run to the end of the first epoch whose accuracy on held-out images reaches the target, over the runs that reach it; the cost is the corresponding part of the run's bill. A run that reports an accuracy only at the end is taken to reach it with the last epoch. The share of runs has Wilson's interval; in the median time of all runs, those that did not reach the target count as longer than they lasted (Kaplan–Meier). Predicted times continue the learning curves of runs that did not reach it.");
}
