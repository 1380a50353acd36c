//! Datasets as a person asks for them.

use std::fs;

use crate::common::Bench;

#[test]
fn datasets_are_listed_and_described() {
    let bench = Bench::new();
    let list = bench.bancada(&["data", "list"]).ends_with(0);
    list.says("mnist")
        .says("60000 + 10000")
        .says("bancada data fetch cifar10");
    bench
        .bancada(&["data", "show", "digits"])
        .ends_with(0)
        .says("2048 training and 512 held-out images in 10 classes");
    bench
        .bancada(&["data", "show", "mnits"])
        .ends_with(1)
        .says("unknown dataset `mnits`");
    bench
        .bancada(&["data", "show", "mnist"])
        .ends_with(1)
        .says("bancada data fetch mnist");
}

#[test]
fn a_copy_that_is_not_the_published_one_is_refused_and_nothing_is_kept() {
    let bench = Bench::new();
    fs::create_dir(bench.path().join("copy")).unwrap();
    for name in ["train-images", "t10k-images"] {
        bench.write(&format!("copy/{name}-idx3-ubyte"), "not these");
    }
    for name in ["train-labels", "t10k-labels"] {
        bench.write(&format!("copy/{name}-idx1-ubyte"), "not these");
    }
    bench
        .bancada(&["data", "fetch", "mnist", "--from", "copy"])
        .ends_with(1)
        .says("train-images-idx3-ubyte")
        .says("47040016");
    assert!(!bench.path().join("cache/data/mnist").exists());
    bench
        .bancada(&["data", "fetch", "imagenet"])
        .ends_with(1)
        .says("downloadable: mnist");
}

#[test]
fn a_folder_of_pictures_is_shown_and_trained_on() {
    let bench = Bench::new();
    for class in ["few", "many"] {
        let folder = bench.path().join("pictures").join(class);
        fs::create_dir_all(&folder).unwrap();
        for number in 1..=10 {
            // Sheets of one digit and of four differ enough for two classes.
            let images = if class == "few" { "1" } else { "4" };
            let path = folder.join(format!("{number}.png"));
            let sheet = ["data", "show", "digits", "--images", images, "--sheet"];
            let path = path.to_str().unwrap();
            bench.bancada(&[&sheet[..], &[path]].concat()).ends_with(0);
        }
    }
    bench
        .bancada(&["data", "show", "pictures"])
        .ends_with(0)
        .says("16 training and 4 held-out images in 2 classes, grey")
        .says("many");
    let study = "[study]\nname = \"pictures\"\n\n[workload]\nkind = \"train\"\nnetwork = \"rede1\"\n\
                 dataset = \"folder\"\ndata_dir = \"pictures\"\nimage = 32\nepochs = 1\nbatch = 4\n";
    bench.write("study.toml", study);
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(0);
    let record = bench.record("pictures", "C1-r1");
    assert_eq!(record["outcome"]["status"], "ok", "{record}");
}
