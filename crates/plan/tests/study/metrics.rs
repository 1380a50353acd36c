//! Which metrics a study may ask for: those of the table, by the kind of its runs.

use model::run::metric::{self, Runs};

use crate::support::{read, shown};

const TRAIN: &str = "[workload]\nnetwork = \"rede1\"\n";
const SERVE: &str = "[workload]\nkind = \"serve\"\nmodel = \"served/other.onnx\"\n";

fn mistakes(name: &str, workload: &str) -> String {
    let text = format!(
        "[study]\nname = \"s\"\nmetrics = [\"{name}\"]\n[factors]\nimage = [28, 32]\n{workload}"
    );
    read(&text).map_or_else(|mistakes| shown(&text, &mistakes), |_| String::new())
}

#[test]
fn every_metric_may_be_asked_for_where_runs_have_it() {
    for metric in metric::ALL {
        let mut kinds = vec![(TRAIN, Runs::Serving), (SERVE, Runs::Training)];
        kinds.retain(|(_, others)| *others != metric.runs);
        let words = metric.aliases.iter().copied().chain([metric.name]);
        for word in words {
            for (workload, _) in &kinds {
                assert_eq!(mistakes(word, workload), "", "{word}");
            }
        }
    }
}

#[test]
fn a_metric_of_other_runs_is_refused() {
    let check = |name: &str, workload: &str, expected: &str| {
        let said = mistakes(name, workload);
        assert!(said.contains(expected), "{said}");
    };
    let serve = "only runs that serve have the metric `p99`";
    check("p99", TRAIN, serve);
    check("p99", TRAIN, "this study trains");
    check("loss", SERVE, "only runs that train have the metric `loss`");
    check(
        "peak_memory_byte",
        TRAIN,
        "did you mean `peak_memory_bytes`?",
    );
    let command = "[workload]\ncommand = [\"true\"]\n";
    check("p99", command, "");
}

/// A small network is not the better choice for someone who needs a large one.
#[test]
fn factors_have_the_role_of_their_name_or_the_study_s() {
    use model::Role;
    let text = "[study]\nname = \"s\"\nroles = { batch = \"task\" }\n[factors]\nnetwork = [\"rede1\", \"rede2\"]\nbatch = [1, 2]\nthreads = [1, 2]\n[workload]\ndataset = \"digits\"\n";
    let study = read(text).unwrap();
    let roles = ["network", "batch", "threads"].map(|name| study.role(name));
    assert_eq!(roles, [Role::Task, Role::Task, Role::Choice]);
    assert_eq!(Role::usual("day"), Role::Block);
    // Images of containers are chosen; the size of pictures is not.
    let image = |levels: &str| {
        let text = format!(
            "[study]\nname = \"s\"\n[factors]\nimage = {levels}\n[workload]\ncommand = [\"true\", \"{{image}}\"]\n"
        );
        read(&text).unwrap().role("image")
    };
    assert_eq!(image("[32, 64]"), Role::Task);
    assert_eq!(image("[\"slim\", \"full\"]"), Role::Choice);
}
