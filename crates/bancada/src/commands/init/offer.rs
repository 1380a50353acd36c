//! The question which machines: those of the catalog, with what the study would cost there.

use std::collections::BTreeSet;

use cost::CatalogEntry;
use workbench::{ROUGH, rough_forecast};

use super::answers::{Answers, Machine, Where};
use super::asker::{Left, Question};
use super::interview::{Interview, read};
use super::machines::{self, Candidate};

impl Interview<'_> {
    pub(super) fn machines(&mut self) -> Result<(), Left> {
        let (place, budget) = (self.state.place.clone(), self.state.budget);
        let there = Answers {
            place: place.clone(),
            ..self.state.answers.clone()
        };
        let with_gpus = there.can_use_gpu();
        let forecast = |entry: &CatalogEntry| {
            let machine = Machine {
                price: entry.name(),
                uses_gpu: with_gpus && entry.shape.gpu.is_some(),
            };
            let answers = Answers {
                machines: vec![machine],
                ..there.clone()
            };
            let opened = read(&answers, &self.file, &self.catalog).ok()?;
            rough_forecast(&opened)
        };
        let provider = self.state.provider.as_deref();
        let offered = machines::candidates(&self.catalog, provider, budget, with_gpus, forecast);
        let names: Vec<String> = offered.iter().map(|c| c.entry.name()).collect();
        let has_gpu: BTreeSet<String> = self
            .catalog
            .entries
            .iter()
            .filter(|entry| entry.shape.gpu.is_some())
            .map(CatalogEntry::name)
            .collect();
        let all_exceed = !offered.is_empty() && offered.iter().all(|c| c.exceeds);
        let lines = offer(&offered, place == Where::Here);
        for line in lines {
            self.asker.say(&line);
        }
        let must_rent = place == Where::Rented;
        let question = Question {
            ask: match must_rent {
                true => "Machines: numbers, or names of the catalog",
                false => {
                    "Machines: numbers, names of the catalog, a price such as 0.2 USD/h, or none"
                }
            },
            default: match (must_rent, names.is_empty() || all_exceed) {
                // More than the budget is not what Enter should mean.
                (true, true) => "",
                (true, false) => "1",
                (false, none_fits) if none_fits || budget.is_none() && place == Where::Here => {
                    "none"
                }
                (false, _) => "1",
            },
            help: "Several with commas are compared. The price decides what runs cost; here it does not make\nthis machine faster or slower. `back` returns to where runs happen, and further.",
        };
        self.planned(question, |answers, text| {
            answers.place = place.clone();
            let machine = |price: String| Machine {
                uses_gpu: with_gpus && has_gpu.contains(&price),
                price,
            };
            let chosen = match text {
                "none" => Vec::new(),
                text => chosen(text, &names)?,
            };
            if must_rent && chosen.is_empty() {
                return Err(
                    "a machine to rent, by its number or name; `back` to change what came before"
                        .to_owned(),
                );
            }
            answers.machines = chosen.into_iter().map(machine).collect();
            answers.budget = budget.filter(|_| !answers.machines.is_empty());
            Ok(())
        })
    }
}

/// The table of machines, and what it rests on.
fn offer(offered: &[Candidate<'_>], is_here: bool) -> Vec<String> {
    if offered.is_empty() {
        return vec!["  The catalog has no machine of that provider and currency.".to_owned()];
    }
    let exceeding = offered.iter().filter(|candidate| candidate.exceeds).count();
    let what = match is_here {
        true => "Machines that this one may be priced as",
        false => "Machines, the cheapest of each size",
    };
    let mut lines = vec![match exceeding {
        0 => format!("  {what}:"),
        all if all == offered.len() => {
            "  No machine of the catalog is estimated to keep the budget. The cheapest:".to_owned()
        }
        _ => format!("  {what}; those beyond the budget are marked:"),
    }];
    let table = machines::table(offered);
    lines.extend(table.lines().map(|line| format!("    {line}")));
    let is_rough = |c: &Candidate<'_>| c.forecast.is_some() || c.entry.shape.gpu.is_some();
    if offered.iter().any(is_rough) {
        lines.push(format!("    ({ROUGH})"));
    }
    lines
}

/// `1, 3` of what was offered; or as the catalog names them.
fn chosen(text: &str, offered: &[String]) -> Result<Vec<String>, String> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let one = |part: &str| match part.parse::<usize>() {
        Ok(number) => {
            let named = number.checked_sub(1).and_then(|index| offered.get(index));
            named
                .cloned()
                .ok_or_else(|| format!("there is no number {number}"))
        }
        Err(_) => Ok(part.to_owned()),
    };
    parts.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_chosen_by_number_or_name() {
        let offered = ["azure/a@x".to_owned(), "aws/b@y".to_owned()];
        let check = |text, expected: &[&str]| assert_eq!(chosen(text, &offered).unwrap(), expected);
        check("2, 1", &["aws/b@y", "azure/a@x"]);
        check("0.2 USD/h", &["0.2 USD/h"]);
        check("", &[]);
        assert!(chosen("3", &offered).is_err() && chosen("0", &offered).is_err());
    }
}
