//! Places and what they cost.

use super::{Kind, Section, key, required};

pub(super) const ENVIRONMENT: Section = Section {
    about: "Where runs happen, and what an hour there costs.",
    keys: &[
        key(
            "price",
            Kind::Price,
            "A name of the catalog (`azure/Standard_F4s_v2@eastus`), of [prices], or an amount (`0.169 USD/h`). Of a list of machines a run pays the cheapest that has its `cores`, and the largest where none are said.",
        ),
        key("price_source", Kind::Text, "Where an amount was read."),
        key("price_date", Kind::Date, "When an amount was read there."),
        key(
            "own",
            Kind::Table(&OWN),
            "A machine of your own instead of a price.",
        ),
        key(
            "cores",
            Kind::Number,
            "Cores a run may use, not more than its machine has. Default: all.",
        ),
        key(
            "memory",
            Kind::Size,
            "Memory a run may use, not more than its machine has. Default: all.",
        ),
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
        key(
            "serverless",
            Kind::Table(&SERVERLESS),
            "For serving: workers started on demand and gone when idle. Emulated here, in front of the workload's stack; with `sagemaker` and `run --real` at the provider.",
        ),
        key(
            "instance",
            Kind::Text,
            "For serving: a machine always on at the provider, such as `ml.m5.xlarge`, with `sagemaker`. Used by `run --real`; otherwise a server here stands for it.",
        ),
        key(
            "sagemaker",
            Kind::Table(&SAGEMAKER),
            "What SageMaker needs to make the endpoint.",
        ),
        key(
            "url",
            Kind::Text,
            "For serving: a server that runs already, with the path that takes the body.",
        ),
        key(
            "headers",
            Kind::Variables,
            "Sent with every request to `url`; {VARIABLE} stands for one of the process, so that no secret stands in the file.",
        ),
    ],
};

const SERVERLESS: Section = Section {
    about: "Workers on demand, one request at a time each.",
    keys: &[
        required(
            "memory",
            Kind::Whole {
                from: 1024,
                to: 6144,
            },
            "MB of a worker, in steps of 1024; its share of a CPU grows with it.",
        ),
        key(
            "idle",
            Kind::Duration,
            "After which an emulated worker ends. Default 14min.",
        ),
        key(
            "concurrency",
            Kind::Whole { from: 1, to: 200 },
            "Workers at once; further requests are refused. Default 5.",
        ),
    ],
};

const SAGEMAKER: Section = Section {
    about: "An endpoint of SageMaker, set up before the requests and torn down after.",
    keys: &[
        required("region", Kind::Text, "Such as `us-east-1`."),
        required(
            "image",
            Kind::Text,
            "The container image in its registry, as `bancada image build` makes it.",
        ),
        required(
            "role",
            Kind::Text,
            "The role that the endpoint takes, an ARN.",
        ),
        key(
            "model_data",
            Kind::Text,
            "`s3://bucket/model.tar.gz`. Default: the image holds the model.",
        ),
        key(
            "figures",
            Kind::Duration,
            "How long CloudWatch's figures are waited for, once the endpoint is gone; `0s` does not ask. Default 5min.",
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
        key(
            "vcpus",
            Kind::Decimal,
            "How many cores the machine has, for a list of sizes.",
        ),
        key("billing", Kind::Table(&BILLING), "How time becomes money."),
        key(
            "changes",
            Kind::Tables(&CHANGE),
            "What takes the place of `per_hour` from a moment on: a market's price.",
        ),
    ],
};

const OWN: Section = Section {
    about: "A machine that was bought: its price spread over its hours, plus electricity; its time is not rounded up.",
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

const CHANGE: Section = Section {
    about: "A price from a moment on.",
    keys: &[
        required("from", Kind::Moment, "When it begins to hold."),
        required(
            "per_hour",
            Kind::Money,
            "An hour of the machine, from then on.",
        ),
    ],
};

const BILLING: Section = Section {
    about: "How use becomes money: what is counted, what is taken off, what comes on top.",
    keys: &[
        key(
            "rule",
            Kind::Offered(rule_names),
            "A provider's rule by its name, instead of the price's own; `gcp@2016-05-01` is the one of that day. `bancada price rules` lists them. What else is written here goes before it.",
        ),
        key(
            "step",
            Kind::Duration,
            "Time is rounded up to whole steps. `0s` bills the exact time.",
        ),
        key("minimum", Kind::Duration, "A rental pays at least this."),
        key(
            "rental",
            Kind::Words(|| vec!["study", "run"]),
            "`study`: one machine from the first run to the last of a `bancada run`, idle time included, rounded up once and with one minimum, of which every run bears its part. `run`: a machine for every run. Default `study`.",
        ),
        key(
            "paid",
            Kind::Paid,
            "`all` of the run's life, only the phases named, or `requests`: only while requests are handled, which holds for `serverless` unless said otherwise.",
        ),
        key(
            "request_step",
            Kind::Duration,
            "Where requests are paid, each is rounded up to it: `100ms`. Reckoned with the mean request.",
        ),
        key(
            "request_minimum",
            Kind::Duration,
            "Where requests are paid, each pays at least this.",
        ),
        key(
            "discounts",
            Kind::Tables(&DISCOUNT),
            "What is taken off the price of time, one after the other.",
        ),
        key(
            "interruptions",
            Kind::Table(&INTERRUPTIONS),
            "Of a machine that its provider may take away: the attempts that are expected to be lost are on the bill.",
        ),
        key(
            "around",
            Kind::Table(&AROUND),
            "What a rented machine's life adds: once in a rental.",
        ),
        key(
            "charges",
            Kind::Tables(&CHARGE),
            "What is paid beside the time: disks, storage, traffic, addresses, fees.",
        ),
        key("tax", Kind::Decimal, "Percent on top of everything."),
        key(
            "month",
            Kind::Table(&MONTH),
            "How much is used in a month. Free amounts, discounts for long use and fees of a month are reckoned by it, and not at all without it.",
        ),
    ],
};

const AROUND: Section = Section {
    about: "Time of the machine before its first and after its last run, which is paid and which no run sees.",
    keys: &[
        key("startup", Kind::Duration, "Until the machine can be used."),
        key(
            "install",
            Kind::Duration,
            "Until what the run needs is there.",
        ),
        key(
            "shutdown",
            Kind::Duration,
            "Until the machine is switched off.",
        ),
    ],
};

fn rule_names() -> Vec<&'static str> {
    cost::rules().names()
}

const DISCOUNT: Section = Section {
    about: "Percent off the price of time, for a promise to use it.",
    keys: &[
        required("percent", Kind::Decimal, "Taken off."),
        key("what", Kind::Text, "As the bill calls it: `savings plan`."),
        key(
            "share",
            Kind::Decimal,
            "Percent of the time that it covers; the rest pays the whole price. Default 100.",
        ),
    ],
};

const INTERRUPTIONS: Section = Section {
    about: "How often a provider takes a machine away, and what that loses.",
    keys: &[
        required(
            "per_hour",
            Kind::Decimal,
            "How many are expected in an hour: `0.05`.",
        ),
        key(
            "restart",
            Kind::Duration,
            "Until the next machine works. Default 0s.",
        ),
        key(
            "checkpoint",
            Kind::Duration,
            "Between two states that can be gone on from. Without it, an interruption loses everything.",
        ),
        key(
            "unpaid",
            Kind::Duration,
            "A machine taken away sooner is not paid. Counts where there is no `checkpoint`. Default: the provider's rule, `1h` at AWS, else 0s.",
        ),
    ],
};

const CHARGE: Section = Section {
    about: "What is paid beside the time of the machine.",
    keys: &[
        required(
            "price",
            Kind::Text,
            "Of a unit: `0.08 USD/GB-month`, `0.09 USD/GB`, `0.005 USD/h`, `0.20 USD/million requests`, `20 USD/month`, `1 USD/run`; or a name that `bancada price rules` lists: `aws/gp3`.",
        ),
        key("what", Kind::Text, "As the bill calls it."),
        key(
            "kind",
            Kind::Words(charge_kinds),
            "What it is for, as `bancada reconcile` sorts bills. Default by the unit.",
        ),
        key(
            "gigabytes",
            Kind::Decimal,
            "How many, of a price for gigabytes: of a disk, or sent by a run.",
        ),
        key(
            "count",
            Kind::Decimal,
            "How many, of a price for an hour, a month or a run. Default 1.",
        ),
        key(
            "free",
            Kind::Decimal,
            "Units of a month that cost nothing; needs `month`.",
        ),
        key("source", Kind::Text, "Where the price was read."),
        key("date", Kind::Date, "When it was read there."),
    ],
};

fn charge_kinds() -> Vec<&'static str> {
    crate::read::CHARGE_KINDS.to_vec()
}

const MONTH: Section = Section {
    about: "How much is used in a month.",
    keys: &[
        key("hours", Kind::Decimal, "Hours that the machine is there."),
        key("requests", Kind::Decimal, "Requests that are made."),
        key("gigabytes", Kind::Decimal, "Gigabytes that are sent out."),
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
