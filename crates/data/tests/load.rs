//! Whole datasets, from a request to images.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use data::{DataRequest, Dataset, load};

fn request(dataset: &str, image: u32) -> DataRequest {
    DataRequest {
        dataset: dataset.to_owned(),
        data_dir: None,
        image,
        images: Some(50),
        held_out: Some(20),
        seed: 7,
    }
}

fn digits(dataset: &str, image: u32) -> Dataset {
    load(&request(dataset, image)).unwrap()
}

/// A number that changes with any byte (FNV-1a).
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[test]
fn drawn_images_never_change() {
    // Results of studies stand on these images: a change of the generator must be a decision.
    assert_eq!(fingerprint(&digits("digits", 28).train.pixels), GREY);
    assert_eq!(
        fingerprint(&digits("digits-colour", 32).train.pixels),
        COLOUR
    );
    assert_eq!(fingerprint(&digits("digits", 64).held_out.pixels), GREY_64);
}
const GREY: u64 = 0xF0CAE89418901FEE;
const COLOUR: u64 = 0x0373C46745881428;
const GREY_64: u64 = 0x24F2EA9AEE4E3FC5;

#[test]
fn the_first_images_do_not_depend_on_how_many_are_drawn() {
    let few = digits("digits", 28);
    let many = load(&DataRequest {
        images: Some(80),
        held_out: Some(33),
        ..request("digits", 28)
    })
    .unwrap();
    assert_eq!(
        many.train.pixels[..few.train.pixels.len()],
        few.train.pixels
    );
    assert_eq!(many.train.labels[..50], few.train.labels);
    assert_eq!(many.held_out.labels[..20], few.held_out.labels);
}

#[test]
fn classes_are_counted() {
    let counts = data::count(&request("digits", 28), Path::new("")).unwrap();
    assert_eq!(counts.train, [5; 10]);
    assert_eq!(counts.held_out, [2; 10]);
    assert!(counts.class_names.is_empty());
}

#[test]
fn every_digit_comes_equally_often() {
    for dataset in ["digits", "digits-colour"] {
        let mut counts = [0; 10];
        for label in digits(dataset, 28).train.labels {
            counts[usize::from(label)] += 1;
        }
        assert_eq!(counts, [5; 10]);
    }
}

#[test]
fn seeds_and_parts_differ() {
    let first = digits("digits", 28);
    let other = load(&DataRequest {
        seed: 8,
        ..request("digits", 28)
    })
    .unwrap();
    assert_ne!(first.train.pixels, other.train.pixels);
    assert_ne!(first.train.pixels[..20 * 784], first.held_out.pixels);
}

#[test]
fn images_have_the_size_asked() {
    for (dataset, channels) in [("digits", 1), ("digits-colour", 3)] {
        for side in [8, 28, 32, 64] {
            let images = digits(dataset, side).train;
            assert_eq!(
                (images.channels, images.height, images.width),
                (channels, side, side)
            );
            assert_eq!(images.pixels.len(), 50 * (channels * side * side) as usize);
        }
    }
}

#[test]
fn a_digit_has_ink_and_paper() {
    let images = digits("digits", 28).train;
    for index in 0..images.len() {
        let ink = images
            .image(index)
            .iter()
            .filter(|&&pixel| pixel > 128)
            .count();
        assert!(
            (20..350).contains(&ink),
            "image {index}, digit {}: {ink} bright pixels",
            images.labels[index]
        );
    }
}

fn check_error(request: DataRequest, expected: &str) {
    let error = load(&request).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn impossible_requests_are_refused() {
    check_error(
        request("minst", 28),
        "unknown dataset `minst`; known: digits, digits-colour, mnist, fashion-mnist, cifar10, cifar100, folder",
    );
    check_error(request("mnist", 28), "set their folder as `data_dir`");
    check_error(request("digits", 0), "choose 1 to 1024");
    check_error(
        DataRequest {
            images: Some(0),
            ..request("digits", 28)
        },
        "use at least 1",
    );
}

#[test]
fn no_held_out_images_may_be_asked() {
    let dataset = load(&DataRequest {
        held_out: Some(0),
        ..request("digits", 28)
    })
    .unwrap();
    assert!(dataset.held_out.is_empty());
}

fn write_idx(path: &Path, magic: u32, sizes: &[u32], body: &[u8]) {
    let header = std::iter::once(&magic)
        .chain(sizes)
        .flat_map(|word| word.to_be_bytes());
    fs::write(
        path,
        header.chain(body.iter().copied()).collect::<Vec<u8>>(),
    )
    .unwrap();
}

fn write_mnist(folder: &Path, mark: &str) {
    for (part, count) in [("train", 3u32), ("t10k", 2)] {
        let pixels: Vec<u8> = (0..count * 4).map(|value| value as u8).collect();
        let labels: Vec<u8> = (0..count).map(|value| value as u8).collect();
        write_idx(
            &folder.join(format!("{part}-images{mark}idx3-ubyte")),
            0x803,
            &[count, 2, 2],
            &pixels,
        );
        write_idx(
            &folder.join(format!("{part}-labels{mark}idx1-ubyte")),
            0x801,
            &[count],
            &labels,
        );
    }
}

fn files_request(dataset: &str, folder: &Path, image: u32) -> DataRequest {
    DataRequest {
        data_dir: Some(folder.to_owned()),
        images: None,
        held_out: None,
        ..request(dataset, image)
    }
}

#[test]
fn mnist_folders_are_read_whatever_the_mark_in_the_name() {
    for mark in ["-", "."] {
        let folder = tempfile::tempdir().unwrap();
        write_mnist(folder.path(), mark);
        let dataset = load(&files_request("mnist", folder.path(), 2)).unwrap();
        assert_eq!(dataset.train.labels, [0, 1, 2]);
        assert_eq!(dataset.train.image(1), [4, 5, 6, 7]);
        assert_eq!(dataset.held_out.labels, [0, 1]);
        let larger = load(&files_request("mnist", folder.path(), 4)).unwrap();
        assert_eq!(larger.train.pixels.len(), 3 * 16);
    }
}

#[test]
fn mnist_mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    check_error(
        files_request("mnist", path, 2),
        "no file train-images-idx3-ubyte or train-images.idx3-ubyte",
    );
    fs::write(path.join("train-images-idx3-ubyte.gz"), [0x1F, 0x8B]).unwrap();
    check_error(
        files_request("mnist", path, 2),
        "unpack it first: gunzip -k ",
    );
    write_mnist(path, "-");
    check_error(
        DataRequest {
            images: Some(4),
            ..files_request("mnist", path, 2)
        },
        "`mnist` has 3",
    );
    write_idx(&path.join("train-labels-idx1-ubyte"), 0x801, &[1], &[0]);
    check_error(files_request("mnist", path, 2), "has 3 images, but");
    fs::write(path.join("train-images-idx3-ubyte"), [0, 0, 8, 3, 0]).unwrap();
    check_error(
        files_request("mnist", path, 2),
        "train-images-idx3-ubyte: ends after 5 of 16 bytes",
    );
}

#[test]
fn cifar_folders_are_read_in_order_and_only_as_far_as_needed() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("cifar-10-batches-bin");
    fs::create_dir(&inner).unwrap();
    let record = |label: u8| [vec![label], vec![label * 10; 3072]].concat();
    fs::write(
        inner.join("data_batch_1.bin"),
        [record(1), record(2)].concat(),
    )
    .unwrap();
    fs::write(inner.join("test_batch.bin"), record(5)).unwrap();
    let two = DataRequest {
        images: Some(2),
        ..files_request("cifar10", folder.path(), 32)
    };
    let dataset = load(&two).unwrap();
    assert_eq!(dataset.train.labels, [1, 2]);
    assert_eq!(dataset.held_out.image(0), vec![50; 3072]);
    let counts = data::count(&two, Path::new("")).unwrap();
    assert_eq!(counts.train, [0, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(counts.held_out, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    check_error(
        files_request("cifar10", folder.path(), 32),
        "no file data_batch_2.bin",
    );
}
