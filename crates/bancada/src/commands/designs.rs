//! `plan --design`: designs side by side.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use model::design::{AliasTable, Effect, EffectAliases, Estimable};
use model::{Design, Study};
use workbench::{DesignOption, Designs, money_words, time_words};

use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::table::Table;

/// Aliases of the study's own design that are listed.
const SHOWN: usize = 12;

pub(super) fn show(
    study: &Study,
    designs: &Designs,
    json: bool,
    printer: &Printer,
) -> CommandResult {
    let text = match json {
        true => serde_json::to_string_pretty(designs).map_err(Failure::trouble)?,
        false => text(study, designs, printer.data_width()),
    };
    printer.data(&text);
    Ok(Exit::Ok)
}

fn text(study: &Study, designs: &Designs, screen: Option<usize>) -> String {
    let mut table = Table::default().text("design").number("scenarios");
    table = table.number("runs").text("main effects");
    table = table.text("interactions").number("aliased pairs");
    table = table.text("resolution").number("D-efficiency");
    table = table.text("time").text("cost");
    for option in &designs.options {
        table.row(row(option));
    }
    let table = table.within(screen.map(|width| width.saturating_sub(2)));
    let mut out: String = table.lines().map(|line| format!("  {line}\n")).collect();
    out.push_str(
        "\n  Of main effects and two-factor interactions: how many can be estimated with all others in \
         the model;\n  after +, how many more if the other interactions are negligible. Aliased pairs \
         cannot be distinguished.\n",
    );
    if designs
        .options
        .iter()
        .all(|option| option.seconds.is_none())
    {
        out.push_str("  No forecast: nothing has been measured yet, and no pilot was run.\n");
    }
    for impossible in &designs.impossible {
        _ = writeln!(
            out,
            "  {}: not possible: {}",
            impossible.design, impossible.why
        );
    }
    if let Some(own) = designs.options.first() {
        out.push_str(&own_aliases(study, own));
    }
    out
}

fn row(option: &DesignOption) -> Vec<String> {
    let own = if option.is_own { " (this study)" } else { "" };
    let aliases = &option.aliases;
    let interactions = match aliases.has_interactions {
        true => estimable(aliases, |row| !row.effect.is_main()),
        false => "not examined".to_owned(),
    };
    let efficiency = aliases.d_efficiency.map(|d| format!("{d:.2}"));
    vec![
        format!("{}{own}", option.title),
        option.scenarios.to_string(),
        option.runs.to_string(),
        estimable(aliases, |row| row.effect.is_main()),
        interactions,
        aliased_pairs(aliases).to_string(),
        aliases.resolution.map(roman).unwrap_or_default(),
        efficiency.unwrap_or_default(),
        option.seconds.map(time_words).unwrap_or_default(),
        option.money.map(money_words).unwrap_or_default(),
    ]
}

/// `3 of 7`, `0 + 7 of 7`.
fn estimable(aliases: &AliasTable, is_kind: impl Fn(&EffectAliases) -> bool) -> String {
    let rows: Vec<&EffectAliases> = aliases.effects.iter().filter(|row| is_kind(row)).collect();
    let count = |wanted: Estimable| rows.iter().filter(|row| row.estimable == wanted).count();
    let all = rows.len();
    match (count(Estimable::WithAll), count(Estimable::WithMainEffects)) {
        (clear, 0) => format!("{clear} of {all}"),
        (clear, more) => format!("{clear} + {more} of {all}"),
    }
}

fn aliased_pairs(aliases: &AliasTable) -> usize {
    let each = aliases.effects.iter().map(|row| row.inseparable().count());
    each.sum::<usize>() / 2
}

fn roman(resolution: u32) -> String {
    const NUMERALS: [&str; 9] = ["0", "I", "II", "III", "IV", "V", "VI", "VII", "VIII"];
    let numeral = NUMERALS.get(resolution as usize);
    numeral.map_or_else(|| resolution.to_string(), ToString::to_string)
}

/// What the study as it is cannot tell apart.
fn own_aliases(study: &Study, own: &DesignOption) -> String {
    let mut out = String::new();
    if let Design::Fractional { generators } = &study.design {
        let all: Vec<String> = generators.iter().map(ToString::to_string).collect();
        _ = writeln!(out, "\n  Generators: {}", all.join("; "));
    }
    let classes = alias_classes(&own.aliases);
    if !classes.is_empty() {
        out.push_str("\n  This study cannot tell apart:\n");
    }
    for class in classes.iter().take(SHOWN) {
        let names: Vec<String> = class.iter().map(ToString::to_string).collect();
        _ = writeln!(out, "    {}", names.join(", "));
    }
    if classes.len() > SHOWN {
        let more = classes.len() - SHOWN;
        _ = writeln!(out, "    … and {more} more (--json lists all)");
    }
    out
}

/// Each effect that has aliases with these, unless it was listed as an alias already.
fn alias_classes(aliases: &AliasTable) -> Vec<Vec<&Effect>> {
    let mut listed: BTreeSet<&Effect> = BTreeSet::new();
    let mut classes = Vec::new();
    for row in &aliases.effects {
        let others: Vec<&Effect> = row.inseparable().collect();
        if others.is_empty() || listed.contains(&row.effect) {
            continue;
        }
        listed.extend(&others);
        classes.push([vec![&row.effect], others].concat());
    }
    classes
}

/// Said before a study is planned, checked or run.
pub(super) fn warn(study: &Study, printer: &Printer) {
    if study.design == Design::OneAtATime {
        printer.talk(
            "! one factor at a time: interactions cannot be seen, and effects hold only for the first level of the other factors; bancada plan --design shows designs that can",
        );
    }
}
