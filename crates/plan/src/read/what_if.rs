//! The same measurements at different prices: a file, or options, that override a study's prices.

use diagnostics::{Diagnostic, Problems, Table};
use model::{BillingRule, ExchangeRate, Price, Service, Shared, Study};

use super::prices::Known;
use super::{Typed, billing, energy, environments, prices, settings, take};

/// A study with other money, and which places it changed.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    pub study: Study,
    /// Environments whose price is another now; runs elsewhere keep the price they were billed at.
    pub changed: Vec<String>,
    /// Prices that can be asked for by a name of the study's own.
    named: Vec<Price>,
}

impl WhatIf {
    /// Nothing is asked yet.
    pub fn of(study: Study) -> Self {
        WhatIf {
            study,
            changed: Vec::new(),
            named: Vec::new(),
        }
    }

    /// Names of `[prices]` of the study's file; of a file that has errors by now, none.
    #[must_use]
    pub fn knowing(self, text: &str) -> Self {
        let known = whole(&Typed::study(text, None), |typed, top| WhatIf {
            named: prices::read(typed, &top),
            ..self.clone()
        });
        known.unwrap_or(self)
    }

    /// `currency`, `[prices]`, `[environments.NAME]` with what concerns money, and `[[rates]]`, as
    /// in a study file. What is not said stays as it is in the study.
    pub fn asking(
        &self,
        origin: &str,
        text: &str,
        catalog: &cost::Catalog,
    ) -> Result<Self, Vec<Diagnostic>> {
        // Any day may be asked about.
        let typed = Typed {
            text,
            origin,
            today: None,
        };
        whole(&typed, |typed, top| {
            let currency = take::parsed(&top, "currency", str::parse);
            let mut what_if = self.clone();
            what_if.study.currency = currency.map_or(self.study.currency, |c| c.value);
            let carbon = energy::read_carbon(typed, &top);
            state(&mut what_if.study.carbon, carbon, Else::IsWrong);
            let what_if = over(what_if, typed, &top, catalog, Else::IsWrong);
            top.finish();
            what_if
        })
    }

    /// What a study file says of money by now, over a study that was run. Places that are
    /// new in it have no runs to bill.
    pub fn by_the_study_now(
        &self,
        text: &str,
        catalog: &cost::Catalog,
    ) -> Result<Self, Vec<Diagnostic>> {
        whole(&Typed::study(text, None), |typed, top| {
            let head = top.table("study");
            let said = head.as_ref();
            let currency = said.and_then(|head| take::parsed(head, "currency", str::parse));
            let mut what_if = self.clone();
            what_if.study.currency = currency.map_or(self.study.currency, |c| c.value);
            what_if.study.rates = Vec::new();
            what_if.study.carbon = head
                .as_ref()
                .and_then(|head| energy::read_carbon(typed, head));
            over(what_if, typed, &top, catalog, Else::IsElsewhere)
        })
    }
}

/// What else stands in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Else {
    IsWrong,
    /// It is a study, and checked as one where it is run.
    IsElsewhere,
}

fn whole(
    typed: &Typed<'_>,
    read: impl FnOnce(&Typed<'_>, Table<'_>) -> WhatIf,
) -> Result<WhatIf, Vec<Diagnostic>> {
    let problems = Problems::default();
    let what_if = diagnostics::parse(typed.text, &problems, |top| {
        problems.is_empty().then(|| {
            super::refuse_passwords(&top);
            read(typed, top)
        })
    });
    match what_if {
        Some(what_if) if problems.is_empty() => Ok(what_if),
        _ => Err(problems.into_sorted()),
    }
}

fn over(
    what_if: WhatIf,
    typed: &Typed<'_>,
    top: &Table<'_>,
    catalog: &cost::Catalog,
    other: Else,
) -> WhatIf {
    let WhatIf {
        mut study,
        mut changed,
        named,
    } = what_if;
    let rates = settings::read_rates(typed, top);
    // Of two rates the newer counts: what is asked takes the place of what was, whatever its day.
    let pair = |rate: &ExchangeRate| [rate.from.min(rate.to), rate.from.max(rate.to)];
    let is_asked = |rate: &ExchangeRate| rates.iter().any(|asked| pair(asked) == pair(rate));
    study.rates.retain(|rate| !is_asked(rate));
    study.rates.extend(rates);
    let said = prices::read(typed, top);
    for environment in &mut study.environments {
        let Some(before) = &environment.price else {
            continue;
        };
        let is_renewed = |size: &Price| said.iter().any(|p| p.machine == size.machine);
        if before.all_sizes().any(is_renewed) {
            let renewed = before.of_sizes(|size| renewed(size, &said));
            environment.price = Some(renewed.into());
            changed.push(environment.name.clone());
        }
    }
    let known = Known {
        named: said.into_iter().chain(named.iter().cloned()).collect(),
        catalog,
    };
    if let Some(table) = top.table("environments") {
        for (name, value) in table.entries() {
            let Some(inner) = value.table(&format!("environments.{}", name.value)) else {
                continue;
            };
            let names: Vec<String> = study.environments.iter().map(|e| e.name.clone()).collect();
            let place = study.environments.iter_mut().find(|e| e.name == name.value);
            let Some(environment) = place else {
                if other == Else::IsElsewhere {
                    continue;
                }
                let names = names.iter().map(String::as_str);
                let span = name.span.clone();
                top.complain(Diagnostic::unknown("environment", name.value, span, names));
                continue;
            };
            let worker = match &environment.service {
                Some(Service::Serverless(serverless)) => Some(serverless.memory_mb),
                _ => None,
            };
            let money = environments::Money {
                known: &known,
                before: environment
                    .price
                    .as_deref()
                    .filter(|_| other == Else::IsWrong),
                worker_memory_mb: worker,
            };
            let price: Option<Price> = environments::read_price(typed, &inner, &money);
            state(&mut environment.power, energy::read_power(&inner), other);
            state(
                &mut environment.carbon,
                energy::read_carbon(typed, &inner),
                other,
            );
            if other == Else::IsWrong {
                inner.finish();
            }
            if price.is_some() || other == Else::IsElsewhere {
                environment.price = price.map(Shared::new);
                changed.push(environment.name.clone());
            }
        }
    }
    WhatIf {
        study,
        changed,
        named,
    }
}

/// What a file asks about goes over what was; what a study says by now takes its place.
fn state<T>(before: &mut Option<T>, said: Option<T>, other: Else) {
    if said.is_some() || other == Else::IsElsewhere {
        *before = said;
    }
}

/// By what a text says of a name that the machine had its price by.
fn renewed(before: &Price, said: &[Price]) -> Price {
    let Some(renewed) = said.iter().find(|p| p.machine == before.machine) else {
        return before.clone();
    };
    let billing = match renewed.billing == BillingRule::default() {
        true => before.billing.clone(),
        false => billing::with_what_stays(renewed.billing.clone(), &before.billing),
    };
    let shape = match renewed.shape.is_unknown() {
        true => before.shape.clone(),
        false => renewed.shape.clone(),
    };
    Price {
        billing,
        shape,
        ..renewed.clone()
    }
}
