//! Whole training jobs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use data::{DataRequest, Images};
use engine::{Predictor, train};
use model::job::{DataJob, PreviewJob, TrainJob};
use model::{EventKind, Optimizer};
use network::{Graph, InputSpec, Weights};

fn graph(name: &str, channels: u32, side: u32) -> Graph {
    network::load(name)
        .unwrap()
        .instantiate(InputSpec::square(channels, side, 10))
        .unwrap()
}

fn job(name: &str, dataset: &str, images: u32) -> TrainJob {
    let channels = data::info(dataset).unwrap().channels;
    let network = serde_json::to_value(graph(name, channels, 28)).unwrap();
    let plain = TrainJob::plain(network, 1);
    TrainJob {
        data: DataJob {
            dataset: dataset.to_owned(),
            image: 28,
            images: Some(images),
            held_out: Some(100),
            ..plain.data
        },
        batch: 16,
        optimizer: Optimizer::Adam {
            learning_rate: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        },
        threads: Some(2),
        ..plain
    }
}

fn events(job: &TrainJob) -> Vec<EventKind> {
    let mut events = Vec::new();
    train(job, &mut |event| events.push(event)).unwrap();
    events
}

fn losses(job: &TrainJob) -> Vec<f64> {
    let steps = events(job).into_iter().filter_map(|event| match event {
        EventKind::Step { loss, .. } => Some(loss.unwrap()),
        _ => None,
    });
    steps.collect()
}

fn accuracy(job: &TrainJob) -> f64 {
    let found = events(job).into_iter().find_map(|event| match event {
        EventKind::Accuracy { value } => Some(value),
        _ => None,
    });
    found.unwrap()
}

/// Phases, and epochs with whether they tell an accuracy.
fn course(job: &TrainJob) -> Vec<String> {
    let told = events(job).into_iter().filter_map(|event| match event {
        EventKind::Phase { phase } => Some(phase),
        EventKind::Epoch {
            epoch, accuracy, ..
        } => Some(format!("epoch {epoch} {}", accuracy.is_some())),
        EventKind::Accuracy { .. } => Some("accuracy".to_owned()),
        _ => None,
    });
    told.skip_while(|word| word != "train").collect()
}

#[test]
fn held_out_images_are_asked_at_the_end_or_after_every_epoch() {
    let at_the_end = TrainJob {
        epochs: 2,
        ..job("rede1", "digits", 32)
    };
    let expected = [
        "train",
        "epoch 1 false",
        "verify",
        "epoch 2 true",
        "accuracy",
    ];
    assert_eq!(course(&at_the_end), expected);
    let each = TrainJob {
        accuracy_each_epoch: true,
        ..at_the_end.clone()
    };
    let expected = [
        "train",
        "verify",
        "epoch 1 true",
        "train",
        "verify",
        "epoch 2 true",
        "accuracy",
    ];
    assert_eq!(course(&each), expected);
    // Asking changes nothing of the training.
    assert_eq!(losses(&each), losses(&at_the_end));
}

#[test]
fn a_preview_ends_after_its_steps_and_times_the_first_answer_apart() {
    let preview = PreviewJob {
        steps: 3,
        held_out_batches: 2,
        enough: None,
        precision: 0.01,
        seconds: None,
    };
    let whole = TrainJob {
        epochs: 4,
        batch: 4,
        ..job("rede1", "digits", 32)
    };
    let short = TrainJob {
        preview: Some(preview.clone()),
        ..whole.clone()
    };
    let expected = ["train", "verify", "verify", "epoch 1 true", "accuracy"];
    assert_eq!(course(&short), expected);
    assert_eq!(losses(&short), losses(&whole)[..3]);
    // A file ends it earlier.
    let enough = std::env::current_exe().unwrap();
    let short = TrainJob {
        preview: Some(PreviewJob {
            enough: Some(enough),
            ..preview
        }),
        ..whole.clone()
    };
    assert_eq!(losses(&short), losses(&whole)[..1]);
}

#[test]
fn the_same_seed_gives_the_same_losses_to_the_last_bit() {
    // The second has dropout.
    for (name, batch) in [("rede2", 16), ("keras-mnist", 4)] {
        let first = TrainJob {
            batch,
            ..job(name, "digits", 5 * batch)
        };
        let again = losses(&first);
        assert_eq!(again.len(), 5);
        assert_eq!(losses(&first), again, "{name}");
        let other = losses(&TrainJob { seed: 2, ..first });
        assert!(
            again.iter().zip(&other).all(|(a, b)| a != b),
            "{name}: {again:?} {other:?}"
        );
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for (name, dataset) in [("rede2", "digits"), ("mobilenet", "digits-colour")] {
        let one = TrainJob {
            threads: Some(1),
            ..job(name, dataset, 48)
        };
        let three = TrainJob {
            threads: Some(3),
            ..one.clone()
        };
        assert_eq!(losses(&one), losses(&three), "{name}");
    }
}

/// The job, reading its images from a cache made for it.
fn from_cache(job: TrainJob, home: &std::path::Path) -> TrainJob {
    let request = DataRequest {
        dataset: job.data.dataset.clone(),
        data_dir: None,
        image: job.data.image,
        images: job.data.images,
        held_out: job.data.held_out,
        seed: job.data.seed,
    };
    let cache = data::cache::prepare(&request, home, false).unwrap().folder;
    let data = DataJob {
        cache: Some(cache),
        ..job.data
    };
    TrainJob { data, ..job }
}

#[test]
fn cached_images_give_the_same_losses_to_the_last_bit() {
    let home = tempfile::tempdir().unwrap();
    for dataset in ["digits", "digits-colour"] {
        let made = TrainJob {
            epochs: 2,
            ..job("lenet5", dataset, 72)
        };
        let cached = from_cache(made.clone(), home.path());
        assert_eq!(losses(&cached), losses(&made));
        assert_eq!(accuracy(&cached), accuracy(&made));
    }
}

#[test]
fn a_cache_of_other_images_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let cached = from_cache(job("lenet5", "digits", 16), home.path());
    let folder = cached.data.cache.clone().unwrap();
    let colour = job("lenet5", "digits-colour", 16);
    let data = cached.data.clone();
    check_error(TrainJob { data, ..colour }, "make them equal");

    let gone = Some(home.path().join("nowhere"));
    let data = DataJob {
        cache: gone,
        ..cached.data.clone()
    };
    check_error(
        TrainJob {
            data,
            ..cached.clone()
        },
        "cannot read",
    );

    // Numbers of someone else's, with a label the network has no place for.
    let images = vec![0.0; 784];
    data::cache::write(&folder, "train", &images, [1, 1, 28, 28], &[10]).unwrap();
    check_error(cached, "10 classes, but the images have 11");
}

#[test]
fn every_part_of_a_job_is_told_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = Some(folder.path().join("trained.safetensors"));
    let events = events(&TrainJob {
        epochs: 2,
        checkpoint,
        ..job("lenet5", "digits", 40)
    });
    let words: Vec<String> = events
        .iter()
        .map(|event| match event {
            EventKind::Phase { phase } => phase.clone(),
            EventKind::Step {
                step,
                epoch,
                images,
                ..
            } => format!("{step}/{} {}", epoch.unwrap(), images.unwrap()),
            EventKind::Epoch { epoch, .. } => format!("epoch {epoch}"),
            EventKind::Accuracy { .. } => "accuracy".to_owned(),
            EventKind::Framework { name, .. } => name.clone(),
            other => format!("{other:?}"),
        })
        .collect();
    // 40 images in batches of 16: the last batch of an epoch is what is left.
    let expected = [
        "load-data",
        "start",
        "engine",
        "train",
        "1/1 16",
        "2/1 16",
        "3/1 8",
        "epoch 1",
        "4/2 16",
        "5/2 16",
        "6/2 8",
        "verify",
        "epoch 2",
        "accuracy",
        "save",
    ];
    assert_eq!(words, expected);
}

#[test]
fn the_loss_of_an_epoch_is_the_mean_over_its_images() {
    let events = events(&job("lenet5", "digits", 40));
    let mut sum = 0.0;
    for event in &events {
        match event {
            EventKind::Step {
                loss: Some(loss),
                images: Some(images),
                ..
            } => sum += loss * *images as f64,
            EventKind::Epoch {
                loss: Some(loss), ..
            } => assert!((loss - sum / 40.0).abs() < 1e-12),
            _ => {}
        }
    }
    assert!(sum > 0.0);
}

#[test]
fn rede1_learns_digits() {
    let job = TrainJob {
        batch: 8,
        ..job("rede1", "digits", 300)
    };
    let held_out = Some(200);
    let data = DataJob {
        held_out,
        ..job.data.clone()
    };
    let optimizer = Optimizer::Adam {
        learning_rate: 2e-3,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
    };
    let found = accuracy(&TrainJob {
        epochs: 3,
        data,
        optimizer,
        ..job
    });
    assert!(found > 0.95, "{found}");
}

#[test]
fn sgd_learns_too() {
    let optimizer = Optimizer::Sgd {
        learning_rate: 0.02,
        momentum: 0.9,
    };
    let losses = losses(&TrainJob {
        optimizer,
        epochs: 3,
        ..job("lenet5", "digits", 300)
    });
    let (first, last) = (losses[0], losses[losses.len() - 1]);
    assert!(last < first / 2.0, "{first} → {last}");
}

#[test]
fn a_saved_network_answers_as_the_trained_one_did() {
    // Batch-norm's gathered statistics must be saved too, and dropout must not be in the answers.
    let text = r#"
        name = "normed"
        layers = [
          { conv = { k = 3, o = 8, p = 1 } }, "batch-norm", "relu", { max-pool = { k = 4 } },
          "flatten", { dropout = { rate = 0.2 } }, { dense = { o = "classes" } },
        ]
    "#;
    let graph = network::parse(text)
        .unwrap()
        .instantiate(InputSpec::square(1, 28, 10))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trained.safetensors");
    let job = TrainJob {
        network: serde_json::to_value(&graph).unwrap(),
        checkpoint: Some(path.clone()),
        epochs: 3,
        ..job("lenet5", "digits", 200)
    };
    let told = accuracy(&job);
    let weights = Weights::from_bytes(&std::fs::read(&path).unwrap()).unwrap();
    assert!((0.3..1.0).contains(&told), "{told} would show little");
    let predictor = Predictor::new(graph, &weights, "cpu", Some(1)).unwrap();
    let request = DataRequest {
        dataset: job.data.dataset.clone(),
        data_dir: None,
        image: 28,
        images: Some(1),
        held_out: Some(100),
        seed: 1,
    };
    let images: Images = data::load(&request).unwrap().held_out;
    let all: Vec<usize> = (0..images.len()).collect();
    let answers = predictor.predict(&images.normalised(&all)).unwrap();
    let right = answers
        .iter()
        .zip(&images.labels)
        .filter(|(answer, label)| answer.class == usize::from(**label));
    assert_eq!(right.count() as f64 / images.len() as f64, told);
    let sum: f32 = answers[0].probabilities.iter().sum();
    assert!((sum - 1.0).abs() < 1e-5);
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing but the checkpoint is left"
    );
}

#[test]
fn a_loss_that_is_lost_is_said_once() {
    let optimizer = Optimizer::Sgd {
        learning_rate: 1e20,
        momentum: 0.9,
    };
    let events = events(&TrainJob {
        optimizer,
        ..job("lenet5", "digits", 80)
    });
    let notes = events.iter().filter(
        |event| matches!(event, EventKind::Note { text } if text.contains("learning rate")),
    );
    assert_eq!(notes.count(), 1);
}

fn check_error(job: TrainJob, expected: &str) {
    let error = train(&job, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn jobs_that_cannot_be_done_say_why() {
    let good = job("lenet5", "digits", 16);
    check_error(
        TrainJob {
            protocol: 99,
            ..good.clone()
        },
        "protocol 99",
    );
    check_error(
        TrainJob {
            network: serde_json::json!({"nodes": 1}),
            ..good.clone()
        },
        "not a layer graph",
    );
    check_error(
        TrainJob {
            batch: 0,
            ..good.clone()
        },
        "`batch` is 0",
    );
    check_error(
        TrainJob {
            threads: Some(0),
            ..good.clone()
        },
        "`threads` is 0",
    );
    check_error(
        TrainJob {
            device: "tpu".to_owned(),
            ..good.clone()
        },
        "only on `cpu`, not on `tpu`",
    );
    let smaller = DataJob {
        image: 20,
        ..good.data.clone()
    };
    check_error(
        TrainJob {
            data: smaller,
            ..good.clone()
        },
        "expects 1 × 28 × 28 values, but the images are 1 × 20 × 20",
    );
    let colour = DataJob {
        dataset: "digits-colour".to_owned(),
        ..good.data.clone()
    };
    check_error(
        TrainJob {
            data: colour,
            ..good.clone()
        },
        "make them equal",
    );
    let nowhere = Some(std::path::PathBuf::from("no such folder/trained"));
    check_error(
        TrainJob {
            checkpoint: nowhere,
            ..good
        },
        "could not be saved",
    );
}
