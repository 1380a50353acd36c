use cost::{KnownCharge, ProviderRule};
use report::{billing_words, format};

use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::table::Table;

/// Of a worker of 1 GB, whose seconds are GB-seconds.
const MEMORY_MB: u32 = 1024;

pub(super) fn rules(names: &[String], printer: &Printer) -> CommandResult {
    let asked = |name: &str| names.is_empty() || names.iter().any(|n| name.starts_with(n.as_str()));
    let rules: Vec<&ProviderRule> = cost::rules()
        .all()
        .iter()
        .filter(|r| asked(&r.name))
        .collect();
    let charges = cost::rules().charges().iter();
    let charges: Vec<&KnownCharge> = charges.filter(|c| asked(&c.name)).collect();
    if rules.is_empty() && charges.is_empty() {
        let message = format!("no rule name begins with {}", names.join(" or "));
        return Err(Failure::new(Exit::BadStudy, message));
    }
    let mut parts: Vec<String> = rules.into_iter().map(paragraph).collect();
    if !charges.is_empty() {
        parts.push(charge_table(&charges));
    }
    printer.data(&parts.join("\n"));
    Ok(Exit::Ok)
}

/// `aws since 2017-10-02`, what it says, and where that was read.
fn paragraph(rule: &ProviderRule) -> String {
    let since = match &rule.since {
        Some(since) => format!("since {since}"),
        None => "from the beginning".to_owned(),
    };
    let price = rule.per_gb_second.map_or(String::new(), |price| {
        format!("{} per GB-second; ", format::exact_money(&price))
    });
    let words = billing_words(&rule.billing(Some(MEMORY_MB)));
    format!(
        "{} {since}\n  {price}{words}\n  {}\n",
        rule.name, rule.source
    )
}

fn charge_table(charges: &[&KnownCharge]) -> String {
    let mut table = Table::default()
        .text("other charges")
        .text("what")
        .number("price")
        .number("free per month")
        .text("date")
        .text("source");
    for charge in charges {
        let unit = charge.unit_price.unit.word();
        let free = charge.free.normalize();
        table.row(vec![
            charge.name.clone(),
            charge.what.clone(),
            format!("{}/{unit}", format::exact_money(&charge.unit_price.price)),
            match free.is_zero() {
                true => "0".to_owned(),
                false => format!("{free} {unit}"),
            },
            charge.date.clone(),
            charge.source.clone(),
        ]);
    }
    table.rendered()
}
