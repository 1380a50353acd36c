//! What the results say about money: the way to an accuracy.

use analyse::Analysis;

use super::page::Page;
use crate::tables::target_table;

pub(super) fn money(page: &mut Page, analysis: &Analysis) {
    let money = &analysis.money;
    let Some(target) = &money.target else {
        return;
    };
    page.open("money", "Money");
    if !money.sentences.is_empty() {
        page.list("findings", money.sentences.iter().map(String::as_str));
    }
    page.subtitle(&format!("Up to {}", target.name()));
    page.table(&target_table(analysis, target));
    page.note("From the start of a run to the end of the first epoch whose accuracy on held-out images is high enough, over the runs that get there; the cost is that part of the run's bill which the time is of the run. Who tells an accuracy only at the end is taken to get there with the last epoch.");
    page.close();
}
