//! The words with which a job is submitted. Each is one argument of `sbatch`; no shell sees them.

use std::ffi::OsString;

use model::location::Slurm;
use model::{Capacity, Order, Work};

use super::time_limit::TimeLimit;
use crate::runs::{Job, WORKER_OUTPUT};

/// A worker needs memory beside its run's.
const EXTRA_MEGABYTES: u64 = 256;

pub(super) fn of(
    slurm: &Slurm,
    job: &Job,
    order: Option<&Order>,
    limit: Option<TimeLimit>,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut add = |word: String| words.push(word.into());
    add("--parsable".to_owned());
    add(format!("--job-name={}", job.name));
    // A run that its node took with it is repeated as another attempt, with a folder of its own.
    add("--no-requeue".to_owned());
    for (option, value) in [
        ("partition", &slurm.partition),
        ("constraint", &slurm.constraint),
        ("account", &slurm.account),
        ("qos", &slurm.qos),
    ] {
        if let Some(value) = value {
            add(format!("--{option}={value}"));
        }
    }
    let nodes = nodes(slurm, order);
    add(format!("--nodes={nodes}"));
    add(format!("--ntasks-per-node={}", 1));
    if slurm.exclusive {
        add("--exclusive".to_owned());
    }
    let limits = order.map(|order| &order.limits);
    if let Some(cores) = limits.and_then(|limits| limits.cores) {
        add(format!("--cpus-per-task={}", cores.ceil().max(1.0) as u64));
    }
    match limits.and_then(|limits| limits.memory_bytes) {
        Some(bytes) => {
            let megabytes = bytes.div_ceil(1 << 20) + EXTRA_MEGABYTES;
            add(format!("--mem={megabytes}M"));
        }
        // All of the node's: the cluster's default may be a part of it.
        None if slurm.exclusive => add("--mem=0".to_owned()),
        None => {}
    }
    if let Some(TimeLimit { minutes, .. }) = limit {
        add(format!("--time={minutes}"));
    }
    slurm.options.iter().cloned().for_each(add);
    // After the user's own: what a run depends on.
    let of_folder = |option: &str, path: &std::path::Path| {
        let mut word = OsString::from(option);
        word.push(path);
        word
    };
    // `%` stands for something in names of output files.
    let output = job.folder.join(WORKER_OUTPUT);
    let output = output.to_string_lossy().replace('%', "%%");
    words.push(OsString::from(format!("--output={output}")));
    words.push(of_folder("--chdir=", &job.folder));
    words
}

/// No more than there are workers; a command may use all of them.
fn nodes(slurm: &Slurm, order: Option<&Order>) -> u32 {
    let wanted = slurm.nodes.max(1);
    match order.map(|order| &order.work) {
        None | Some(Work::Serve(_)) => 1,
        Some(Work::Train(train)) => wanted.min(train.job.workers.max(1)),
        Some(Work::Command(_)) => wanted,
    }
}

/// Of the nodes in `sinfo`'s lines of cores, megabytes, features and partition. A constraint that is
/// more than the name of a feature is for Slurm to understand.
pub(super) fn largest(text: &str, constraint: Option<&str>, is_default: bool) -> Option<Capacity> {
    let plain = constraint.filter(|c| !c.contains(['&', '|', '[', '(', '*', '!']));
    let mut largest: Option<Capacity> = None;
    for line in text.lines() {
        let fields: Vec<&str> = line.splitn(5, '|').collect();
        let [cores, megabytes, features, partition, _] = fields[..] else {
            continue;
        };
        let is_meant = plain.is_none_or(|plain| features.split(',').any(|f| f == plain));
        if !is_meant || (is_default && !partition.ends_with('*')) {
            continue;
        }
        // `2+` where nodes in a line differ.
        let number = |text: &str| text.trim_end_matches('+').parse::<u64>().unwrap_or(0);
        let capacity = largest.get_or_insert_default();
        capacity.cores = capacity.cores.max(number(cores) as f64);
        let bytes = number(megabytes) << 20;
        capacity.memory_bytes = capacity.memory_bytes.max(bytes);
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{ENDS_WELL, command_order};
    use std::path::PathBuf;

    fn words(slurm: &Slurm, order: Option<&Order>) -> Vec<String> {
        let job = Job {
            name: "study-C1-r1-x".into(),
            folder: PathBuf::from("/shared/100 %"),
        };
        let limit = TimeLimit::of(slurm, order, None);
        let words = of(slurm, &job, order, limit).into_iter();
        words.map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn a_run_has_its_nodes_for_itself() {
        let slurm = Slurm {
            exclusive: true,
            partition: Some("gpu; rm -rf /".into()),
            ..Slurm::default()
        };
        let order = command_order("x", ENDS_WELL);
        assert_eq!(
            words(&slurm, Some(&order)),
            [
                "--parsable",
                "--job-name=study-C1-r1-x",
                "--no-requeue",
                "--partition=gpu; rm -rf /",
                "--nodes=1",
                "--ntasks-per-node=1",
                "--exclusive",
                "--mem=0",
                "--output=/shared/100 %%/worker.txt",
                "--chdir=/shared/100 %",
            ]
        );
    }

    #[test]
    fn limits_of_the_order_are_asked_for() {
        let mut order = command_order("x", ENDS_WELL);
        order.limits.cores = Some(1.5);
        order.limits.memory_bytes = Some(1 << 30);
        order.measure.timeout_seconds = Some(60.0);
        let slurm = Slurm {
            nodes: 2,
            options: vec!["--gres=gpu:1".into()],
            ..Slurm::default()
        };
        let words = words(&slurm, Some(&order));
        for word in [
            "--cpus-per-task=2",
            "--mem=1280M",
            "--time=4",
            "--nodes=2",
            "--gres=gpu:1",
        ] {
            assert!(words.iter().any(|w| w == word), "{word}: {words:?}");
        }
        assert!(!words.contains(&"--exclusive".to_owned()));
    }

    #[test]
    fn the_largest_node_counts() {
        let text = "2|1000|(null)|small*|n1\n64|512000|a100,ib|gpu|g1\n32|1024000|v100|gpu|g2\n";
        let check = |constraint: Option<&str>, is_default: bool, expected: Option<(f64, u64)>| {
            let found = largest(text, constraint, is_default);
            let found = found.map(|found| (found.cores, found.memory_bytes >> 20));
            assert_eq!(found, expected, "{constraint:?} {is_default}");
        };
        check(None, true, Some((2.0, 1000)));
        check(None, false, Some((64.0, 1_024_000)));
        check(Some("v100"), false, Some((32.0, 1_024_000)));
        check(Some("v100|a100"), false, Some((64.0, 1_024_000)));
        check(Some("h100"), false, None);
    }
}
