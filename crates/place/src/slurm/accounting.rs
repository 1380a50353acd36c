//! What Slurm itself says about a job, kept beside our own samples as `slurm.json`.

use serde::{Deserialize, Serialize};

use super::ask::ask;

pub(super) const ACCOUNTING_FILE: &str = "slurm.json";

/// Times are as Slurm writes them, in the time zone of the machine that was asked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Accounting {
    /// `scontrol` or `sacct`.
    pub(super) source: String,
    pub(super) job: String,
    pub(super) name: String,
    pub(super) state: String,
    pub(super) reason: String,
    pub(super) exit_code: String,
    pub(super) partition: String,
    pub(super) nodes: String,
    pub(super) cores: Option<u32>,
    pub(super) submitted: String,
    pub(super) started: String,
    pub(super) ended: String,
    pub(super) run_seconds: Option<u64>,
    pub(super) restarts: Option<u32>,
}

/// Of the job with this number, if it is the one of this name: numbers are used again after a
/// controller was killed.
pub(super) fn of(id: &str, name: &str) -> Option<Accounting> {
    let is_it = |found: &Accounting| found.name == name;
    let shown = ask("scontrol", ["-o", "show", "job", id]).ok();
    let shown = shown.and_then(|text| of_scontrol(&text)).filter(is_it);
    shown.or_else(|| {
        let format = "--format=JobID,JobName,State,ExitCode,Partition,NodeList,AllocCPUS,Submit,Start,End,ElapsedRaw";
        let text = ask("sacct", ["-n", "-P", "-X", "-D", "-j", id, format]).ok()?;
        text.lines().filter_map(of_sacct).rfind(is_it)
    })
}

/// `JobId=7 JobName=a … ExitCode=0:0 RunTime=00:00:01 …`. A command at its end may hold anything.
fn of_scontrol(text: &str) -> Option<Accounting> {
    let line = text.lines().next()?;
    let field = |name: &str| {
        let mut words = line.split(' ');
        let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_default().to_owned()
    };
    let job = field("JobId");
    (!job.is_empty()).then(|| Accounting {
        source: "scontrol".to_owned(),
        job,
        name: field("JobName"),
        state: field("JobState"),
        reason: field("Reason"),
        exit_code: field("ExitCode"),
        partition: field("Partition"),
        nodes: field("NodeList"),
        cores: field("NumCPUs").parse().ok(),
        submitted: field("SubmitTime"),
        started: field("StartTime"),
        ended: field("EndTime"),
        run_seconds: seconds(&field("RunTime")),
        restarts: field("Restarts").parse().ok(),
    })
}

fn of_sacct(line: &str) -> Option<Accounting> {
    let fields: Vec<&str> = line.split('|').collect();
    let [
        job,
        name,
        state,
        exit_code,
        partition,
        nodes,
        cores,
        submitted,
        started,
        ended,
        elapsed,
    ] = fields[..]
    else {
        return None;
    };
    Some(Accounting {
        source: "sacct".to_owned(),
        job: job.to_owned(),
        name: name.to_owned(),
        // `CANCELLED by 1000`
        state: state.split(' ').next().unwrap_or(state).to_owned(),
        reason: state.split_once(' ').map_or("", |(_, by)| by).to_owned(),
        exit_code: exit_code.to_owned(),
        partition: partition.to_owned(),
        nodes: nodes.to_owned(),
        cores: cores.parse().ok(),
        submitted: submitted.to_owned(),
        started: started.to_owned(),
        ended: ended.to_owned(),
        run_seconds: elapsed.parse().ok(),
        restarts: None,
    })
}

/// `1-02:03:04`.
fn seconds(text: &str) -> Option<u64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (days.parse::<u64>().ok()?, clock),
        None => (0, text),
    };
    let parts: Option<Vec<u64>> = clock.split(':').map(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = parts?[..] else {
        return None;
    };
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_scontrol_shows_is_read() {
        let text = "JobId=7 JobName=a-C1 UserId=root(0) JobState=NODE_FAIL Reason=None Requeue=0 Restarts=0 ExitCode=0:15 \
                    RunTime=1-00:00:02 SubmitTime=2026-11-18T08:44:57 StartTime=2026-11-18T08:44:58 EndTime=2026-11-19T08:45:00 \
                    Partition=p NodeList=n[1-2] NumNodes=2 NumCPUs=4 Command=/x/job.sh JobId=8 StdOut=/x y\n";
        let read = of_scontrol(text).unwrap();
        assert_eq!((read.job.as_str(), read.name.as_str()), ("7", "a-C1"));
        assert_eq!(read.state, "NODE_FAIL");
        assert_eq!(read.run_seconds, Some(86_402));
        assert_eq!(read.cores, Some(4));
        assert_eq!(of_scontrol("No jobs in the system"), None);
    }

    #[test]
    fn what_sacct_prints_is_read() {
        let line = "7|a-C1|CANCELLED by 1000|0:15|p|n1|2|2026-11-18T08:44:57|2026-11-18T08:44:58|2026-11-18T08:45:00|2";
        let read = of_sacct(line).unwrap();
        assert_eq!(read.state, "CANCELLED");
        assert_eq!(read.reason, "by 1000");
        assert_eq!(read.run_seconds, Some(2));
        assert_eq!(of_sacct("7|a"), None);
    }
}
