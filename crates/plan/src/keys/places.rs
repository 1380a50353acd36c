//! Environments and their prices.

use super::{Kind, Section, key, required};

pub(super) const ENVIRONMENT: Section = Section {
    about: "Where runs happen, and the price per hour.",
    keys: &[
        key(
            "price",
            Kind::Price,
            "A name in the catalog (`azure/Standard_F4s_v2@eastus`) or in [prices], or an amount (`0.169 USD/h`). Given a list of machines, a run pays for the cheapest with enough `cores`, or for the largest if `cores` is not set.",
        ),
        key("price_source", Kind::Text, "Source of the amount."),
        key("price_date", Kind::Date, "Date of the amount."),
        key(
            "own",
            Kind::Table(&OWN),
            "Your own machine, instead of a price.",
        ),
        key(
            "cores",
            Kind::Number,
            "Limit on the cores of a run, at most those of the machine. Default: all.",
        ),
        key(
            "memory",
            Kind::Size,
            "Limit on the memory of a run, at most that of the machine. Default: all.",
        ),
        key(
            "device",
            Kind::Text,
            "Overrides the workload's device: `cuda:0`; `cuda:0,cuda:1` trains on both.",
        ),
        key(
            "hosts",
            Kind::Texts,
            "Machines over which the workers of a run are distributed, by the names under which they reach each other; the first is this machine. All must see the same folders at the same paths. The price is that of one machine.",
        ),
        key(
            "launch",
            Kind::Texts,
            "Command that starts a shell on a remote host. Default [\"ssh\", \"-o\", \"BatchMode=yes\", \"{host}\"].",
        ),
        key(
            "billing",
            Kind::Table(&BILLING),
            "Changes to the billing rule of the price.",
        ),
        key(
            "serverless",
            Kind::Table(&SERVERLESS),
            "For serving: workers that are started on demand and end when idle. Emulated on this machine, in front of the workload's stack; with `sagemaker` and `run --real`, at the provider.",
        ),
        key(
            "instance",
            Kind::Text,
            "For serving: an always-on machine at the provider, such as `ml.m5.xlarge`, with `sagemaker`. Used by `run --real`; otherwise emulated by a local server.",
        ),
        key(
            "sagemaker",
            Kind::Table(&SAGEMAKER),
            "Settings to create the SageMaker endpoint.",
        ),
        key(
            "url",
            Kind::Text,
            "For serving: a server that is already running, including the path for requests.",
        ),
        key(
            "headers",
            Kind::Variables,
            "Sent with every request to `url`; {VARIABLE} is replaced by an environment variable, so that the file contains no secrets.",
        ),
    ],
};

const SERVERLESS: Section = Section {
    about: "Serverless workers, each with one request at a time.",
    keys: &[
        required(
            "memory",
            Kind::Whole {
                from: 1024,
                to: 6144,
            },
            "Memory of a worker in MB, in steps of 1024; its CPU share is proportional.",
        ),
        key(
            "idle",
            Kind::Duration,
            "Idle time after which an emulated worker ends. Default 14min.",
        ),
        key(
            "concurrency",
            Kind::Whole { from: 1, to: 200 },
            "Maximum number of workers; further requests are rejected. Default 5.",
        ),
    ],
};

const SAGEMAKER: Section = Section {
    about: "A SageMaker endpoint, created before the requests and deleted afterwards.",
    keys: &[
        required("region", Kind::Text, "For example `us-east-1`."),
        required(
            "image",
            Kind::Text,
            "The container image in its registry, built with `bancada image build`.",
        ),
        required(
            "role",
            Kind::Text,
            "ARN of the role that the endpoint assumes.",
        ),
        key(
            "model_data",
            Kind::Text,
            "`s3://bucket/model.tar.gz`. Default: the image contains the model.",
        ),
        key(
            "figures",
            Kind::Duration,
            "How long to wait for CloudWatch metrics after the endpoint is deleted; `0s` skips them. Default 5min.",
        ),
    ],
};

pub(super) const PRICE: Section = Section {
    about: "Your own price.",
    keys: &[
        key("per_hour", Kind::Money, "Price per hour."),
        key("own", Kind::Table(&OWN), "Your own machine instead."),
        key("source", Kind::Text, "Source of the price."),
        key("date", Kind::Date, "Date of the price."),
        key(
            "vcpus",
            Kind::Decimal,
            "Number of cores, for a list of sizes.",
        ),
        key("billing", Kind::Table(&BILLING), "How time is billed."),
        key(
            "changes",
            Kind::Tables(&CHANGE),
            "Price changes over time (a market price); each replaces `per_hour` from its start.",
        ),
    ],
};

const OWN: Section = Section {
    about: "A machine that you own: its purchase price spread over its hours, plus electricity; time is not rounded up.",
    keys: &[
        required("purchase", Kind::Money, "Purchase price."),
        required("electricity", Kind::Electricity, "Price per kilowatt-hour."),
        required("years", Kind::Decimal, "Years of use."),
        required("watts", Kind::Decimal, "Power draw under load."),
        key(
            "hours_per_day",
            Kind::Decimal,
            "Hours of use per day. Default 24.",
        ),
    ],
};

const CHANGE: Section = Section {
    about: "A price that applies from a point in time.",
    keys: &[
        required("from", Kind::Moment, "Start of the price."),
        required("per_hour", Kind::Money, "Price per hour from then on."),
    ],
};

const BILLING: Section = Section {
    about: "How usage is billed: what is counted, discounts, additional charges.",
    keys: &[
        key(
            "rule",
            Kind::Offered(rule_names),
            "A provider's rule by name, instead of the price's own; `gcp@2016-05-01` is the rule of that day. `bancada price rules` lists them. Other keys here override it.",
        ),
        key(
            "step",
            Kind::Duration,
            "Billing increment: time is rounded up to a multiple of it. `0s` bills the exact time.",
        ),
        key(
            "minimum",
            Kind::Duration,
            "Minimum billed time of a rental.",
        ),
        key(
            "rental",
            Kind::Words(|| vec!["study", "run"]),
            "`study`: one machine from the first run to the last of a `bancada run`, including idle time, rounded up once and with one minimum; every run pays its share. `run`: a new machine for every run. Default `study`.",
        ),
        key(
            "paid",
            Kind::Paid,
            "What is billed: `all` (the whole run), a list of phases, or `requests` (only while requests are handled; the default for `serverless`).",
        ),
        key(
            "request_step",
            Kind::Duration,
            "If requests are billed, each is rounded up to a multiple of it: `100ms`. Computed for the mean request.",
        ),
        key(
            "request_minimum",
            Kind::Duration,
            "If requests are billed, the minimum per request.",
        ),
        key(
            "discounts",
            Kind::Tables(&DISCOUNT),
            "Discounts on the price of time, applied one after the other.",
        ),
        key(
            "interruptions",
            Kind::Table(&INTERRUPTIONS),
            "For spot machines: the bill includes the expected cost of interrupted attempts.",
        ),
        key(
            "around",
            Kind::Table(&AROUND),
            "Start-up and shutdown of a rented machine, billed once per rental.",
        ),
        key(
            "charges",
            Kind::Tables(&CHARGE),
            "Charges other than time: disks, storage, traffic, IP addresses, fees.",
        ),
        key("tax", Kind::Decimal, "Tax in percent, added to everything."),
        key(
            "month",
            Kind::Table(&MONTH),
            "Usage per month, needed for free amounts, long-use discounts and monthly fees; without it they are not applied.",
        ),
    ],
};

const AROUND: Section = Section {
    about: "Time of the machine before its first and after its last run: billed, but not part of any run.",
    keys: &[
        key(
            "startup",
            Kind::Duration,
            "Time until the machine is usable.",
        ),
        key(
            "install",
            Kind::Duration,
            "Time to install what the runs need.",
        ),
        key("shutdown", Kind::Duration, "Time until the machine is off."),
    ],
};

fn rule_names() -> Vec<&'static str> {
    cost::rules().names()
}

const DISCOUNT: Section = Section {
    about: "A discount on the price of time, for a commitment.",
    keys: &[
        required("percent", Kind::Decimal, "Discount in percent."),
        key("what", Kind::Text, "Name on the bill: `savings plan`."),
        key(
            "share",
            Kind::Decimal,
            "Percent of the time that it covers; the rest is billed at the full price. Default 100.",
        ),
    ],
};

const INTERRUPTIONS: Section = Section {
    about: "How often a provider reclaims a spot machine, and what is lost.",
    keys: &[
        required(
            "per_hour",
            Kind::Decimal,
            "Expected interruptions per hour: `0.05`.",
        ),
        key(
            "restart",
            Kind::Duration,
            "Time until the next machine is ready. Default 0s.",
        ),
        key(
            "checkpoint",
            Kind::Duration,
            "Time between two checkpoints. Without it, an interruption loses everything.",
        ),
        key(
            "unpaid",
            Kind::Duration,
            "A machine reclaimed sooner is not billed. Applies without `checkpoint`. Default: the provider's rule, `1h` at AWS, otherwise 0s.",
        ),
    ],
};

const CHARGE: Section = Section {
    about: "A charge other than machine time.",
    keys: &[
        required(
            "price",
            Kind::Text,
            "Price per unit: `0.08 USD/GB-month`, `0.09 USD/GB`, `0.005 USD/h`, `0.20 USD/million requests`, `20 USD/month`, `1 USD/run`; or a name listed by `bancada price rules`: `aws/gp3`.",
        ),
        key("what", Kind::Text, "Name on the bill."),
        key(
            "kind",
            Kind::Words(charge_kinds),
            "Category, as used by `bancada reconcile`. Default: from the unit.",
        ),
        key(
            "gigabytes",
            Kind::Decimal,
            "Number of gigabytes: of a disk, or sent by a run.",
        ),
        key(
            "count",
            Kind::Decimal,
            "Quantity, for a price per hour, month or run. Default 1.",
        ),
        key(
            "free",
            Kind::Decimal,
            "Free units per month; needs `month`.",
        ),
        key("source", Kind::Text, "Source of the price."),
        key("date", Kind::Date, "Date of the price."),
    ],
};

fn charge_kinds() -> Vec<&'static str> {
    crate::read::CHARGE_KINDS.to_vec()
}

const MONTH: Section = Section {
    about: "Usage per month.",
    keys: &[
        key("hours", Kind::Decimal, "Hours of machine time."),
        key("requests", Kind::Decimal, "Number of requests."),
        key("gigabytes", Kind::Decimal, "Gigabytes of outgoing data."),
    ],
};

pub(super) const RATE: Section = Section {
    about: "An exchange rate on a date.",
    keys: &[
        required("from", Kind::Currency, "One unit of this currency …"),
        required("to", Kind::Currency, "… in this currency."),
        required("rate", Kind::Decimal, "The rate, read exactly as typed."),
        required("date", Kind::Date, "Date of the rate."),
        key("source", Kind::Text, "Source of the rate."),
    ],
};
