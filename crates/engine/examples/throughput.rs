//! Images a second of a network of the zoo on this machine:
//! `cargo run --release -p engine --example throughput -- rede1 digits 32 64 [images] [epochs] [rate] [seed] [threads]`

use std::time::Instant;

use engine::train;
use model::job::{DataJob, TrainJob};
use model::{EventKind, Optimizer};
use network::InputSpec;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |place: usize, default: &str| {
        words
            .get(place)
            .cloned()
            .unwrap_or_else(|| default.to_owned())
    };
    let (name, dataset, side, batch) = (
        word(0, "rede1"),
        word(1, "digits"),
        word(2, "32").parse()?,
        word(3, "64").parse()?,
    );
    let channels = data::info(&dataset).map_or(1, |info| info.channels);
    let graph = network::load(&name)?.instantiate(InputSpec::square(channels, side, 10));
    let graph = graph.map_err(|problems| format!("{problems:?}"))?;
    let plain = TrainJob::plain(serde_json::to_value(graph)?, word(7, "1").parse()?);
    let job = TrainJob {
        data: DataJob {
            dataset,
            image: side,
            images: Some(word(4, "1024").parse()?),
            seed: 1,
            ..plain.data
        },
        epochs: word(5, "2").parse()?,
        batch,
        optimizer: Optimizer::Adam {
            learning_rate: word(6, "1e-3").parse()?,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        },
        threads: word(8, "2").parse().ok(),
        ..plain
    };
    let began = Instant::now();
    let mut steps: Vec<f64> = Vec::new();
    train(&job, &mut |event| match event {
        EventKind::Step {
            seconds: Some(seconds),
            ..
        } => steps.push(seconds),
        EventKind::Epoch { .. } | EventKind::Accuracy { .. } | EventKind::Phase { .. } => {
            println!("{:6.2} s  {event:?}", began.elapsed().as_secs_f64());
        }
        _ => {}
    })?;
    steps.sort_by(f64::total_cmp);
    let (fastest, median) = (steps[0], steps[steps.len() / 2]);
    let per_second = |seconds: f64| f64::from(batch) / seconds;
    println!(
        "{name} {side} px batch {batch}: median step {median:.4} s, {:.0} images/s; best {:.0}",
        per_second(median),
        per_second(fastest)
    );
    Ok(())
}
