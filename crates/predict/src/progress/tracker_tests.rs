use super::*;
use crate::progress::{Cutter, recognise};
use proptest::prelude::*;

/// Every position of an output.
fn positions(given: Given, output: &[u8]) -> Vec<Position> {
    let (mut cutter, mut tracker) = (Cutter::default(), Tracker::new(given));
    let mut seen = Vec::new();
    cutter.push(output, |update| {
        for observation in recognise(update) {
            seen.extend(tracker.observe(&observation));
        }
    });
    cutter.finish(|update| {
        for observation in recognise(update) {
            seen.extend(tracker.observe(&observation));
        }
    });
    seen
}

fn lines(lines: &[&str]) -> Vec<u8> {
    lines.join("\n").into_bytes()
}

fn last(given: Given, output: &[u8]) -> (Scope, f64, Option<f64>) {
    let position = *positions(given, output).last().unwrap();
    (position.scope, position.done, position.total)
}

fn epochs(epochs: u64) -> Given {
    Given {
        epochs: Some(epochs),
        ..Given::default()
    }
}

const BARE: Given = Given {
    epochs: None,
    steps: None,
};

/// The output of real programs, captured in a terminal.
#[test]
fn real_programs_are_followed_to_their_end() {
    let check = |given: Given, output: &[u8], total: f64| {
        let seen = positions(given, output);
        let run: Vec<&Position> = seen.iter().filter(|p| p.scope == Scope::Run).collect();
        let end = *run.last().unwrap();
        assert_eq!(
            (end.unit, end.done, end.total),
            (Unit::Epochs, total, Some(total))
        );
        assert!(
            run.windows(2).all(|two| two[0].done <= two[1].done),
            "{run:?}"
        );
        assert!(run.iter().all(|p| p.total == Some(total)), "{run:?}");
        // Steps are seen, not only whole epochs; and nothing else is taken for the run's end.
        let inside = run.iter().filter(|p| p.done.fract() != 0.0).count();
        assert!(inside >= 2, "{inside}");
        let early = run.iter().take_while(|p| p.done < total).count();
        assert!(
            run.len() - early <= run.len() / 3,
            "{early} of {}",
            run.len()
        );
    };
    check(BARE, include_bytes!("fixtures/tqdm.tty"), 3.0);
    check(BARE, include_bytes!("fixtures/keras.tty"), 3.0);
    check(BARE, include_bytes!("fixtures/nested.tty"), 3.0);
    check(BARE, include_bytes!("fixtures/printed.tty"), 2.0);
    check(BARE, include_bytes!("fixtures/hf.tty"), 2.0);
    check(BARE, include_bytes!("fixtures/lightning.tty"), 3.0);
    check(
        epochs(3),
        include_bytes!("fixtures/lightning_tqdm.tty"),
        3.0,
    );
}

#[test]
fn without_the_number_of_epochs_there_is_no_end_of_the_run() {
    let seen = positions(BARE, include_bytes!("fixtures/lightning_tqdm.tty"));
    assert!(
        !seen.is_empty()
            && seen
                .iter()
                .all(|p| p.scope == Scope::Counter && p.total.is_none())
    );
    // One bar may be followed by others.
    let bar = |done: u64| format!("{done}%|██  | {done}/100 [00:01<00:02, 3it/s]\r");
    let output: String = [0, 50, 100, 0, 20].map(bar).concat();
    assert_eq!(
        last(BARE, output.as_bytes()),
        (Scope::Counter, 20.0, Some(100.0))
    );
    assert_eq!(
        last(epochs(4), output.as_bytes()),
        (Scope::Run, 1.2, Some(4.0))
    );
    let steps = Given {
        steps: Some(400),
        epochs: None,
    };
    assert_eq!(
        last(steps, output.as_bytes()),
        (Scope::Run, 120.0, Some(400.0))
    );
    // More passes than were given: what was given is wrong.
    let output: String = [0, 100, 0, 100, 0, 20].map(bar).concat();
    assert_eq!(
        last(epochs(2), output.as_bytes()),
        (Scope::Counter, 20.0, Some(100.0))
    );
    let caffe = lines(&["Iteration 100, loss = 2", "Iteration 200, loss = 1"]);
    assert_eq!(last(BARE, &caffe), (Scope::Counter, 200.0, None));
    assert_eq!(last(steps, &caffe), (Scope::Run, 200.0, Some(400.0)));
}

#[test]
fn epochs_that_begin_and_epochs_that_end() {
    let check = |output: &[&str], done: f64, more: f64, ahead: f64| {
        let position = *positions(BARE, &lines(output)).last().unwrap();
        assert_eq!(
            (position.done, position.more, position.ahead),
            (done, more, ahead),
            "{output:?}"
        );
    };
    check(&["Epoch 1/10", "Epoch 2/10"], 1.0, 0.0, 1.0);
    check(
        &["Epoch 1/10 loss: 0.5", "Epoch 2/10 loss: 0.4"],
        2.0,
        0.0,
        0.0,
    );
    check(&["Epoch 1/10", "step 5/10"], 0.5, 0.0, 0.0);
    check(&["Epoch 1/10 loss: 0.5", "step 5/10"], 1.5, 0.0, 0.0);
    // Of ten or of eleven.
    check(&["Epoch 0/10, step 5/10"], 0.5, 1.0, 0.0);
    check(&["Epoch 5/10 [50/100]"], 4.5, 0.0, 0.0);
    check(
        &["Epochs: 30%|██ | 3/10 [00:01<00:02, 3s/it]"],
        3.0,
        0.0,
        0.0,
    );
}

#[test]
fn what_is_beside_the_training_does_not_count() {
    let check = |output: &[&str], expected: (Scope, f64, Option<f64>)| {
        assert_eq!(last(BARE, &lines(output)), expected, "{output:?}");
    };
    let run = |done: f64| (Scope::Run, done, Some(4.0));
    check(
        &["[50/100] images read", "Epoch 1/4", "5/10 ━━━━ 1s 1ms/step"],
        run(0.5),
    );
    check(
        &[
            "Epoch 1/4",
            "10/10 ━━━━ 1s 1ms/step",
            "3/10 ━━━━ 1s 1ms/step",
        ],
        run(1.0),
    );
    check(
        &["Epoch 1/4 [5/10]", "Epoch 1/4 Validation [9/9]"],
        run(0.5),
    );
    check(
        &[
            "Epoch 3/4 [5/10]",
            "best was epoch 1/4",
            "epoch 1/4 was best, loss 0.1",
        ],
        run(2.5),
    );
    check(&["Epoch 3/4 [5/10]", "Epoch 3/4 [4/10]"], run(2.5));
    // A second training: nobody knows how many there are.
    let again = ["Epoch 1/4 [5/10]", "Epoch 4/4 [10/10]", "Epoch 1/4 [5/10]"];
    check(&again, (Scope::Counter, 0.5, None));
}

#[test]
fn a_bar_with_evaluation_inside_is_not_nested() {
    let bar = |done: u64, total: u64| {
        format!(
            "{}%|██  | {done}/{total} [00:01<00:02, 3it/s]",
            100 * done / total
        )
    };
    let mut output: Vec<String> = (0..=40).map(|done| bar(done, 80)).collect();
    output.extend((0..=20).map(|done| bar(done, 20)));
    output.push(bar(41, 80));
    let output: Vec<&str> = output.iter().map(String::as_str).collect();
    assert_eq!(
        last(BARE, &lines(&output)),
        (Scope::Counter, 41.0, Some(80.0))
    );
    // Announced as the whole training.
    let announced: Vec<&str> = std::iter::once("  Total optimization steps = 80")
        .chain(output)
        .collect();
    assert_eq!(
        last(BARE, &lines(&announced)),
        (Scope::Run, 41.0, Some(80.0))
    );
}

proptest! {
    #[test]
    fn any_bytes_are_borne(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        positions(BARE, &bytes);
    }

    #[test]
    fn positions_are_inside_the_run(words in proptest::collection::vec(0usize..12, 0..60), given in 0u64..4) {
        const WORDS: [&str; 12] = [
            "Epoch 1/3", "Epoch 2/3", "Epoch 0/3 [2/5]", "Epoch 3/3 loss 0.5", "step 3/9", "step 9/9", "step 0/9",
            "{'epoch': '0.5'}", "50%|██ | 5/10 [00:01<00:02, 3it/s]", "0%|██ | 0/10 [00:01<00:02, 3it/s]",
            "90%|██ | 3/4 [00:01<00:02, 3it/s]", "Epochs: 10%|█ | 2/5 [00:01<00:02, 3it/s]",
        ];
        let output: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        let given = Given { epochs: (given > 0).then_some(given), steps: None };
        for position in positions(given, &lines(&output)) {
            prop_assert!(position.done >= 0.0 && position.total.is_none_or(|total| position.done <= total));
            prop_assert!(position.scope == Scope::Counter || position.total.is_some());
        }
    }
}
