//! The metrics that Bancada makes itself: one entry each, read by `plan` (which names a study may
//! ask for), `import` (units), `analyse` (labels, directions, sentences), `report` (columns) and
//! docs/results.md. Other metrics come from the workload.

/// What is known of a metric.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    pub name: &'static str,
    /// For people: `training time`.
    pub label: &'static str,
    pub unit: Unit,
    pub better: Better,
    pub source: Source,
    pub runs: Runs,
    /// For docs/results.md, in Markdown.
    pub meaning: &'static str,
    /// Shorter words that a study may use for it.
    pub aliases: &'static [&'static str],
    pub column: Column,
    pub digits: Digits,
    pub comparison: Comparison,
}

/// What most entries have in common.
const COMMON: Definition = Definition {
    name: "",
    label: "",
    unit: Unit::Number,
    better: Better::Neither,
    source: Source::Measurement,
    runs: Runs::Any,
    meaning: "",
    aliases: &[],
    column: Column::OnRequest,
    digits: Digits::OfInterval,
    comparison: Comparison::Has,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Bytes,
    Percent,
    PerSecond,
    Joules,
    Grams,
    /// A pure number.
    Number,
    /// The study's currency.
    Currency,
}

impl Unit {
    /// As records have it; empty for a pure number and for money, whose unit is a currency's code.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::Percent => "%",
            Unit::PerSecond => "1/s",
            Unit::Joules => "J",
            Unit::Grams => "g",
            Unit::Number | Unit::Currency => "",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    Lower,
    Higher,
    Neither,
}

/// Who makes the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Clock, kernel and samples of whoever runs the workload.
    Measurement,
    /// Events of the workload.
    Workload,
    /// The load client of a run that serves, or the service that it asked.
    Client,
    /// The bill: what a workload says it cost is not what is paid.
    Bill,
    /// Computed from other metrics when results are read.
    Analysis,
}

/// Which runs have it. A command may report any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    Any,
    Training,
    Serving,
}

/// When it is a column of the table of scenarios; the number is its rank: a narrow terminal drops
/// the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Where the study asks for it, or it is the study's time.
    OnRequest,
    /// On wide pages.
    Wide(u8),
    Usual(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// As many as the interval allows, with the interval.
    OfInterval,
    /// Whole, without the interval: use of a resource is background.
    Whole,
}

/// How two scenarios are compared in a sentence; the words are `analyse`'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Has more of the label.
    Has,
    Takes,
    TakesForAnImage,
    Answers,
    Costs,
    CostsAnAnswer,
    HandlesImages,
    NeedsMemory,
    UsesEnergy,
    Emits,
}

macro_rules! metrics {
    ($($id:ident $name:literal, $label:literal, $unit:ident, $better:ident, $source:ident, $runs:ident,
       $meaning:literal $({ $($field:ident: $value:expr),* })?;)*) => {
        $(#[doc = $meaning] pub const $id: &str = $name;)*

        /// In the reader's order: the order of columns.
        #[expect(clippy::needless_update, reason = "an entry may name every field")]
        pub const ALL: &[Definition] = &[$(Definition {
            name: $name,
            label: $label,
            unit: Unit::$unit,
            better: Better::$better,
            source: Source::$source,
            runs: Runs::$runs,
            meaning: $meaning,
            $($($field: $value,)*)?
            ..COMMON
        }),*];
    };
}

/// Of runs that count them: whole numbers. Steps and images are those that an import or a workload
/// reports.
pub fn is_count(name: &str) -> bool {
    let counts = ["steps", "images", REQUESTS, FAILED_REQUESTS, COLD_REQUESTS];
    counts.contains(&name)
}

/// `None` for a metric of the workload's own.
pub fn definition(name: &str) -> Option<&'static Definition> {
    ALL.iter().find(|metric| metric.name == name)
}

/// The metric that a study means by this name or shorter word.
pub fn meant(word: &str) -> Option<&'static Definition> {
    let by_alias = || ALL.iter().find(|metric| metric.aliases.contains(&word));
    definition(word).or_else(by_alias)
}

/// Names that only a bill gives: what a workload says it cost is not what is paid.
pub fn is_of_bills(name: &str) -> bool {
    definition(name).is_some_and(|metric| metric.unit == Unit::Currency)
}

metrics! {
    TRAIN_SECONDS "train_seconds", "training time", Seconds, Lower, Measurement, Training,
        "the phase `train`, or the whole run of a command that reports no phases"
        { aliases: &["time", "training_time"], comparison: Comparison::Takes };
    LATENCY_SECONDS "latency_seconds", "latency", Seconds, Lower, Client, Serving,
        "mean over the counted requests, by the client's clock, from the intended send time"
        { aliases: &["latency"], comparison: Comparison::Answers };
    TOTAL_SECONDS "total_seconds", "total time", Seconds, Lower, Measurement, Any,
        "from the start of the run's process to its end"
        { aliases: &["total_time"], comparison: Comparison::Takes };
    COST_PER_INFERENCE "cost_per_inference", "cost per inference", Currency, Lower, Bill, Serving,
        "cost of one response: its billed or busy seconds at the price per second"
        { column: Column::Usual(2), comparison: Comparison::CostsAnAnswer };
    COST "cost", "cost", Currency, Lower, Bill, Any,
        "the bill's total in the study's currency; the exact decimal is in the bill"
        { column: Column::Usual(2), comparison: Comparison::Costs };
    TO_TARGET_SECONDS "to_target_seconds", "time to target accuracy", Seconds, Lower, Analysis, Training,
        "if the study has a `target_accuracy`: from the run's start to the end of the first epoch whose accuracy on held-out images reaches it. An accuracy reported only at the end counts for the last epoch. Missing for runs that do not reach it"
        { column: Column::Usual(3), comparison: Comparison::Takes };
    COST_TO_TARGET "cost_to_target", "cost to target accuracy", Currency, Lower, Bill, Training,
        "the run's bill if it had ended there, including rounding, minimum and charges per run"
        { column: Column::Usual(3), comparison: Comparison::Costs };
    COST_PER_EPOCH "cost_per_epoch", "cost per epoch", Currency, Lower, Bill, Training,
        "cost per reported epoch"
        { comparison: Comparison::Costs };
    COST_PER_THOUSAND_IMAGES "cost_per_thousand_images", "cost per thousand images", Currency, Lower, Bill, Training,
        "cost per thousand images processed"
        { column: Column::Wide(8), comparison: Comparison::Costs };
    COST_PER_THOUSAND_STEPS "cost_per_thousand_steps", "cost per thousand steps", Currency, Lower, Bill, Training,
        "cost per thousand steps: the reported ones (`steps`) or, for training, the images of an epoch over the batch size, rounded up, times the epochs"
        { comparison: Comparison::Costs };
    IMAGES_PER_SECOND "images_per_second", "images per second", PerSecond, Higher, Workload, Training,
        "images processed per second of training"
        { aliases: &["throughput"], column: Column::Usual(4), comparison: Comparison::HandlesImages };
    SECONDS_PER_IMAGE "seconds_per_image", "time per image", Seconds, Lower, Analysis, Training,
        "the inverse of `images_per_second`"
        { aliases: &["time_per_image"], comparison: Comparison::TakesForAnImage };
    EPOCH_SECONDS "epoch_seconds", "time per epoch", Seconds, Lower, Workload, Training,
        "mean time of an epoch"
        { comparison: Comparison::Takes };
    STEP_SECONDS "step_seconds", "time per step", Seconds, Lower, Workload, Training,
        "median time of a step"
        { comparison: Comparison::Takes };
    FIRST_STEP_SECONDS "first_step_seconds", "time of the first step", Seconds, Lower, Workload, Training,
        "time of the first step, if reported: frameworks compile and fill their caches in it";
    LATENCY_P50_SECONDS "latency_p50_seconds", "median latency", Seconds, Lower, Client, Serving,
        "median of the latency";
    LATENCY_P90_SECONDS "latency_p90_seconds", "p90 latency", Seconds, Lower, Client, Serving,
        "90th percentile of the latency";
    LATENCY_P95_SECONDS "latency_p95_seconds", "p95 latency", Seconds, Lower, Client, Serving,
        "95th percentile of the latency";
    LATENCY_P99_SECONDS "latency_p99_seconds", "p99 latency", Seconds, Lower, Client, Serving,
        "99th percentile of the latency"
        { aliases: &["p99"], column: Column::Usual(3) };
    LATENCY_MAX_SECONDS "latency_max_seconds", "longest latency", Seconds, Lower, Client, Serving,
        "the longest latency";
    PREDICTION_SECONDS "prediction_seconds", "prediction time", Seconds, Lower, Client, Serving,
        "mean time of the model alone, by the server's clock"
        { aliases: &["prediction"], column: Column::Usual(4) };
    PREDICTION_PERCENT "prediction_percent", "share of prediction", Percent, Neither, Client, Serving,
        "its share of the latency"
        { digits: Digits::Whole };
    REQUESTS_PER_SECOND "requests_per_second", "requests per second", PerSecond, Higher, Client, Serving,
        "successful requests per second, for loads that are not series"
        { column: Column::Usual(3) };
    HIGHEST_RATE "highest_rate", "highest rate", PerSecond, Higher, Client, Serving,
        "for the load `search`: the highest rate that stays below the requested latency"
        { column: Column::Usual(3) };
    SETUP_SECONDS "setup_seconds", "set-up time", Seconds, Lower, Client, Serving,
        "from the start of a server to its first healthy ping; for serverless workers, the mean over those started for a request"
        { column: Column::Usual(4) };
    FIRST_PING_SECONDS "first_ping_seconds", "time to the first ping", Seconds, Lower, Client, Serving,
        "from the start of a server to its first response to a ping, healthy or not";
    FIRST_ANSWER_SECONDS "first_answer_seconds", "time to first response", Seconds, Lower, Client, Serving,
        "from the start of a server to its first correct response";
    REQUESTS "requests", "requests", Number, Neither, Client, Serving,
        "counted requests";
    FAILED_REQUESTS "failed_requests", "failed requests", Number, Lower, Client, Serving,
        "those of them that failed";
    COLD_REQUESTS "cold_requests", "cold requests", Number, Neither, Client, Serving,
        "those of them that waited for a cold start";
    BUSY_SECONDS "busy_seconds", "busy time", Seconds, Neither, Client, Serving,
        "time with requests in progress: sum of latencies of a series, duration of other loads";
    BILLED_SECONDS "billed_seconds", "billed time", Seconds, Lower, Client, Serving,
        "time billed by a serverless service for the whole run";
    BILLED_SECONDS_PER_REQUEST "billed_seconds_per_request", "billed time per request", Seconds, Lower, Client, Serving,
        "the same per counted request";
    ENDPOINT_SECONDS "endpoint_seconds", "time to create the endpoint", Seconds, Lower, Client, Serving,
        "from the request to create an endpoint at a provider until it is in service";
    CONTAINER_SECONDS "container_seconds", "time of the container", Seconds, Lower, Client, Serving,
        "mean time of the container, as measured by the provider";
    OVERHEAD_SECONDS "overhead_seconds", "overhead of the provider", Seconds, Lower, Client, Serving,
        "mean time that the provider added to it";
    CLIENT_CPU_SECONDS "client_cpu_seconds", "CPU time of the client", Seconds, Neither, Measurement, Serving,
        "CPU time of the client";
    MODEL_BYTES "model_bytes", "size of the model", Bytes, Lower, Measurement, Serving,
        "size of the served model";
    AGREEMENT_PERCENT "agreement_percent", "agreement with the original model", Percent, Higher, Measurement, Serving,
        "for a quantised model: how often it predicts the same class as the original"
        { digits: Digits::Whole };
    CPU_PERCENT "cpu_percent", "CPU use", Percent, Neither, Measurement, Any,
        "cores used over cores available, during training or load. Available is what the limit really allowed: a whole core if half a core was requested and only affinity could enforce it (such a run is excluded)"
        { aliases: &["cpu"], column: Column::Usual(7), digits: Digits::Whole };
    PEAK_MEMORY_BYTES "peak_memory_bytes", "peak memory", Bytes, Lower, Measurement, Any,
        "the larger of two values: the kernel's peak resident memory of the largest process, and the largest sampled sum over all processes of the run, in which shared pages count once per process. A peak of several processes between two samples can be missed"
        { aliases: &["memory", "peak_memory"], column: Column::Usual(6), digits: Digits::Whole, comparison: Comparison::NeedsMemory };
    GPU_PERCENT "gpu_percent", "GPU use", Percent, Neither, Measurement, Any,
        "use of the GPU"
        { aliases: &["gpu"], column: Column::Usual(8), digits: Digits::Whole };
    GPU_MEMORY_PERCENT "gpu_memory_percent", "GPU memory use", Percent, Neither, Measurement, Any,
        "use of the GPU's memory"
        { column: Column::Usual(8), digits: Digits::Whole };
    ENERGY_JOULES "energy_joules", "energy", Joules, Lower, Analysis, Any,
        "energy of the run: RAPL and NVML where they can be read, otherwise the environment's `power` model, marked as modelled. Missing without either"
        { aliases: &["energy"], column: Column::Usual(6), comparison: Comparison::UsesEnergy };
    CO2_GRAMS "co2_grams", "CO₂", Grams, Lower, Analysis, Any,
        "`energy_joules` times the stated `carbon` intensity; missing without one"
        { aliases: &["co2"], column: Column::Usual(8), comparison: Comparison::Emits };
    ACCURACY "accuracy_percent", "accuracy", Percent, Higher, Workload, Any,
        "held-out images classified correctly; for a served model, from its description"
        { aliases: &["accuracy"], column: Column::Usual(5) };
    LOSS "loss", "final loss", Number, Lower, Workload, Training,
        "loss of the last complete epoch: the mean over its steps, or what a command reports for it; loss of the last step if there are no epochs. The same for measured and imported runs. Missing, with the warning `diverged`, if it became NaN";
    CPU_SECONDS "cpu_seconds", "CPU time", Seconds, Lower, Measurement, Any,
        "CPU time of the run's processes, from the kernel";
    CORES_USED "cores_used", "cores used", Number, Neither, Measurement, Any,
        "CPU seconds over wall seconds, during training or load";
    MACHINE_CPU_PERCENT "machine_cpu_percent", "CPU use of the machine", Percent, Neither, Measurement, Any,
        "CPU use of the whole machine, by all processes, during training or load"
        { digits: Digits::Whole };
    GROUP_PEAK_MEMORY_BYTES "cgroup_peak_memory_bytes", "peak memory with caches", Bytes, Neither, Measurement, Any,
        "peak of the run's cgroup, including page cache and kernel memory, which `peak_memory_bytes` excludes; only if a cgroup enforces the limits and the kernel records peaks";
    MEMORY_PERCENT "memory_percent", "peak memory use", Percent, Neither, Measurement, Any,
        "`peak_memory_bytes` over available memory: the smallest of the limit, the container's limit and the machine's memory"
        { digits: Digits::Whole };
    MEAN_MEMORY_PERCENT "mean_memory_percent", "memory use", Percent, Neither, Measurement, Any,
        "memory of the run's processes over available memory, mean during training or load"
        { digits: Digits::Whole };
    DISK_READ_BYTES "disk_read_bytes", "read from disk", Bytes, Neither, Measurement, Any,
        "bytes that the run's processes read from disks";
    DISK_WRITE_BYTES "disk_write_bytes", "written to disk", Bytes, Neither, Measurement, Any,
        "bytes that the run's processes wrote to disks";
    GPU_ENERGY_JOULES "gpu_energy_joules", "GPU energy", Joules, Lower, Measurement, Any,
        "energy of the GPUs while the run lasted, from NVML: its energy counter, or power times time";
    CPU_ENERGY_JOULES "cpu_energy_joules", "CPU energy", Joules, Lower, Measurement, Any,
        "energy of processors and memory of the whole machine while the run lasted, other programs included, from RAPL";
    IMAGE_BYTES "image_bytes", "size of the container image", Bytes, Lower, Measurement, Any,
        "size of the image, for runs in a container, as its engine reports it";
    SAMPLER_CPU_SECONDS "sampler_cpu_seconds", "CPU time of the sampler", Seconds, Lower, Measurement, Any,
        "CPU time of the sampler";
}
