//! A sentence is a claim: for each kind, data for which it must not be made.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use analyse::{Analysis, Variation, Verdict, analyse};
use common::times::world;
use common::{Recipe, World};
use model::run::metric;
use model::{Level, Role, Status};

fn found(world: &World) -> Analysis {
    analyse(&world.input())
}

fn time(found: &Analysis) -> &Variation {
    found.variation(metric::TRAIN_SECONDS).unwrap()
}

fn verdict(found: &Analysis, name: &str) -> Verdict {
    let mut terms = time(found).terms.iter();
    terms.find(|t| t.name() == name).unwrap().verdict
}

fn said(found: &Analysis) -> String {
    let findings = found.findings.iter().map(|f| f.text.clone());
    let all: Vec<String> = findings.chain(found.advice.iter().cloned()).collect();
    all.join("\n")
}

const NOISY: [&[f64]; 2] = [&[1.00, 1.10, 0.95], &[1.20, 1.02, 1.12]];

#[test]
fn what_the_data_leave_open_is_inconclusive_and_not_equal() {
    let open = found(&world(&[("batch", &["a", "b"])], &NOISY));
    assert_eq!(verdict(&open, "batch"), Verdict::Inconclusive);
    let text = said(&open);
    assert!(text.contains("inconclusive"), "{text}");
    assert!(text.contains("repetitions would decide"), "{text}");
    for wrong in ["practically", "no effect", "Nothing else", "; the next"] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
    // Both are named, and neither alone.
    assert!(open.best.is_among_fastest(1) && open.best.is_among_fastest(2));
}

#[test]
fn equal_within_the_margin_is_said_with_evidence_only() {
    let close: [&[f64]; 2] = [
        &[1.000, 1.002, 0.999, 1.001, 1.000],
        &[1.001, 1.000, 1.002, 0.999, 1.003],
    ];
    let factors: [(&str, &[&str]); 1] = [("batch", &["a", "b"])];
    let mut world = world(&factors, &close);
    let equal = found(&world);
    assert_eq!(verdict(&equal, "batch"), Verdict::PracticallyEqual);
    assert!(said(&equal).contains("practically"), "{}", said(&equal));
    // A narrower margin is not met by the same data.
    world.study.equal_within_percent = Some(0.05);
    let open = found(&world);
    assert_eq!(verdict(&open, "batch"), Verdict::Inconclusive);
    assert!(!said(&open).contains("practically"), "{}", said(&open));
}

/// Eight of ten runs timed out: the two that ended do not make it the fastest.
#[test]
fn survivors_are_not_ranked() {
    let times: [&[f64]; 2] = [
        &[1.0, 1.01, 1.0, 1.01, 1.0, 1.01, 1.0, 1.01, 1.0, 1.01],
        &[2.0, 2.01, 2.0, 2.01, 2.0, 2.01, 2.0, 2.01, 2.0, 2.01],
    ];
    let mut world = world(&[("batch", &["a", "b"])], &times);
    for repetition in 3..=10 {
        world.end_as(
            &format!("C1-r{repetition}"),
            Status::TimedOut,
            "after 600 s",
        );
    }
    let found = found(&world);
    assert!(!found.best.is_among_fastest(1));
    let text = said(&found);
    assert!(
        text.contains("Not ranked: C1 (8 timed-out of its 10 runs)"),
        "{text}"
    );
    assert!(
        time(&found)
            .assumptions
            .iter()
            .any(|a| a.contains("did not succeed"))
    );
}

/// +30 s with one network and −18 s with the other: no flat main effect, and advice on what interacts.
#[test]
fn a_reversed_effect_is_stated_per_level() {
    let times: [&[f64]; 4] = [
        &[60.0, 60.5, 59.5],
        &[90.0, 90.5, 89.5],
        &[80.0, 80.5, 79.5],
        &[62.0, 62.5, 61.5],
    ];
    let factors: [(&str, &[&str]); 2] = [("network", &["n1", "n2"]), ("framework", &["x", "y"])];
    let found = found(&world(&factors, &times));
    let terms = &time(&found).terms;
    let main = terms.iter().find(|t| t.name() == "framework").unwrap();
    assert_eq!(main.reversed_by.as_deref(), Some("network"));
    let sentence = main.sentence.as_ref().unwrap();
    assert!(sentence.contains("with n1, y takes"), "{sentence}");
    assert!(sentence.contains("with n2, y takes"), "{sentence}");
    let text = said(&found);
    assert!(
        !text.contains("\ny takes") && !text.starts_with("y takes"),
        "{text}"
    );
    // Per task the answer is clear, and different.
    assert!(text.contains("Fastest: x for n1; y for n2."), "{text}");
}

/// All of it in three factors together: not "no factor makes a difference".
#[test]
fn what_three_factors_do_together_is_not_nothing() {
    let times: Vec<Vec<f64>> = (0..8u32)
        .map(|cell| {
            let base = if cell.count_ones() % 2 == 0 {
                10.0
            } else {
                20.0
            };
            vec![base, base * 1.01, base * 0.99]
        })
        .collect();
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    let factors: [(&str, &[&str]); 3] =
        [("a", &["0", "1"]), ("b", &["0", "1"]), ("c", &["0", "1"])];
    let found = found(&world(&factors, &times));
    assert_eq!(verdict(&found, "a × b × c"), Verdict::Different);
    let text = said(&found);
    assert!(!text.contains("no difference in time"), "{text}");
    assert!(text.contains("act together"), "{text}");
}

/// The extremes of many levels are picked from the data: an ordinary interval would find something in most studies.
#[test]
fn the_extremes_of_many_levels_are_not_a_planned_pair() {
    let mut state = 5u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let levels: Vec<String> = (0..12).map(|n| format!("l{n}")).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let mut claims = 0;
    for _ in 0..40 {
        let times: Vec<Vec<f64>> = (0..12)
            .map(|_| {
                (0..4)
                    .map(|_| 1.0 + 0.05 * (next() + next() + next() - 1.5))
                    .collect()
            })
            .collect();
        let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
        let found = found(&world(&[("batch", &levels)], &times));
        claims += usize::from(verdict(&found, "batch") == Verdict::Different);
    }
    assert!(claims <= 5, "{claims} of 40");
}

/// "fastest" must not be decided by one outlier of the rival, nor drop the rival that is badly known.
#[test]
fn a_badly_known_rival_stays_a_rival() {
    let times: [&[f64]; 2] = [&[1.00, 1.01, 0.99, 1.00], &[0.97, 0.98, 0.97, 5.00]];
    let found = found(&world(&[("batch", &["a", "b"])], &times));
    assert!(found.best.is_among_fastest(1) && found.best.is_among_fastest(2));
    assert_ne!(verdict(&found, "batch"), Verdict::Different);
}

/// A regular half of three factors, repeated: main effects are told, with what they assume.
#[test]
fn a_fraction_with_repetitions_is_analysed() {
    let times: Vec<Vec<f64>> = (0..8u32)
        .map(|cell| {
            let base = if cell & 4 != 0 { 20.0 } else { 10.0 };
            vec![base, base * 1.02, base * 0.98]
        })
        .collect();
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    let factors: [(&str, &[&str]); 3] =
        [("a", &["0", "1"]), ("b", &["0", "1"]), ("c", &["0", "1"])];
    let mut world = world(&factors, &times);
    world
        .records
        .retain(|r| (r.run.scenario - 1).count_ones() % 2 == 0);
    let found = found(&world);
    assert_eq!(verdict(&found, "a"), Verdict::Different);
    let assumed = time(&found).assumptions.join("\n");
    assert!(
        assumed.contains("interactions are assumed to be zero (a with b × c,"),
        "{assumed}"
    );
}

/// Different numbers of results must not weigh the levels: every combination counts once.
#[test]
fn unbalanced_data_are_weighed_equally() {
    // a1 is slower by 10 within b0 and by 2 within b1; nearly all runs are of b1.
    let times: [&[f64]; 4] = [
        &[10.0, 10.1],
        &[30.0, 30.1, 29.9, 30.0, 30.1, 29.9, 30.0, 30.0, 30.1, 29.9],
        &[20.0, 20.1],
        &[32.0, 32.1, 31.9, 32.0, 32.1, 31.9, 32.0, 32.0, 32.1, 31.9],
    ];
    let factors: [(&str, &[&str]); 2] = [("a", &["a0", "a1"]), ("b", &["b0", "b1"])];
    let found = found(&world(&factors, &times));
    let effect = time(&found)
        .effects
        .iter()
        .find(|e| e.factor == "a")
        .unwrap();
    let expected = match effect.comparison {
        analyse::Comparison::Difference => 6.0,
        analyse::Comparison::Ratio => (20.05_f64 / 10.05 * 32.0 / 30.0).sqrt(),
    };
    assert!(
        (effect.estimate.value / expected - 1.0).abs() < 0.01,
        "{effect:?}"
    );
}

/// Metrics nobody asked for are described: no verdict, however many there are.
#[test]
fn what_nobody_asked_for_is_not_tested() {
    let mut world = Recipe::default().world();
    let memory = |found: &Analysis| {
        let of = found.variation(metric::PEAK_MEMORY_BYTES).unwrap();
        (of.is_asked, of.terms[0].verdict)
    };
    assert_eq!(memory(&found(&world)), (false, Verdict::Described));
    let text = said(&found(&world));
    assert!(!text.contains("memory than"), "{text}");
    world.study.metrics = vec![metric::PEAK_MEMORY_BYTES.to_owned()];
    assert_eq!(memory(&found(&world)), (true, Verdict::Different));
}

/// A small network is not the better choice for someone who needs a large one.
#[test]
fn tasks_are_not_compared_with_each_other() {
    let times: [&[f64]; 4] = [
        &[1.0, 1.01, 0.99],
        &[1.5, 1.51, 1.49],
        &[9.0, 9.05, 8.95],
        &[6.0, 6.05, 5.95],
    ];
    let factors: [(&str, &[&str]); 2] = [
        ("network", &["small", "large"]),
        ("memory", &["1 GB", "2 GB"]),
    ];
    let mut world = world(&factors, &times);
    let by_task = found(&world);
    assert!(by_task.best.is_among_fastest(1) && by_task.best.is_among_fastest(4));
    let text = said(&by_task);
    assert!(
        text.contains("Fastest: 1 GB for small; 2 GB for large."),
        "{text}"
    );
    // The study may say otherwise.
    world.study.roles.insert("network".to_owned(), Role::Choice);
    let one_task = found(&world);
    assert!(one_task.best.is_among_fastest(1) && !one_task.best.is_among_fastest(4));
}

#[test]
fn nothing_to_choose_is_said() {
    let times: [&[f64]; 2] = [&[1.0, 1.01, 0.99], &[2.0, 2.02, 1.98]];
    let found = found(&world(&[("network", &["small", "large"])], &times));
    let text = found.best.sentences.join("\n");
    assert!(text.starts_with("There is nothing to choose"), "{text}");
    assert!(!found.best.is_among_fastest(1));
}

/// Bills alike to the digit are ties: all are named.
#[test]
fn ties_are_ties() {
    let times: [&[f64]; 3] = [&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0], &[2.0, 2.0, 2.0]];
    let found = found(&world(&[("batch", &["a", "b", "c"])], &times));
    let first = &found.best.tasks[0].time.as_ref().unwrap();
    assert_eq!(
        (first.first.as_slice(), first.verdict),
        (&[1, 2][..], Verdict::PracticallyEqual)
    );
    assert_eq!(first.behind.len(), 1);
}

/// By how much more cores are faster is said where they were found to be.
#[test]
fn speed_ups_need_a_difference() {
    let numbers = |times: &[&[f64]]| {
        let mut world = world(&[("cores", &["1", "2"])], times);
        for level in &mut world.study.factors[0].levels {
            *level = Level::from(level.to_string().parse::<i64>().unwrap());
        }
        let found = found(&world);
        let all = found.speed_ups.iter().flat_map(|one| one.sentences.clone());
        said(&found) + &all.collect::<String>()
    };
    let open = numbers(&NOISY);
    assert!(!open.contains("as fast as 1"), "{open}");
    let sure: [&[f64]; 2] = [&[2.0, 2.01, 1.99], &[1.0, 1.01, 0.99]];
    let sure = numbers(&sure);
    assert!(
        sure.contains("2.0× as fast as 1") || sure.contains("2.00× as fast as 1"),
        "{sure}"
    );
}

/// A day on which everything was slower is not noise of the choice.
#[test]
fn days_are_blocks() {
    let days: [&str; 4] = ["mon", "tue", "wed", "thu"];
    let times: Vec<Vec<f64>> = (0..8)
        .map(|cell| {
            let day = [1.0, 1.3, 0.8, 1.5][cell / 2];
            let choice = if cell % 2 == 1 { 1.05 } else { 1.0 };
            vec![10.0 * day * choice, 10.01 * day * choice]
        })
        .collect();
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    let factors: [(&str, &[&str]); 2] = [("day", &days), ("batch", &["a", "b"])];
    let found = found(&world(&factors, &times));
    assert!(time(&found).terms.iter().all(|t| t.name() != "day"));
    assert_eq!(verdict(&found, "batch"), Verdict::Different);
}

/// The same data, gathered by a rule that looked at them while they came in, say less.
#[test]
fn a_study_that_stopped_by_its_data_has_wider_intervals_and_says_so() {
    let times: [&[f64]; 2] = [&[1.00, 1.01, 0.99, 1.0], &[1.10, 1.14, 1.08, 1.11]];
    let mut world = world(&[("batch", &["a", "b"])], &times);
    let fixed = found(&world);
    assert!(fixed.stopping.is_none());
    world.study.repetitions = 10;
    world.study.until = "5%".parse().ok();
    let stopped = found(&world);
    let margin = |found: &Analysis| found.time_of(&found.scenarios[1]).unwrap().margin();
    assert!(margin(&stopped) > margin(&fixed));
    let facts = stopped.stopping.as_ref().unwrap();
    assert_eq!(facts.looks, 6);
    let whys: Vec<_> = facts
        .scenarios
        .iter()
        .map(|one| (one.repetitions, one.why))
        .collect();
    assert_eq!(whys, [(4, Some("precise enough")), (4, None)]);
    assert!(
        facts.sentences[0].contains("8 of 20 runs"),
        "{:?}",
        facts.sentences
    );
    assert!(
        facts.sentences[1].contains("99.17 %"),
        "{:?}",
        facts.sentences
    );
    // Only what the rule still wants is missing: the second scenario up to its next look.
    assert_eq!(stopped.totals.missing, 1);
}

/// The slowest level may be known too badly to be called slower.
#[test]
fn a_pair_that_is_not_the_furthest_is_not_called_the_extremes() {
    let levels: &[&str] = &["a", "b", "c"];
    let known: [&[f64]; 3] = [
        &[1.00, 1.01, 0.99, 1.0],
        &[2.00, 2.01, 1.99, 2.0],
        &[3.00, 3.01, 2.99, 3.0],
    ];
    let text = said(&found(&world(&[("batch", levels)], &known)));
    assert!(text.contains("the extremes of 3 levels"), "{text}");
    let open: [&[f64]; 3] = [known[0], known[1], &[1.0, 6.5, 1.2, 5.3]];
    let text = said(&found(&world(&[("batch", levels)], &open)));
    assert!(!text.contains("the extremes of"), "{text}");
    assert!(
        text.contains("the largest difference between 3 levels that is significant"),
        "{text}"
    );
}

/// Three levels of each: the levels that are furthest apart on average are not those between which the effect changes.
#[test]
fn an_interaction_is_shown_where_it_is() {
    // c is slowest everywhere; a and b change places.
    let times: Vec<Vec<f64>> = [10.0, 16.0, 40.0, 13.0, 13.0, 40.0, 16.0, 10.0, 40.0]
        .map(|time: f64| vec![time, time * 1.01, time * 0.99])
        .to_vec();
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    let factors: [(&str, &[&str]); 2] = [("batch", &["x", "y", "z"]), ("stack", &["a", "b", "c"])];
    let found = found(&world(&factors, &times));
    let terms = &time(&found).terms;
    let together = terms.iter().find(|t| t.factors.len() == 2).unwrap();
    let sentence = together.sentence.as_ref().unwrap();
    for part in ["with x, b takes", "with z, b takes"] {
        assert!(sentence.contains(part), "{sentence}");
    }
    assert!(!sentence.contains("c takes"), "{sentence}");
}

/// Advice to look at a factor counts what it does together with others, and says so.
#[test]
fn what_to_look_at_first_includes_interactions() {
    let times: Vec<Vec<f64>> = [10.0, 10.5, 30.0, 31.5, 31.0, 30.0, 10.4, 10.0]
        .map(|time: f64| vec![time, time * 1.01, time * 0.99])
        .to_vec();
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    // The first two act together; the third does next to nothing.
    let factors: [(&str, &[&str]); 3] = [
        ("memory", &["1", "2"]),
        ("stack", &["a", "b"]),
        ("batch", &["s", "t"]),
    ];
    let text = said(&found(&world(&factors, &times)));
    let advice = text.lines().find(|line| line.contains("first:")).unwrap();
    assert!(!advice.contains("look at batch"), "{advice}");
    assert!(advice.contains("with its interactions"), "{advice}");
}

/// Geometric means in the other order than the means: no "b takes longer" beside "fastest: b".
#[test]
fn a_report_does_not_contradict_itself() {
    let varying: Vec<f64> = (0..40)
        .map(|n| if n % 2 == 0 { 1.0 } else { 100.0 })
        .collect();
    let steady: Vec<f64> = (0..40).map(|n| 25.0 + 0.01 * f64::from(n)).collect();
    let found = found(&world(&[("batch", &["a", "b"])], &[&varying, &steady]));
    let effect = &time(&found).effects[0];
    assert_eq!(effect.comparison, analyse::Comparison::Difference);
    assert!(effect.estimate.value < 0.0, "{effect:?}");
    let text = said(&found);
    assert!(!text.contains("b takes 2.5"), "{text}");
    assert!(!text.contains("as long as"), "{text}");
}

/// Intervals that overlap may belong to a difference that is significant: nobody calls it open.
#[test]
fn overlapping_intervals_are_not_a_verdict() {
    let spread = |centre: f64| -> Vec<f64> {
        (0..30)
            .map(|n| centre + 0.1 * (f64::from(n % 5) - 2.0))
            .collect()
    };
    let (a, b) = (spread(1.0), spread(1.09));
    let found = found(&world(&[("batch", &["a", "b"])], &[&a, &b]));
    let interval = |number: usize| found.time_of(&found.scenarios[number]).unwrap().interval;
    assert!(interval(1).unwrap().low <= interval(0).unwrap().high);
    assert_eq!(verdict(&found, "batch"), Verdict::Different);
    assert!(!said(&found).contains("overlap"), "{}", said(&found));
}

/// Times are above zero, and so is all that may be said of them.
#[test]
fn no_interval_of_a_time_reaches_below_zero() {
    let times: [&[f64]; 3] = [&[0.1, 0.2, 3.0], &[0.1, 5.0], &[4.0, 0.1, 0.1, 9.0]];
    let found = found(&world(&[("batch", &["a", "b", "c"])], &times));
    for scenario in &found.scenarios {
        let interval = found.time_of(scenario).unwrap().interval.unwrap();
        assert!(interval.low >= 0.0, "{}: {interval:?}", scenario.label);
    }
}

/// One scenario with a single run takes nothing from the others.
#[test]
fn a_single_run_is_not_ranked_and_the_others_are() {
    let a: &[f64] = &[10.0, 10.02, 9.98, 10.01, 9.99];
    let c: &[f64] = &[12.0, 12.02, 11.98, 12.01, 11.99];
    let times: [&[f64]; 3] = [a, &[5.0], c];
    let levels: &[&str] = &["a", "b", "c"];
    let one = found(&world(&[("batch", levels)], &times));
    let text = said(&one);
    assert!(
        text.contains(
            "Fastest of the repeated scenarios: C1 (10.0 s); the next, C3, takes 20 % longer on average ["
        ),
        "{text}"
    );
    assert!(text.contains("Not ranked: C2 (one run)."), "{text}");
    assert!(!text.contains("one repetition each"), "{text}");
    assert!(one.best.is_among_fastest(1) && !one.best.is_among_fastest(2));
    assert_eq!(one.answer.recommendations[0].choices, ["a"]);
    // Of two, one of them with a single run, nothing is ranked.
    let times: [&[f64]; 2] = [a, &[5.0]];
    let none = found(&world(&[("batch", &levels[..2])], &times));
    let text = said(&none);
    assert!(
        text.contains("cannot be distinguished from noise"),
        "{text}"
    );
    assert!(!text.contains("one repetition each"), "{text}");
    assert!(!none.best.is_among_fastest(1) && !none.best.is_among_fastest(2));
}

fn tasks(count: usize, choices: [f64; 2]) -> World {
    let names: Vec<String> = (0..count).map(|n| format!("n{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let cells = (0..2 * count).map(|cell| {
        let own = (1 + cell / 2) as f64 * choices[cell % 2];
        vec![own, own * 1.01, own * 0.99, own * 1.005]
    });
    let times: Vec<Vec<f64>> = cells.collect();
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    world(&[("network", &names), ("batch", &["a", "b"])], &times)
}

/// What holds for all tasks but one that was not ranked does not hold for all.
#[test]
fn a_summary_counts_the_tasks_that_were_not_ranked() {
    for count in [3, 8] {
        let mut world = tasks(count, [1.0, 1.5]);
        let all = said(&found(&world));
        assert!(
            all.contains(&format!("Fastest for all {count} tasks: a.")),
            "{all}"
        );
        assert!(!all.contains("Not ranked"), "{all}");
        for repetition in 1..=4 {
            world.end_as(&format!("C5-r{repetition}"), Status::OutOfMemory, "killed");
        }
        let found = found(&world);
        let some = said(&found);
        assert!(!some.contains("for all"), "{some}");
        let ranked = count - 1;
        let first = format!("Fastest for {ranked} of {count} tasks: a.");
        assert!(some.contains(&first), "{some}");
        assert!(
            some.contains("Not ranked: C5 (4 out-of-memory of its 4 runs)."),
            "{some}"
        );
        // The answer counts the same tasks.
        let what = &found.answer.recommendations[0].what;
        assert!(!what.contains("for all"), "{what}");
        let said_so = time(&found).assumptions.iter();
        assert!(
            said_so.clone().any(|a| a.contains("did not succeed")),
            "{:?}",
            time(&found).assumptions
        );
    }
}

/// A level that fails in six of eight runs is no free choice, however fast the other two are.
#[test]
fn a_choice_that_fails_is_not_free() {
    let close: [f64; 8] = [1.000, 1.002, 0.999, 1.001, 1.000, 1.002, 0.999, 1.001];
    let factors: [(&str, &[&str]); 2] = [("batch", &["a", "b"]), ("stack", &["x", "y"])];
    let mut world = world(&factors, &[&close[..]; 4]);
    let free = "have practically no effect on the time: choose by cost or accuracy";
    assert!(
        said(&found(&world)).contains(free),
        "{}",
        said(&found(&world))
    );
    // Scenarios of the first batch.
    for scenario in 1..=2 {
        for repetition in 1..=5 {
            let run = format!("C{scenario}-r{repetition}");
            world.end_as(&run, Status::Failed, "exit code 1");
        }
    }
    let text = said(&found(&world));
    assert!(!text.contains("batch has practically no effect"), "{text}");
    assert!(!text.contains("batch and stack have"), "{text}");
    assert!(text.contains("stack has practically no effect"), "{text}");
}

/// Two single runs are faster than anything that was repeated: the answer does not hide them.
#[test]
fn faster_single_runs_are_named_with_the_answer() {
    let times: [&[f64]; 4] = [
        &[8.01],
        &[8.94],
        &[10.0, 10.1, 9.9, 10.05],
        &[12.0, 12.1, 11.9, 12.05],
    ];
    let factors: [(&str, &[&str]); 1] = [("batch", &["a", "b", "c", "d"])];
    let text = |times: &[&[f64]]| {
        let found = found(&world(&factors, times));
        let sure = found.answer.recommendations[0].how_sure.clone();
        (said(&found), sure)
    };
    let (ranking, sure) = text(&times);
    assert!(
        ranking.contains("Fastest of the repeated scenarios: C3"),
        "{ranking}"
    );
    let once = "C1 and C2 were faster in their only run: repeat them.";
    assert!(ranking.contains(once), "{ranking}");
    assert!(
        sure.ends_with("better than every other that is ranked"),
        "{sure}"
    );
    // Slower ones change nothing in what is the fastest.
    let (ranking, _) = text(&[&[11.0], times[1 + 1], times[3], &[13.0]]);
    assert!(ranking.contains("Fastest: C2"), "{ranking}");
    assert!(!ranking.contains("only run"), "{ranking}");
    let (_, sure) = text(&[times[2], times[3], &[13.0, 13.1], &[14.0, 14.1]]);
    assert!(sure.ends_with("better than every other"), "{sure}");
}

/// The fastest ran once: it is neither on the Pareto set nor off it.
#[test]
fn a_single_run_is_not_settled_for_the_pareto_set() {
    let times: [&[f64]; 3] = [&[8.0], &[10.0, 10.1, 9.9], &[12.0, 12.1, 11.9]];
    let mut world = world(&[("batch", &["a", "b", "c"])], &times);
    world.study.pareto = vec!["time".to_owned(), "accuracy".to_owned()];
    let found = found(&world);
    let text = found.best.sentences.join("\n");
    assert!(text.contains("Pareto set of"), "{text}");
    let open = text.split("; not settled for ").nth(1).unwrap_or_default();
    assert!(open.contains("C1"), "{text}");
}
