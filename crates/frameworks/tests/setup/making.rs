use std::fs::{self, File};

use frameworks::{Home, Progress, SetupError, State};

use crate::support::{Bench, spec};

#[test]
fn a_framework_is_set_up_once() {
    let bench = Bench::new(&["3.11", "3.12"], true);
    let ready = bench.set_up("jax").unwrap().installed.unwrap();
    assert_eq!(ready.version, "0.10.2");
    assert!(ready.seconds.is_some());
    let expected = [
        "uv venv",
        "python -m venv",
        "uv install --require-hashes --no-deps -r bancada-lock.txt",
        "train KERAS_BACKEND= PYTHONPATH= adapt_jax",
    ];
    assert_eq!(bench.calls(), expected);

    let again = bench.set_up("jax").unwrap().installed.unwrap();
    assert_eq!(again.seconds, None);
    assert_eq!(bench.calls(), expected, "nothing was started");

    let installed = bench.home.interpreter(&spec("jax")).unwrap();
    assert_eq!(installed.python, bench.folder("jax-0.10.2/bin/python"));
    assert_eq!(installed.version, "0.10.2");
    assert_eq!(installed.marker.python, "3.11.7", "the preferred one");
    assert!(installed.marker.size_bytes > 0);
    let packages = &installed.marker.packages;
    assert!(packages.contains(&"jax==0.10.2".to_owned()), "{packages:?}");
    assert!(installed.marker.locked);
    assert_eq!(installed.marker.tried, ["jax"]);
    assert!(!bench.folder("jax-0.10.2.part").exists());
}

#[test]
fn without_uv_pip_does_it() {
    let bench = Bench::new(&["3.11"], false);
    bench.set_up("chainer").unwrap();
    let expected = [
        "python -m venv",
        "pip install --no-input --disable-pip-version-check --require-hashes --no-deps -r \
         bancada-lock.txt",
        "pip install --no-input --disable-pip-version-check --no-build-isolation --require-hashes \
         --no-deps -r bancada-lock.txt",
        "train KERAS_BACKEND= PYTHONPATH= adapt_chainer",
    ];
    assert_eq!(bench.calls(), expected);
}

#[test]
fn an_interrupted_set_up_is_gone_on_with() {
    let bench = Bench::new(&["3.11"], true);
    bench.provoke("hang");
    let installing = || bench.calls().iter().any(|call| call.contains("install"));
    let mut setup = bench.setup();
    setup.stop = &installing;
    let stopped = setup.set_up(&spec("jax"), &mut |_| {}).unwrap_err();
    assert_eq!(
        stopped.to_string(),
        "stopped; to continue: bancada setup jax"
    );
    let missing = bench.home.interpreter(&spec("jax")).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "jax is only partly set up; to continue: bancada setup jax"
    );

    let kept = bench.folder("jax-0.10.2/kept");
    fs::write(&kept, "").unwrap();
    bench.put_right("hang");
    let (result, told) = bench.set_up_told("jax");
    result.unwrap();
    let resumed = |p: &Progress| matches!(p, Progress::Begins { resumed: true, .. });
    assert!(told.iter().any(resumed), "{told:?}");
    assert!(kept.exists(), "what was done is used");
    assert!(bench.home.interpreter(&spec("jax")).is_ok());
}

#[test]
fn a_killed_set_up_is_not_taken_for_whole() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up("jax").unwrap();
    // As it is left when the program is killed while it makes the environment again.
    fs::write(bench.folder("jax-0.10.2.part"), "").unwrap();
    assert!(bench.home.interpreter(&spec("jax")).is_err());
    bench.set_up("jax").unwrap();
    assert!(bench.home.interpreter(&spec("jax")).is_ok());
}

#[test]
fn what_fails_says_why_and_goes_on_later() {
    let bench = Bench::new(&["3.11"], true);
    bench.provoke("full-disk");
    let log = bench.folder("jax-0.10.2.log");
    let expected = format!(
        "jax: installing its packages failed\n  \
         │ Resolving\n  \
         │ error: No space left on device (os error 28)\n  \
         = the disk is full: free some space, or set BANCADA_CACHE to a folder on a different disk\n  \
         = complete output: {}",
        log.display()
    );
    assert_eq!(bench.problem("jax"), expected);
    let environment = bench.home.environment(&spec("jax")).unwrap();
    assert_eq!(environment.state(), State::Unfinished);

    bench.put_right("full-disk");
    bench.provoke("other-hash");
    let problem = bench.problem("jax");
    assert!(
        problem.contains("does not match the lock file of jax"),
        "{problem}"
    );
    bench.put_right("other-hash");
    bench.provoke("broken-adapt_jax");
    let problem = bench.problem("jax");
    assert!(problem.contains("jax: a training step failed"), "{problem}");
    assert!(
        problem.contains("RuntimeError: adapt_jax cannot compile"),
        "{problem}"
    );
    assert_eq!(environment.state(), State::Unfinished);

    bench.put_right("broken-adapt_jax");
    bench.set_up("jax").unwrap();
    assert!(matches!(environment.state(), State::Whole(_)));
}

#[test]
fn versions_have_pins_and_folders_of_their_own() {
    let bench = Bench::new(&["3.11"], true);
    let (result, told) = bench.set_up_told("pytorch@2.2.0");
    result.unwrap();
    let note = "its packages are not checked by hash: only version 2.15.0 has a lock file";
    assert!(told.contains(&Progress::Note(note.to_owned())), "{told:?}");
    assert!(bench.folder("pytorch-2.2.0/bancada.json").exists());
    assert!(
        !bench
            .home
            .interpreter(&spec("pytorch@2.2.0"))
            .unwrap()
            .marker
            .locked
    );
    assert!(
        bench
            .calls()
            .contains(&"uv install torch==2.2.0 numpy<2 setuptools<80".to_owned())
    );
    let missing = bench.home.interpreter(&spec("pytorch")).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "pytorch is not set up: bancada setup pytorch"
    );
    bench.set_up("pytorch@2.15.0").unwrap();
    assert!(bench.home.interpreter(&spec("pytorch")).is_ok());
    let names: Vec<String> = bench
        .home
        .environments()
        .iter()
        .map(|e| e.spec().to_string())
        .collect();
    assert_eq!(names, ["pytorch", "pytorch@2.2.0"]);
}

#[test]
fn builds_without_cuda_are_taken_where_they_can_be_had() {
    let bench = Bench::new(&["3.11"], true);
    bench.provoke("cpu-builds");
    let (result, told) = bench.set_up_told("pytorch");
    result.unwrap();
    assert!(
        bench
            .calls()
            .iter()
            .any(|call| call.starts_with("uv install torch==2.15.0 numpy --index https:"))
    );
    let note = |told: &[Progress], expected: &str| {
        let noted = |p: &Progress| matches!(p, Progress::Note(note) if note.contains(expected));
        assert!(told.iter().any(noted), "{expected}: {told:?}");
    };
    note(
        &told,
        "downloading torch 2.15.0 without CUDA from PyTorch's own package index (about 1.1 GB), \
         because --gpu was not given",
    );

    let bench = Bench::new(&["3.11"], true);
    let (result, told) = bench.set_up_told("pytorch");
    result.unwrap();
    note(
        &told,
        "PyTorch's own package index, which has torch 2.15.0 without CUDA, cannot be used: downloading the build with CUDA from the default package index (up to 5.6 GB)",
    );
    let locked = "uv install --require-hashes --no-deps -r bancada-lock.txt".to_owned();
    assert!(bench.calls().contains(&locked));

    let bench = Bench::new(&["3.11"], false);
    bench.provoke("cpu-builds");
    bench.set_up("pytorch").unwrap();
    let pip = |call: &String| call.contains("torch==2.15.0 numpy --extra-index-url https:");
    assert!(bench.calls().iter().any(pip), "{:?}", bench.calls());

    let bench = Bench::new(&["3.11"], true);
    let mut setup = bench.setup();
    setup.gpu = true;
    setup.set_up(&spec("pytorch"), &mut |_| {}).unwrap();
    assert!(!bench.calls().iter().any(|call| call.contains("--index")));
}

#[test]
fn packages_for_gpus_replace_the_others_and_stay() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up("jax").unwrap();
    let mut setup = bench.setup();
    setup.gpu = true;
    let ready = setup.set_up(&spec("jax"), &mut |_| {}).unwrap();
    assert!(ready.installed.unwrap().gpu);
    assert!(
        bench
            .calls()
            .contains(&"uv install jax[cuda12]==0.10.2 optax".to_owned())
    );
    let calls = bench.calls().len();
    let ready = bench.set_up("jax").unwrap().installed.unwrap();
    assert!(ready.gpu, "they do for a CPU too");
    assert_eq!(bench.calls().len(), calls);
}

#[test]
fn another_recipe_makes_the_environment_again() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up("jax").unwrap();
    let path = bench.folder("jax-0.10.2/bancada.json");
    let marker = fs::read_to_string(&path).unwrap();
    let recipe = bench.home.interpreter(&spec("jax")).unwrap().marker.recipe;
    fs::write(&path, marker.replace(&recipe, "another")).unwrap();
    let stale = bench.folder("jax-0.10.2/stale");
    fs::write(&stale, "").unwrap();
    assert!(
        bench
            .set_up("jax")
            .unwrap()
            .installed
            .unwrap()
            .seconds
            .is_some()
    );
    assert!(!stale.exists());
}

#[test]
fn keras_shares_or_extends() {
    let bench = Bench::new(&["3.11"], true);
    let ready = bench.set_up("keras-tensorflow").unwrap().installed.unwrap();
    assert_eq!(ready.shared_with, Some("tensorflow"));
    assert_eq!(ready.version, "3.15.1");
    let installed = bench.home.interpreter(&spec("keras-tensorflow")).unwrap();
    assert_eq!(installed.folder, bench.folder("tensorflow-2.21.0"));
    assert_eq!(installed.version, "3.15.1");
    let backend = ("KERAS_BACKEND".to_owned(), "tensorflow".to_owned());
    assert!(installed.variables.contains(&backend));
    let nowhere = ("PYTHONHOME".to_owned(), String::new());
    assert!(installed.variables.contains(&nowhere));
    assert!(bench.home.interpreter(&spec("tensorflow")).is_ok());

    bench.set_up("keras-torch").unwrap();
    assert!(
        bench.folder("pytorch-2.15.0/bancada.json").exists(),
        "its base"
    );
    let joint = bench.folder("keras-torch-3.15.1/lib/packages/bancada_base.pth");
    let packages = bench
        .folder("pytorch-2.15.0/lib/packages")
        .canonicalize()
        .unwrap();
    assert_eq!(
        fs::read_to_string(joint).unwrap(),
        format!("{}\n", packages.display())
    );
    let last = bench.calls().pop().unwrap();
    assert_eq!(last, "train KERAS_BACKEND=torch PYTHONPATH= adapt_keras");

    let calls = bench.calls().len();
    bench.set_up("keras-torch").unwrap();
    assert_eq!(bench.calls().len(), calls, "all is there");
    // As PyTorch's environment is left by an older release, and as by a newer Python.
    let marker = bench.folder("keras-torch-3.15.1/bancada.json");
    for (now, before) in [("pytorch-2.15.0", "pytorch-2.9.0"), ("3.11.7", "3.12.7")] {
        let text = fs::read_to_string(&marker).unwrap();
        assert!(text.contains(now), "{text}");
        fs::write(&marker, text.replace(now, before)).unwrap();
        let again = bench.set_up("keras-torch").unwrap().installed.unwrap();
        assert!(again.seconds.is_some(), "{before} was taken for {now}");
    }

    fs::remove_dir_all(bench.folder("pytorch-2.15.0")).unwrap();
    let missing = bench.home.interpreter(&spec("keras-torch")).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "keras-torch needs the environment pytorch-2.15.0, which is no longer there: \
         bancada setup keras-torch"
    );
}

#[test]
fn a_base_with_another_python_is_said() {
    let bench = Bench::new(&["3.12"], true);
    assert_eq!(
        bench.problem("onnxruntime-training"),
        "onnxruntime-training needs Python 3.11, but the environment of pytorch, which it extends, has 3.12.7: remove pytorch, install Python 3.11, and set up onnxruntime-training \
         again"
    );
}

#[test]
fn what_cannot_be_had_is_a_sentence() {
    let mut bench = Bench::new(&["3.11", "3.12"], false);
    assert_eq!(
        bench.problem("theano"),
        "theano needs Python 3.8, and this machine has 3.11.7, 3.12.7: install Python 3.8 \
         (pyenv install 3.8), or install uv, which downloads it"
    );
    assert!(!bench.folder("theano-1.0.5").exists());
    assert_eq!(
        bench.problem("caffe"),
        "no package index provides Caffe: build it, and put the program `caffe` on PATH or set BANCADA_CAFFE"
    );
    bench.machine.platform = "macos-aarch64".to_owned();
    assert_eq!(
        bench.problem("mxnet"),
        "mxnet is not available for macos-aarch64: packages exist only for linux-x86_64"
    );

    let bench = Bench::new(&[], true);
    assert_eq!(
        bench.problem("theano"),
        "theano needs Python 3.8, and this machine has no Python; uv could not download it. Install Python 3.8 (pyenv install 3.8)"
    );
    assert_eq!(bench.home.environments(), [], "nothing is left behind");
    assert_eq!(bench.set_up("engine").unwrap().installed, None);
}

#[test]
fn what_the_system_lacks_is_told() {
    let bench = Bench::new(&["3.11"], true);
    let (result, told) = bench.set_up_told("tinygrad");
    result.unwrap();
    let note = Progress::Note("tinygrad: needs clang: apt-get install clang".to_owned());
    assert!(told.contains(&note), "{told:?}");

    let bench = Bench::new(&["3.11"], true);
    bench.provoke("broken-adapt_tinygrad");
    let problem = bench.problem("tinygrad");
    for expected in [
        "tinygrad: a training step failed",
        "RuntimeError: adapt_tinygrad cannot compile",
        "= needs clang: apt-get install clang; then run bancada setup tinygrad to continue",
    ] {
        assert!(problem.contains(expected), "{problem}");
    }
    assert!(bench.home.interpreter(&spec("tinygrad")).is_err());
}

#[test]
fn every_framework_of_an_environment_trains_a_step() {
    let bench = Bench::new(&["3.11"], true);
    bench.set_up("tensorflow").unwrap();
    bench.provoke("broken-adapt_keras");
    let problem = bench.problem("keras-tensorflow");
    assert!(problem.contains("adapt_keras cannot compile"), "{problem}");
    assert!(
        bench.home.interpreter(&spec("tensorflow")).is_ok(),
        "it works"
    );
    bench.put_right("broken-adapt_keras");
    let installs = || {
        bench
            .calls()
            .iter()
            .filter(|c| c.contains("install"))
            .count()
    };
    let before = installs();
    bench.set_up("keras-tensorflow").unwrap();
    assert_eq!(installs(), before, "nothing is installed again");
    let calls = bench.calls().len();
    bench.set_up("keras-tensorflow").unwrap();
    bench.set_up("tensorflow").unwrap();
    assert_eq!(bench.calls().len(), calls, "both are known to work");
}

#[test]
fn a_uv_that_is_not_there_is_said() {
    let mut bench = Bench::new(&["3.11"], true);
    bench.machine.uv = Some("/nowhere/uv".into());
    assert_eq!(
        bench.problem("jax"),
        "cannot start /nowhere/uv: No such file or directory (os error 2); set BANCADA_UV to the uv to use, or to an empty value for none"
    );
    assert_eq!(bench.home.environments(), [], "nothing is left behind");
}

#[test]
fn two_programs_do_not_make_one_environment() {
    let bench = Bench::new(&["3.11"], true);
    fs::create_dir_all(bench.home.frameworks()).unwrap();
    let lock = bench.folder(".jax-0.10.2.lock");
    fs::write(&lock, "4711\n").unwrap();
    let held = File::open(&lock).unwrap();
    held.lock().unwrap();
    assert_eq!(
        bench.problem("jax"),
        "another bancada (process 4711) is working on jax-0.10.2: wait until it is finished"
    );
    assert!(bench.calls().is_empty());
    drop(held);
    bench.set_up("jax").unwrap();
}

#[test]
fn a_foreign_folder_is_left_alone() {
    let bench = Bench::new(&["3.11"], true);
    let folder = bench.folder("jax-0.10.2");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("thesis.txt"), "").unwrap();
    let problem = bench.set_up("jax").unwrap_err();
    assert!(matches!(problem, SetupError::Foreign { .. }), "{problem}");
    assert!(folder.join("thesis.txt").exists());
    assert!(!bench.folder("jax-0.10.2.part").exists());
}

#[test]
fn a_stop_before_the_first_step_starts_nothing() {
    let bench = Bench::new(&["3.11"], true);
    let mut setup = bench.setup();
    setup.stop = &|| true;
    let stopped = setup.set_up(&spec("jax"), &mut |_| {}).unwrap_err();
    assert!(matches!(stopped, SetupError::Stopped { .. }), "{stopped}");
    assert!(bench.calls().is_empty());
    bench.set_up("jax").unwrap();
    assert!(bench.home.interpreter(&spec("jax")).is_ok());
}

#[test]
fn adapters_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("cache"));
    let adapters = home.adapters().unwrap();
    let text = fs::read_to_string(adapters.join("protocol.py")).unwrap();
    assert!(text.contains("PROTOCOL"));
    // Another program's: not written over.
    fs::write(adapters.join("protocol.py"), "mine").unwrap();
    assert_eq!(home.adapters().unwrap(), adapters);
    assert_eq!(
        fs::read_to_string(adapters.join("protocol.py")).unwrap(),
        "mine"
    );
    assert_eq!(fs::read_dir(adapters.parent().unwrap()).unwrap().count(), 1);

    fs::write(folder.path().join("file"), "").unwrap();
    let problem = Home::at(folder.path().join("file")).adapters().unwrap_err();
    assert!(
        problem
            .to_string()
            .contains("set BANCADA_CACHE to a different folder"),
        "{problem}"
    );
}
