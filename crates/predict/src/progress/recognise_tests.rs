use super::*;
use proptest::prelude::*;

fn one(update: &str) -> Observation {
    let found = recognise(update);
    assert_eq!(found.len(), 1, "{update}: {found:?}");
    found.into_iter().next().unwrap()
}

/// `Some((label, done, total))` of a counter of the training.
fn check(
    update: &str,
    epoch: Option<(u64, Option<u64>)>,
    counter: Option<(&str, f64, Option<f64>)>,
) {
    let found = one(update);
    assert_eq!(found.epoch.map(|e| (e.number, e.total)), epoch, "{update}");
    let counted = found.counter.as_ref();
    let counted = counted.filter(|c| c.purpose == Purpose::Training);
    assert_eq!(
        counted.map(|c| (c.label.as_str(), c.done, c.total)),
        counter,
        "{update}"
    );
}

#[test]
fn every_pattern_compiles() {
    let all = [
        &BAR,
        &OPEN_BAR,
        &KERAS,
        &RICH,
        &EPOCH,
        &EPOCH_FRACTION,
        &STEP,
        &BRACKETS,
        &PERCENT,
        &PLANNED,
        &LOSS,
        &ACCURACY,
        &OTHER,
        &OVER,
        &ULTRALYTICS,
    ];
    assert!(all.iter().all(|pattern| pattern.is_some()));
    // This test is built with all tables of `regex`, the program is not.
    let needs_tables =
        |pattern: &&Pattern| pattern.as_ref().is_some_and(|p| p.as_str().contains("(?i"));
    assert!(!all.iter().any(needs_tables));
}

#[test]
fn rows_of_ultralytics() {
    let row = "      3/100      2.1G      1.234      2.345       1.23         16        640";
    check(row, Some((3, Some(100))), None);
    check(
        &format!("{row}:  50%|█████     | 10/20 [00:01<00:01,  8.2it/s]"),
        Some((3, Some(100))),
        Some(("g", 10.0, Some(20.0))),
    );
    check(
        &format!("{row}: 50% ━━━━━━ 10/20 8.2it/s 1.2s"),
        Some((3, Some(100))),
        None,
    );
    // Sizes are no progress.
    assert_eq!(recognise("      3/100      12      1.5"), []);
    assert_eq!(recognise("copied 3/100  2.1G  0.9 s"), []);
}

#[test]
fn bars_of_tqdm() {
    check(
        "  0%|          | 0/100 [00:00<?, ?it/s]",
        None,
        Some(("", 0.0, Some(100.0))),
    );
    check(
        " 45%|████▌     | 45/100 [00:01<00:02, 30.20it/s]",
        None,
        Some(("", 45.0, Some(100.0))),
    );
    check(
        "Epoch 2/10:  45%|####5     | 45/100 [01:01:01<1:00:02,  2.20s/it, loss=0.5]",
        Some((2, Some(10))),
        Some(("epoch", 45.0, Some(100.0))),
    );
    check(
        "Epoch 3:  45%|███  | 45/100 [00:01<00:02, 30.20it/s, v_num=0]",
        Some((3, None)),
        Some(("epoch", 45.0, Some(100.0))),
    );
    check(
        "train: 12%|█ | 1.20k/10.0k [00:01<00:02, 30.20img/s]",
        None,
        Some(("train", 1200.0, Some(10_000.0))),
    );
    check(
        "45% 45/100 [00:01<00:02, 30.20it/s]",
        None,
        Some(("", 45.0, Some(100.0))),
    );
    check(
        "training: 45it [00:01, 30.20it/s]",
        None,
        Some(("training", 45.0, None)),
    );
    assert_eq!(
        one("x: 45%|██ | 45/100 [00:01<00:02, 3it/s, loss=0.5, acc=97.5%]").loss,
        Some(0.5)
    );
    assert_eq!(
        one("x: 45%|██ | 45/100 [00:01<00:02, 3it/s, loss=0.5, acc=97.5%]").accuracy,
        Some(0.975)
    );
    // A bar of epochs has epochs that are over.
    for update in [
        "Epochs:  30%|███       | 3/10 [00:01<00:02,  3.20s/it]",
        " 30%|███       | 3/10 [00:01<00:02,  3.20s/epoch]",
    ] {
        let epoch = one(update).epoch.unwrap();
        assert_eq!(
            (epoch.number, epoch.total, epoch.is_over),
            (3, Some(10), true)
        );
    }
    let two = recognise(
        " 33%|███   | 1/3 [00:00<00:00, 3.93it/s]   50%|███   | 4/8 [00:00<00:00, 32.04it/s]",
    );
    assert_eq!(
        two.iter()
            .map(|o| o.counter.as_ref().unwrap().done)
            .collect::<Vec<f64>>(),
        [1.0, 4.0]
    );
}

#[test]
fn bars_of_keras_and_rich() {
    check(
        " 120/1875 ━━━━━━━━━━━━━━━━━━━━ 3s 2ms/step - accuracy: 0.5 - loss: 1.2",
        None,
        Some(("keras", 120.0, Some(1875.0))),
    );
    check(
        "  32/1875 [..............................] - ETA: 3s - loss: 2.3",
        None,
        Some(("keras", 32.0, Some(1875.0))),
    );
    check(
        "1875/1875 [==============================] - 5s 3ms/step - loss: 0.3",
        None,
        Some(("keras", 1875.0, Some(1875.0))),
    );
    check(
        "16/16 - 1s - 72ms/step - accuracy: 0.1078 - loss: 2.3",
        None,
        Some(("keras", 16.0, Some(16.0))),
    );
    check(
        "  12/Unknown ━━━━━━━━━━━━━━━━━━━━ 3s 2ms/step - loss: 1.2",
        None,
        Some(("keras", 12.0, None)),
    );
    check("Epoch 2/10", Some((2, Some(10))), None);
    let rich = "Epoch 0/2  ━━━━━━━╸━━━━━━━━━━ 4/20 0:00:04 • 0:00:17 0.94it/s train_loss: 2.342";
    check(rich, Some((0, Some(3))), Some(("epoch", 4.0, Some(20.0))));
    assert!(one(rich).epoch.unwrap().is_from_zero);
    assert_eq!(one(rich).loss, Some(2.342));
}

#[test]
fn printed_lines() {
    check(
        "Epoch [1/10], Step [100/600], Loss: 0.5",
        Some((1, Some(10))),
        Some(("", 100.0, Some(600.0))),
    );
    check(
        "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.3",
        Some((1, None)),
        Some(("", 640.0, Some(60_000.0))),
    );
    check(
        "Epoch: [0][  10/5005]\tTime 0.1 (0.2)",
        Some((0, None)),
        Some(("", 10.0, Some(5005.0))),
    );
    check(
        "step 100/10000 | loss 2.3 | val_loss 2.4",
        None,
        Some(("", 100.0, Some(10_000.0))),
    );
    check("iter 100 of 1,000", None, Some(("", 100.0, Some(1000.0))));
    check(
        "I1118 solver.cpp:218] Iteration 100 (5 iter/s, 20s/100 iters), loss = 2.3",
        None,
        Some(("i solver cpp", 100.0, None)),
    );
    check("[3/10] loss 0.5", None, Some(("", 3.0, Some(10.0))));
    check("Progress: 45.5%", None, Some(("", 45.5, Some(100.0))));
    check("45 % done", None, Some(("", 45.0, Some(100.0))));
    check("epoch 3/10 - loss: 0.5", Some((3, Some(10))), None);
    assert!(one("epoch 3/10 - loss: 0.5").is_result && one("Epoch 3/10 finished").is_result);
    assert!(!one("Epoch 3/10").is_result);
    assert_eq!(
        one("{'loss': '0.6933', 'learning_rate': '3.8e-05', 'epoch': '0.5'}").epochs_passed,
        Some(0.5)
    );
    assert_eq!(
        one("{'loss': 0.6933, 'epoch': 1.25}").epochs_passed,
        Some(1.25)
    );
    assert_eq!(
        one("  Total optimization steps = 1,875").planned_steps,
        Some(1875.0)
    );
    assert_eq!(
        one("epoch 3/10 train_loss 1.5e-3 acc 97%").loss,
        Some(1.5e-3)
    );
}

#[test]
fn what_is_not_the_training() {
    for update in [
        "Downloading model.safetensors: 100%|██████████| 440M/440M [00:10<00:00, 44.0MB/s]",
        "Validation DataLoader 0:  40%|████      | 4/10 [00:00<00:00, 30.20it/s]",
        "Epoch 1/3 [Val]:  40%|████      | 4/10 [00:00<00:00, 30.20it/s]",
        "Sanity Checking ━━━━━━━━━━╺━━━━━━━━ 1/2 0:00:00 • -:--:-- 0.00it/s",
        "Test: [ 10/196]  acc 50",
        "Validation epoch 1 [10/20]",
        "Map:  40%|████      | 4/10 [00:00<00:00, 30.20 examples/s]",
    ] {
        let counter = one(update).counter.unwrap();
        assert_eq!(counter.purpose, Purpose::Other, "{update}");
    }
}

#[test]
fn nothing_is_read_into_other_lines() {
    for update in [
        "",
        "hello",
        "loss: 0.5",
        "accuracy 45%",
        "2026/11/18 15:04:05 started",
        "batch 32",
        "batch size: 32",
        "learning rate 1/10",
        "epoch 0.5",
        "Best epoch: 3",
        "Num Epochs = 3",
        "epochs: 10",
        "v1.2/3",
        "step 0.5",
        "Epoch 12/10",
        "[12/10]",
        "GPU 0: 45% used, 3/10 GB",
        "val_loss improved from 0.5 to 0.4",
        "Saved epoch 3/10",
    ] {
        assert_eq!(recognise(update), [], "{update}");
    }
    // Not yet whole.
    assert_eq!(recognise_begun("Epoch 1/1"), []);
    assert_eq!(recognise_begun(" 45%|████ | 45/100 [00:01<00:02, 30.2"), []);
}

proptest! {
    #[test]
    fn any_text_is_borne(text in "\\PC{0,400}", more in "[0-9/%|\\[\\]<, a-zE:]{0,400}") {
        recognise(&text);
        recognise(&more);
        recognise_begun(&more);
    }
}

/// As long as an update can be; time that grows with the square of it would be hours.
#[test]
fn long_lines_take_no_time() {
    for part in [
        "1/2 ",
        "45%|",
        "[1/2",
        "epoch ",
        "step 1 of ",
        "━",
        "1 it [0",
        "10%| | 1/2 [00:00<, ",
    ] {
        recognise(&part.repeat(1_000_000 / part.len()));
    }
}
