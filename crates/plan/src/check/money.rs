//! The currency of a study, and whether its budget can be compared with its prices.

use diagnostics::{Diagnostic, Problems};
use model::run::phase;
use model::{Currency, PaidPhases, Price};

use crate::read::{Draft, DraftEnvironment, DraftWorkload};

/// The currency of the study: as typed, else the budget's, else that of the first price.
pub(super) fn check(draft: &Draft, problems: &Problems) -> Currency {
    let prices: Vec<&Price> = draft
        .environments
        .iter()
        .filter_map(|e| e.price.as_ref())
        .collect();
    check_budget(draft, &prices, problems);
    for environment in &draft.environments {
        check_paid(draft, environment, problems);
    }
    let of_budget = draft.head.budget.as_ref().map(|b| b.value.currency);
    let of_price = prices.first().map(|p| p.per_hour.currency);
    draft
        .head
        .currency
        .or(of_budget)
        .or(of_price)
        .unwrap_or(Currency::USD)
}

fn check_budget(draft: &Draft, prices: &[&Price], problems: &Problems) {
    let Some(budget) = &draft.head.budget else {
        return;
    };
    let at = |message: String| budget.wrong(message);
    if budget.value.amount.is_zero() {
        problems
            .push(at("a budget of zero allows no runs".to_owned()).label("remove it for no limit"));
    }
    if prices.is_empty() {
        let example =
            "add [environments.NAME] with a price, such as \"azure/Standard_F4s_v2@eastus\"";
        problems.push(
            at("a budget, but no environment has a price".to_owned())
                .label("no cost would be computed")
                .note(example),
        );
    }
    let mut told: Vec<Currency> = Vec::new();
    for price in prices {
        let currency = price.per_hour.currency;
        let comparable = cost::convert(budget.value, currency, &draft.rates).is_some();
        if comparable || told.contains(&currency) {
            continue;
        }
        told.push(currency);
        let spoken = budget.value.currency;
        problems.push(
            at(format!(
                "the budget is in {spoken} and `{}` is priced in {currency}, but there is no exchange rate",
                price.machine
            ))
            .note(format!(
                "add:  [[rates]]  from = \"{currency}\"  to = \"{spoken}\"  rate = …  date = \"…\""
            )),
        );
    }
}

/// What a bill counts must be something that runs of this study have.
fn check_paid(draft: &Draft, environment: &DraftEnvironment, problems: &Problems) {
    let Some(price) = &environment.price else {
        return;
    };
    let span = || environment.name.span.clone();
    match (&price.billing.paid, &draft.workload) {
        (PaidPhases::Requests, Some(DraftWorkload::Train(_) | DraftWorkload::Command(_))) => {
            let message = "this price bills only requests, but the study does not serve";
            let nothing = Diagnostic::at(span(), message);
            problems.push(nothing.label(
                "write [workload] kind = \"serve\", billing = { paid = \"all\" }, or a different price",
            ));
        }
        (PaidPhases::Only(names), Some(DraftWorkload::Train(_) | DraftWorkload::Serve(_))) => {
            let known = || phase::ORDER.iter().copied();
            for name in names
                .iter()
                .filter(|name| known().all(|k| k != name.as_str()))
            {
                problems.push(Diagnostic::unknown("phase", name, span(), known()));
            }
        }
        _ => {}
    }
}
