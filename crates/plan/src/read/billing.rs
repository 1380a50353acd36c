//! `billing`: how usage is billed.

use cost::{UnitPrice, rules};
use diagnostics::{Diagnostic, Located, Table, Value};
use model::money::{
    AroundRun, Charge, Discount, DiscountTerms, Interruptions, LineKind, MonthOfUse, RentalScope,
    Unit,
};
use model::{BillingRule, PaidPhases};
use rust_decimal::Decimal;

use super::{Typed, prices, take};
use crate::{field, values};

/// What a charge may be called for.
pub(crate) const CHARGE_KINDS: &[&str] =
    &["disk", "storage", "traffic", "address", "requests", "fee"];

/// What is left out stays as it is in `rule`. `memory_mb` is that of a worker, where there are some.
pub(super) fn read(
    typed: &Typed<'_>,
    parent: &Table<'_>,
    rule: &mut BillingRule,
    memory_mb: Option<u32>,
) -> Written {
    let Some(table) = parent.table("billing") else {
        return Written::default();
    };
    let keys = KEYS.iter().filter(|key| table.key_span(key).is_some());
    let written = Written {
        keys: keys.copied().collect(),
    };
    read_rule(&table, rule, memory_mb);
    let seconds = |key: &str| take::parsed(&table, key, whole_seconds);
    set(&mut rule.step_seconds, seconds("step"));
    set(&mut rule.minimum_seconds, seconds("minimum"));
    let milliseconds = |key: &str| take::parsed(&table, key, whole_milliseconds);
    set(&mut rule.request_step_ms, milliseconds("request_step"));
    set(
        &mut rule.request_minimum_ms,
        milliseconds("request_minimum"),
    );
    read_paid(&table, rule);
    let scope = take::parsed(&table, "rental", rental_scope);
    set(&mut rule.rental, scope);
    if let Some(month) = read_month(typed, &table) {
        rule.month = MonthOfUse {
            hours: month.hours.or(rule.month.hours),
            requests: month.requests.or(rule.month.requests),
            gigabytes: month.gigabytes.or(rule.month.gigabytes),
        };
    }
    let reader = Reader { typed };
    // A list that is written takes the place of the one before; what is the provider's stays.
    if table.key_span("discounts").is_some() {
        rule.discounts.retain(|discount| !is_promise(discount));
    }
    if table.key_span("charges").is_some() {
        rule.charges.retain(|charge| !is_of_place(charge));
    }
    let discounts = tables(&table, "discounts");
    let discounts = discounts.iter();
    rule.discounts
        .extend(discounts.filter_map(|value| reader.discount(value)));
    let unpaid_seconds = unpaid_of(rule);
    field::set(&mut rule.around, read_around(&table));
    let interruptions = reader.interruptions(&table, unpaid_seconds);
    field::set_some(&mut rule.interruptions, interruptions);
    for value in tables(&table, "charges") {
        if let Some(charge) = reader.charge(&value) {
            check_month(&charge, &value, rule);
            rule.charges.push(charge);
        }
    }
    rule.tax_percent = reader.percent(&table, "tax").or(rule.tax_percent);
    table.finish();
    written
}

fn set<T>(place: &mut T, read: Option<Located<T>>) {
    field::set(place, read.map(|read| read.value));
}

const KEYS: [&str; 13] = [
    "rule",
    "step",
    "minimum",
    "paid",
    "request_step",
    "request_minimum",
    "month",
    "discounts",
    "charges",
    "tax",
    "interruptions",
    "around",
    "rental",
];

/// What of a rule was written, for the other sizes of the machine that it was written for.
#[derive(Default)]
pub(super) struct Written {
    keys: Vec<&'static str>,
}

impl Written {
    /// Each size has its own rule, with what was written over it.
    pub(super) fn pass_on(&self, from: &BillingRule, to: &mut BillingRule) {
        if self.keys.contains(&"rule") {
            *to = from.clone();
            return;
        }
        for key in &self.keys {
            match *key {
                "step" => to.step_seconds = from.step_seconds,
                "minimum" => to.minimum_seconds = from.minimum_seconds,
                "paid" => to.paid = from.paid.clone(),
                "request_step" => to.request_step_ms = from.request_step_ms,
                "request_minimum" => to.request_minimum_ms = from.request_minimum_ms,
                "month" => to.month = from.month,
                "tax" => to.tax_percent = from.tax_percent,
                "around" => to.around = from.around,
                "rental" => to.rental = from.rental,
                "interruptions" => to.interruptions.clone_from(&from.interruptions),
                "discounts" => {
                    to.discounts.retain(|discount| !is_promise(discount));
                    let promises = from.discounts.iter().filter(|d| is_promise(d)).cloned();
                    to.discounts.extend(promises);
                }
                "charges" => {
                    to.charges.retain(|charge| !is_of_place(charge));
                    let charges = from.charges.iter().filter(|c| is_of_place(c)).cloned();
                    to.charges.extend(charges);
                }
                _ => {}
            }
        }
    }
}

/// A provider's rule by its name, in place of the price's own.
fn read_rule(table: &Table<'_>, rule: &mut BillingRule, memory_mb: Option<u32>) {
    let Some(name) = table.text("rule") else {
        return;
    };
    if let Some((_, day)) = name.value.split_once('@')
        && let Err(message) = values::date(day)
    {
        table.complain(name.wrong(message));
        return;
    }
    match rules().named(&name.value) {
        Some(found) => *rule = with_what_stays(found.billing(memory_mb), rule),
        None => {
            let known = rules().names().into_iter();
            let unknown = Diagnostic::unknown("rule", &name.value, name.span, known);
            table.complain(
                unknown.note(
                    "bancada price rules lists them; `gcp@2016-05-01` is the rule of that day",
                ),
            );
        }
    }
}

fn read_paid(table: &Table<'_>, rule: &mut BillingRule) {
    match table.get("paid") {
        Some(value) if value.as_text() == Some("all") => rule.paid = PaidPhases::All,
        Some(value) if value.as_text() == Some("requests") => rule.paid = PaidPhases::Requests,
        Some(value) if value.kind() == "array" => {
            let phases = take::texts(&value, "paid");
            if phases.is_empty() {
                let nothing = value.wrong("no phase is billed");
                table.complain(nothing.label("name some, or write paid = \"all\""));
            }
            rule.paid = PaidPhases::Only(phases.into_iter().map(|p| p.value).collect());
        }
        Some(value) => {
            let wrong = value.wrong("`paid` must be \"all\", \"requests\" or a list of phases");
            table.complain(wrong.label("such as [\"train\"]"));
        }
        None => {}
    }
}

/// `around = { startup = "45s", install = "2min", shutdown = "20s" }`.
fn read_around(parent: &Table<'_>) -> Option<AroundRun> {
    let table = parent.table("around")?;
    let seconds = |key: &str| {
        let seconds = take::parsed(&table, key, whole_seconds);
        seconds.map_or(0, |seconds| seconds.value)
    };
    let around = AroundRun {
        startup_seconds: seconds("startup"),
        install_seconds: seconds("install"),
        shutdown_seconds: seconds("shutdown"),
    };
    table.finish();
    Some(around)
}

fn rental_scope(text: &str) -> Result<RentalScope, String> {
    match text {
        "study" => Ok(RentalScope::Study),
        "run" => Ok(RentalScope::Run),
        _ => Err("`rental` must be \"study\" or \"run\"".to_owned()),
    }
}

fn read_month(typed: &Typed<'_>, parent: &Table<'_>) -> Option<MonthOfUse> {
    const MOST_HOURS: Decimal = Decimal::from_parts(744, 0, 0, false, 0);
    let table = parent.table("month")?;
    let number = |key: &str| {
        table.get(key)?;
        let number = prices::decimal(typed, &table, key)?;
        let wrong = match number <= Decimal::ZERO {
            true => Some(format!("`{key}` of a month must be above zero")),
            false if key == "hours" && number > MOST_HOURS => {
                Some("a month has at most 744 hours".to_owned())
            }
            false => None,
        };
        match wrong {
            Some(wrong) => {
                parent.complain(Diagnostic::at(take::key_span(&table, key), wrong));
                None
            }
            None => Some(number),
        }
    };
    let month = MonthOfUse {
        hours: number("hours"),
        requests: number("requests"),
        gigabytes: number("gigabytes"),
    };
    table.finish();
    Some(month)
}

/// What goes with a place rather than with a price or a provider's rule, of the rule that held there.
pub(super) fn with_what_stays(rule: BillingRule, before: &BillingRule) -> BillingRule {
    let promises = before.discounts.iter().filter(|d| is_promise(d)).cloned();
    let charges = before.charges.iter().filter(|c| is_of_place(c)).cloned();
    BillingRule {
        discounts: rule.discounts.into_iter().chain(promises).collect(),
        charges: rule.charges.into_iter().chain(charges).collect(),
        tax_percent: rule.tax_percent.or(before.tax_percent),
        month: match rule.month.is_unknown() {
            true => before.month,
            false => rule.month,
        },
        interruptions: rule.interruptions.or_else(|| before.interruptions.clone()),
        around: match rule.around.is_nothing() {
            true => before.around,
            false => rule.around,
        },
        rental: before.rental,
        ..rule
    }
}

fn is_promise(discount: &Discount) -> bool {
    matches!(discount.terms, DiscountTerms::Committed { .. })
}

/// The fee for requests is the provider's.
fn is_of_place(charge: &Charge) -> bool {
    charge.kind != LineKind::Requests
}

/// A fee for a month is nobody's, and a free amount of a month nothing, unless it is known how
/// much a month is used.
fn check_month(charge: &Charge, value: &Value<'_>, rule: &BillingRule) {
    let month = &rule.month;
    let missing = match charge.unit {
        Unit::Month if month.hours.is_none() => Some("hours"),
        Unit::Hour if !charge.free.is_zero() && month.hours.is_none() => Some("hours"),
        Unit::Gigabyte if !charge.free.is_zero() && month.gigabytes.is_none() => Some("gigabytes"),
        Unit::MillionRequests if !charge.free.is_zero() && month.requests.is_none() => {
            Some("requests")
        }
        _ => None,
    };
    if !charge.free.is_zero() && matches!(charge.unit, Unit::Month | Unit::Run) {
        let message = format!("a price per {} has no free amount", charge.unit.word());
        value.complain(value.wrong(message).label("remove `free`"));
    }
    let sent = (charge.unit == Unit::Gigabyte).then_some(charge.quantity);
    if let (Some(sent), Some(month)) = (sent, month.gigabytes)
        && sent > month
    {
        let message = "a run sends more than the whole month";
        let wrong = value.wrong(message);
        value.complain(wrong.label(format!("of month = {{ gigabytes = {month} }}")));
    }
    if let Some(missing) = missing {
        let message = format!(
            "`{}` depends on monthly usage, which is not set",
            charge.what
        );
        let unknown = value.wrong(message);
        value.complain(unknown.label(format!("add to billing: month = {{ {missing} = … }}")));
    }
}

struct Reader<'a> {
    typed: &'a Typed<'a>,
}

impl Reader<'_> {
    fn discount(&self, value: &Value<'_>) -> Option<Discount> {
        let table = value.table("discounts")?;
        let what = table.text("what").map(|text| text.value);
        let percent = self.percent(&table, "percent");
        let share_percent = self.percent(&table, "share");
        if table.key_span("percent").is_none() {
            let missing = table.wrong("a discount needs `percent`");
            value.complain(missing.label("such as { what = \"savings plan\", percent = 30 }"));
        }
        table.finish();
        Some(Discount {
            what: what.unwrap_or_else(|| "discount".to_owned()),
            terms: DiscountTerms::Committed {
                percent: percent?,
                share_percent: share_percent.unwrap_or(Decimal::ONE_HUNDRED),
            },
        })
    }

    /// From 0 to 100.
    fn percent(&self, table: &Table<'_>, key: &str) -> Option<Decimal> {
        table.get(key)?;
        let number = prices::decimal(self.typed, table, key)?;
        let range = Decimal::ZERO..=Decimal::ONE_HUNDRED;
        if range.contains(&number) {
            return Some(number);
        }
        let message = format!("`{key}` must be a percentage from 0 to 100");
        table.complain(Diagnostic::at(take::key_span(table, key), message));
        None
    }

    fn interruptions(&self, parent: &Table<'_>, unpaid_seconds: u32) -> Option<Interruptions> {
        let table = parent.table("interruptions")?;
        let per_hour = prices::decimal(self.typed, &table, "per_hour");
        let seconds = |key: &str| {
            let read = take::parsed(&table, key, whole_seconds);
            read.map(|seconds| seconds.value)
        };
        let restart = seconds("restart");
        let checkpoint = seconds("checkpoint");
        let unpaid = seconds("unpaid");
        if per_hour.is_some_and(|rate| rate.is_sign_negative()) {
            let span = take::key_span(&table, "per_hour");
            parent.complain(Diagnostic::at(span, "`per_hour` must not be negative"));
        }
        if checkpoint == Some(0) {
            let span = take::key_span(&table, "checkpoint");
            let wrong = Diagnostic::at(span, "`checkpoint` must be above zero");
            parent.complain(wrong.label("remove it if an interruption loses everything"));
        }
        table.finish();
        Some(Interruptions {
            per_hour: per_hour?,
            restart_seconds: restart.unwrap_or(0),
            checkpoint_seconds: checkpoint,
            unpaid_seconds: unpaid.unwrap_or(unpaid_seconds),
        })
    }

    fn charge(&self, value: &Value<'_>) -> Option<Charge> {
        let table = value.table("charges")?;
        let price = table.required("price");
        let price = price.and_then(|price| price.text("price"));
        let kind = take::word(&table, "kind", CHARGE_KINDS).and_then(kind_named);
        let what = table.text("what").map(|text| text.value);
        let source = table.text("source").map(|text| text.value);
        let date = take::date(self.typed, &table, "date").map(|date| date.value);
        let gigabytes = self.amount(&table, "gigabytes");
        let count = self.amount(&table, "count");
        let free = self.amount(&table, "free");
        let known = price.as_ref().and_then(|p| rules().charge(&p.value));
        let unit_price = match (known, price) {
            (Some(known), _) => Some(known.unit_price),
            (None, Some(text)) => {
                let named = |text: &str| cost::unit_price(text).map_err(with_names);
                take::parse_located(text, named, value.problems).map(|located| located.value)
            }
            (None, None) => None,
        };
        if let Some(UnitPrice { unit, .. }) = unit_price {
            check_quantity(&table, unit);
        }
        table.finish();
        let UnitPrice { price, unit } = unit_price?;
        let kind = kind
            .or_else(|| known.map(|known| known.kind))
            .unwrap_or_else(|| usual_kind(unit));
        let usual_what = || match known {
            Some(known) => known.what.clone(),
            None => usual_what(kind).to_owned(),
        };
        Some(Charge {
            what: what.unwrap_or_else(usual_what),
            kind,
            unit,
            price,
            quantity: gigabytes.or(count).unwrap_or(Decimal::ONE),
            free: free
                .or_else(|| known.map(|known| known.free))
                .unwrap_or_default(),
            source: source
                .or_else(|| known.map(|known| known.source.clone()))
                .unwrap_or_else(|| self.typed.origin.to_owned()),
            date: date
                .or_else(|| known.map(|known| known.date.clone()))
                .unwrap_or_else(|| prices::UNDATED.to_owned()),
        })
    }

    fn amount(&self, table: &Table<'_>, key: &str) -> Option<Decimal> {
        table.get(key)?;
        let number = prices::decimal(self.typed, table, key)?;
        if !number.is_sign_negative() {
            return Some(number);
        }
        let message = format!("`{key}` must not be negative");
        table.complain(Diagnostic::at(take::key_span(table, key), message));
        None
    }
}

/// What the provider leaves unpaid of a machine that it takes away.
fn unpaid_of(rule: &BillingRule) -> u32 {
    let origin = rule.origin.as_ref();
    let known = origin.and_then(|origin| rules().named(&origin.name));
    known.map_or(0, |known| known.unpaid_seconds)
}

fn check_quantity(table: &Table<'_>, unit: Unit) {
    let of_gigabytes = matches!(unit, Unit::GigabyteMonth | Unit::Gigabyte);
    let (wanted, other) = match of_gigabytes {
        true => ("gigabytes", "count"),
        false => ("count", "gigabytes"),
    };
    if let Some(span) = table.key_span(other) {
        let message = format!("`{other}` has no meaning for a price per {}", unit.word());
        table.complain(Diagnostic::at(span, message).label(format!("write `{wanted}`")));
    } else if of_gigabytes && table.key_span(wanted).is_none() {
        let missing = table.wrong("the number of gigabytes is missing");
        table.complain(missing.label("add gigabytes = …"));
    }
}

fn with_names(message: String) -> String {
    let names: Vec<&str> = rules().charges().iter().map(|c| c.name.as_str()).collect();
    format!("{message}; or a known name: {}", names.join(", "))
}

fn kind_named(word: &str) -> Option<LineKind> {
    match word {
        "disk" => Some(LineKind::Disk),
        "storage" => Some(LineKind::Storage),
        "traffic" => Some(LineKind::Traffic),
        "address" => Some(LineKind::Address),
        "requests" => Some(LineKind::Requests),
        "fee" => Some(LineKind::Fee),
        _ => None,
    }
}

fn usual_kind(unit: Unit) -> LineKind {
    match unit {
        Unit::GigabyteMonth => LineKind::Disk,
        Unit::Gigabyte => LineKind::Traffic,
        Unit::Hour => LineKind::Address,
        Unit::MillionRequests => LineKind::Requests,
        Unit::Month | Unit::Run => LineKind::Fee,
    }
}

fn usual_what(kind: LineKind) -> &'static str {
    match kind {
        LineKind::Disk => "disk",
        LineKind::Storage => "storage",
        LineKind::Traffic => "data out",
        LineKind::Address => "address",
        LineKind::Requests => "requests made",
        _ => "fee",
    }
}

fn tables<'t>(table: &Table<'t>, key: &str) -> Vec<Value<'t>> {
    table.array(key).unwrap_or_default()
}

fn whole_seconds(text: &str) -> Result<u32, String> {
    let seconds = values::duration_seconds(text)?;
    match seconds.fract() == 0.0 && seconds <= f64::from(u32::MAX) {
        true => Ok(seconds as u32),
        false => Err(format!("`{text}` is not a whole number of seconds")),
    }
}

fn whole_milliseconds(text: &str) -> Result<u32, String> {
    let milliseconds = (values::duration_seconds(text)? * 1000.0 * 1e6).round() / 1e6;
    match milliseconds.fract() == 0.0 && milliseconds <= f64::from(u32::MAX) {
        true => Ok(milliseconds as u32),
        false => Err(format!("`{text}` is not a whole number of milliseconds")),
    }
}
