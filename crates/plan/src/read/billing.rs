//! `billing`: how usage is billed.

use cost::{UnitPrice, rules};
use model::money::{
    AroundRun, Charge, Discount, DiscountTerms, Interruptions, LineKind, MonthOfUse, RentalScope,
    Unit,
};
use model::{BillingRule, PaidPhases};
use rust_decimal::Decimal;
use source::{Diagnostic, Problems, Table, Value};

use super::{Typed, prices, take};
use crate::values;

/// What a charge may be called for.
pub(crate) const CHARGE_KINDS: &[&str] =
    &["disk", "storage", "traffic", "address", "requests", "fee"];

/// What is left out stays as it is in `rule`. `memory_mb` is that of a worker, where there are some.
pub(super) fn read(
    typed: &Typed<'_>,
    parent: &Table<'_>,
    rule: &mut BillingRule,
    memory_mb: Option<u32>,
    problems: &mut Problems,
) -> Written {
    let Some(table) = parent.table("billing", problems) else {
        return Written::default();
    };
    let keys = KEYS.iter().filter(|key| table.key_span(key).is_some());
    let written = Written {
        keys: keys.copied().collect(),
    };
    read_rule(&table, rule, memory_mb, problems);
    if let Some(step) = take::parsed(&table, "step", whole_seconds, problems) {
        rule.step_seconds = step.value;
    }
    if let Some(minimum) = take::parsed(&table, "minimum", whole_seconds, problems) {
        rule.minimum_seconds = minimum.value;
    }
    if let Some(step) = take::parsed(&table, "request_step", whole_milliseconds, problems) {
        rule.request_step_ms = step.value;
    }
    if let Some(minimum) = take::parsed(&table, "request_minimum", whole_milliseconds, problems) {
        rule.request_minimum_ms = minimum.value;
    }
    read_paid(&table, rule, problems);
    if let Some(scope) = take::parsed(&table, "rental", rental_scope, problems) {
        rule.rental = scope.value;
    }
    if let Some(month) = read_month(typed, &table, problems) {
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
    let discounts = tables(&table, "discounts", problems);
    let discounts = discounts.iter();
    rule.discounts
        .extend(discounts.filter_map(|value| reader.discount(value, problems)));
    let unpaid_seconds = unpaid_of(rule);
    if let Some(around) = read_around(&table, problems) {
        rule.around = around;
    }
    if let Some(interruptions) = reader.interruptions(&table, unpaid_seconds, problems) {
        rule.interruptions = Some(interruptions);
    }
    for value in tables(&table, "charges", problems) {
        if let Some(charge) = reader.charge(&value, problems) {
            check_month(&charge, &value, rule, problems);
            rule.charges.push(charge);
        }
    }
    rule.tax_percent = reader.percent(&table, "tax", problems).or(rule.tax_percent);
    table.finish(problems);
    written
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
        let has = |key: &str| self.keys.contains(&key);
        if has("rule") {
            *to = from.clone();
            return;
        }
        let mut copy = |key: &str, field: &dyn Fn(&BillingRule, &mut BillingRule)| {
            if has(key) {
                field(from, to);
            }
        };
        copy("step", &|from, to| to.step_seconds = from.step_seconds);
        copy("minimum", &|from, to| {
            to.minimum_seconds = from.minimum_seconds
        });
        copy("paid", &|from, to| to.paid = from.paid.clone());
        copy("request_step", &|from, to| {
            to.request_step_ms = from.request_step_ms
        });
        copy("request_minimum", &|from, to| {
            to.request_minimum_ms = from.request_minimum_ms;
        });
        copy("month", &|from, to| to.month = from.month);
        copy("tax", &|from, to| to.tax_percent = from.tax_percent);
        copy("around", &|from, to| to.around = from.around);
        copy("rental", &|from, to| to.rental = from.rental);
        copy("interruptions", &|from, to| {
            to.interruptions.clone_from(&from.interruptions);
        });
        copy("discounts", &|from, to| {
            to.discounts.retain(|discount| !is_promise(discount));
            let promises = from.discounts.iter().filter(|d| is_promise(d)).cloned();
            to.discounts.extend(promises);
        });
        copy("charges", &|from, to| {
            to.charges.retain(|charge| !is_of_place(charge));
            let charges = from.charges.iter().filter(|c| is_of_place(c)).cloned();
            to.charges.extend(charges);
        });
    }
}

/// A provider's rule by its name, in place of the price's own.
fn read_rule(
    table: &Table<'_>,
    rule: &mut BillingRule,
    memory_mb: Option<u32>,
    problems: &mut Problems,
) {
    let Some(name) = table.text("rule", problems) else {
        return;
    };
    if let Some((_, day)) = name.value.split_once('@')
        && let Err(message) = values::date(day)
    {
        problems.push(Diagnostic::at(name.span, message));
        return;
    }
    match rules().named(&name.value) {
        Some(found) => *rule = with_what_stays(found.billing(memory_mb), rule),
        None => {
            let known = rules().names().into_iter();
            let unknown = Diagnostic::unknown("rule", &name.value, name.span, known);
            problems.push(
                unknown.note(
                    "bancada price rules lists them; `gcp@2016-05-01` is the rule of that day",
                ),
            );
        }
    }
}

fn read_paid(table: &Table<'_>, rule: &mut BillingRule, problems: &mut Problems) {
    match table.get("paid") {
        Some(value) if value.as_text() == Some("all") => rule.paid = PaidPhases::All,
        Some(value) if value.as_text() == Some("requests") => rule.paid = PaidPhases::Requests,
        Some(value) if value.kind() == "array" => {
            let phases = take::texts(&value, "paid", problems);
            if phases.is_empty() {
                let nothing = Diagnostic::at(value.span, "no phase is billed");
                problems.push(nothing.label("name some, or write paid = \"all\""));
            }
            rule.paid = PaidPhases::Only(phases.into_iter().map(|p| p.value).collect());
        }
        Some(value) => {
            let wrong = Diagnostic::at(
                value.span,
                "`paid` must be \"all\", \"requests\" or a list of phases",
            );
            problems.push(wrong.label("such as [\"train\"]"));
        }
        None => {}
    }
}

/// `around = { startup = "45s", install = "2min", shutdown = "20s" }`.
fn read_around(parent: &Table<'_>, problems: &mut Problems) -> Option<AroundRun> {
    let table = parent.table("around", problems)?;
    let mut seconds = |key: &str| {
        let seconds = take::parsed(&table, key, whole_seconds, problems);
        seconds.map_or(0, |seconds| seconds.value)
    };
    let around = AroundRun {
        startup_seconds: seconds("startup"),
        install_seconds: seconds("install"),
        shutdown_seconds: seconds("shutdown"),
    };
    table.finish(problems);
    Some(around)
}

fn rental_scope(text: &str) -> Result<RentalScope, String> {
    match text {
        "study" => Ok(RentalScope::Study),
        "run" => Ok(RentalScope::Run),
        _ => Err("`rental` must be \"study\" or \"run\"".to_owned()),
    }
}

fn read_month(
    typed: &Typed<'_>,
    parent: &Table<'_>,
    problems: &mut Problems,
) -> Option<MonthOfUse> {
    const MOST_HOURS: Decimal = Decimal::from_parts(744, 0, 0, false, 0);
    let table = parent.table("month", problems)?;
    let mut number = |key: &str| {
        table.get(key)?;
        let number = prices::decimal(typed, &table, key, problems)?;
        let wrong = match number <= Decimal::ZERO {
            true => Some(format!("`{key}` of a month must be above zero")),
            false if key == "hours" && number > MOST_HOURS => {
                Some("a month has at most 744 hours".to_owned())
            }
            false => None,
        };
        match wrong {
            Some(wrong) => {
                problems.push(Diagnostic::at(take::key_span(&table, key), wrong));
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
    table.finish(problems);
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
fn check_month(charge: &Charge, value: &Value<'_>, rule: &BillingRule, problems: &mut Problems) {
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
        problems.push(Diagnostic::at(value.span.clone(), message).label("remove `free`"));
    }
    let sent = (charge.unit == Unit::Gigabyte).then_some(charge.quantity);
    if let (Some(sent), Some(month)) = (sent, month.gigabytes)
        && sent > month
    {
        let message = "a run sends more than the whole month";
        let wrong = Diagnostic::at(value.span.clone(), message);
        problems.push(wrong.label(format!("of month = {{ gigabytes = {month} }}")));
    }
    if let Some(missing) = missing {
        let message = format!(
            "`{}` depends on monthly usage, which is not set",
            charge.what
        );
        let unknown = Diagnostic::at(value.span.clone(), message);
        problems.push(unknown.label(format!("add to billing: month = {{ {missing} = … }}")));
    }
}

struct Reader<'a> {
    typed: &'a Typed<'a>,
}

impl Reader<'_> {
    fn discount(&self, value: &Value<'_>, problems: &mut Problems) -> Option<Discount> {
        let table = value.table("discounts", problems)?;
        let what = table.text("what", problems).map(|text| text.value);
        let percent = self.percent(&table, "percent", problems);
        let share_percent = self.percent(&table, "share", problems);
        if table.key_span("percent").is_none() {
            let missing = Diagnostic::at(table.span.clone(), "a discount needs `percent`");
            problems.push(missing.label("such as { what = \"savings plan\", percent = 30 }"));
        }
        table.finish(problems);
        Some(Discount {
            what: what.unwrap_or_else(|| "discount".to_owned()),
            terms: DiscountTerms::Committed {
                percent: percent?,
                share_percent: share_percent.unwrap_or(Decimal::ONE_HUNDRED),
            },
        })
    }

    /// From 0 to 100.
    fn percent(&self, table: &Table<'_>, key: &str, problems: &mut Problems) -> Option<Decimal> {
        table.get(key)?;
        let number = prices::decimal(self.typed, table, key, problems)?;
        let range = Decimal::ZERO..=Decimal::ONE_HUNDRED;
        if range.contains(&number) {
            return Some(number);
        }
        let message = format!("`{key}` must be a percentage from 0 to 100");
        problems.push(Diagnostic::at(take::key_span(table, key), message));
        None
    }

    fn interruptions(
        &self,
        parent: &Table<'_>,
        unpaid_seconds: u32,
        problems: &mut Problems,
    ) -> Option<Interruptions> {
        let table = parent.table("interruptions", problems)?;
        let per_hour = prices::decimal(self.typed, &table, "per_hour", problems);
        let mut seconds = |key: &str| {
            let read = take::parsed(&table, key, whole_seconds, problems);
            read.map(|seconds| seconds.value)
        };
        let restart = seconds("restart");
        let checkpoint = seconds("checkpoint");
        let unpaid = seconds("unpaid");
        if per_hour.is_some_and(|rate| rate.is_sign_negative()) {
            let span = take::key_span(&table, "per_hour");
            problems.push(Diagnostic::at(span, "`per_hour` must not be negative"));
        }
        if checkpoint == Some(0) {
            let span = take::key_span(&table, "checkpoint");
            let wrong = Diagnostic::at(span, "`checkpoint` must be above zero");
            problems.push(wrong.label("remove it if an interruption loses everything"));
        }
        table.finish(problems);
        Some(Interruptions {
            per_hour: per_hour?,
            restart_seconds: restart.unwrap_or(0),
            checkpoint_seconds: checkpoint,
            unpaid_seconds: unpaid.unwrap_or(unpaid_seconds),
        })
    }

    fn charge(&self, value: &Value<'_>, problems: &mut Problems) -> Option<Charge> {
        let table = value.table("charges", problems)?;
        let price = table.required("price", problems);
        let price = price.and_then(|price| price.text("price", problems));
        let kind = take::word(&table, "kind", CHARGE_KINDS, problems).and_then(kind_named);
        let what = table.text("what", problems).map(|text| text.value);
        let source = table.text("source", problems).map(|text| text.value);
        let date = take::date(self.typed, &table, "date", problems).map(|date| date.value);
        let gigabytes = self.amount(&table, "gigabytes", problems);
        let count = self.amount(&table, "count", problems);
        let free = self.amount(&table, "free", problems);
        let known = price.as_ref().and_then(|p| rules().charge(&p.value));
        let unit_price = match (known, price) {
            (Some(known), _) => Some(known.unit_price),
            (None, Some(text)) => {
                let named = |text: &str| cost::unit_price(text).map_err(with_names);
                take::parse_located(text, named, problems).map(|located| located.value)
            }
            (None, None) => None,
        };
        if let Some(UnitPrice { unit, .. }) = unit_price {
            check_quantity(&table, unit, problems);
        }
        table.finish(problems);
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

    fn amount(&self, table: &Table<'_>, key: &str, problems: &mut Problems) -> Option<Decimal> {
        table.get(key)?;
        let number = prices::decimal(self.typed, table, key, problems)?;
        if !number.is_sign_negative() {
            return Some(number);
        }
        let message = format!("`{key}` must not be negative");
        problems.push(Diagnostic::at(take::key_span(table, key), message));
        None
    }
}

/// What the provider leaves unpaid of a machine that it takes away.
fn unpaid_of(rule: &BillingRule) -> u32 {
    let origin = rule.origin.as_ref();
    let known = origin.and_then(|origin| rules().named(&origin.name));
    known.map_or(0, |known| known.unpaid_seconds)
}

fn check_quantity(table: &Table<'_>, unit: Unit, problems: &mut Problems) {
    let of_gigabytes = matches!(unit, Unit::GigabyteMonth | Unit::Gigabyte);
    let (wanted, other) = match of_gigabytes {
        true => ("gigabytes", "count"),
        false => ("count", "gigabytes"),
    };
    if let Some(span) = table.key_span(other) {
        let message = format!("`{other}` has no meaning for a price per {}", unit.word());
        problems.push(Diagnostic::at(span, message).label(format!("write `{wanted}`")));
    } else if of_gigabytes && table.key_span(wanted).is_none() {
        let missing = Diagnostic::at(table.span.clone(), "the number of gigabytes is missing");
        problems.push(missing.label("add gigabytes = …"));
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

fn tables<'t>(table: &Table<'t>, key: &str, problems: &mut Problems) -> Vec<Value<'t>> {
    table.array(key, problems).unwrap_or_default()
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
