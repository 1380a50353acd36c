//! Many runs at many places.

use std::collections::BTreeSet;

use place::{Fake, Place, Script};
use runner::Ended;

use crate::bench::Bench;

const PLACES: usize = 10;

/// How much CPU this takes is in docs/benchmarks.md.
#[test]
fn a_thousand_runs_at_ten_places_are_each_kept_once() {
    let names: Vec<String> = (0..PLACES).map(|place| format!("p{place}")).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let mut text = format!(
        "[study]\nname = \"s\"\nrepetitions = 10\nbudget = \"1000000 USD\"\n[factors]\nenvironment = [{}]\n\
         n = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n[workload]\ncommand = [\"true\", \"{{n}}\"]\n",
        quoted.join(", ")
    );
    for name in &names {
        text.push_str(&format!("[environments.{name}]\nprice = \"1 USD/h\"\n"));
    }
    let bench = Bench::of(&text);
    let places: Vec<Fake> = names
        .iter()
        .map(|name| Fake::new(name, |_| Script::default()))
        .collect();
    let assigned = places.iter().zip(&names).map(|(place, name)| {
        let environments: BTreeSet<String> = [name.clone()].into();
        (place as &dyn Place, environments)
    });
    let came = bench.run(assigned.collect());
    assert_eq!(came.ended(), Ended::AllDone);
    assert_eq!(bench.statuses().len(), 1000);
    for place in &places {
        let started = place.started();
        assert_eq!(started.len(), 100);
        assert_eq!(started.iter().collect::<BTreeSet<_>>().len(), 100);
        assert_eq!(place.left(), 0);
    }
}
