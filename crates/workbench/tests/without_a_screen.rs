//! A study opened, checked, claimed and asked about as a page would do it: no command line.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use diagnostics::Style;
use frameworks::Home;
use tempfile::TempDir;
use workbench::{
    CapacityQuestion, Claim, ErrorKind, Lacks, Opened, OtherPrices, Results, ResultsRequest,
    RunCounts, StudySummary, WhatIfRequest, open_results, open_study, refuse_too_large,
    results_folder, save_question,
};

const STUDY: &str = r#"
[study]
name = "tried"
objective = "time"
repetitions = 2
[factors]
n = [1, 2]
[workload]
command = ["sh", "-c", "exit {n}"]
[environments.here]
price = "0.2 USD/h"
"#;

/// What a person was told.
#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Told {
    fn teller(&self) -> impl Fn(&str) {
        |text| self.0.borrow_mut().push(text.to_owned())
    }
}

struct Folder {
    dir: TempDir,
    told: Told,
}

impl Folder {
    fn with(text: &str) -> Self {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("study.toml"), text).unwrap();
        Folder {
            dir,
            told: Told::default(),
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("study.toml")
    }

    fn open(&self) -> Result<Opened, workbench::Error> {
        open_study(&self.path(), None, &self.told.teller())
    }

    fn results(&self) -> Result<Results, workbench::Error> {
        let request = ResultsRequest {
            study: &self.path(),
            out: None,
            scale: None,
        };
        open_results(request, &self.told.teller())
    }
}

fn claim<'a>(opened: &'a Opened, folder: &'a Path) -> Claim<'a> {
    Claim {
        folder,
        study: &opened.study,
        plan: &opened.plan,
        start_again: None,
    }
}

#[test]
fn mistakes_come_with_their_lines_and_a_kind() {
    let folder = Folder::with(&STUDY.replace("repetitions = 2", "repetitions = 0"));
    let error = folder.open().err().unwrap();
    assert_eq!(error.kind, ErrorKind::BadStudy);
    let shown = error.rendered(Style::Plain).unwrap();
    assert!(
        shown.contains("repetitions = 0") && shown.contains('^'),
        "{shown}"
    );
    assert_eq!(shown, error.to_string());
}

#[test]
fn results_are_claimed_by_one_at_a_time_and_read_by_anyone() {
    let folder = Folder::with(STUDY);
    let opened = folder.open().unwrap();
    let results = results_folder(&opened.path, &opened.study, None);
    assert_eq!(results, folder.dir.path().join("results/tried"));
    let missing = folder.results().err().unwrap();
    assert_eq!(missing.kind, ErrorKind::Other);

    let tell = folder.told.teller();
    let claimed = claim(&opened, &results).make(&tell).unwrap();
    let second = claim(&opened, &results).make(&tell).err().unwrap();
    assert_eq!(second.kind, ErrorKind::ResultsInUse);
    save_question(&claimed.store, &opened.study, &opened.plan, &opened.text).unwrap();

    let read = folder.results().unwrap();
    let analysis = workbench::analyse(&read, None, &tell).unwrap();
    assert!(analysis.runs.is_empty());
    assert_eq!(*folder.told.0.borrow(), Vec::<String>::new());
}

#[test]
fn a_study_that_changed_after_its_results_is_told() {
    let folder = Folder::with(STUDY);
    let opened = folder.open().unwrap();
    let results = results_folder(&opened.path, &opened.study, None);
    let claimed = claim(&opened, &results)
        .make(&folder.told.teller())
        .unwrap();
    save_question(&claimed.store, &opened.study, &opened.plan, &opened.text).unwrap();
    fs::write(folder.path(), STUDY.replace("[1, 2]", "[1, 2, 3]")).unwrap();
    folder.results().unwrap();
    let told = folder.told.0.borrow();
    assert!(
        told.len() == 1 && told[0].contains("has changed since"),
        "{told:?}"
    );
}

#[test]
fn what_ifs_are_read_against_the_study() {
    let folder = Folder::with(STUDY);
    let opened = folder.open().unwrap();
    let results = results_folder(&opened.path, &opened.study, None);
    let tell = folder.told.teller();
    let claimed = claim(&opened, &results).make(&tell).unwrap();
    save_question(&claimed.store, &opened.study, &opened.plan, &opened.text).unwrap();
    let read = folder.results().unwrap();
    let ask = |request: WhatIfRequest| OtherPrices::read(&request, &folder.path(), &read, &tell);

    assert!(ask(WhatIfRequest::default()).unwrap().is_none());
    let priced = |price: &str| WhatIfRequest {
        prices: vec![price.to_owned()],
        ..WhatIfRequest::default()
    };
    assert!(ask(priced("here=1 USD/h")).unwrap().is_some());
    let unknown = ask(priced("there=1 USD/h")).err().unwrap();
    assert_eq!(unknown.kind, ErrorKind::BadStudy);
    assert!(unknown.to_string().contains("no environment is called"));
}

#[test]
fn what_a_machine_cannot_give_is_refused_before_anything_runs() {
    let large = STUDY.replace("[environments.here]", "[environments.here]\ncores = 4000");
    let folder = Folder::with(&large);
    let opened = folder.open().unwrap();
    let wish = CapacityQuestion {
        runs: &opened.plan.runs,
        has_real_endpoints: false,
        capacities: None,
        advice: "nothing was started",
    };
    let error = refuse_too_large(&opened, &wish).err().unwrap();
    assert_eq!(error.kind, ErrorKind::BadStudy);
}

#[test]
fn a_program_that_is_not_there_is_a_mistake_of_the_study() {
    let check = |command: &str, is_refused: bool| {
        let folder = Folder::with(&STUDY.replace("\"sh\"", command));
        let opened = folder.open().unwrap();
        let home = Home::find().unwrap();
        let lacks = Lacks::of(&opened.study, &opened.plan.scenarios, &opened.folder, &home);
        let refused = lacks.refuse(&opened.path).err();
        assert_eq!(refused.is_some(), is_refused, "{command}");
        if let Some(error) = refused {
            assert_eq!(error.kind, ErrorKind::BadStudy);
        }
    };
    check("\"sh\"", false);
    check("\"no-such-program\"", true);
}

#[test]
fn the_studies_of_a_folder_are_listed_with_their_state() {
    let folder = Folder::with(STUDY);
    let dir = folder.dir.path();
    fs::write(dir.join("broken.toml"), "[ study ]\nname = 1\n").unwrap();
    fs::write(dir.join("Cargo.toml"), "[package]\nname = \"study\"\n").unwrap();
    let tell = folder.told.teller();
    let list = || -> Vec<String> {
        let line = |study: StudySummary| {
            let RunCounts { planned, done, .. } = study.runs;
            let file = study.file.is_some();
            format!(
                "{} {} {done}/{planned} {file}",
                study.name,
                study.state.word()
            )
        };
        let found = workbench::studies(dir, &tell).unwrap();
        found.into_iter().map(line).collect()
    };
    assert_eq!(list(), ["broken unreadable 0/0 true", "tried new 0/4 true"]);

    let opened = folder.open().unwrap();
    let results = results_folder(&opened.path, &opened.study, None);
    let claimed = claim(&opened, &results).make(&tell).unwrap();
    assert_eq!(list()[1], "tried running 0/4 true");
    save_question(&claimed.store, &opened.study, &opened.plan, &opened.text).unwrap();
    drop(claimed);
    assert_eq!(list()[1], "tried new 0/4 true");

    // Results stay when their study is renamed or gone.
    fs::remove_file(folder.path()).unwrap();
    assert_eq!(list()[1], "tried new 0/4 false");
    let missing = workbench::studies(&dir.join("nowhere"), &tell)
        .err()
        .unwrap();
    assert_eq!(missing.kind, ErrorKind::BadStudy);
}
