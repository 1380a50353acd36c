//! Searches on clouds whose truth is known.

mod cloud;

use cloud::{Cloud, Family, GOALS, Random, replay};
use predict::search::{Observation, Search, Seen, Step, WHOLE};

/// The whole table is in docs/benchmarks.md, by the example `search`.
#[test]
fn a_nearly_best_choice_is_found() {
    for family in Family::ALL {
        let found = replay(family, 5, GOALS[1], 3);
        let goal = GOALS[1].name;
        assert!(found.is_close, "{} {goal}: {found:?}", family.name());
        assert!(
            found.runs < found.scenarios / 2 && found.time_share <= 0.1,
            "{found:?}"
        );
        assert!(found.is_settled || found.time_share > 0.09, "{found:?}");
    }
}

#[test]
fn few_runs_settle_nothing() {
    let cloud = Cloud::new(Family::Drawn, 5, 1);
    let question = cloud.question(GOALS[0], 1);
    let mut random = Random::new(1);
    let runs = (0..12).map(|place| cloud.observe(place * 19, WHOLE, &mut random));
    let observed: Vec<Observation> = runs.collect();
    let search = Search::new(&cloud.space, &question, &observed);
    assert!(matches!(search.step(&[WHOLE], &|_| true), Step::Observe(_)));
    assert_eq!(search.step(&[WHOLE], &|_| false), Step::Exhausted);
}

#[test]
fn the_same_observations_give_the_same_step() {
    let cloud = Cloud::new(Family::Cliffs, 5, 1);
    let question = cloud.question(GOALS[2], 9);
    let mut random = Random::new(1);
    let runs = (0..20).map(|place| cloud.observe(place * 11, WHOLE, &mut random));
    let observed: Vec<Observation> = runs.collect();
    let step = || Search::new(&cloud.space, &question, &observed).step(&[WHOLE], &|_| true);
    assert_eq!(step(), step());
}

/// Another place gets a different run while one is in progress.
#[test]
fn a_run_in_progress_is_not_proposed_again() {
    let cloud = Cloud::new(Family::Scaling, 5, 1);
    let question = cloud.question(GOALS[0], 9);
    let mut random = Random::new(1);
    let runs = (0..20).map(|place| cloud.observe(place * 11, WHOLE, &mut random));
    let mut observed: Vec<Observation> = runs.collect();
    let point = |observed: &[Observation]| match Search::new(&cloud.space, &question, observed)
        .step(&[WHOLE], &|_| true)
    {
        Step::Observe(proposal) => Some(proposal.point),
        Step::Settled | Step::Exhausted => None,
    };
    let first = point(&observed);
    observed.push(Observation {
        point: first.unwrap_or(0),
        values: Vec::new(),
        outcome: Seen::InProgress,
        fidelity: 1.0,
        noise: 0.0,
    });
    let second = point(&observed);
    assert!(second.is_some() && second != first, "{first:?} {second:?}");
}

#[test]
fn nothing_is_chosen_that_fails_or_breaks_a_limit() {
    let cloud = Cloud::new(Family::Scaling, 5, 1);
    let mut question = cloud.question(GOALS[2], 9);
    // No scenario takes less than a second.
    question.constraints[0].limit = 0.0;
    let mut random = Random::new(1);
    let runs = (0..20).map(|place| cloud.observe(place * 11, WHOLE, &mut random));
    let observed: Vec<Observation> = runs.collect();
    let search = Search::new(&cloud.space, &question, &observed);
    assert_eq!(search.standings()[0].chosen, None);
    assert!(!matches!(search.step(&[WHOLE], &|_| true), Step::Settled));
}
