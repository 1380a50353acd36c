//! Places and what they cost.

use super::{Kind, Section, key, required};

pub(super) const ENVIRONMENT: Section = Section {
    about: "Where runs happen, and what an hour there costs.",
    keys: &[
        key(
            "price",
            Kind::Price,
            "A name of the catalog (`azure/Standard_F4s_v2@eastus`), of [prices], or an amount (`0.169 USD/h`).",
        ),
        key("price_source", Kind::Text, "Where an amount was read."),
        key("price_date", Kind::Date, "When an amount was read there."),
        key(
            "own",
            Kind::Table(&OWN),
            "A machine of your own instead of a price.",
        ),
        key("cores", Kind::Number, "Cores a run may use. Default: all."),
        key("memory", Kind::Size, "Memory a run may use. Default: all."),
        key(
            "device",
            Kind::Text,
            "Goes before the workload's device: `cuda:0`; `cuda:0,cuda:1` trains on both.",
        ),
        key(
            "hosts",
            Kind::Texts,
            "Machines that the workers of a run are spread over, by the names under which they reach each other; the first is this one. All see the same folders at the same paths. The price is that of one.",
        ),
        key(
            "launch",
            Kind::Texts,
            "How a shell is started on another host. Default [\"ssh\", \"-o\", \"BatchMode=yes\", \"{host}\"].",
        ),
        key(
            "billing",
            Kind::Table(&BILLING),
            "How time becomes money here, where it differs from the price's own rule.",
        ),
    ],
};

pub(super) const PRICE: Section = Section {
    about: "A price of your own.",
    keys: &[
        key("per_hour", Kind::Money, "An hour of the machine."),
        key("own", Kind::Table(&OWN), "A machine of your own instead."),
        key("source", Kind::Text, "Where the price was read."),
        key("date", Kind::Date, "When it was read there."),
        key("billing", Kind::Table(&BILLING), "How time becomes money."),
    ],
};

const OWN: Section = Section {
    about: "A machine that was bought: its price spread over its hours, plus electricity.",
    keys: &[
        required("purchase", Kind::Money, "What it cost."),
        required(
            "electricity",
            Kind::Electricity,
            "Price of a kilowatt-hour.",
        ),
        required("years", Kind::Decimal, "How long it is used."),
        required("watts", Kind::Decimal, "What it draws while it works."),
        key(
            "hours_per_day",
            Kind::Decimal,
            "Hours of a day that it works. Default 24.",
        ),
    ],
};

const BILLING: Section = Section {
    about: "How paid time is made of measured time.",
    keys: &[
        key(
            "step",
            Kind::Duration,
            "Time is rounded up to whole steps. `0s` bills the exact time.",
        ),
        key("minimum", Kind::Duration, "A run pays at least this."),
        key(
            "paid",
            Kind::Paid,
            "`all` of the run's life, or only the phases named.",
        ),
    ],
};

pub(super) const RATE: Section = Section {
    about: "So many of one currency for one of another, on a day.",
    keys: &[
        required("from", Kind::Currency, "One of this …"),
        required("to", Kind::Currency, "… in these."),
        required("rate", Kind::Decimal, "How many. Read exactly as typed."),
        required("date", Kind::Date, "Of which day."),
        key("source", Kind::Text, "Where it was read."),
    ],
};
