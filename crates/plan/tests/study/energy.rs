//! Stated power models and carbon intensities.

use plan::{WhatIf, scenario_fingerprint};

use crate::support::good;

const STUDY: &str = r#"
[study]
name = "s"
pareto = ["time", "energy", "accuracy"]
carbon = { grams_per_kwh = 400, source = "the national grid", date = 2025 }
[factors]
environment = ["desk", "lab"]
[workload]
network = "rede1"
[environments.desk]
power = { idle = "60 W", full = "0.18 kW", source = "wall meter" }
[environments.lab]
carbon = { grams_per_kwh = 12.5, source = "the supplier", date = "2026-05" }
"#;

#[test]
fn power_and_carbon_are_as_stated() {
    let study = good(STUDY);
    let power = study.environment("desk").unwrap().power.clone().unwrap();
    assert_eq!((power.idle_watts, power.full_watts), (60.0, 180.0));
    assert_eq!(power.source.as_deref(), Some("wall meter"));
    // Nothing is assumed of a machine whose power nobody states.
    let lab = study.environment("lab").unwrap();
    assert_eq!(lab.power, None);
    let intensity = lab.carbon.clone().unwrap();
    assert_eq!(intensity.grams_per_kilowatt_hour, 12.5);
    assert_eq!(intensity.date, "2026-05");
    assert_eq!(study.carbon.unwrap().date, "2025");
    assert_eq!(study.pareto, ["time", "energy", "accuracy"]);
}

#[test]
fn stating_them_later_changes_no_question() {
    let line = |text: &str, begins: &str| {
        let lines = text.lines().filter(|line| !line.starts_with(begins));
        lines.collect::<Vec<_>>().join("\n")
    };
    let plain = good(&line(&line(&line(STUDY, "power"), "carbon"), "pareto"));
    let study = good(STUDY);
    for (a, b) in plan::plan(&plain)
        .scenarios
        .iter()
        .zip(&plan::plan(&study).scenarios)
    {
        assert_eq!(
            scenario_fingerprint(&plain, a),
            scenario_fingerprint(&study, b)
        );
    }
    assert!(plan::differences(&plain, &study).is_empty());
}

#[test]
fn what_if_states_others() {
    let study = good(STUDY);
    let text = r#"
carbon = { grams_per_kwh = 30, source = "another region", date = "2026" }
[environments.lab]
power = { idle = "5 W", full = "10 W" }
"#;
    let asked = WhatIf::of(study.clone()).asking("if.toml", text, cost::catalog());
    let asked = asked.unwrap().study;
    assert_eq!(asked.carbon.as_ref().unwrap().grams_per_kilowatt_hour, 30.0);
    let lab = asked.environment("lab").unwrap();
    assert_eq!(lab.power.as_ref().unwrap().full_watts, 10.0);
    // What is not said stays.
    assert_eq!(lab.carbon, study.environment("lab").unwrap().carbon);
    assert_eq!(asked.environment("desk"), study.environment("desk"));
    let now = WhatIf::of(asked).by_the_study_now(STUDY, cost::catalog());
    assert_eq!(now.unwrap().study, study);
}
