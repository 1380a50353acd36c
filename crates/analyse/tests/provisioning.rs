//! Machines too large or too small for a training, by their use.

mod common;

use analyse::{Fit, Provisioning};
use common::{Recipe, World, analysis, factor};
use model::run::{Metric, Origin, metric};
use model::{Level, Status, Warning};

/// Of what runs use in one environment, in percent.
struct Use {
    cpu: f64,
    memory: f64,
    gpu: Option<f64>,
}

fn world(used: &Use) -> World {
    let mut world = Recipe {
        factors: vec![factor("batch", &[Level::from(32)])],
        ..Recipe::default()
    }
    .world();
    for record in &mut world.records {
        let mut set = |name: &str, value: f64| {
            let unit = "%".to_owned();
            record
                .metrics
                .insert(name.to_owned(), Metric { value, unit });
        };
        // The others use less.
        let less = f64::from(record.run.repetition - 1);
        set(metric::CPU_PERCENT, used.cpu - less);
        set(metric::MEMORY_PERCENT, used.memory - less);
        if let Some(gpu) = used.gpu {
            set(metric::GPU_PERCENT, gpu - less);
            set(metric::GPU_MEMORY_PERCENT, 20.0);
        }
        for phase in record.phases.iter_mut().filter(|p| p.name == "train") {
            phase.seconds = 30.0;
        }
    }
    world
}

fn found(world: &World) -> Vec<Provisioning> {
    analysis(world).money.provisioning
}

#[test]
fn a_verdict_says_what_to_do() {
    let check = |cpu: f64, memory: f64, gpu: Option<f64>, verdict: Fit, sentence: &str| {
        let world = world(&Use { cpu, memory, gpu });
        let found = found(&world);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].verdict, found[0].runs), (verdict, 3));
        assert_eq!(found[0].sentence, sentence);
        let said = analysis(&world).money.sentences;
        assert_eq!(said.contains(&found[0].sentence), verdict != Fit::Fits);
    };
    check(
        31.0,
        9.0,
        None,
        Fit::TooLarge,
        "local, while it works: CPU 31 % busy, memory 9.0 % used at most: a smaller machine would be enough.",
    );
    check(
        50.0,
        96.0,
        None,
        Fit::TooSmall,
        "local, while it works: CPU 50 % busy, memory 96 % used: its memory is nearly too small.",
    );
    // A training is there to fill the CPU.
    check(
        99.0,
        30.0,
        None,
        Fit::Fits,
        "local, while it works: CPU 99 % busy, memory 30 % used at most: the size is right.",
    );
    check(
        98.0,
        30.0,
        Some(22.0),
        Fit::StarvedGpu,
        "local, while it works: the GPU is at most 22 % busy while the CPU is full: use more cores.",
    );
    check(
        40.0,
        30.0,
        Some(91.0),
        Fit::Fits,
        "local, while it works: CPU 40 % busy, memory 30 % used, GPU 91 % busy at most: the size is right.",
    );
    check(
        40.0,
        30.0,
        Some(22.0),
        Fit::TooLarge,
        "local, while it works: CPU 40 % busy, memory 30 % used, GPU 22 % busy at most: a smaller machine would be enough.",
    );
}

#[test]
fn numbers_that_cannot_tell_are_left_out() {
    let idle = Use {
        cpu: 20.0,
        memory: 10.0,
        gpu: None,
    };
    let short = |seconds: f64| {
        let mut world = world(&idle);
        for record in &mut world.records {
            let train = record.phases.iter_mut().find(|p| p.name == "train");
            train.unwrap().seconds = seconds;
        }
        found(&world).len()
    };
    // Samples are half a second apart.
    assert_eq!((short(1.9), short(2.0)), (0, 1));
    let mut imported = world(&idle);
    for record in &mut imported.records {
        record.origin = Origin::Imported {
            file: "old.csv".into(),
            line: 2,
            undated: false,
        };
    }
    assert!(found(&imported).is_empty());
    let mut busy = world(&idle);
    for record in &mut busy.records {
        let (got, asked) = (0.6, 2.0);
        record.warnings.push(Warning::FewerCores { got, asked });
    }
    assert!(found(&busy).is_empty());
    let mut untold = world(&idle);
    for record in &mut untold.records {
        record.metrics.remove(metric::CPU_PERCENT);
    }
    assert!(found(&untold).is_empty());
}

#[test]
fn what_did_not_fit_in_memory_makes_no_machine_too_large() {
    let mut world = world(&Use {
        cpu: 20.0,
        memory: 10.0,
        gpu: None,
    });
    world.records[0].outcome.status = Status::OutOfMemory;
    let found = found(&world);
    assert_eq!(
        (found[0].verdict, found[0].out_of_memory),
        (Fit::TooSmall, 1)
    );
    // It stands in the table; the sentence about memory names the scenario.
    assert!(
        !analysis(&world)
            .money
            .sentences
            .contains(&found[0].sentence)
    );
}
