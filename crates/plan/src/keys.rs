//! Every key of a study file with its meaning: the one table behind the JSON schema and the
//! reference. A test checks that the reader knows the same keys.

mod places;

use places::{ENVIRONMENT, PRICE, RATE};

use crate::{serve, train};

/// A table of the file and its keys.
pub(crate) struct Section {
    pub(crate) about: &'static str,
    pub(crate) keys: &'static [Key],
}

pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

pub(crate) enum Kind {
    Text,
    /// One of these words.
    Words(fn() -> Vec<&'static str>),
    /// Any text; these are offered.
    Offered(fn() -> Vec<&'static str>),
    /// A whole number.
    Whole {
        from: i64,
        to: i64,
    },
    Number,
    Flag,
    /// A number, or its digits in quotes.
    Decimal,
    Duration,
    Size,
    Money,
    Price,
    Electricity,
    Date,
    /// A date with a time.
    Moment,
    Currency,
    Texts,
    /// `"all"` or names of phases.
    Paid,
    /// Variables of the process.
    Variables,
    /// Rules that exclude scenarios.
    Exclusions,
    /// Factors by name.
    Factors,
    /// Names of columns, or columns and what they are called here.
    Columns,
    /// Columns and what they hold, with units.
    Measured,
    /// Factors and one level of each.
    Levels,
    Table(&'static Section),
    /// `[[…]]`.
    Tables(&'static Section),
    /// `[….NAME]`.
    Named(&'static Section),
    /// `NAME = "0.2 USD/h"` or `[prices.NAME]`.
    NamedPrices(&'static Section),
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key {
        name,
        about,
        kind,
        required: false,
    }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key {
        name,
        about,
        kind,
        required: true,
    }
}

const fn count(name: &'static str, to: i64, about: &'static str) -> Key {
    key(name, Kind::Whole { from: 1, to }, about)
}

pub(crate) const TOP: Section = Section {
    about: "A study: what is varied, what is measured, how often, and the budget.",
    keys: &[
        required(
            "study",
            Kind::Table(&STUDY),
            "Name, repetitions, budget and other general settings.",
        ),
        key(
            "factors",
            Kind::Factors,
            "What is varied. Any names; the first factor varies slowest, and the order determines the numbering of the scenarios.",
        ),
        key(
            "workload",
            Kind::Table(&WORKLOAD),
            "What a run does: train a network, serve a model, or run any command. Required unless `import` is present.",
        ),
        key(
            "environments",
            Kind::Named(&ENVIRONMENT),
            "Where runs happen. Default: this machine, unpriced.",
        ),
        key(
            "prices",
            Kind::NamedPrices(&PRICE),
            "Your own prices, by name. A name that is also in the catalog overrides the catalog's price.",
        ),
        key(
            "rates",
            Kind::Tables(&RATE),
            "Exchange rates, with their dates.",
        ),
        key("measure", Kind::Table(&MEASURE), "How a run is measured."),
        key(
            "scale",
            Kind::Named(&SCALE),
            "Reduced versions of the study, by name: `bancada run study.toml --scale NAME`. The report says so.",
        ),
        key(
            "import",
            Kind::Table(&IMPORT),
            "Meaning of the columns of measurements made elsewhere. With it, `workload` is optional.",
        ),
    ],
};

const STUDY: Section = Section {
    about: "Name, repetitions, budget and other general settings.",
    keys: &[
        required(
            "name",
            Kind::Text,
            "Also the name of the results folder: letters, digits, `-`, `_`, `.`.",
        ),
        key(
            "objective",
            Kind::Text,
            "The question to answer, in a sentence for the report.",
        ),
        count(
            "repetitions",
            crate::read::MAX_REPETITIONS,
            "Runs of each scenario. Default 3.",
        ),
        key(
            "seed",
            Kind::Whole {
                from: 0,
                to: i64::MAX,
            },
            "Determines the order of runs, initial weights and images. Default 1.",
        ),
        key(
            "order",
            Kind::Words(|| crate::read::ORDERS.to_vec()),
            "`blocks` (default): one repetition of every scenario, shuffled, then the next; `random`: all runs shuffled; `listed`: as numbered.",
        ),
        key(
            "budget",
            Kind::Money,
            "A run that would exceed it is not started.",
        ),
        key(
            "currency",
            Kind::Currency,
            "Currency of the report. Default: that of the budget, or of the first price.",
        ),
        key("metrics", Kind::Texts, "Metrics shown first in the report."),
        key(
            "target_accuracy",
            Kind::Number,
            "Percent of held-out images classified correctly: the report gives the time and cost to reach it. Accuracy is then measured after every epoch, outside the training time.",
        ),
        key(
            "exclude",
            Kind::Exclusions,
            "Scenarios that match all levels of a rule are excluded; a list matches any of its levels.",
        ),
    ],
};

const WORKLOAD: Section = Section {
    about: "What a run does. A factor of the same name overrides a value.",
    keys: &[
        key(
            "kind",
            Kind::Words(|| crate::read::KINDS.to_vec()),
            "`train` a network (default), `serve` a model and send requests to it, or run a `command`.",
        ),
        key(
            "framework",
            Kind::Offered(|| frameworks::names().collect()),
            "The training framework; `pytorch@2.2.0` selects a version. Default `engine`, the embedded one; `bancada setup` installs the others.",
        ),
        key(
            "network",
            Kind::Offered(|| network::names().collect()),
            "A network of the zoo, or the path of a network file (.toml).",
        ),
        key(
            "dataset",
            Kind::Words(|| data::names().collect()),
            "The images. Default `digits`, which are generated and need no files.",
        ),
        key(
            "data_dir",
            Kind::Text,
            "Folder of the dataset's files, relative to this file; may contain {dataset}.",
        ),
        count(
            "image",
            1024,
            "Side of the square input in pixels. Default: the dataset's native size; for serving, the network's own.",
        ),
        count(
            "epochs",
            1_000_000,
            "Passes over the training images. Default 1.",
        ),
        count("batch", 1_000_000, "Images per step. Default 32."),
        count("images", 100_000_000, "Training images used. Default: all."),
        count(
            "held_out",
            100_000_000,
            "Held-out images used to measure accuracy. Default: all that the dataset has.",
        ),
        key(
            "optimizer",
            Kind::Words(|| train::OPTIMIZERS.to_vec()),
            "Default `adam`.",
        ),
        key("learning_rate", Kind::Number, "Default 0.001."),
        key("momentum", Kind::Number, "For `sgd`. Default 0.9."),
        count(
            "threads",
            4096,
            "Threads of the framework, or of each worker of a server. Default: the number of cores of the run; for a server, its own choice.",
        ),
        key(
            "device",
            Kind::Text,
            "`cpu` (default), `cuda:0`; several separated by commas, one worker each. An environment's device overrides it.",
        ),
        count(
            "workers",
            1024,
            "Processes that share every batch, for frameworks that support it (default 1), or that handle requests (default: the stack's own choice).",
        ),
        key(
            "precision",
            Kind::Words(|| [train::PRECISIONS, &serve::PRECISIONS[1..]].concat()),
            "`float32` (default); for training `mixed`: half-precision products, 32-bit weights; for serving `int8`: the quantised model, with its accuracy.",
        ),
        key(
            "compile",
            Kind::Flag,
            "Whether the framework compiles the network (`torch.compile`, XLA). Default: the framework's default.",
        ),
        key(
            "pipeline",
            Kind::Words(|| train::PIPELINES.to_vec()),
            "`cache` (default): all frameworks read the same bytes in the same order; `own`: the framework's own data loader.",
        ),
        key(
            "profile",
            Kind::Flag,
            "Whether to run a few extra steps under the framework's profiler. Default false.",
        ),
        key(
            "keep_model",
            Kind::Flag,
            "Whether to keep the trained weights with the run's results. Saving them is timed either way. Default true.",
        ),
        key(
            "stack",
            Kind::Words(|| serve::stacks().collect()),
            "The server: `bancada` (default), a stack that `bancada setup` installs, or `command`: your own server. All follow the container contract ([serving.md](serving.md)).",
        ),
        key(
            "model",
            Kind::Offered(|| network::names().collect()),
            "The model to serve: a network of the zoo, a network file, an ONNX file, a folder with one, or the folder of a training run.",
        ),
        count(
            "classes",
            100_000,
            "Number of classes of a served network of the zoo. Default: its own.",
        ),
        key(
            "load",
            Kind::Words(|| serve::LOADS.to_vec()),
            "When requests are sent: `warm` (one warm-up request, then 25, 5 s apart), `cold` (10, 15 min apart), `real-time` (25, 5 s apart, no warm-up), `clients` (default), `rate`, `poisson`, `trace`, or `search` for the highest rate that stays below `under`.",
        ),
        count(
            "clients",
            100_000,
            "For the load `clients`: number of clients; each sends as soon as it has its response. Default 1.",
        ),
        key(
            "rate",
            Kind::Number,
            "Requests per second, for the loads `rate` and `poisson`.",
        ),
        count(
            "requests",
            1_000_000_000,
            "Number of requests, without warm-up. Default: that of the named load, or as many as fit in `duration`.",
        ),
        key(
            "pause",
            Kind::Duration,
            "Pause between a response and the next request of `warm` and `real-time`. Default: that of the named load.",
        ),
        key(
            "cold_pause",
            Kind::Duration,
            "The same for `cold`. Default: slightly more than the idle time of the environment's workers, or 15min.",
        ),
        key(
            "duration",
            Kind::Duration,
            "Length of the load, if `requests` is not set; a warm-up of a tenth comes before it and is excluded. Default 10s.",
        ),
        key(
            "under",
            Kind::Duration,
            "For the load `search`: the highest p99 latency allowed.",
        ),
        key(
            "request_timeout",
            Kind::Duration,
            "A request without a response after this time has failed. Default 60s.",
        ),
        key(
            "body",
            Kind::Text,
            "Request body: a picture or a folder of pictures, relative to this file. Default: one generated picture of the model's size.",
        ),
        key(
            "trace",
            Kind::Text,
            "For the load `trace`: a file with one time in seconds per line, relative to this file.",
        ),
        key(
            "command",
            Kind::Texts,
            "The program and its arguments; {factor} is replaced by the level, {{word}} by a literal {word}. A server must listen on {port}.",
        ),
        key(
            "env",
            Kind::Variables,
            "Environment variables; {factor} is replaced by the level.",
        ),
        key(
            "directory",
            Kind::Text,
            "Working directory of the command, relative to this file. Default: the folder of this file.",
        ),
        key("log", Kind::Tables(&LOG), "How to parse the command's log."),
        key(
            "inputs",
            Kind::Texts,
            "Files that the command depends on, in addition to those it names: [\"lib/*.py\", \"config.yaml\"], relative to `directory`; `*` and `?` match any characters, `**` any folders, {factor} is replaced by the level. Their digests are stored with every run; `run` stops if one has changed since earlier runs. Folders, and files named only inside a shell command (`sh -c \"python train.py\"`), are not detected: list them here.",
        ),
    ],
};

const SCALE: Section = Section {
    about: "Values that override those of the study. Results go to a separate folder, NAME-SCALE.",
    keys: &[
        count(
            "repetitions",
            crate::read::MAX_REPETITIONS,
            "Runs of each scenario.",
        ),
        count("epochs", 1_000_000, "Passes over the training images."),
        count("images", 100_000_000, "Training images used."),
        count(
            "held_out",
            100_000_000,
            "Held-out images used to measure accuracy.",
        ),
        count("image", 1024, "Side of the square input in pixels."),
        count("batch", 1_000_000, "Images per step."),
        key(
            "dataset",
            Kind::Words(|| data::names().collect()),
            "A different dataset.",
        ),
        count(
            "requests",
            1_000_000_000,
            "Number of requests, without warm-up.",
        ),
        key(
            "pause",
            Kind::Duration,
            "Pause between requests of a series.",
        ),
        key("cold_pause", Kind::Duration, "Pause between cold requests."),
        key("duration", Kind::Duration, "Length of the load."),
        key(
            "idle",
            Kind::Duration,
            "Idle time after which emulated serverless workers end, so that cold requests need no long pauses.",
        ),
        key(
            "factors",
            Kind::Factors,
            "Factors with fewer levels: factors = { environment = [\"cpu\"] }.",
        ),
    ],
};

const LOG: Section = Section {
    about: "A regular expression for a line of the log; named groups are the fields of the event.",
    keys: &[
        required(
            "event",
            Kind::Words(|| crate::read::LOG_EVENTS.iter().map(|e| e.word).collect()),
            "Event that a matching line creates: a `step` (groups step, epoch, loss, seconds, images), an `epoch` (epoch, loss, accuracy, seconds), an `accuracy`, the beginning of a `phase`, or a `metric` (value).",
        ),
        required(
            "pattern",
            Kind::Text,
            "For example 'Iteration (?<step>\\d+), loss = (?<loss>\\S+)'.",
        ),
        key("name", Kind::Text, "Name of the metric."),
        key("unit", Kind::Text, "Unit of the metric."),
    ],
};

const MEASURE: Section = Section {
    about: "How a run is measured.",
    keys: &[
        key(
            "interval",
            Kind::Duration,
            "Time between two samples of the machine, at least 10 ms. Default 1s.",
        ),
        key(
            "timeout",
            Kind::Duration,
            "A run that takes longer is stopped. Default: no limit.",
        ),
        key(
            "grace",
            Kind::Duration,
            "Time between SIGTERM and SIGKILL when a run is stopped. Default 5s.",
        ),
    ],
};

const IMPORT: Section = Section {
    about: "How `bancada import` reads CSV files for this study. Command-line flags override it.",
    keys: &[
        key(
            "row",
            Kind::Words(|| crate::read::ROWS.to_vec()),
            "What a row is. Default `run`.",
        ),
        key(
            "factors",
            Kind::Columns,
            "Columns that hold levels: [\"framework\"], or { COLUMN = \"factor\" }.",
        ),
        key(
            "metrics",
            Kind::Measured,
            "Columns that hold numbers: { COLUMN = \"METRIC:UNIT\" }, or only \"UNIT\" to keep the column's name. The unit is that of the column; for steps, \"METRIC:UNIT:cumulative\" is a time since the start.",
        ),
        key(
            "levels",
            Kind::Levels,
            "Levels shared by all rows: { factor = level }.",
        ),
        key(
            "file_pattern",
            Kind::Text,
            "Levels contained in file names, such as \"{framework}-{image}px-r{repetition}.csv\"; `*` matches anything, `{network:vgg-16|vgg-19}` one of these.",
        ),
        key(
            "repetition",
            Kind::Text,
            "The column with the number of the repetition: by name, or `#1` for the first column. Default: rows are counted.",
        ),
        key(
            "status",
            Kind::Text,
            "The column with the outcome of a run: `ok`, `failed`, `out-of-memory`, `timed-out`, `interrupted`, an exit code, or for requests an HTTP status code.",
        ),
        key(
            "started",
            Kind::Text,
            "The column with the start time of a run, such as 2024-03-01T12:00:00Z.",
        ),
        key(
            "delimiter",
            Kind::Text,
            "The character between cells. Default: detected from the header.",
        ),
        key(
            "decimal_mark",
            Kind::Words(|| crate::read::DECIMAL_MARKS.to_vec()),
            "`point` (1.5), `comma` (1,5), or `auto` (default): detected from the numbers.",
        ),
    ],
};
