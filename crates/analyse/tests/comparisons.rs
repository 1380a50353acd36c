//! Sweeps and speed-ups of worlds whose answer is known.

mod common;

use analyse::{CellState, SpeedUpKind, Topic};
use common::studies;
use common::{Recipe, analysis, factor};
use model::run::metric;
use model::{Level, Status};

#[test]
fn time_per_image_is_the_other_side_of_images_per_second() {
    let mut world = Recipe::default().world();
    world
        .record("C1-r1")
        .metrics
        .get_mut(metric::IMAGES_PER_SECOND)
        .unwrap()
        .value = 0.0;
    let found = analysis(&world);
    let column = |name: &str| found.metrics.iter().position(|m| m.name == name).unwrap();
    let (rate, time) = (
        column(metric::IMAGES_PER_SECOND),
        column(metric::SECONDS_PER_IMAGE),
    );
    for run in &found.runs {
        match run.run.to_string().as_str() {
            "C1-r1" => assert_eq!(run.values[time], None, "nothing per second takes for ever"),
            _ => {
                assert!((run.values[rate].unwrap() * run.values[time].unwrap() - 1.0).abs() < 1e-12)
            }
        }
    }
}

#[test]
fn what_a_run_itself_tells_of_an_image_is_kept() {
    let mut world = Recipe::default().world();
    let told = model::Metric {
        value: 7.0,
        unit: "s".into(),
    };
    let metrics = &mut world.record("C1-r1").metrics;
    metrics.insert(metric::SECONDS_PER_IMAGE.into(), told);
    let found = analysis(&world);
    let columns = found.metrics.iter();
    let same = columns.filter(|m| m.name == metric::SECONDS_PER_IMAGE);
    assert_eq!(same.count(), 1);
    assert_eq!(
        found.scenarios[0].metrics[metric::SECONDS_PER_IMAGE].max,
        7.0
    );
}

#[test]
fn a_sweep_says_what_became_of_every_combination() {
    let found = analysis(&studies::study_d());
    assert_eq!(found.sweeps.len(), 1);
    let sweep = &found.sweeps[0];
    assert_eq!(
        (sweep.factor.as_str(), sweep.metric.as_str()),
        ("batch", metric::SECONDS_PER_IMAGE)
    );
    assert_eq!((sweep.levels.len(), sweep.lines.len()), (10, 8));
    let states = |phrase: &str| -> Vec<CellState> {
        let line = sweep.lines.iter().find(|l| l.phrase == phrase).unwrap();
        line.cells.iter().map(|c| c.state).collect()
    };
    use CellState::{Measured, OutOfMemory, TimedOut};
    let check = |phrase: &str, first: CellState, last: [CellState; 2]| {
        let states = states(phrase);
        assert_eq!(states[0], first, "{phrase}");
        assert_eq!(states[8..], last, "{phrase}");
        assert!(states[1..8].iter().all(|s| *s == Measured), "{phrase}");
    };
    check("caffe · alexnet · cpu", Measured, [Measured; 2]);
    check("caffe · alexnet · gpu", Measured, [Measured, OutOfMemory]);
    check("caffe · googlenet · gpu", Measured, [Measured, OutOfMemory]);
    check("tensorflow · googlenet · gpu", Measured, [OutOfMemory; 2]);
    check("tensorflow · googlenet · cpu", TimedOut, [Measured; 2]);
}

#[test]
fn a_combination_that_was_left_out_is_told_from_one_not_yet_run() {
    let levels: Vec<Level> = [8, 16, 32].map(Level::from).to_vec();
    let mut world = Recipe {
        factors: vec![
            factor("network", &[Level::from("a"), Level::from("b")]),
            factor("batch", &levels),
        ],
        ..Recipe::default()
    }
    .world();
    world.plan.scenarios.retain(|s| s.number != 6);
    world.plan.runs.retain(|r| r.scenario != 6);
    world.records.retain(|r| r.run.scenario < 5);
    for repetition in 1..=3 {
        world.end_as(&format!("C4-r{repetition}"), Status::Failed, "exit code 1");
    }
    let found = analysis(&world);
    let states: Vec<CellState> = found.sweeps[0].lines[1]
        .cells
        .iter()
        .map(|c| c.state)
        .collect();
    assert_eq!(
        states,
        [CellState::Failed, CellState::NotRun, CellState::LeftOut]
    );
}

#[test]
fn levels_that_are_words_or_only_two_make_no_sweep() {
    let check = |name: &str, levels: &[Level], expected: usize| {
        let world = Recipe {
            factors: vec![factor(name, levels)],
            ..Recipe::default()
        }
        .world();
        assert_eq!(analysis(&world).sweeps.len(), expected, "{name} {levels:?}");
    };
    check("cores", &[1, 2].map(Level::from), 0);
    // The time, and what it costs to have more of them.
    check("cores", &[1, 2, 4].map(Level::from), 2);
    check("batch", &[32, 64].map(Level::from), 1);
    check("network", &["a", "b", "c"].map(Level::from), 0);
    check("epochs", &[1, 2, 4].map(Level::from), 0);
}

#[test]
fn two_workers_are_faster_by_what_was_put_in() {
    let found = analysis(&studies::workers());
    let [speed_up] = found.speed_ups.as_slice() else {
        panic!("{:?}", found.speed_ups);
    };
    assert_eq!(speed_up.kind, SpeedUpKind::Count);
    let check = |line: usize, expected: f64| {
        let point = &speed_up.lines[line].points[0];
        assert!(
            point.speed_up.interval.unwrap().contains(expected),
            "{point:?}"
        );
        let efficiency = point.efficiency.as_ref().unwrap();
        assert!((efficiency.value - point.speed_up.value / 2.0).abs() < 1e-12);
        assert!(efficiency.interval.unwrap().contains(expected / 2.0));
    };
    check(0, 1.0 / 0.59);
    check(1, 1.0 / 0.525);
    let first = &speed_up.sentences[0];
    assert!(
        first.starts_with("2 workers train rede1 1.7× as fast as 1 [1.6")
            || first.starts_with("2 workers train rede1 1.70× as fast as 1 ["),
        "{first}"
    );
    assert!(first.ends_with("(efficiency 85 %)."), "{first}");
    let finding = found
        .findings
        .iter()
        .find(|f| f.topic == Topic::SpeedUp)
        .unwrap();
    assert_eq!(finding.text, *first);
}

#[test]
fn many_combinations_are_told_together_and_how_far_it_scales() {
    let found = analysis(&studies::study_c());
    let speed_up = &found.speed_ups[0];
    assert_eq!(
        (speed_up.factor.as_str(), speed_up.lines.len()),
        ("cores", 4)
    );
    let sentence = &speed_up.sentences[0];
    assert!(
        sentence.starts_with("24 cores train 10")
            && sentence.contains("× as fast as 1 (efficiency 4"),
        "{sentence}"
    );
    assert!(
        sentence.contains("mean of 4 combinations: from 7.8× (")
            && sentence.contains("keras-mnist) to "),
        "{sentence}"
    );
    // By the serial shares put in: 0.85 of the ideal with four cores, 0.72 with eight.
    assert_eq!(
        speed_up.sentences[1],
        "Efficiency is 80 % or more up to 4 cores."
    );
}

#[test]
fn no_speed_up_and_less_than_none_are_said_so() {
    let check = |share: f64, expected: &str| {
        let mut world = studies::workers();
        for record in &mut world.records {
            let two = record.scenario.level("workers") == Some(&Level::from(2));
            let wobble = f64::from(record.run.repetition) * 0.01;
            let seconds = (1.0 + wobble) * if two { share } else { 1.0 };
            let time = record.metrics.get_mut(metric::TRAIN_SECONDS).unwrap();
            time.value = seconds;
        }
        let found = analysis(&world);
        let sentence = &found.speed_ups[0].sentences[0];
        assert!(sentence.starts_with(expected), "{sentence}");
    };
    check(
        1.001,
        "no significant speed-up of 2 workers over 1 for rede1 [0.9",
    );
    check(1.5, "2 workers train rede1 slower than 1: 0.67× as fast [");
}

#[test]
fn where_the_lowest_number_has_no_result_the_next_stands_in() {
    let mut world = studies::study_c();
    for repetition in 1..=3 {
        world.end_as(&format!("C1-r{repetition}"), Status::TimedOut, "10 min");
    }
    let found = analysis(&world);
    let line = &found.speed_ups[0].lines[0];
    assert_eq!(line.baseline.phrase, "2 cores");
    let efficiency = line.points[0].efficiency.as_ref().unwrap().value;
    assert!((0.8..1.0).contains(&efficiency), "{efficiency}");
}

#[test]
fn one_run_each_gives_a_speed_up_without_interval() {
    let mut world = studies::workers();
    world.records.retain(|r| r.run.repetition == 1);
    let found = analysis(&world);
    let point = &found.speed_ups[0].lines[0].points[0];
    assert!(point.speed_up.interval.is_none());
    assert!((point.speed_up.value - 1.7).abs() < 0.1);
}

#[test]
fn a_gpu_is_compared_with_the_cpu_whatever_comes_first() {
    let found = analysis(&studies::study_d());
    let device = &found.speed_ups[0];
    assert_eq!(
        (device.factor.as_str(), device.kind),
        ("environment", SpeedUpKind::Device)
    );
    // 40 pairs; of six of them one side has no result.
    assert_eq!(device.lines.len(), 34);
    assert!(device.lines.iter().all(|l| l.baseline.level == "cpu"));
    assert!(
        device
            .lines
            .iter()
            .flat_map(|l| &l.points)
            .all(|p| p.efficiency.is_none())
    );
    assert!(
        device.sentences[0].starts_with("gpu trains ")
            && device.sentences[0].contains(" as fast as cpu, mean of 34"),
        "{:?}",
        device.sentences
    );

    let levels = [Level::from("cuda:0"), Level::from("cpu")];
    let world = Recipe {
        factors: vec![factor("device", &levels)],
        ..Recipe::default()
    }
    .world();
    let found = analysis(&world);
    assert_eq!(found.speed_ups[0].lines[0].baseline.level, "cpu");
    assert_eq!(found.speed_ups[0].lines[0].points[0].level.level, "cuda:0");
}

#[test]
fn environments_without_a_gpu_have_no_device_to_compare() {
    let found = analysis(&studies::study_c());
    assert_eq!(
        found.speed_ups.len(),
        1,
        "machine against docker is no device"
    );
}

#[test]
fn a_metric_of_the_workloads_own_goes_before_a_shorter_word_for_one_of_ours() {
    let check = |asked: &str, reported: &str, expected: &[&str]| {
        let mut world = Recipe::default().world();
        world.study.metrics = vec![asked.to_owned()];
        for record in &mut world.records {
            let unit = String::new();
            let value = 1.0;
            let metric = model::Metric { value, unit };
            record.metrics.insert(reported.to_owned(), metric);
        }
        assert_eq!(analysis(&world).study.metrics, expected);
    };
    check("accuracy", "other", &[metric::ACCURACY]);
    check("accuracy", "accuracy", &["accuracy"]);
    check("latency", "other", &[]);
}
