//! Writes reports of made-up runs, to look at: `cargo run -p report --example sample -- DIR`.

#[path = "../../analyse/tests/common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};

use common::{Recipe, factor, studies};
use model::{Level, Status, Warning};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .unwrap_or_else(|| "sample".to_owned()),
    );
    std::fs::create_dir_all(&folder)?;
    write(&folder, "quickstart", quickstart())?;
    write(&folder, "study-a", studies::study_a())?;
    write(&folder, "study-c", studies::study_c())?;
    write(&folder, "study-d", studies::study_d())?;
    write(&folder, "workers", studies::workers())?;
    write(&folder, "paying", studies::paying())?;
    write(&folder, "choices", choices(&[]))?;
    write(&folder, "criteria", choices(&["time", "cost", "energy"]))?;
    write(&folder, "troubled", troubled())?;
    write(&folder, "thousand", thousand())?;
    write(&folder, "thousand-with-holes", thousand_with_holes())?;
    write(
        &folder,
        "empty",
        Recipe {
            repetitions: 0,
            ..Recipe::default()
        }
        .world(),
    )
}

fn quickstart() -> common::World {
    let mut world = Recipe::default().world();
    world.record("C6-r1").warnings.push(Warning::FewerCores {
        got: 1.4,
        asked: 2.0,
    });
    world
}

/// One task, with intervals that matter, by the criteria that are asked for.
fn choices(criteria: &[&str]) -> common::World {
    let mut world = Recipe {
        factors: vec![
            factor("environment", &["nuc", "cpu", "gpu"].map(Level::from)),
            factor("batch", &[16, 64, 256].map(Level::from)),
        ],
        repetitions: 5,
        noise: 0.08,
        ..Recipe::default()
    }
    .world();
    world.study.pareto = criteria.iter().map(|name| (*name).to_owned()).collect();
    for environment in &mut world.study.environments {
        environment.power = Some(model::PowerModel {
            idle_watts: 20.0,
            full_watts: 60.0,
            source: None,
        });
    }
    for record in &mut world.records {
        record.metrics.remove(model::run::metric::GPU_ENERGY_JOULES);
    }
    world
}

fn troubled() -> common::World {
    let mut world = Recipe {
        repetitions: 4,
        noise: 0.08,
        drift: 0.3,
        ..Recipe::default()
    }
    .world();
    world.study.name = "<script>alert('no')</script> troubled".to_owned();
    for repetition in 1..=4 {
        world.end_as(
            &format!("C8-r{repetition}"),
            Status::OutOfMemory,
            "killed at 24 GB",
        );
    }
    world.end_as(
        "C3-r2",
        Status::Failed,
        "exit code 1\nTraceback:\n  ValueError: <bad> & worse",
    );
    let last = world.records.len() - 3;
    world.records.truncate(last);
    for record in &mut world.records {
        record.warnings.push(Warning::Governor {
            governor: "powersave".to_owned(),
        });
    }
    world
}

fn thousand() -> common::World {
    let numbers = |step: i64| (1..=10).map(|n| Level::from(n * step)).collect::<Vec<_>>();
    let factors = vec![
        factor("batch", &numbers(16)),
        factor("threads", &numbers(1)),
        factor("image", &numbers(8)),
    ];
    Recipe {
        factors,
        repetitions: 10,
        ..Recipe::default()
    }
    .world()
}

/// Unbalanced: some runs failed, so that sums of squares need least squares.
fn thousand_with_holes() -> common::World {
    let mut world = thousand();
    let some = world
        .records
        .iter_mut()
        .filter(|r| (r.run.scenario * 10 + r.run.repetition).is_multiple_of(97));
    some.for_each(|record| record.outcome.status = Status::Failed);
    world
}

fn write(folder: &Path, name: &str, world: common::World) -> std::io::Result<()> {
    let begin = std::time::Instant::now();
    let input = analyse::Input {
        study: &world.study,
        plan: &world.plan,
        records: &world.records,
        superseded: &[],
        searched: None,
        repriced: None,
    };
    let analysis = analyse::analyse(&input);
    let analysed = begin.elapsed();
    let meta = report::ReportMeta {
        generated: model::Timestamp::from_second(1_710_000_000).unwrap_or_default(),
        bancada_version: "0.1.0",
        command: Some("bancada report results/quickstart"),
        study_file: None,
    };
    let html = report::html(&analysis, &meta);
    let written = begin.elapsed();
    std::fs::write(folder.join(format!("{name}.html")), html)?;
    let what = report::Exported {
        analysis: &analysis,
        meta: &meta,
        steps: &|_| Vec::new(),
        folder_uri: "",
    };
    for format in report::FORMATS {
        let path = folder.join(format!("{name}.{}", format.name));
        match report::export(&what, format, None) {
            report::Output::Text(text) => std::fs::write(path, text)?,
            report::Output::Binary(bytes) => std::fs::write(path, bytes)?,
            report::Output::Folder(files) => {
                for file in files {
                    let report::Content::Text(text) = file.content else {
                        continue;
                    };
                    let path = path.join(file.path);
                    std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
                    std::fs::write(path, text)?;
                }
            }
        }
    }
    let width = std::env::var("COLUMNS")
        .ok()
        .and_then(|c| c.parse().ok())
        .unwrap_or(120);
    let options = report::TerminalOptions {
        width: Some(width),
        ..Default::default()
    };
    println!("{}", report::terminal(&analysis, &options));
    eprintln!(
        "{name}: {} runs analysed in {analysed:.1?}, report after {written:.1?}",
        analysis.runs.len()
    );
    Ok(())
}
