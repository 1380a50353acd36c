//! Runs as a tracking folder of MLflow (its file store): an experiment per study, a run per run,
//! with parameters, metrics by step, tags, and the files of its bundle as artifacts.

use std::fmt::Write;

use analyse::{Analysis, RunRow};
use diagnostics::screen::safe;
use model::run::metric;
use model::{Status, Timestamp};

use crate::delimited::{metric_column, metrics, money_column, number};
use crate::export::{Content, Exported, ExportedFile};

/// Files of a bundle that become artifacts.
const ARTIFACTS: [&str; 5] = [
    "run.json",
    "job.json",
    "events.jsonl",
    "samples.csv",
    "log.txt",
];

pub(crate) fn mlflow(what: &Exported) -> Vec<ExportedFile> {
    let analysis = what.analysis;
    let experiment = Experiment::of(what);
    let runs = analysis.runs.iter();
    let mut files = vec![experiment.meta(analysis, what.meta.generated)];
    files.extend(runs.flat_map(|run| experiment.run(what, run)));
    files
}

struct Experiment<'a> {
    /// Digits, as MLflow's own have.
    id: String,
    /// Of the folder that all is written into.
    uri: &'a str,
}

impl<'a> Experiment<'a> {
    /// The same study has the same number, so that it can be exported again over itself.
    fn of(what: &Exported<'a>) -> Self {
        let hash = seeded::fnv1a(what.analysis.study.name.as_bytes());
        Experiment {
            id: format!("{:018}", hash % 10_u64.pow(18)),
            uri: what.folder_uri,
        }
    }

    fn meta(&self, analysis: &Analysis, generated: Timestamp) -> ExportedFile {
        let Experiment { id, uri } = self;
        let starts = analysis.runs.iter().filter_map(|run| run.started);
        let created = milliseconds(starts.min().unwrap_or(generated));
        let changed = milliseconds(generated);
        let name = quoted(&analysis.study.name);
        let text = format!(
            "artifact_location: {}\ncreation_time: {created}\nexperiment_id: '{id}'\nlast_update_time: {changed}\nlifecycle_stage: active\nname: {name}\n",
            quoted(&format!("{uri}/{id}"))
        );
        ExportedFile::text(format!("{id}/meta.yaml"), text)
    }

    fn run(&self, what: &Exported, run: &RunRow) -> Vec<ExportedFile> {
        let analysis = what.analysis;
        let id = run_id(&analysis.study.name, &run.run.to_string());
        let folder = format!("{}/{id}", self.id);
        let begin = milliseconds(run.started.unwrap_or(what.meta.generated));
        let end = begin + (1000.0 * total_seconds(analysis, run).unwrap_or(0.0)) as i64;
        let artifacts = quoted(&format!("{}/{folder}/artifacts", self.uri));
        let meta = format!(
            "artifact_uri: {artifacts}\nend_time: {end}\nentry_point_name: ''\nexperiment_id: '{}'\nlifecycle_stage: active\nrun_id: {id}\nrun_name: {}\nrun_uuid: {id}\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: {begin}\nstatus: {}\ntags: []\nuser_id: bancada\n",
            self.id,
            quoted(&run.run.to_string()),
            status(run.status)
        );
        let mut files = vec![ExportedFile::text(format!("{folder}/meta.yaml"), meta)];
        let mut add = |kind: &str, name: &str, text: String| {
            let path = format!("{folder}/{kind}/{}", key(name));
            files.push(ExportedFile::text(path, text));
        };
        for (name, value) in params(analysis, run) {
            add("params", &name, safe(&value).into_owned());
        }
        for (name, value) in tags(analysis, run) {
            add("tags", &name, safe(&value).into_owned());
        }
        for series in series(what, run) {
            let mut lines = String::new();
            for (step, value) in &series.points {
                let _ = writeln!(lines, "{end} {} {step}", number(Some(*value)));
            }
            add("metrics", &series.name, lines);
        }
        files.extend(ARTIFACTS.map(|name| ExportedFile {
            path: format!("{folder}/artifacts/{name}"),
            content: Content::OfRun(run.run, name),
        }));
        files
    }
}

/// The levels, and what else was chosen.
fn params(analysis: &Analysis, run: &RunRow) -> Vec<(String, String)> {
    let scenario = analysis.scenario(run.scenario);
    let levels = scenario.into_iter().flat_map(|s| &s.levels);
    let levels = levels.map(|level| (level.factor.clone(), level.level.clone()));
    let mut all: Vec<(String, String)> = levels.collect();
    if !all.iter().any(|(name, _)| name == "environment") {
        all.push(("environment".to_owned(), run.environment.clone()));
    }
    all
}

fn tags(analysis: &Analysis, run: &RunRow) -> Vec<(String, String)> {
    let mut tags = vec![
        ("mlflow.runName", run.run.to_string()),
        ("bancada.study", analysis.study.name.clone()),
        ("bancada.scenario", format!("C{}", run.scenario)),
        ("bancada.repetition", run.repetition.to_string()),
        ("bancada.status", run.status.to_string()),
        ("bancada.warnings", run.warnings.to_string()),
        ("bancada.imported", run.imported.to_string()),
        ("bancada.predicted", run.prediction.is_some().to_string()),
    ];
    tags.extend(
        run.price
            .as_ref()
            .map(|price| ("bancada.price", price.machine.clone())),
    );
    tags.extend(
        run.excluded
            .iter()
            .map(|why| ("bancada.excluded", why.clone())),
    );
    let named = tags.into_iter();
    named
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

struct Series {
    name: String,
    /// Step and value; never empty.
    points: Vec<(u64, f64)>,
}

impl Series {
    /// Without what is not a number.
    fn of(
        name: impl Into<String>,
        points: impl Iterator<Item = (u64, Option<f64>)>,
    ) -> Option<Self> {
        let finite =
            points.filter_map(|(step, value)| Some((step, value.filter(|v| v.is_finite())?)));
        let points: Vec<(u64, f64)> = finite.collect();
        (!points.is_empty()).then(|| Series {
            name: name.into(),
            points,
        })
    }
}

fn series(what: &Exported, run: &RunRow) -> Vec<Series> {
    let analysis = what.analysis;
    let values = metrics(analysis).filter_map(|(place, info)| {
        let value = run.values.get(place).copied().flatten();
        Series::of(metric_column(info), std::iter::once((0, value)))
    });
    let cost = run.cost.map(|cost| cost.amount.to_string().parse().ok());
    let cost = cost
        .and_then(|cost| Series::of(money_column(analysis, "cost"), std::iter::once((0, cost))));
    let steps = (what.steps)(run.run);
    let epochs = || run.epochs.iter();
    let told = [
        Series::of("epoch/loss", epochs().map(|e| (e.epoch.into(), e.loss))),
        Series::of(
            "epoch/accuracy_percent",
            epochs().map(|e| (e.epoch.into(), e.accuracy.map(|fraction| 100.0 * fraction))),
        ),
        Series::of(
            "epoch/seconds",
            epochs().map(|e| (e.epoch.into(), e.seconds)),
        ),
        Series::of("step/loss", steps.iter().map(|s| (s.step, s.loss))),
        Series::of("step/seconds", steps.iter().map(|s| (s.step, s.seconds))),
    ];
    values
        .chain(cost)
        .chain(told.into_iter().flatten())
        .collect()
}

fn total_seconds(analysis: &Analysis, run: &RunRow) -> Option<f64> {
    let names = analysis.metrics.iter();
    let place = names
        .into_iter()
        .position(|info| info.name == metric::TOTAL_SECONDS)?;
    run.values.get(place).copied().flatten()
}

/// As MLflow numbers them.
fn status(status: Status) -> u8 {
    match status {
        Status::Ok => 3,
        Status::Interrupted => 5,
        _ => 4,
    }
}

fn run_id(study: &str, run: &str) -> String {
    let hash = |salt: &str| seeded::fnv1a(format!("{salt}{study}/{run}").as_bytes());
    format!("{:016x}{:016x}", hash("a"), hash("b"))
}

/// A file of this name, which stays in its folder. Slashes between words group metrics.
fn key(name: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/') => c,
        _ => '_',
    };
    let parts = name.split('/').map(|part| match part {
        part if part.chars().all(|c| c == '.') => "_".to_owned(),
        part => part.chars().map(plain).collect(),
    });
    parts.collect::<Vec<String>>().join("/")
}

/// A text in YAML.
fn quoted(text: &str) -> String {
    format!("'{}'", safe(text).replace('\'', "''"))
}

fn milliseconds(moment: Timestamp) -> i64 {
    moment.as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        let check = |name: &str, expected: &str| assert_eq!(key(name), expected);
        check("batch", "batch");
        check("epoch/loss", "epoch/loss");
        check("../../x", "_/_/x");
        check("/etc/x", "_/etc/x");
        check("a b:\n", "a_b__");
        check("", "_");
    }

    #[test]
    fn texts_stay_in_their_quotes() {
        assert_eq!(quoted("it's\n- x: y"), "'it''s - x: y'");
    }
}
