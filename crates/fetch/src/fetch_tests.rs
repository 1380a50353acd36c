//! Whole fetches, from a server on this machine that behaves and misbehaves.

use std::fs;
use std::path::Path;

use crate::catalog::{DataSource, Dataset};
use crate::error::FetchError;
use crate::fetch::{FetchEvent, Fetched, Origin, Request, fetch, fetch_dataset};
use crate::server_tests::{Asked, LIMITS, Reply, Server, gzip};

/// Three training images and two held out, of 2 × 2 pixels.
const MNIST_FILES: &str = "
96411bb42bfce6e873d9c66df5439c0e3fc743e8411014a602e60f101da36a78 28 train-images-idx3-ubyte
b42326e57648289720e40f7c6f074d678a6bb041e7d1157a777e375b9269c0f5 11 train-labels-idx1-ubyte
ff4829bbc0e8e7c4a69084405319247277501a7775fcd473c5ea2f6708363b07 24 t10k-images-idx3-ubyte
3b6ad0250cb381d2971786334ca4087c0751f338faf51339d5b61f81f9f2f93d 10 t10k-labels-idx1-ubyte
";

fn mnist_file(name: &str) -> Vec<u8> {
    let (magic, sizes, body): (u32, &[u32], Vec<u8>) = match name {
        "train-images-idx3-ubyte" => (0x803, &[3, 2, 2], (0..12).collect()),
        "train-labels-idx1-ubyte" => (0x801, &[3], vec![0, 1, 2]),
        "t10k-images-idx3-ubyte" => (0x803, &[2, 2, 2], (0..8).collect()),
        _ => (0x801, &[2], vec![3, 4]),
    };
    let words = [&[magic], sizes].concat();
    let header = words.iter().flat_map(|word| word.to_be_bytes());
    header.chain(body).collect()
}

fn dataset(places: Vec<DataSource<'static>>) -> &'static Dataset {
    Box::leak(Box::new(Dataset {
        name: "mnist",
        files: MNIST_FILES,
        places: Box::leak(places.into_boxed_slice()),
    }))
}

fn gzipped(server: &Server, folder: &str) -> DataSource<'static> {
    let base = format!("{}/{folder}", server.url);
    DataSource::Gzipped(Box::leak(base.into_boxed_str()))
}

/// Compressed files of the tiny MNIST, whatever their folder.
fn serve_mnist(asked: &Asked) -> Reply {
    let name = asked.path.rsplit('/').next().unwrap_or_default();
    Reply::ranged(asked, gzip(&mnist_file(name.trim_end_matches(".gz"))))
}

fn request(home: &Path, from: Option<Origin>) -> Request {
    Request {
        dataset: "mnist".to_owned(),
        home: home.to_owned(),
        from,
        limits: LIMITS,
    }
}

/// The result and what was reported, in lines.
pub(crate) fn run(
    home: &Path,
    dataset: &'static Dataset,
    from: Option<Origin>,
) -> (Result<Fetched, FetchError>, Vec<String>) {
    let mut lines = Vec::new();
    let fetched = fetch_dataset(&request(home, from), dataset, &mut |told| match told {
        FetchEvent::Received { .. } => {}
        FetchEvent::Checked { file, .. } => lines.push(format!("checked {file}")),
        FetchEvent::Trying { place } => lines.push(format!("trying {place}")),
        FetchEvent::Failed { place, why } => lines.push(format!("failed {place}: {why}")),
        FetchEvent::Getting { what } => lines.push(format!("getting {what}")),
    });
    (fetched, lines)
}

#[test]
fn files_come_from_a_web_folder_once() {
    let server = Server::start(serve_mnist);
    let home = tempfile::tempdir().unwrap();
    let dataset = dataset(vec![gzipped(&server, "data/")]);
    let (fetched, lines) = run(home.path(), dataset, None);
    let fetched = fetched.unwrap();
    assert_eq!(fetched.folder, home.path().join("data/mnist"));
    assert_eq!(fetched.place, Some(format!("{}/data/", server.url)));
    assert_eq!(fetched.bytes, 28 + 11 + 24 + 10);
    assert_eq!(fetched.counts.train, [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(fetched.counts.held_out, [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(lines.len(), 5);
    assert!(lines.contains(&"checked train-images-idx3-ubyte".to_owned()));
    for file in dataset.files() {
        let content = fs::read(fetched.folder.join(file.name)).unwrap();
        assert_eq!(content, mnist_file(file.name));
    }
    assert!(!home.path().join("data/.fetch/mnist").exists());

    let before = server.asked().len();
    let (again, lines) = run(home.path(), dataset, None);
    assert_eq!(again.unwrap().place, None);
    assert!(lines.is_empty());
    assert_eq!(server.asked().len(), before, "nothing is asked for again");
}

#[test]
fn a_damaged_file_is_fetched_again() {
    let server = Server::start(serve_mnist);
    let home = tempfile::tempdir().unwrap();
    let dataset = dataset(vec![gzipped(&server, "")]);
    let folder = run(home.path(), dataset, None).0.unwrap().folder;
    fs::write(folder.join("t10k-labels-idx1-ubyte"), [0; 10]).unwrap();
    assert!(run(home.path(), dataset, None).0.unwrap().place.is_some());
    let content = fs::read(folder.join("t10k-labels-idx1-ubyte")).unwrap();
    assert_eq!(content, mnist_file("t10k-labels-idx1-ubyte"));
}

#[test]
fn the_next_place_is_tried_and_said() {
    let server = Server::start(|asked| match asked.path.starts_with("/gone/") {
        true => Reply::status(404),
        false => serve_mnist(asked),
    });
    let home = tempfile::tempdir().unwrap();
    let places = vec![gzipped(&server, "gone/"), gzipped(&server, "here/")];
    let (fetched, lines) = run(home.path(), dataset(places), None);
    let url = &server.url;
    assert_eq!(fetched.unwrap().place, Some(format!("{url}/here/")));
    let file = "gone/train-images-idx3-ubyte.gz";
    assert_eq!(lines[0], format!("trying {url}/gone/"));
    assert_eq!(
        lines[1],
        format!("failed {url}/gone/: returned 404 for {url}/{file}")
    );
    assert_eq!(lines[2], format!("trying {url}/here/"));
}

#[test]
fn other_bytes_are_refused() {
    let server = Server::start(|asked| Reply::ranged(asked, gzip(&[7; 28])));
    let home = tempfile::tempdir().unwrap();
    let (fetched, _) = run(home.path(), dataset(vec![gzipped(&server, "")]), None);
    let error = fetched.unwrap_err().to_string();
    assert!(error.contains("mnist could not be downloaded"), "{error}");
    assert!(
        error.contains("is not the published file (SHA-256 "),
        "{error}"
    );
    assert!(error.contains("bancada data fetch mnist --from"), "{error}");
    assert!(!home.path().join("data/mnist").exists());
    let left = home.path().join("data/.fetch/mnist");
    assert!(!left.join("train-images-idx3-ubyte.gz").exists());
    assert!(!left.join("files/train-images-idx3-ubyte").exists());
}

#[test]
fn files_of_another_length_and_pages_are_refused() {
    let check = |body: Vec<u8>, expected: &str| {
        let server = Server::start(move |asked| Reply::ranged(asked, &body));
        let home = tempfile::tempdir().unwrap();
        let (fetched, _) = run(home.path(), dataset(vec![gzipped(&server, "")]), None);
        let error = fetched.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(gzip(&[7; 20]), "has 20 bytes, the published file has 28");
    check(gzip(&[7; 99]), "more than 28 bytes when unpacked");
    check(b"<html>please log in</html>".to_vec(), "cannot be unpacked");
    check(Vec::new(), "cannot be unpacked");
}

#[test]
fn a_server_that_is_not_there_is_not_waited_for() {
    let server = Server::start(serve_mnist);
    let url = server.url.clone();
    drop(server);
    let home = tempfile::tempdir().unwrap();
    let from = Some(Origin::Url(url));
    let error = run(home.path(), dataset(vec![]), from).0.unwrap_err();
    assert!(error.to_string().contains("cannot be reached"), "{error}");
}

#[test]
fn a_copy_may_be_a_folder_of_files_or_compressed_ones() {
    for compressed in [false, true] {
        let copy = tempfile::tempdir().unwrap();
        let below = copy.path().join("MNIST/raw");
        fs::create_dir_all(&below).unwrap();
        for file in dataset(vec![]).files() {
            let content = mnist_file(file.name);
            match compressed {
                true => fs::write(below.join(format!("{}.gz", file.name)), gzip(&content)),
                false => fs::write(below.join(file.name), content),
            }
            .unwrap();
        }
        let home = tempfile::tempdir().unwrap();
        let from = || Some(Origin::Folder(copy.path().to_owned()));
        let fetched = run(home.path(), dataset(vec![]), from()).0.unwrap();
        assert_eq!(fetched.place, Some(copy.path().display().to_string()));
        assert_eq!(
            fs::read_dir(&below).unwrap().count(),
            4,
            "the copy is left alone"
        );
        let path = fs::read_dir(&below).unwrap().next().unwrap().unwrap();
        fs::remove_file(path.path()).unwrap();
        let home = tempfile::tempdir().unwrap();
        let error = run(home.path(), dataset(vec![]), from()).0.unwrap_err();
        assert!(error.to_string().contains(": has no "), "{error}");
    }
}

#[test]
fn two_at_once_are_one_too_many() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("data/.fetch");
    fs::create_dir_all(&root).unwrap();
    let lock = fs::File::create(root.join("mnist.lock")).unwrap();
    lock.lock().unwrap();
    let (fetched, _) = run(home.path(), dataset(vec![]), None);
    let error = fetched.unwrap_err().to_string();
    assert_eq!(error, "another bancada is downloading mnist: wait for it");
}

#[test]
fn what_is_not_fetched_says_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let check = |name: &str, expected: &str| {
        let request = Request {
            dataset: name.to_owned(),
            ..request(home.path(), None)
        };
        let error = fetch(&request, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(
            error.contains("mnist, fashion-mnist, cifar10, cifar100"),
            "{error}"
        );
    };
    check("digits", "is generated and needs no files");
    check("folder", "set it as `data_dir`");
    check("minst", "unknown dataset `minst`");
}
