//! In a real browser: nothing complains, everything is reached by keyboard, contrast is enough.

use std::fs;

use serde_json::json;

use crate::common::Bench;
use crate::devtools::Browser;
use crate::server::Ui;

const STUDY: &str = r#"
[study]
name = "seen"
objective = "<img src=x onerror=console.error(1)> time"
repetitions = 2
order = "listed"
budget = "1 USD"
[factors]
n = [1, 2]
[workload]
command = ["sh", "-c", """i=0; echo {n}; while [ $i -lt 30 ]; do i=$((i + 1)); echo "step $i"
printf '{"event": "step", "step": %d, "loss": 0.%d}\n' $i $((99 - i)) >> "$BANCADA_EVENTS"; sleep 0.2; done"""]
[environments.here]
price = "0.2 USD/h"
[measure]
interval = "200ms"
"#;

/// Violations of the accessibility rules, contrast among them, by axe-core.
fn violations(browser: &mut Browser) -> Vec<String> {
    let axe =
        std::env::var("BANCADA_AXE").unwrap_or_else(|_| panic!("BANCADA_AXE names axe.min.js"));
    let axe = fs::read_to_string(axe).unwrap();
    // Its own script is not the page's: the policy of the page does not hold for the protocol.
    browser.evaluate(&format!("{axe}; true"));
    let found = browser.evaluate(
        "axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.map(v => \
         v.id + ': ' + v.nodes.map(n => n.html + ' ' + n.failureSummary).join('; ')))",
    );
    let found = found.as_array().unwrap().iter();
    found
        .map(|violation| violation.as_str().unwrap().to_owned())
        .collect()
}

#[test]
#[ignore = "needs chromium and axe-core (.ci/ui)"]
fn every_page_is_quiet_and_accessible_in_light_and_dark() {
    let bench = Bench::new();
    bench.write("study.toml", &STUDY.replace("-lt 30", "-lt 3"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    let ui = Ui::of(&bench);
    let mut browser = Browser::open(bench.path());
    let study = ui.study("seen");
    let id = study.rsplit('/').next().unwrap().to_owned();
    let pages = [
        "/".to_owned(),
        study.clone(),
        format!("{study}/edit"),
        format!("{study}/run/C1-r1"),
        format!("/compare?a={id}:C1&b={id}:C2"),
    ];
    for scheme in ["light", "dark"] {
        let feature = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        browser.call("Emulation.setEmulatedMedia", json!({ "features": feature }));
        for width in [1280, 400] {
            let metrics =
                json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
            browser.call("Emulation.setDeviceMetricsOverride", metrics);
            for page in &pages {
                browser.visit(&format!("http://{}{}{page}", ui.host, ui.root));
                let found = violations(&mut browser);
                assert_eq!(found, Vec::<String>::new(), "{scheme} {width} {page}");
                let overflow =
                    browser.evaluate("document.documentElement.scrollWidth - innerWidth");
                assert!(
                    overflow.as_i64().unwrap() <= 0,
                    "{page} is {overflow} wider than {width}"
                );
            }
        }
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
#[ignore = "needs chromium and axe-core (.ci/ui)"]
fn a_study_is_edited_started_and_watched_by_keyboard_alone() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    let ui = Ui::of(&bench);
    let mut browser = Browser::open(bench.path());
    browser.visit(&ui.address());
    browser.tab_to("e.textContent === 'seen'");
    browser.press("Enter");
    browser.wait_for("document.title.startsWith('seen')");
    assert_eq!(
        browser.evaluate("document.querySelectorAll('main img').length"),
        0
    );

    browser.tab_to("e.textContent === 'Edit the plan'");
    browser.press("Enter");
    browser.wait_for("document.getElementById('draft')");
    let count = "document.querySelector('#draft dd').innerText.trim()";
    assert_eq!(browser.evaluate(count), "2");
    browser.tab_to("e.name === 'factor.n'");
    browser.press("End");
    for key in [",", " ", "3"] {
        browser.press(key);
    }
    browser.wait_for(&format!("{count} === '3'"));
    assert!(
        browser
            .evaluate("document.getElementById('text').value")
            .as_str()
            .unwrap()
            .contains("[1, 2, 3]")
    );
    browser.tab_to("e.textContent === 'Save the study file'");
    browser.press("Enter");
    browser.wait_for("document.getElementById('control')");
    let saved = fs::read_to_string(bench.path().join("study.toml")).unwrap();
    assert_eq!(saved, STUDY.replace("[1, 2]", "[1, 2, 3]"));

    browser.tab_to("e.textContent === 'Start'");
    browser.press("Enter");
    browser.wait_for("document.querySelector('#now a')?.innerText === 'C1-r1'");
    browser.wait_for("document.querySelector('#now svg polyline')");
    browser.wait_for("/CPU|%/.test(document.querySelector('#now tbody')?.innerText)");
    browser.tab_to("e.textContent === 'C1-r1'");
    browser.press("Enter");
    browser.wait_for("document.querySelector('#log pre')?.innerText.includes('step 5')");
    browser.evaluate("history.back()");
    browser.wait_for("document.getElementById('control')");
    browser.tab_to("e.textContent === 'Stop'");
    browser.press("Enter");
    browser.wait_for(
        "[...document.querySelectorAll('#control button')].some(b => b.innerText === 'Go on')",
    );
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
#[ignore = "needs chromium and axe-core (.ci/ui)"]
fn the_decision_follows_the_form() {
    let bench = Bench::new();
    bench.write("study.toml", &STUDY.replace("-lt 30", "-lt 3"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    let ui = Ui::of(&bench);
    let mut browser = Browser::open(bench.path());
    browser.visit(&format!(
        "http://{}{}{}",
        ui.host,
        ui.root,
        ui.study("seen")
    ));
    browser.tab_to("e.name === 'price'");
    for key in "3 EUR/h".chars() {
        browser.press(&key.to_string());
    }
    browser.wait_for("document.getElementById('decision').innerText.includes('What if')");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Another site that somehow learned the address.
#[test]
#[ignore = "needs chromium and axe-core (.ci/ui)"]
fn a_page_elsewhere_reads_and_starts_nothing() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    let ui = Ui::of(&bench);
    let study = ui.study("seen");
    let mut browser = Browser::open(bench.path());
    browser.visit("data:text/html,<p>elsewhere");
    let read = browser.evaluate(&format!(
        "fetch('{}').then(() => 'read', () => 'refused')",
        ui.address()
    ));
    assert_eq!(read, "refused");
    // Newer browsers do not even send it.
    browser.evaluate(&format!(
        "fetch('http://{}{}{study}/start', {{ method: 'POST', mode: 'no-cors', \
         headers: {{ 'content-type': 'application/x-www-form-urlencoded' }} }}).then(() => 1, () => 0)",
        ui.host, ui.root
    ));
    let page = ui.get(&study).body;
    assert!(
        page.contains("<button title=\"Carry out") && !page.contains("starting"),
        "{page}"
    );
    // A form, as a person would be made to send it.
    browser.evaluate(&format!(
        "document.body.innerHTML = `<form method=post action='http://{}{}{study}/start'><button>go</button></form>`; \
         document.forms[0].submit(); true",
        ui.host, ui.root
    ));
    browser.wait_for("document.body.innerText.includes('other sites are refused')");
    assert!(!ui.get(&study).body.contains("starting"));
    assert!(!bench.path().join("results").exists());
}
