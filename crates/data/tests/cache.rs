//! Caches: made once, the same numbers as in memory, whole or made again.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use data::cache::{self, Cached, open, prepare};
use data::{DataRequest, load};

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

/// A tiny MNIST: three training images, two held out, of 2 × 2 pixels.
fn write_mnist(folder: &Path, pixel: u8) {
    fs::create_dir_all(folder).unwrap();
    let write = |name: &str, magic: u32, sizes: &[u32], body: Vec<u8>| {
        let words = [&[magic], sizes].concat();
        let header = words.iter().flat_map(|word| word.to_be_bytes());
        fs::write(folder.join(name), header.chain(body).collect::<Vec<u8>>()).unwrap();
    };
    for (part, count) in [("train", 3u32), ("t10k", 2)] {
        let pixels = vec![pixel; 4 * count as usize];
        let labels = (0..count as u8).collect();
        let images = format!("{part}-images-idx3-ubyte");
        write(&images, 0x803, &[count, 2, 2], pixels);
        write(
            &format!("{part}-labels-idx1-ubyte"),
            0x801,
            &[count],
            labels,
        );
    }
}

fn mnist(folder: Option<&Path>) -> DataRequest {
    DataRequest {
        data_dir: folder.map(Path::to_owned),
        images: None,
        held_out: None,
        ..request("mnist", 2)
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_cache_holds_the_numbers_that_memory_would() {
    let home = tempfile::tempdir().unwrap();
    for (dataset, image) in [("digits", 28), ("digits", 33), ("digits-colour", 17)] {
        let request = request(dataset, image);
        let cached = prepare(&request, home.path(), false).unwrap();
        let opened = open(&cached.folder).unwrap();
        let memory = load(&request).unwrap();
        assert_eq!(opened.classes, Some(10));
        for (cached, memory) in [
            (&opened.train, &memory.train),
            (&opened.held_out, &memory.held_out),
        ] {
            assert_eq!(cached.labels, memory.labels);
            assert_eq!((cached.height, cached.width), (image, image));
            let all: Vec<usize> = (0..memory.len()).collect();
            assert_eq!(cached.batch(&all).unwrap(), memory.normalised(&all));
            let some = [19, 0, 7, 7];
            assert_eq!(cached.batch(&some).unwrap(), memory.normalised(&some));
        }
    }
}

#[test]
fn the_files_are_what_is_documented() {
    let home = tempfile::tempdir().unwrap();
    let cached = prepare(&request("digits", 28), home.path(), true).unwrap();
    let expected = [
        "cache.json",
        "held-out-images.npy",
        "held-out-labels.npy",
        "train-images.npy",
        "train-labels.npy",
        "train-raw.npy",
    ];
    assert_eq!(names(&cached.folder), expected.map(str::to_owned).into());
    assert!(cached.folder.starts_with(home.path().join("data/cache")));
    let images = fs::read(cached.folder.join("train-images.npy")).unwrap();
    assert_eq!(images.len(), 128 + 4 * 50 * 28 * 28);
    let raw = fs::read(cached.folder.join("train-raw.npy")).unwrap();
    let memory = load(&request("digits", 28)).unwrap();
    assert_eq!(raw[128..], memory.train.pixels);
    let files = names(&cached.folder).into_iter();
    let sizes = files.map(|name| fs::metadata(cached.folder.join(name)).unwrap().len());
    assert_eq!(cached.bytes, sizes.sum::<u64>());
}

#[test]
fn raw_images_keep_their_own_size_and_can_be_added_later() {
    let home = tempfile::tempdir().unwrap();
    let without = prepare(&request("digits", 40), home.path(), false).unwrap();
    let images = without.folder.join("train-images.npy");
    let before = fs::metadata(&images).unwrap().modified().unwrap();
    // As if a process had ended in the middle of it.
    fs::write(without.folder.join("train-raw.npy.part-1-1"), "…").unwrap();
    let with = prepare(&request("digits", 40), home.path(), true).unwrap();
    assert!(with.made);
    assert_eq!(with.folder, without.folder);
    assert_eq!(fs::metadata(&images).unwrap().modified().unwrap(), before);
    let raw = fs::read(with.folder.join("train-raw.npy")).unwrap();
    assert_eq!(raw.len(), 128 + 50 * 28 * 28);
    assert_eq!(names(&with.folder).len(), 6);
    assert!(
        !prepare(&request("digits", 40), home.path(), true)
            .unwrap()
            .made
    );
    assert!(
        !prepare(&request("digits", 40), home.path(), false)
            .unwrap()
            .made
    );
}

#[test]
fn what_is_there_is_not_made_again() {
    let home = tempfile::tempdir().unwrap();
    let first = prepare(&request("digits", 28), home.path(), false).unwrap();
    let again = prepare(&request("digits", 28), home.path(), false).unwrap();
    assert!(first.made && !again.made);
    let all = cache::all(home.path());
    assert_eq!((all.count, all.bytes), (1, first.bytes));
    assert_eq!(
        Cached {
            made: true,
            ..again
        },
        first
    );
    assert_eq!((first.train, first.held_out), (50, 20));
    assert_eq!((first.channels, first.side, first.classes), (1, 28, 10));
}

#[test]
fn what_decides_the_images_decides_the_folder() {
    let home = tempfile::tempdir().unwrap();
    let folder = |request: DataRequest| prepare(&request, home.path(), false).unwrap().folder;
    let usual = request("digits", 28);
    let mut folders = BTreeSet::new();
    folders.insert(folder(usual.clone()));
    let (images, held_out) = (Some(51), Some(21));
    folders.insert(folder(DataRequest {
        images,
        ..usual.clone()
    }));
    folders.insert(folder(DataRequest {
        held_out,
        ..usual.clone()
    }));
    folders.insert(folder(DataRequest { seed: 8, ..usual }));
    folders.insert(folder(request("digits", 29)));
    folders.insert(folder(request("digits-colour", 28)));
    assert_eq!(folders.len(), 6, "{folders:?}");
}

#[test]
fn files_do_not_look_at_the_seed_and_counts_may_be_said_or_not() {
    let home = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    write_mnist(files.path(), 9);
    let usual = mnist(Some(files.path()));
    let first = prepare(&usual, home.path(), false).unwrap();
    let other = DataRequest {
        seed: 99,
        images: Some(3),
        held_out: Some(2),
        ..usual
    };
    let second = prepare(&other, home.path(), false).unwrap();
    assert_eq!(second.folder, first.folder);
    assert!(!second.made);
}

#[test]
fn a_changed_source_makes_a_new_cache() {
    let home = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    write_mnist(files.path(), 0);
    let first = prepare(&mnist(Some(files.path())), home.path(), false).unwrap();
    write_mnist(files.path(), 255);
    let second = prepare(&mnist(Some(files.path())), home.path(), false).unwrap();
    assert_ne!(second.folder, first.folder);
    let batch = |cached: &Cached| open(&cached.folder).unwrap().train.batch(&[0]).unwrap();
    assert_eq!(batch(&first), [-1.0; 4]);
    assert_eq!(batch(&second), [1.0; 4]);
}

#[test]
fn fetched_files_are_found_without_a_folder() {
    let home = tempfile::tempdir().unwrap();
    let fetched = data::fetched_folder(home.path(), "mnist");
    for folder in [None, Some(fetched.as_path())] {
        let error = prepare(&mnist(folder), home.path(), false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "mnist is not downloaded: bancada data fetch mnist"
        );
    }
    write_mnist(&fetched, 3);
    assert_eq!(prepare(&mnist(None), home.path(), false).unwrap().train, 3);
}

/// Damages the cache and asks for it again.
fn check_made_again(damage: impl FnOnce(&Path)) {
    let home = tempfile::tempdir().unwrap();
    let cached = prepare(&request("digits", 28), home.path(), false).unwrap();
    let good = fs::read(cached.folder.join("train-images.npy")).unwrap();
    damage(&cached.folder);
    let again = prepare(&request("digits", 28), home.path(), false).unwrap();
    assert!(again.made);
    assert_eq!(again.folder, cached.folder);
    let images = fs::read(again.folder.join("train-images.npy")).unwrap();
    assert_eq!(images, good);
    assert_eq!(names(&again.folder).len(), 5);
    assert_eq!(caches(home.path()).len(), 1, "nothing else is left");
}

/// Folders, whole or not.
fn caches(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.join("data/cache")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

#[test]
fn a_damaged_cache_is_made_again() {
    let cut = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    };
    check_made_again(|folder| cut(folder.join("train-images.npy")));
    check_made_again(|folder| cut(folder.join("held-out-labels.npy")));
    check_made_again(|folder| fs::remove_file(folder.join("train-labels.npy")).unwrap());
    check_made_again(|folder| fs::remove_file(folder.join("cache.json")).unwrap());
    check_made_again(|folder| fs::write(folder.join("cache.json"), "{}").unwrap());
    check_made_again(|folder| {
        let from = folder.join("held-out-images.npy");
        fs::copy(from, folder.join("train-images.npy")).unwrap();
    });
}

#[test]
fn a_damaged_cache_is_not_opened() {
    let home = tempfile::tempdir().unwrap();
    let folder = prepare(&request("digits", 28), home.path(), false).unwrap();
    let path = folder.folder.join("train-images.npy");
    let good = fs::read(&path).unwrap();
    let check = |bytes: &[u8], expected: &str| {
        fs::write(&path, bytes).unwrap();
        let error = open(&folder.folder).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("train-images.npy"), "{error}");
    };
    check(
        &good[..good.len() - 4],
        "does not have the length in its header",
    );
    check(&good[..90], "ends inside its header");
    check(b"", "ends inside its header");
    check(&[b'x'; 400], "is not a NumPy file");
    fs::remove_file(&path).unwrap();
    let error = open(&folder.folder).unwrap_err().to_string();
    assert!(error.contains("cannot read"), "{error}");
}

#[test]
fn rows_that_are_not_there_are_an_error() {
    let home = tempfile::tempdir().unwrap();
    let cached = prepare(&request("digits", 28), home.path(), false).unwrap();
    let train = open(&cached.folder).unwrap().train;
    assert!(train.batch(&[49]).is_ok());
    assert!(train.batch(&[50]).is_err());
    assert!(train.batch(&[usize::MAX]).is_err());
}

#[test]
fn given_numbers_are_a_cache_too() {
    let folder = tempfile::tempdir().unwrap();
    let images: Vec<f32> = (0..24).map(|value| value as f32 / 7.0).collect();
    let write = |part, images: &[f32], shape, labels: &[i32]| {
        cache::write(folder.path(), part, images, shape, labels)
    };
    write("train", &images, [2, 3, 2, 2], &[0, 65535]).unwrap();
    write("held-out", &[], [0, 3, 2, 2], &[]).unwrap();
    let opened = open(folder.path()).unwrap();
    assert_eq!(opened.train.labels, [0, 65535]);
    assert_eq!(
        opened.train.batch(&[1, 0]).unwrap(),
        [&images[12..], &images[..12]].concat()
    );
    assert!(opened.held_out.is_empty());
    assert_eq!(opened.classes, None);

    let check = |shape, labels: &[i32]| {
        let error = write("train", &images, shape, labels).unwrap_err();
        assert!(error.to_string().contains("24 values"), "{error}");
    };
    check([2, 3, 2, 3], &[0, 1]);
    check([2, 3, 2, 2], &[0]);
    check([usize::MAX, 2, 2, 2], &[0]);
    write("train", &images, [2, 3, 2, 2], &[-1, 0]).unwrap();
    let error = open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("not from 0 to 65535"), "{error}");
}

#[test]
fn a_disk_that_is_too_small_is_found_beforehand() {
    let home = tempfile::tempdir().unwrap();
    let enormous = DataRequest {
        images: Some(u32::MAX),
        ..request("digits-colour", 1024)
    };
    let error = prepare(&enormous, home.path(), false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("needs 54043212.9 GB, but only"), "{error}");
    assert!(error.contains("BANCADA_CACHE"), "{error}");
    assert!(caches(home.path()).is_empty());
}

#[test]
fn threads_that_ask_at_once_get_one_cache() {
    let home = tempfile::tempdir().unwrap();
    let made: Vec<Cached> = std::thread::scope(|scope| {
        let ask = || prepare(&request("digits", 28), home.path(), true).unwrap();
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|cached| cached.made).count(), 1);
    assert_eq!(caches(home.path()).len(), 1);
    assert_eq!(names(&made[0].folder).len(), 6);
}

const HOME_OF_A_CHILD: &str = "DATA_TEST_HOME_OF_A_CHILD";

/// Started again by the test below, in processes of its own.
#[test]
fn child_that_prepares_a_cache() {
    if let Some(home) = std::env::var_os(HOME_OF_A_CHILD) {
        let cached = prepare(&request("digits-colour", 64), home.as_ref(), false).unwrap();
        assert_eq!(open(&cached.folder).unwrap().train.len(), 50);
        eprintln!("made: {}", cached.made);
    }
}

#[test]
fn processes_that_ask_at_once_get_one_cache() {
    let home = tempfile::tempdir().unwrap();
    // A process that ended in the middle of its work, on this cache and on another.
    let root = cache::root(home.path());
    for name in [
        "digits-colour-64px-0123.part-1-0",
        "cifar10-32px-4567.part-2-0",
    ] {
        fs::create_dir_all(root.join(name)).unwrap();
        fs::write(root.join(name).join("train-images.npy"), "…").unwrap();
    }
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["child_that_prepares_a_cache", "--exact", "--nocapture"])
            .env(HOME_OF_A_CHILD, home.path())
            .stderr(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    let mut makers = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{told}");
        makers += usize::from(told.contains("made: true"));
    }
    assert_eq!(makers, 1);
    assert_eq!(caches(home.path()).len(), 1, "{:?}", caches(home.path()));
}
