//! A stated power model end to end: a study is run, its energy is modelled and marked.

use crate::common::Bench;

/// Work that takes a while on any machine, and none.
fn study(more: &str, power: &str) -> String {
    format!(
        r#"
[study]
name = "watts"
repetitions = 3
{more}
[factors]
work = [0, 60000]
[workload]
command = ["sh", "-c", "i=0; while [ $i -lt {{work}} ]; do i=$((i+1)); done; sleep 0.1"]
[environments.desk]
price = "1 USD/h"
billing = {{ step = "0s" }}
{power}
"#
    )
}

const POWER: &str = r#"power = { idle = "10 W", full = "50 W", source = "a wall meter" }
carbon = { grams_per_kwh = 120, source = "a table", date = "2026-05" }"#;

fn cell<'r>(table: &'r str, run: &str, column: &str) -> &'r str {
    let mut lines = table.lines();
    let place = lines.next().unwrap().split(',').position(|c| c == column);
    let place = place.unwrap_or_else(|| panic!("no column {column}"));
    let row = lines.find(|line| line.split(',').nth(1) == Some(run));
    row.unwrap().split(',').nth(place).unwrap()
}

/// Where RAPL or NVML can be read, energy is measured: the model is then not tested.
fn is_measured(folder: &Bench) -> bool {
    let record = folder.record("watts", "C1-r1");
    let metrics = &record["metrics"];
    !metrics["cpu_energy_joules"].is_null() || !metrics["gpu_energy_joules"].is_null()
}

#[test]
fn a_power_model_gives_a_modelled_energy() {
    let folder = Bench::new();
    folder.write(
        "watts.toml",
        &study("pareto = [\"time\", \"cost\", \"energy\"]", POWER),
    );
    folder.bancada(&["run", "watts.toml"]).ends_with(0);
    if is_measured(&folder) {
        return;
    }
    let csv = folder.bancada(&["export", "watts.toml"]).ends_with(0).out;
    for run in ["C1-r1", "C2-r3"] {
        assert_eq!(cell(&csv, run, "energy_source"), "modelled");
        let number = |column: &str| cell(&csv, run, column).parse::<f64>().unwrap();
        let record = folder.record("watts", run);
        let cores = record["machine"]["logical_cores"].as_f64().unwrap();
        let joules = 10.0 * number("total_seconds") + 40.0 * number("cpu_seconds") / cores;
        assert!((number("energy_joules") / joules - 1.0).abs() < 1e-9);
        let grams = number("energy_joules") / 3.6e6 * 120.0;
        assert!((number("co2_grams") / grams - 1.0).abs() < 1e-9);
    }
    let shown = folder.bancada(&["show", "watts.toml"]).ends_with(0);
    shown
        .says("Energy is modelled from CPU time and the stated power, not measured.")
        .says("Power stated for `desk`: 10.0 W idle, 50.0 W with all cores busy (a wall meter).")
        .says("CO₂ in `desk` is energy × 120 g/kWh (a table, 2026-05).")
        .says("Pareto set of time, cost and modelled energy: C");
    folder
        .bancada(&["show", "watts.toml", "--most-energy", "1 kWh"])
        .ends_with(0)
        .says("of modelled energy, choose C");
    folder
        .bancada(&["report", "watts.toml", "--to", "page.html"])
        .ends_with(0);
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("modelled energy"));
}

#[test]
fn without_a_model_there_is_no_energy_until_it_is_stated() {
    let folder = Bench::new();
    folder.write("watts.toml", &study("", ""));
    folder.bancada(&["run", "watts.toml"]).ends_with(0);
    if is_measured(&folder) {
        return;
    }
    let plain = folder.bancada(&["show", "watts.toml"]).ends_with(0);
    assert!(
        !plain.out.to_lowercase().contains("energy"),
        "{}",
        plain.out
    );
    let csv = folder.bancada(&["export", "watts.toml"]).ends_with(0).out;
    assert!(!csv.contains("energy"), "{csv}");
    folder
        .bancada(&["show", "watts.toml", "--pareto", "time,energy"])
        .ends_with(2)
        .says("The Pareto set is without `energy`: no run has it.");
    folder
        .bancada(&["show", "watts.toml", "--most-energy", "1 kWh"])
        .ends_with(2)
        .says("no run has an energy");
    // Stated afterwards, without running again.
    folder.write("watts.toml", &study("", POWER));
    folder
        .bancada(&["show", "watts.toml", "--reprice", "--pareto", "time,energy"])
        .ends_with(0)
        .says("Pareto set of time and modelled energy: C");
}
