use std::fs;
use std::os::unix::fs::symlink;

use frameworks::State;

use crate::support::{Bench, spec};

fn problem(bench: &Bench, name: &str) -> String {
    frameworks::remove(&bench.home, &spec(name))
        .unwrap_err()
        .to_string()
}

#[test]
fn what_was_made_is_removed_and_nothing_else() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up("jax").unwrap();
    bench.set_up("mxnet").unwrap();
    let removed = frameworks::remove(&bench.home, &spec("jax")).unwrap();
    assert_eq!(removed.environment, "jax-0.10.2");
    assert!(removed.size.bytes > 0);
    for gone in ["jax-0.10.2", "jax-0.10.2.part", "jax-0.10.2.log"] {
        assert!(!bench.folder(gone).exists(), "{gone}");
    }
    assert!(bench.home.interpreter(&spec("mxnet")).is_ok());
    assert_eq!(problem(&bench, "jax"), "jax is not set up");
    assert_eq!(problem(&bench, "engine"), "engine is not set up");
}

#[test]
fn what_was_only_begun_is_removed() {
    let bench = Bench::new(&["3.11"], true);
    bench.provoke("full-disk");
    bench.set_up("jax").unwrap_err();
    frameworks::remove(&bench.home, &spec("jax")).unwrap();
    assert!(!bench.folder("jax-0.10.2").exists());
    assert_eq!(bench.home.environments(), []);
}

#[test]
fn foreign_folders_and_links_are_refused() {
    let bench = Bench::new(&["3.11"], true);
    let folder = bench.folder("jax-0.10.2");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("thesis.txt"), "").unwrap();
    let said = format!(
        "{} was not created by `bancada setup` and is not touched: move it elsewhere",
        folder.display()
    );
    assert_eq!(problem(&bench, "jax"), said);
    assert!(folder.join("thesis.txt").exists());
    fs::remove_dir_all(&folder).unwrap();

    bench.set_up("mxnet").unwrap();
    symlink(bench.folder("mxnet-1.9.1"), &folder).unwrap();
    assert_eq!(problem(&bench, "jax"), said);
    assert!(bench.home.interpreter(&spec("mxnet")).is_ok());
}

#[test]
fn what_others_need_is_kept() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up("keras-torch").unwrap();
    assert_eq!(
        problem(&bench, "pytorch"),
        "pytorch is needed by keras-torch: bancada setup --remove keras-torch pytorch"
    );
    frameworks::remove(&bench.home, &spec("keras-torch")).unwrap();
    frameworks::remove(&bench.home, &spec("pytorch")).unwrap();

    bench.set_up("keras-tensorflow").unwrap();
    assert_eq!(
        problem(&bench, "keras-tensorflow"),
        "keras-tensorflow has no environment of its own, it runs in that of tensorflow: \
         bancada setup --remove tensorflow"
    );
}

#[test]
fn an_interrupted_removal_is_not_taken_for_whole() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up("jax").unwrap();
    // As a kill leaves it: told before anything was deleted.
    fs::write(bench.folder("jax-0.10.2.part"), "being removed\n").unwrap();
    let environment = bench.home.environment(&spec("jax")).unwrap();
    assert_eq!(environment.state(), State::Unfinished);
    frameworks::remove(&bench.home, &spec("jax")).unwrap();
    assert_eq!(environment.state(), State::Missing);
}
