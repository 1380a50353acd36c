//! CIFAR-10 from archives and from sheets of pictures.

use std::fs;

use crate::catalog::{DataSource, Dataset};
use crate::fetch::Origin;
use crate::fetch_tests::run;
use crate::server_tests::{LIMITS, Reply, Server, gzip};
use crate::unpack::tests::archive;

const CIFAR_FILES: &str = "
acfb8a826a043969b62faca912eef178f3d02f564cb7953c05cbe76976c41bb1 6146 data_batch_1.bin
f2529b27a4fbb8bc371db3f389a0baff9abdd0b1ed8e34944edaeb143ca9e84c 6146 data_batch_2.bin
916a80deaac267d4347bc8319f1a833f30d8d5d36ba44ea236b2ec15c405ca1c 6146 data_batch_3.bin
cc674821269590ddc97727cf9790fbc2c8f550127d60feff396fd0c877b5c7d8 6146 data_batch_4.bin
7e3231ec9acfaf55ff87eec6e23f24d703ef6318d2526d7abeeb023315765fae 6146 data_batch_5.bin
9137dbc926d45ed954c8ff7403b148f557a90f6777d1a0497b91085791b9648a 3073 test_batch.bin
";

fn cifar(url: String) -> &'static Dataset {
    let url: &'static str = Box::leak(url.into_boxed_str());
    Box::leak(Box::new(Dataset {
        name: "cifar10",
        files: CIFAR_FILES,
        places: Box::leak(Box::new([DataSource::Archive(url)])),
    }))
}

/// Pixels of an image, red, green and blue side by side.
fn cifar_pixels(batch: usize, row: usize) -> Vec<u8> {
    let pixel = |p: usize| [(p * 7 + row + batch * 50) as u8, 100 + row as u8, 200];
    (0..1024).flat_map(pixel).collect()
}

fn cifar_records(batch: usize, labels: &[u8]) -> Vec<u8> {
    let mut records = Vec::new();
    for (row, &label) in labels.iter().enumerate() {
        let pixels = cifar_pixels(batch, row);
        records.push(label);
        for channel in 0..3 {
            records.extend(pixels.iter().skip(channel).step_by(3));
        }
    }
    records
}

/// Name, number and labels of each batch.
fn cifar_batches() -> Vec<(String, usize, Vec<u8>)> {
    let train = (1..=5).map(|batch: usize| {
        let first = 2 * batch as u8 - 2;
        (format!("data_batch_{batch}"), batch, vec![first, first + 1])
    });
    train
        .chain([("test_batch".to_owned(), 6, vec![7])])
        .collect()
}

fn cifar_archive() -> Vec<u8> {
    let files: Vec<(String, Vec<u8>)> = cifar_batches()
        .into_iter()
        .map(|(name, batch, labels)| {
            let path = format!("cifar-10-batches-bin/{name}.bin");
            (path, cifar_records(batch, &labels))
        })
        .collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(n, c)| (n.as_str(), &c[..])).collect();
    gzip(&archive(&files))
}

#[test]
fn archives_come_from_the_web_and_from_folders() {
    let bytes = cifar_archive();
    let server = Server::start(move |asked| Reply::ranged(asked, &bytes));
    let url = format!("{}/cifar-10-binary.tar.gz", server.url);
    let home = tempfile::tempdir().unwrap();
    let dataset = cifar(url.clone());
    let fetched = run(home.path(), dataset, None).0.unwrap();
    assert_eq!(fetched.place, Some(url));
    assert_eq!(fetched.counts.train, [1; 10]);
    assert_eq!(fetched.counts.held_out, [0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);

    let from = Some(Origin::Url(format!("{}/mirror", server.url)));
    let home = tempfile::tempdir().unwrap();
    assert!(run(home.path(), dataset, from).0.is_ok());
    let asked = server.asked();
    assert_eq!(asked.last().unwrap().path, "/mirror/cifar-10-binary.tar.gz");

    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("cifar-10-binary.tar.gz");
    fs::write(&path, cifar_archive()).unwrap();
    let from = || Some(Origin::Folder(copy.path().to_owned()));
    let home = tempfile::tempdir().unwrap();
    assert!(run(home.path(), dataset, from()).0.is_ok());
    let cut = cifar_archive();
    fs::write(&path, &cut[..cut.len() / 2]).unwrap();
    let home = tempfile::tempdir().unwrap();
    let error = run(home.path(), dataset, from()).0.unwrap_err();
    assert!(error.to_string().contains("it ends too early"), "{error}");
}

fn png(batch: usize, rows: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1024, rows as u32);
    encoder.set_color(png::ColorType::Rgb);
    let pixels: Vec<u8> = (0..rows).flat_map(|row| cifar_pixels(batch, row)).collect();
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels).unwrap();
    drop(writer);
    bytes
}

#[test]
fn sheets_of_pictures_become_the_published_batches() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("package.tgz");
    let mut files: Vec<(String, Vec<u8>)> = cifar_batches()
        .into_iter()
        .map(|(name, batch, labels)| (format!("package/{name}.png"), png(batch, labels.len())))
        .collect();
    let train = b"[0,1,2,3,4,5,6,7,8,9]".to_vec();
    files.push(("package/train_lables.json".to_owned(), train));
    files.push(("package/test_lables.json".to_owned(), b"[7]".to_vec()));
    let entries: Vec<(&str, &[u8])> = files.iter().map(|(n, c)| (n.as_str(), &c[..])).collect();
    fs::write(&package, gzip(&archive(&entries))).unwrap();
    let to = folder.path().join("files");
    fs::create_dir(&to).unwrap();
    let mut fetcher = crate::places::Fetcher {
        dataset: cifar(String::new()),
        work: folder.path(),
        files: &to,
        limits: LIMITS,
        tell: &mut |_| {},
    };
    fetcher.sheets(&package).unwrap();
    for (name, batch, labels) in cifar_batches() {
        let content = fs::read(to.join(format!("{name}.bin"))).unwrap();
        assert_eq!(content, cifar_records(batch, &labels));
    }
}
