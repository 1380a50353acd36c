//! Searches replayed on simulated clouds: how good the choice is, from how much of the machine time. See bench/search.
//!
//! `cargo run --release -p predict --example search -- [TRIALS] [FAMILY]`

#![expect(clippy::unwrap_used, reason = "what is printed is known to be there")]

#[path = "../tests/searching/cloud.rs"]
mod cloud;

use std::time::Instant;

use cloud::{Cloud, Family, Random, Replayed, replay};
use predict::search::{Observation, Search, WHOLE};

fn main() {
    let mut arguments = std::env::args().skip(1);
    step_times();
    let trials: u64 = arguments.next().map_or(40, |text| text.parse().unwrap());
    let only = arguments.next();
    println!(
        "| cloud | scenarios | goal | within 5 % of the best | median share of time | 95th percentile | runs | settled, and right |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for family in Family::ALL {
        if only.as_ref().is_some_and(|only| only != family.name()) {
            continue;
        }
        for goal in cloud::GOALS {
            let begin = Instant::now();
            let found: Vec<Replayed> = (0..trials)
                .map(|seed| replay(family, 24, goal, seed))
                .collect();
            let share = |is: &dyn Fn(&Replayed) -> bool| {
                100.0 * found.iter().filter(|r| is(r)).count() as f64 / found.len() as f64
            };
            let mut times: Vec<f64> = found.iter().map(|r| r.time_share).collect();
            times.sort_by(f64::total_cmp);
            let at = |q: f64| 100.0 * stats::quantile(&times, q).unwrap();
            let settled: Vec<&Replayed> = found.iter().filter(|r| r.is_settled).collect();
            let right = settled.iter().filter(|r| r.is_close).count();
            let runs = found.iter().map(|r| r.runs).sum::<usize>() / found.len();
            println!(
                "| {} | {} | {} | {:.0} % | {:.1} % | {:.1} % | {runs} | {}, {right} |",
                family.name(),
                found[0].scenarios,
                goal.name,
                share(&|r| r.is_close),
                at(0.5),
                at(0.95),
                settled.len(),
            );
            eprintln!(
                "{:.1} s a trial",
                begin.elapsed().as_secs_f64() / trials as f64
            );
        }
    }
}

/// One step over ten thousand scenarios.
fn step_times() {
    let cloud = Cloud::new(Family::Roofline, 209, 1);
    let question = cloud.question(cloud::GOALS[2], 1);
    let mut random = Random::new(1);
    for runs in [50, 100, 200] {
        let points = (0..runs).map(|place| place * 7919 % cloud.space.points.len());
        let observed: Vec<Observation> = points
            .map(|point| cloud.observe(point, WHOLE, &mut random))
            .collect();
        let begin = Instant::now();
        let search = Search::new(&cloud.space, &question, &observed);
        let step = search.step(&[WHOLE], &|_| true);
        println!(
            "a step over {} scenarios after {runs} runs: {:.2} s ({step:?})",
            cloud.space.points.len(),
            begin.elapsed().as_secs_f64()
        );
    }
    println!();
}
