//! What is kept of a bill while it is read: sums, never rows.
//!
//! Memory does not grow with the file. Kept apart are at most [`MAX_RESOURCES`] resources of the
//! study's machine types, [`MAX_BUCKETS`] time periods of theirs, [`MAX_PILES`] sums of
//! everything else, [`MAX_NAMES`] names of services and of places, and [`MAX_CLASSES`] texts whose
//! category is known. What comes beyond is summed together, and a note says so.

use std::collections::{BTreeMap, HashMap};

use model::Currency;
use rust_decimal::Decimal;

use crate::categories::{CategoryId, Rules, rules};
use crate::charge::{Charge, Interval, Provider};
use crate::estimate::Group;
use crate::interned::Names;
use crate::names::{MachineName, Sought, is_spot};
use crate::reconciliation::Note;

pub(crate) const MAX_RESOURCES: usize = 4096;
pub(crate) const MAX_BUCKETS: usize = 50_000;
pub(crate) const MAX_PILES: usize = 10_000;
pub(crate) const MAX_NAMES: usize = 1024;
pub(crate) const MAX_CLASSES: usize = 8192;
/// Longer texts are classified every time they come.
const LONGEST_CLASS_KEY: usize = 1024;
/// Bytes kept of a name.
const LONGEST_NAME: usize = 512;
const OTHERS: &str = "others";

pub(crate) struct Ledger<'q> {
    pub(crate) rules: &'static Rules,
    pub(crate) groups: &'q [Group],
    machine: CategoryId,
    serverless: CategoryId,
    classes: HashMap<Box<str>, Class>,
    class_key: String,
    resource_ids: HashMap<Box<str>, u32>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) buckets: HashMap<BucketKey, Decimal>,
    pub(crate) services: Names,
    pub(crate) scopes: Names,
    last_scope: LastScope,
    pub(crate) piles: HashMap<PileKey, Pile>,
    periods: BTreeMap<Provider, Period>,
    pub(crate) pooled: Vec<Note>,
}

/// Rows of one place mostly follow one another.
struct LastScope {
    name: String,
    id: u32,
}

/// First to last moment of the rows of a provider.
#[derive(Debug, Default)]
struct Period {
    /// Of rows of at most [`LONGEST_USAGE_MS`]: taxes and fees are charged for a month, also when
    /// the bill ends within it.
    usage: Option<Interval>,
    all: Option<Interval>,
}

const LONGEST_USAGE_MS: i64 = 2 * crate::values::DAY_MS;

#[derive(Debug, Clone, Copy)]
struct Class {
    category: CategoryId,
    shared: bool,
    group: Option<usize>,
    service: u32,
}

/// A machine or a function of the bill that is of a type the study used.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) group: usize,
    pub(crate) scope: u32,
    pub(crate) service: u32,
    pub(crate) currency: Currency,
    pub(crate) tagged: bool,
    /// On while a run of its group was in progress.
    pub(crate) met_runs: bool,
    pub(crate) cost: Decimal,
    pub(crate) credits: Decimal,
    pub(crate) rounding: Decimal,
    pub(crate) seconds: Decimal,
    /// Of rows that end before the first run begins, and that begin after the last ends.
    pub(crate) before_seconds: Decimal,
    pub(crate) after_seconds: Decimal,
    /// Cost in the price's currency, and the cost that it is of.
    pub(crate) list_cost: Decimal,
    pub(crate) list_cost_of: Decimal,
    pub(crate) time: Option<Interval>,
    pub(crate) rows: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BucketKey {
    pub(crate) resource: u32,
    pub(crate) time: Interval,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PileKey {
    pub(crate) place: Attribution,
    pub(crate) service: u32,
    pub(crate) category: CategoryId,
    pub(crate) currency: Currency,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Attribution {
    /// The row has the tag.
    Tagged,
    Scope(u32),
    /// Of the account as a whole.
    Account,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pile {
    pub(crate) cost: Decimal,
    pub(crate) credits: Decimal,
    pub(crate) rows: u64,
}

impl Pile {
    pub(crate) fn sum(&self) -> Decimal {
        self.cost + self.credits
    }
}

impl Resource {
    pub(crate) fn sum(&self) -> Decimal {
        self.cost + self.credits
    }
}

impl<'q> Ledger<'q> {
    pub(crate) fn new(groups: &'q [Group]) -> Self {
        let rules = rules();
        let mut scopes = Names::default();
        let nowhere = scopes.id("");
        Ledger {
            rules,
            groups,
            machine: rules.id("machine"),
            serverless: rules.id("serverless"),
            classes: HashMap::new(),
            class_key: String::new(),
            resource_ids: HashMap::new(),
            resources: Vec::new(),
            buckets: HashMap::new(),
            services: Names::default(),
            scopes,
            last_scope: LastScope {
                name: String::new(),
                id: nowhere,
            },
            piles: HashMap::new(),
            periods: BTreeMap::new(),
            pooled: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, charge: &Charge) {
        if let Some(time) = charge.time {
            let period = self.periods.entry(charge.provider).or_default();
            period.all = Some(time.with_other(period.all));
            if time.end_ms - time.start_ms <= LONGEST_USAGE_MS {
                period.usage = Some(time.with_other(period.usage));
            }
        }
        let class = self.class(charge);
        match class.group {
            Some(group) => self.add_machine(charge, class.service, group),
            None => self.add_to_piles(charge, class),
        }
    }

    /// Few texts come again and again: their category is looked up, not found again.
    fn class(&mut self, charge: &Charge) -> Class {
        self.class_key.clear();
        let texts = [
            charge.provider.word(),
            &charge.kind,
            &charge.service,
            &charge.meter,
            &charge.meter_kind,
            &charge.sku,
            &charge.description,
            &charge.machine,
            &charge.region,
        ];
        for text in texts {
            self.class_key.push_str(text);
            self.class_key.push('\u{1f}');
        }
        if let Some(class) = self.classes.get(self.class_key.as_str()) {
            return *class;
        }
        let class = self.find_class(charge);
        if self.classes.len() >= MAX_CLASSES {
            self.classes.clear();
        }
        if self.class_key.len() <= LONGEST_CLASS_KEY {
            self.classes.insert(self.class_key.as_str().into(), class);
        }
        class
    }

    fn find_class(&mut self, charge: &Charge) -> Class {
        let service = self.service(charge);
        let category = self.rules.of(charge);
        let group = match category {
            category if category == self.machine => self.machine_group(charge),
            category if category == self.serverless => self.service_group(charge),
            _ => None,
        };
        Class {
            category,
            shared: self.rules.category(category).shared,
            group,
            service,
        }
    }

    /// Of a machine that is priced both ways, the one that the row is.
    fn machine_group(&self, charge: &Charge) -> Option<usize> {
        // Hosting and training on the same machine type are different rows, at different prices.
        let hosts = self.rules.hosts(charge);
        let is_use_of = |group: &Group| hosts.is_none_or(|hosts| hosts == group.serves);
        let position = |fits: &dyn Fn(&MachineName) -> bool| {
            self.groups.iter().position(|group| match &group.sought {
                Sought::Machine(name) => {
                    fits(name) && is_use_of(group) && name.is_machine_of(charge)
                }
                Sought::Service(_) | Sought::Nothing => false,
            })
        };
        let spot = is_spot(charge);
        position(&|name| name.spot == spot).or_else(|| position(&|_| true))
    }

    fn service_group(&self, charge: &Charge) -> Option<usize> {
        self.groups.iter().position(|group| match &group.sought {
            Sought::Service(name) => name.is_in(charge),
            Sought::Machine(_) | Sought::Nothing => false,
        })
    }

    fn add_machine(&mut self, charge: &Charge, service: u32, group: usize) {
        let id = self.resource(charge, service, group);
        let Some(resource) = self.resources.get_mut(id as usize) else {
            return;
        };
        resource.rows += 1;
        resource.cost += charge.cost;
        resource.credits += charge.credits;
        resource.rounding += charge.rounding;
        let price = self.groups[group].price.per_hour.currency;
        if let Some(list) = charge.list_cost.filter(|list| list.currency == price) {
            resource.list_cost += list.amount;
            resource.list_cost_of += charge.cost;
        }
        let Some(time) = charge.time else {
            resource.seconds += charge.seconds.unwrap_or_default();
            return;
        };
        resource.time = Some(time.with_other(resource.time));
        let timeline = &self.groups[group].timeline;
        resource.met_runs |= timeline.run_ms(time) > 0;
        let seconds = charge.seconds.unwrap_or_default();
        if seconds.is_zero() {
            return;
        }
        resource.seconds += seconds;
        match timeline.span() {
            Some(span) if time.start_ms >= span.end_ms => resource.after_seconds += seconds,
            Some(span) if time.end_ms > span.start_ms => self.add_bucket(id, time, span, seconds),
            _ => resource.before_seconds += seconds,
        }
    }

    /// Beyond the limit, rows count as spread over the whole time of the study.
    fn add_bucket(&mut self, resource: u32, time: Interval, span: Interval, seconds: Decimal) {
        let mut key = BucketKey { resource, time };
        if self.buckets.len() >= MAX_BUCKETS && !self.buckets.contains_key(&key) {
            key.time = span;
            self.pool("time periods", MAX_BUCKETS);
        }
        *self.buckets.entry(key).or_default() += seconds;
    }

    fn resource(&mut self, charge: &Charge, service: u32, group: usize) -> u32 {
        let scope = self.scope(&charge.scope);
        let tagged = u8::from(charge.tagged);
        let currency = charge.currency;
        let mut key = format!(
            "{tagged} {group} {currency} {scope} {}",
            cut(&charge.resource, LONGEST_NAME).to_ascii_lowercase()
        );
        if let Some(id) = self.resource_ids.get(key.as_str()) {
            return *id;
        }
        if self.resources.len() >= MAX_RESOURCES {
            self.pool("machines", MAX_RESOURCES);
            key = format!("{tagged} {group} {currency} {OTHERS}");
            if let Some(id) = self.resource_ids.get(key.as_str()) {
                return *id;
            }
        }
        let id = u32::try_from(self.resources.len()).unwrap_or(u32::MAX);
        self.resource_ids.insert(key.into(), id);
        self.resources.push(Resource {
            group,
            scope,
            service,
            currency,
            tagged: charge.tagged,
            met_runs: false,
            cost: Decimal::ZERO,
            credits: Decimal::ZERO,
            rounding: Decimal::ZERO,
            seconds: Decimal::ZERO,
            before_seconds: Decimal::ZERO,
            after_seconds: Decimal::ZERO,
            list_cost: Decimal::ZERO,
            list_cost_of: Decimal::ZERO,
            time: None,
            rows: 0,
        });
        id
    }

    fn add_to_piles(&mut self, charge: &Charge, class: Class) {
        let place = match charge.tagged {
            true => Attribution::Tagged,
            false if class.shared && charge.resource.is_empty() => Attribution::Account,
            false => Attribution::Scope(self.scope(&charge.scope)),
        };
        let key = PileKey {
            place,
            service: class.service,
            category: class.category,
            currency: charge.currency,
        };
        let pile = self.pile(key);
        pile.cost += charge.cost;
        pile.credits += charge.credits;
        pile.rows += 1;
    }

    fn pile(&mut self, mut key: PileKey) -> &mut Pile {
        if self.piles.len() >= MAX_PILES && !self.piles.contains_key(&key) {
            self.pool("kinds of charges", MAX_PILES);
            key.service = self.services.id(OTHERS);
            if let Attribution::Scope(scope) = &mut key.place {
                *scope = self.scopes.id(OTHERS);
            }
        }
        self.piles.entry(key).or_default()
    }

    fn scope(&mut self, name: &str) -> u32 {
        let name = cut(name, LONGEST_NAME);
        if self.last_scope.name != name {
            let known = self.scopes.id_within(MAX_NAMES, name);
            let id = known.unwrap_or_else(|| {
                self.pool("accounts and groups", MAX_NAMES);
                self.scopes.id(OTHERS)
            });
            self.last_scope = LastScope {
                name: name.to_owned(),
                id,
            };
        }
        self.last_scope.id
    }

    /// The provider stands before a service's name.
    fn service(&mut self, charge: &Charge) -> u32 {
        let provider = charge.provider.word();
        let name = format!("{provider} {}", cut(&charge.service, LONGEST_NAME));
        let known = self.services.id_within(MAX_NAMES, &name);
        known.unwrap_or_else(|| {
            self.pool("services", MAX_NAMES);
            self.services.id(&format!("{provider} {OTHERS}"))
        })
    }

    fn pool(&mut self, what: &'static str, limit: usize) {
        let note = Note::Pooled { what, limit };
        if !self.pooled.contains(&note) {
            self.pooled.push(note);
        }
    }

    /// What time the bill covers. Rows of a provider that nobody knows may be of any; and runs of
    /// whom nobody knows the provider may be on any.
    pub(crate) fn period(&self, provider: Option<Provider>) -> Option<Interval> {
        let told = |period: &Period| period.usage.or(period.all);
        let of = |provider: Provider| self.periods.get(&provider).and_then(told);
        match provider {
            Some(provider) => of(provider).or_else(|| of(Provider::Other)),
            None => self
                .periods
                .values()
                .filter_map(told)
                .reduce(Interval::with),
        }
    }

    /// What does work that may be another's: a machine; and a function, where the study has some.
    pub(crate) fn is_of_workers(&self, category: CategoryId) -> bool {
        let has_functions = || {
            let mut groups = self.groups.iter();
            groups.any(|group| matches!(group.sought, Sought::Service(_)))
        };
        category == self.machine || (category == self.serverless && has_functions())
    }

    pub(crate) fn provider_of(&self, service: u32) -> Provider {
        let name = self.services.name(service);
        Provider::of_name(name.split(' ').next().unwrap_or_default())
    }
}

fn cut(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}
