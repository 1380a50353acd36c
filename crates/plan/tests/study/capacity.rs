//! Studies that need a larger machine than there is.

use model::{Capacity, Scenario};
use plan::Machine;

use super::support::{good, shown};

const HEAD: &str = "[study]\nname = \"s\"\n[workload]\nnetwork = \"rede1\"\n";

/// On a machine of 2 cores and 24 GB.
fn check(more: &str, expected: &str) {
    let text = format!("{HEAD}{more}");
    let study = good(&text);
    let scenarios = plan::scenarios(&study);
    let scenarios: Vec<&Scenario> = scenarios.iter().collect();
    let mistakes = plan::beyond_capacity(&text, &study, &scenarios, &machine(false));
    assert_eq!(shown(&text, &mistakes), expected.trim_start(), "{more}");
}

fn machine(has_real_endpoints: bool) -> Machine<'static> {
    Machine {
        capacity_of: &|environment| {
            let known = Capacity {
                cores: 2.0,
                memory_bytes: 24_000_000_000,
            };
            environment.location.is_here().then_some(known)
        },
        has_real_endpoints,
    }
}

#[test]
fn what_fits_is_fine() {
    check("", "");
    check("[factors]\ncores = [0.5, 1, 2]\n", "");
    check("[environments.a]\ncores = 2\nmemory = \"24 GB\"\n", "");
    // Another machine says what it has when it is reached.
    check("[environments.a]\nssh = \"big\"\ncores = 64\n", "");
}

#[test]
fn a_factor_that_asks_for_more_is_refused_once() {
    check(
        "[factors]\ncores = [1, 2, 64]\n",
        r"
error: the factor `cores` requests 64 cores, but this machine has 2 cores
  ┌ study.toml:6
  │ cores = [1, 2, 64]
  │                ^^
  = `run` and `plan` select the runs that fit with --only cores=1,2
",
    );
    check(
        "[factors]\ncores = { from = 1, to = 24 }\n",
        r"
error: the factor `cores` requests up to 24 cores, but this machine has 2 cores
  ┌ study.toml:6
  │ cores = { from = 1, to = 24 }
  │         ^^^^^^^^^^^^^^^^^^^^^
  = `run` and `plan` select the runs that fit with --only cores=1,2
",
    );
}

#[test]
fn an_environment_that_asks_for_more_is_refused() {
    check(
        "[environments.big]\ncores = 64\nmemory = \"900 GB\"\n",
        r#"
error: the environment `big` requests 64 cores, but this machine has 2 cores
  ┌ study.toml:6
  │ cores = 64
  │         ^^

error: the environment `big` requests 900 GB of memory, but this machine has 24 GB (22.4 GiB)
  ┌ study.toml:7
  │ memory = "900 GB"
  │          ^^^^^^^^
"#,
    );
    check(
        "[factors]\nenvironment = [\"big\", \"small\"]\n[environments.small]\ncores = 1\n[environments.big]\ncores = 4\n",
        r"
error: the environment `big` requests 4 cores, but this machine has 2 cores
  ┌ study.toml:10
  │ cores = 4
  │         ^
  = `run` and `plan` select the runs that fit with --only environment=small
",
    );
}

#[test]
fn what_was_measured_elsewhere_needs_no_machine() {
    let text = "[study]\nname = \"s\"\n[import]\n[environments.big]\ncores = 64\n";
    let study = good(text);
    let scenarios = plan::scenarios(&study);
    let scenarios: Vec<&Scenario> = scenarios.iter().collect();
    assert_eq!(
        plan::beyond_capacity(text, &study, &scenarios, &machine(false)),
        []
    );
}

#[test]
fn workers_on_demand_bring_their_size() {
    let check = |megabytes: u32, has_real_endpoints: bool, expected: &[&str]| {
        let text = format!(
            "[study]\nname = \"s\"\n[workload]\nkind = \"serve\"\nmodel = \"mobilenet\"\n\
             [environments.a]\nserverless = {{ memory = {megabytes} }}\n"
        );
        let study = good(&text);
        let scenarios = plan::scenarios(&study);
        let scenarios: Vec<&Scenario> = scenarios.iter().collect();
        let found = plan::beyond_capacity(&text, &study, &scenarios, &machine(has_real_endpoints));
        let messages: Vec<&str> = found.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(messages, expected, "{megabytes}");
        assert!(found.iter().all(|f| f.span.is_some()));
    };
    check(3072, false, &[]);
    check(
        6144,
        false,
        &["the environment `a` requests 3.47 cores, but this machine has 2 cores"],
    );
    // At the provider there is no such limit.
    check(6144, true, &[]);
}
