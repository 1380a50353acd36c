//! What is asked of one run, and what can be watched of it.

use std::path::PathBuf;

use model::study::{Limits, LogPattern, MeasureSettings};
use model::{Event, Sample};

/// One run to carry out.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub command: Vec<String>,
    /// Added to the variables of this process.
    pub env: Vec<(String, String)>,
    /// Where the command is started; none means here.
    pub directory: Option<PathBuf>,
    /// An existing folder: `events.jsonl`, `samples.csv` and `log.txt` are written here.
    pub folder: PathBuf,
    pub limits: Limits,
    pub settings: MeasureSettings,
    /// How to read the log, for programs that tell no events.
    pub log: Vec<LogPattern>,
    /// Whether bars and counters in the output are recognised.
    pub progress: Option<Recognition>,
    /// Whether it is a training, which tells its steps: one that tells none has failed, however well
    /// it ends.
    pub reports_steps: bool,
    /// For a server: who asks it.
    pub client: Option<ClientCommand>,
    /// Where the command is the client of a container engine: the container that it starts.
    pub container: Option<Contained>,
    /// It tidies up by itself when this program is killed, and is not ended with it.
    pub outlives: bool,
    /// Ends the name of the cgroup, where one is made: `bancada-<pid>-<cgroup_name>`.
    pub cgroup_name: String,
}

/// What is made of progress in the output, besides events.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Recognition {
    /// The run is ended when its output says where it ends, and the total time is known to this part of
    /// it (half the width of the 95 % interval).
    pub known_at: Option<f64>,
    /// But not before it was seen counting for so long.
    pub least_seconds: f64,
}

/// A container in which the processes of a run are: not children of this program, and held to their
/// limits by the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contained {
    /// `docker` or `podman`.
    pub engine: &'static str,
    pub name: String,
    /// Where the engine writes the container's id.
    pub id_file: PathBuf,
}

/// A second process beside a server, outside its limits and its samples. It tells events as a
/// workload does; its end ends the run.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientCommand {
    pub command: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// What happens while a run is under way, reported on the thread that called [`crate::run`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Watched<'a> {
    /// `at` is always filled.
    Event(&'a Event),
    Sample(&'a Sample),
    /// Some forty times a second: time since the start of the run.
    Tick {
        seconds: f64,
    },
}
