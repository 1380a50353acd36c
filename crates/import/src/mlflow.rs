//! Runs of an MLflow tracking folder (its file store) or of its database as a table, with the column names of
//! `mlflow.search_runs`: `run_id`, `status`, `start_time`, `duration_seconds`, `params.NAME`,
//! `metrics.NAME`, `tags.NAME`.

use std::collections::BTreeMap;

use csv::Writer;
use jiff::Timestamp;

use crate::spec::{ColumnFactor, ColumnMetric, ImportSpec};
use crate::{InputFile, units};

/// `files` have paths below the folder, `EXPERIMENT/RUN/params/NAME`, or below that of an
/// experiment. `None` if there is no run.
pub fn mlflow_table(folder: &str, files: &[InputFile]) -> Option<InputFile> {
    let mut runs: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for file in files {
        if let Some((run, own)) = file
            .name
            .strip_suffix("/meta.yaml")
            .zip(run_meta(&file.text))
        {
            runs.insert(run, own);
        }
    }
    for file in files {
        let found = runs.range_mut(..=file.name.as_str()).rev();
        let mut found = found.filter(|(run, _)| file.name.starts_with(&format!("{run}/")));
        let Some((run, cells)) = found.next() else {
            continue;
        };
        let rest = &file.name[run.len() + 1..];
        match rest.split_once('/') {
            Some(("metrics", name)) => {
                // `timestamp value step`: the last step counts.
                let last = file.text.lines().rev().find(|line| !line.trim().is_empty());
                let value = last.and_then(|line| line.split(' ').nth(1));
                cells.insert(
                    format!("metrics.{name}"),
                    value.unwrap_or_default().to_owned(),
                );
            }
            Some((kind @ ("params" | "tags"), name)) => {
                cells.insert(format!("{kind}.{name}"), file.text.trim_end().to_owned());
            }
            Some(_) | None => {}
        }
    }
    if runs.is_empty() {
        return None;
    }
    Some(InputFile {
        name: folder.to_owned(),
        text: csv_of(runs.values()),
    })
}

/// A run of MLflow, wherever it was tracked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MlflowRun {
    pub id: String,
    pub name: String,
    pub status: Option<&'static str>,
    pub start_ms: Option<i64>,
    pub end_ms: Option<i64>,
    /// `params.NAME`, `metrics.NAME`, `tags.NAME` and more.
    pub values: BTreeMap<String, String>,
}

impl MlflowRun {
    /// `FINISHED`, as databases have it; or 3, as files.
    pub fn status_of(word: &str) -> Option<&'static str> {
        match word {
            "FINISHED" | "3" => Some("ok"),
            "FAILED" | "4" => Some("failed"),
            _ => None,
        }
    }

    fn cells(self) -> BTreeMap<String, String> {
        let started = self
            .start_ms
            .and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let lasted = self.start_ms.zip(self.end_ms);
        let lasted = lasted.map(|(begin, end)| end.saturating_sub(begin) as f64 / 1000.0);
        let lasted = lasted.filter(|seconds| *seconds > 0.0);
        let cells = [
            ("run_id", self.id),
            ("run_name", self.name),
            ("status", self.status.unwrap_or("interrupted").to_owned()),
            (
                "start_time",
                started.map(|at| at.to_string()).unwrap_or_default(),
            ),
            (
                "duration_seconds",
                lasted.map(|s| s.to_string()).unwrap_or_default(),
            ),
        ];
        let cells = cells
            .into_iter()
            .map(|(name, cell)| (name.to_owned(), cell));
        cells.chain(self.values).collect()
    }
}

/// Runs of a database of MLflow, as a table of the same columns. `None` if there is no run.
pub fn mlflow_runs_table(database: &str, runs: Vec<MlflowRun>) -> Option<InputFile> {
    let runs: Vec<_> = runs.into_iter().map(MlflowRun::cells).collect();
    (!runs.is_empty()).then(|| InputFile {
        name: database.to_owned(),
        text: csv_of(runs.iter()),
    })
}

/// Of an experiment it has no run.
fn run_meta(text: &str) -> Option<BTreeMap<String, String>> {
    let value = |key: &str| {
        let lines = text.lines();
        let mut found = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        found
            .next()
            .map(|value| value.trim().trim_matches('\'').replace("''", "'"))
    };
    let run = value("run_id")?;
    if value("lifecycle_stage").as_deref() == Some("deleted") {
        return None;
    }
    let milliseconds = |key: &str| value(key).and_then(|text| text.parse::<i64>().ok());
    let run = MlflowRun {
        id: run,
        name: value("run_name").unwrap_or_default(),
        status: value("status").and_then(|word| MlflowRun::status_of(&word)),
        start_ms: milliseconds("start_time"),
        end_ms: milliseconds("end_time"),
        values: BTreeMap::new(),
    };
    Some(run.cells())
}

fn csv_of<'r>(runs: impl Iterator<Item = &'r BTreeMap<String, String>> + Clone) -> String {
    let mut header: Vec<&String> = runs.clone().flat_map(BTreeMap::keys).collect();
    header.sort();
    header.dedup();
    let mut writer = Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    _ = writer.write_record(&header);
    for run in runs {
        let cells = header
            .iter()
            .map(|name| run.get(*name).map_or("", String::as_str));
        _ = writer.write_record(cells);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What the columns mean where nobody says it: parameters are factors, metrics without a group are
/// metrics with the unit of their names, the time between start and end is that of the run.
pub fn mlflow_spec(table: &InputFile) -> ImportSpec {
    let header = table.text.lines().next().unwrap_or_default();
    let names = || header.split(',').map(|name| name.trim_matches('"'));
    let factor = |name: &str| {
        let factor = name.strip_prefix("params.")?.to_owned();
        Some(ColumnFactor {
            column: name.to_owned(),
            factor,
        })
    };
    let metric = |name: &str| {
        let metric = match name {
            "duration_seconds" => "total_seconds",
            // Groups are of the system, or of curves: there may be hundreds of them.
            name => name
                .strip_prefix("metrics.")
                .filter(|name| !name.contains('/'))?,
        };
        let unit = units::of_name(metric);
        ColumnMetric::new(name, &format!("{metric}:{unit}")).ok()
    };
    let metrics: Vec<ColumnMetric> = names().filter_map(metric).collect();
    let times = |m: &ColumnMetric| m.metric == "total_seconds";
    // A metric of that name was measured by the run itself.
    let own_time = metrics.iter().filter(|m| times(m)).count() > 1;
    let is_kept = |m: &ColumnMetric| !(own_time && m.column == "duration_seconds");
    ImportSpec {
        factors: names().filter_map(factor).collect(),
        metrics: metrics.into_iter().filter(is_kept).collect(),
        status_column: Some("status".to_owned()),
        started_column: Some("start_time".to_owned()),
        ..ImportSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> InputFile {
        InputFile {
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    fn run(id: &str, more: &str) -> InputFile {
        let text = format!(
            "end_time: 1700000009500\nrun_id: {id}\nrun_name: 'it''s'\nstart_time: 1700000000000\n{more}"
        );
        file(&format!("1/{id}/meta.yaml"), &text)
    }

    #[test]
    fn a_folder_is_a_table_of_its_runs() {
        let files = [
            file("1/meta.yaml", "experiment_id: '1'\nname: demo\n"),
            run("a", "status: 3\nlifecycle_stage: active\n"),
            file("1/a/params/batch", "32"),
            file("1/a/metrics/epoch/loss", "1 0.5 1\n2 0.25 2\n"),
            file("1/a/metrics/train_seconds", "1 8.5 0\n"),
            file("1/a/tags/mlflow.user", "me\n"),
            run("b", "status: 4\nlifecycle_stage: active\n"),
            run("c", "status: 3\nlifecycle_stage: deleted\n"),
        ];
        let table = mlflow_table("mlruns", &files).map(|table| table.text);
        let expected = "duration_seconds,metrics.epoch/loss,metrics.train_seconds,params.batch,run_id,run_name,start_time,status,tags.mlflow.user\n\
            9.5,0.25,8.5,32,a,it's,2023-11-14T22:13:20Z,ok,me\n\
            9.5,,,,b,it's,2023-11-14T22:13:20Z,failed,\n";
        assert_eq!(table.as_deref(), Some(expected));
        assert_eq!(mlflow_table("x", &files[..1]), None);
    }

    #[test]
    fn runs_of_a_database_are_the_same_table() {
        let run = |id: &str, word: &str| MlflowRun {
            id: id.to_owned(),
            name: "it's".to_owned(),
            status: MlflowRun::status_of(word),
            start_ms: Some(1_700_000_000_000),
            end_ms: Some(1_700_000_009_500),
            values: [("params.batch".to_owned(), "32".to_owned())].into(),
        };
        let runs = vec![run("a", "FINISHED"), run("b", "RUNNING")];
        let expected = "duration_seconds,params.batch,run_id,run_name,start_time,status\n\
            9.5,32,a,it's,2023-11-14T22:13:20Z,ok\n\
            9.5,32,b,it's,2023-11-14T22:13:20Z,interrupted\n";
        let table = mlflow_runs_table("mlflow.db", runs).map(|table| table.text);
        assert_eq!(table.as_deref(), Some(expected));
        assert_eq!(mlflow_runs_table("mlflow.db", Vec::new()), None);
    }

    #[test]
    fn columns_mean_what_their_names_say() {
        let spec = mlflow_spec(&file(
            "m",
            "duration_seconds,metrics.acc,metrics.sys/cpu,metrics.train_seconds,params.batch\n",
        ));
        let factors: Vec<&str> = spec.factors.iter().map(|f| f.factor.as_str()).collect();
        assert_eq!(factors, ["batch"]);
        let metrics = spec
            .metrics
            .iter()
            .map(|m| (m.metric.as_str(), m.unit.as_str()));
        let expected = [("total_seconds", "s"), ("acc", ""), ("train_seconds", "s")];
        assert_eq!(metrics.collect::<Vec<_>>(), expected);
    }
}
