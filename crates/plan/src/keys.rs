//! Every key of a study file with what it means: the one table behind the JSON schema. That the
//! reader knows the same keys is a test.

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
    /// Rules that leave scenarios out.
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
    about: "A study: what is varied, what is measured, how often, within which budget.",
    keys: &[
        required("study", Kind::Table(&STUDY), "The question itself."),
        key(
            "factors",
            Kind::Factors,
            "What is varied. Any names; the first factor varies slowest and the order gives the numbering of the scenarios.",
        ),
        key(
            "workload",
            Kind::Table(&WORKLOAD),
            "What a run does: train a described network, serve a model, or any command. Must be there unless `import` is.",
        ),
        key(
            "environments",
            Kind::Named(&ENVIRONMENT),
            "Where runs happen. Without any: this machine, unpriced.",
        ),
        key(
            "prices",
            Kind::NamedPrices(&PRICE),
            "Your own prices, by name. A name of the catalog here goes before the catalog's price.",
        ),
        key("rates", Kind::Tables(&RATE), "Rates of exchange, dated."),
        key("measure", Kind::Table(&MEASURE), "How a run is watched."),
        key(
            "scale",
            Kind::Named(&SCALE),
            "The same study made smaller, by name: `bancada run study.toml --scale NAME`. The report says so.",
        ),
        key(
            "import",
            Kind::Table(&IMPORT),
            "What the columns of measurements made elsewhere mean. With it, `workload` may be missing.",
        ),
    ],
};

const STUDY: Section = Section {
    about: "The question itself.",
    keys: &[
        required(
            "name",
            Kind::Text,
            "Also the name of the folder of results: letters, digits, `-`, `_`, `.`.",
        ),
        key(
            "objective",
            Kind::Text,
            "What is to be found out, in a sentence for the report.",
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
            "Order of runs, initial weights and images come from it. Default 1.",
        ),
        key(
            "order",
            Kind::Words(|| crate::read::ORDERS.to_vec()),
            "`blocks` (default): one repetition of every scenario after another, shuffled inside; `random`: all shuffled together; `listed`: as numbered.",
        ),
        key(
            "budget",
            Kind::Money,
            "A run that would pass it is not started.",
        ),
        key(
            "currency",
            Kind::Currency,
            "What the report speaks. Default: the budget's, else that of the first price.",
        ),
        key(
            "metrics",
            Kind::Texts,
            "Metrics that the report puts first.",
        ),
        key(
            "target_accuracy",
            Kind::Number,
            "Percent of held-out images answered right: the report says what it takes and costs to get there. They are then asked after every epoch, apart from the time of training.",
        ),
        key(
            "exclude",
            Kind::Exclusions,
            "Scenarios with all levels of a rule are left out; a list stands for any of its levels.",
        ),
    ],
};

const WORKLOAD: Section = Section {
    about: "What a run does. A factor of the same name takes the place of a value.",
    keys: &[
        key(
            "kind",
            Kind::Words(|| crate::read::KINDS.to_vec()),
            "`train` a described network (default), `serve` a model and load it, or run a `command`.",
        ),
        key(
            "framework",
            Kind::Offered(|| frameworks::names().collect()),
            "What trains; `pytorch@2.2.0` names a version. Default `engine`, the embedded one; `bancada setup` installs the others.",
        ),
        key(
            "network",
            Kind::Offered(|| network::names().collect()),
            "A network of the zoo, or the path of a network file that ends in .toml.",
        ),
        key(
            "dataset",
            Kind::Words(|| data::names().collect()),
            "The images. Default `digits`, which are drawn and need no files.",
        ),
        key(
            "data_dir",
            Kind::Text,
            "Folder of the dataset's files, relative to this file; may have {dataset} in it.",
        ),
        count(
            "image",
            1024,
            "Side of the square input in pixels. Default: the dataset's own; of a served network, its own.",
        ),
        count(
            "epochs",
            1_000_000,
            "Times every training image is seen. Default 1.",
        ),
        count("batch", 1_000_000, "Images of a step. Default 32."),
        count("images", 100_000_000, "Training images used. Default: all."),
        count(
            "held_out",
            100_000_000,
            "Images kept back for the accuracy. Default: all the dataset has for it.",
        ),
        key(
            "optimizer",
            Kind::Words(|| train::OPTIMIZERS.to_vec()),
            "Default `adam`.",
        ),
        key("learning_rate", Kind::Number, "Default 0.001."),
        key("momentum", Kind::Number, "Of `sgd`. Default 0.9."),
        count(
            "threads",
            4096,
            "Threads of the framework, or of each worker of a server. Default: as many as the run has cores; a server's own choice.",
        ),
        key(
            "device",
            Kind::Text,
            "`cpu` (default), `cuda:0`; several with commas, each with a worker of its own. An environment's device goes before it.",
        ),
        count(
            "workers",
            1024,
            "Processes that share every batch, for frameworks that can (default 1), or that answer requests (default: the stack's own choice).",
        ),
        key(
            "precision",
            Kind::Words(|| [train::PRECISIONS, &serve::PRECISIONS[1..]].concat()),
            "`float32` (default); of training `mixed`: half-precision products, 32-bit weights; of serving `int8`: the model quantised, with its accuracy beside.",
        ),
        key(
            "compile",
            Kind::Flag,
            "Whether the framework compiles the network (`torch.compile`, XLA). Default: its custom.",
        ),
        key(
            "pipeline",
            Kind::Words(|| train::PIPELINES.to_vec()),
            "`cache` (default): all frameworks map the same bytes in the same order; `own`: the framework's own loader.",
        ),
        key(
            "profile",
            Kind::Flag,
            "Whether a few steps more are made under the framework's own profiler. Default false.",
        ),
        key(
            "keep_model",
            Kind::Flag,
            "Whether the trained weights stay with the run's results. They are saved, and the time it takes is measured, either way. Default true.",
        ),
        key(
            "stack",
            Kind::Words(|| serve::stacks().collect()),
            "What serves: `bancada` (default), a stack that `bancada setup` installs, or `command`: a server of your own. All fulfil the container contract ([serving.md](serving.md)).",
        ),
        key(
            "model",
            Kind::Offered(|| network::names().collect()),
            "What is served: a network of the zoo, a network file, an ONNX file, a folder with one, or the folder of a run that trained.",
        ),
        count(
            "classes",
            100_000,
            "Of a served network of the zoo. Default: its own.",
        ),
        key(
            "load",
            Kind::Words(|| serve::LOADS.to_vec()),
            "How requests follow each other: `warm` (one not counted, then 25, 5 s apart), `cold` (10, 15 min apart), `real-time` (25, 5 s apart, all counted), `clients` (default), `rate`, `poisson`, `trace`, or `search` for the highest rate that keeps `under`.",
        ),
        count(
            "clients",
            100_000,
            "Of the load `clients`: each sends as soon as it is answered. Default 1.",
        ),
        key(
            "rate",
            Kind::Number,
            "Requests a second, of the loads `rate` and `poisson`.",
        ),
        count(
            "requests",
            1_000_000_000,
            "Requests that count. Default: what the load's name says, or as many as `duration` has.",
        ),
        key(
            "pause",
            Kind::Duration,
            "Between an answer and the next request of `warm` and `real-time`. Default: what the name says.",
        ),
        key(
            "cold_pause",
            Kind::Duration,
            "The same of `cold`. Default: a little more than the idle time of the environment's workers, or 15min.",
        ),
        key(
            "duration",
            Kind::Duration,
            "How long requests count, where `requests` does not say; a tenth more comes before, not counted. Default 10s.",
        ),
        key(
            "under",
            Kind::Duration,
            "The latency that 99 of 100 requests must keep, of the load `search`.",
        ),
        key(
            "request_timeout",
            Kind::Duration,
            "After which a request without an answer has failed. Default 60s.",
        ),
        key(
            "body",
            Kind::Text,
            "What is sent: a picture or a folder of them, relative to this file. Default: one drawn picture of the model's size.",
        ),
        key(
            "trace",
            Kind::Text,
            "Of the load `trace`: a file with a time in seconds on each line, relative to this file.",
        ),
        key(
            "command",
            Kind::Texts,
            "The program and its arguments; {factor} stands for the level, {{word}} for a literal {word}. Of a server, {port} is where it must listen.",
        ),
        key(
            "env",
            Kind::Variables,
            "Variables of the process; {factor} stands for the level.",
        ),
        key(
            "directory",
            Kind::Text,
            "Where the command is started, relative to this file. Default: the folder of this file.",
        ),
        key("log", Kind::Tables(&LOG), "How to read the command's log."),
        key(
            "inputs",
            Kind::Texts,
            "Files that the command depends on, beside those it names: [\"lib/*.py\", \"config.yaml\"], relative to `directory`; `*` and `?` stand for any characters, `**` for any folders, {factor} for the level. Their digests are kept with every run; `run` stops when one has changed since earlier runs. Folders, and files that are named only inside a text for a shell (`sh -c \"python train.py\"`), are not found by themselves: list them here.",
        ),
    ],
};

const SCALE: Section = Section {
    about: "What takes the place of what the study says. Results go to a folder of their own, NAME-SCALE.",
    keys: &[
        count(
            "repetitions",
            crate::read::MAX_REPETITIONS,
            "Runs of each scenario.",
        ),
        count("epochs", 1_000_000, "Times every training image is seen."),
        count("images", 100_000_000, "Training images used."),
        count(
            "held_out",
            100_000_000,
            "Images kept back for the accuracy.",
        ),
        count("image", 1024, "Side of the square input in pixels."),
        count("batch", 1_000_000, "Images of a step."),
        key(
            "dataset",
            Kind::Words(|| data::names().collect()),
            "Other images.",
        ),
        count("requests", 1_000_000_000, "Requests that count."),
        key("pause", Kind::Duration, "Between requests of a series."),
        key("cold_pause", Kind::Duration, "Between cold requests."),
        key("duration", Kind::Duration, "How long requests count."),
        key(
            "idle",
            Kind::Duration,
            "After which emulated serverless workers end, so that cold requests need no long pauses.",
        ),
        key(
            "factors",
            Kind::Factors,
            "Factors with fewer of their levels: factors = { environment = [\"cpu\"] }.",
        ),
    ],
};

const LOG: Section = Section {
    about: "A regular expression over one line of the log; named groups are the fields of the event.",
    keys: &[
        required(
            "event",
            Kind::Words(|| crate::read::LOG_EVENTS.iter().map(|e| e.word).collect()),
            "What a line that matches tells: a `step` (groups step, epoch, loss, seconds, images), an `epoch` (epoch, loss, accuracy, seconds), an `accuracy`, the beginning of a `phase`, or a `metric` (value).",
        ),
        required(
            "pattern",
            Kind::Text,
            "Such as 'Iteration (?<step>\\d+), loss = (?<loss>\\S+)'.",
        ),
        key("name", Kind::Text, "Name of the metric."),
        key("unit", Kind::Text, "Unit of the metric."),
    ],
};

const MEASURE: Section = Section {
    about: "How a run is watched.",
    keys: &[
        key(
            "interval",
            Kind::Duration,
            "Between two samples of the machine, from 10 ms up. Default 1s.",
        ),
        key(
            "timeout",
            Kind::Duration,
            "A run that takes longer is ended. Default: none.",
        ),
        key(
            "grace",
            Kind::Duration,
            "Between asking a run to end and ending it. Default 5s.",
        ),
    ],
};

const IMPORT: Section = Section {
    about: "How `bancada import` reads CSV files for this study. Flags of the command go before it.",
    keys: &[
        key(
            "row",
            Kind::Words(|| crate::read::ROWS.to_vec()),
            "What a row tells of. Default `run`.",
        ),
        key(
            "factors",
            Kind::Columns,
            "Columns that hold levels: [\"framework\"], or { COLUMN = \"factor\" }.",
        ),
        key(
            "metrics",
            Kind::Measured,
            "Columns that hold numbers: { COLUMN = \"METRIC:UNIT\" }, or \"UNIT\" alone to keep the column's name. The unit is the column's own; of steps, \"METRIC:UNIT:cumulative\" for a time since the start.",
        ),
        key(
            "levels",
            Kind::Levels,
            "Levels that all rows have: { factor = level }.",
        ),
        key(
            "file_pattern",
            Kind::Text,
            "Levels in names of files, such as \"{framework}-{image}px-r{repetition}.csv\"; `*` stands for anything, `{network:vgg-16|vgg-19}` for one of these.",
        ),
        key(
            "repetition",
            Kind::Text,
            "The column with the number of the repetition: by its name, or `#1` for the first. Without one, rows are counted.",
        ),
        key(
            "status",
            Kind::Text,
            "The column that tells how a run ended: `ok`, `failed`, `out-of-memory`, `timed-out`, `interrupted`, an exit code, or for requests a code of HTTP.",
        ),
        key(
            "started",
            Kind::Text,
            "The column with the moment a run started, such as 2024-03-01T12:00:00Z.",
        ),
        key(
            "delimiter",
            Kind::Text,
            "The character between cells. Default: found in the header.",
        ),
        key(
            "decimal_mark",
            Kind::Words(|| crate::read::DECIMAL_MARKS.to_vec()),
            "`point` (1.5), `comma` (1,5), or `auto` (default): found in the numbers.",
        ),
    ],
};
