//! Who is answered, with what, and that a study can be followed from its start to its results.

use std::fs;

use crate::common::Bench;
use crate::server::Ui;

pub(crate) const STUDY: &str = r#"
[study]
name = "tried"
objective = "<script>alert(1)</script> & time"
repetitions = 2
order = "listed"
[factors]
n = [1, 2]
word = ["a", "<b>b</b>"]
[workload]
command = ["sh", "-c", "echo '<i>log</i>' '{word}'; sleep 0.{n}"]
[environments.here]
price = "0.2 USD/h"
"#;

#[test]
fn only_a_browser_here_that_knows_the_token_is_answered() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    let ui = Ui::of(&bench);
    let Ui { host, root, .. } = &ui;
    let check = |head: String, expected: u16| {
        let answer = ui.raw(&head, "");
        assert_eq!(answer.status, expected, "{head}\n{}", answer.body);
        // Whoever is refused learns nothing.
        assert_eq!(answer.body.contains("tried"), expected == 200, "{head}");
        for header in [
            "content-security-policy: ",
            "x-content-type-options: nosniff",
            "referrer-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(answer.head.contains(header), "{}", answer.head);
        }
    };
    let get = |path: &str, more: &str| format!("GET {path} HTTP/1.1\r\n{more}");
    let home = format!("{root}/");
    let own = format!("host: {host}\r\n");
    check(get(&home, &own), 200);
    check(get("/", &own), 403);
    check(get(&format!("/{}/", "0".repeat(32)), &own), 403);
    check(get(&home, "host: rebound.example\r\n"), 421);
    check(
        get(&home, &format!("{own}origin: http://foreign.example\r\n")),
        403,
    );
    check(
        get(
            &home,
            &format!("{own}sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\n"),
        ),
        403,
    );
    check(get(&format!("{root}/nothing"), &own), 404);
    let start = ui.study("tried") + "/start";
    let post = |more: &str| format!("POST {root}{start} HTTP/1.1\r\n{own}{more}");
    check(post(""), 403);
    check(post("origin: http://foreign.example\r\n"), 403);
    check(
        post(&format!(
            "origin: http://{host}\r\ncontent-type: text/plain\r\n"
        )),
        415,
    );
    check(get(&format!("{root}{start}"), &own), 404);
    assert!(!bench.path().join("results").exists());
    let policy = ui.get("/").head;
    assert!(
        policy.contains("default-src 'none'") && !policy.contains("unsafe-inline"),
        "{policy}"
    );
}

#[test]
fn what_a_study_says_is_shown_as_text() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    bench.write("<img src=x onerror=alert(1)>.toml", "[study]\nname = 7\n");
    let ui = Ui::of(&bench);
    let study = ui.study("tried");
    for path in ["/", study.as_str(), &format!("{study}/edit")] {
        let page = ui.get(path);
        assert_eq!(page.status, 200);
        for markup in ["<script>alert", "<b>b", "<img"] {
            assert!(!page.body.contains(markup), "{markup} in {}", page.body);
        }
    }
    let page = ui.get("/").body;
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; time"),
        "{page}"
    );
    assert!(
        page.contains("unreadable") && page.contains("&lt;img src=x"),
        "{page}"
    );
}

#[test]
fn editing_a_factor_changes_the_count_and_nothing_else() {
    let bench = Bench::new();
    let file = bench.write("study.toml", STUDY);
    let ui = Ui::of(&bench);
    let study = ui.study("tried");
    let typed = |text: &str| {
        text.replace('%', "%25")
            .replace('&', "%26")
            .replace('+', "%2B")
    };
    let ask = |factor: &str| {
        let text = typed(STUDY);
        let body = format!("factor.n={factor}&factor.word=a&text={text}&changed=factor.n");
        let answer = ui.post(&format!("{study}/draft"), &body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        let part = answer["parts"]["draft"].as_str().unwrap().to_owned();
        (part, answer["values"]["text"].as_str().unwrap().to_owned())
    };
    let (part, text) = ask("1,2,3");
    assert!(part.contains("<dt>scenarios</dt><dd>3 "), "{part}");
    assert!(part.contains("<dt>runs</dt><dd>6 "), "{part}");
    let edited = STUDY.replace("[1, 2]", "[1, 2, 3]");
    let edited = edited.replace("[\"a\", \"<b>b</b>\"]", "[\"a\"]");
    assert_eq!(text, edited);
    let (part, _) = ask("1,");
    assert!(part.contains("<dt>scenarios</dt><dd>1 "), "{part}");
    let (part, _) = ask("1,,[");
    assert!(part.contains("class=\"problem\""), "{part}");
    assert_eq!(fs::read_to_string(&file).unwrap(), STUDY);

    let save = |before: &str, text: &str| {
        let body = format!("before={}&text={}&changed=text", typed(before), typed(text));
        ui.post(&format!("{study}/save"), &body).status
    };
    assert_eq!(save("something else", &edited), 409);
    assert_eq!(save(STUDY, "[study]\nname = 7\n"), 422);
    assert_eq!(fs::read_to_string(&file).unwrap(), STUDY);
    assert_eq!(save(STUDY, &edited), 303);
    assert_eq!(fs::read_to_string(&file).unwrap(), edited);
}

/// Started here, paused, gone on with in a terminal: the page sees all of it.
#[test]
fn a_study_is_followed_from_its_start_to_its_results() {
    let bench = Bench::new();
    let go = bench.path().join("go");
    let wait = format!(
        "echo {{n}}; until [ -e {} ]; do sleep 0.1; done",
        go.display()
    );
    let text = STUDY.replace("sleep 0.{n}", &wait);
    bench.write(
        "study.toml",
        &text.replace("<script>alert(1)</script> & ", ""),
    );
    let ui = Ui::of(&bench);
    let study = ui.study("tried");
    assert!(ui.get(&study).body.contains("No run has ended yet"));
    assert_eq!(ui.post(&format!("{study}/pause"), "").status, 500);
    assert_eq!(ui.post(&format!("{study}/start"), "").status, 303);
    let live = format!("{study}/live");
    let event = ui.events_until(&live, "/run/C1-r1");
    assert!(
        event.contains("0 of 8 runs") && event.contains("this machine"),
        "{event}"
    );
    // A level that is a number says of what.
    assert!(event.contains("C1 · n 1 · a"), "{event}");
    assert!(ui.get("/").body.contains("data-state=\"running\""));
    let run = ui.wait_for(&format!("{study}/run/C1-r1"), "&lt;i&gt;log&lt;/i&gt;");
    assert!(
        run.body.contains("in progress at this machine"),
        "{}",
        run.body
    );

    // The run in progress ends by itself, and no other begins.
    assert_eq!(ui.post(&format!("{study}/pause"), "").status, 303);
    let pausing = ui.get(&study).body;
    assert!(
        pausing.contains(">pausing…</span>")
            && !pausing.contains(">Pause</button>")
            && pausing.contains(">Stop</button>"),
        "{pausing}"
    );
    assert!(ui.get("/").body.contains(">pausing…</span>"));
    bench.write("go", "");
    ui.events_until(&live, ">paused</span>");
    let paused = ui.get(&study).body;
    assert!(
        paused.contains(">Go on</button>") && !paused.contains("What its last start"),
        "{paused}"
    );
    assert_eq!(bench.bundles("tried"), ["C1-r1"]);
    assert_eq!(bench.record("tried", "C1-r1")["outcome"]["status"], "ok");

    let mut terminal = bench.start(&["run", "study.toml"]);
    ui.events_until(&live, "Go on");
    terminal.wait().unwrap();
    let page = ui.wait_for(&study, "data-state=\"done\"").body;
    assert_eq!(bench.bundles("tried").len(), 8);
    assert!(
        page.contains("US$") && page.contains("<th scope=\"row\">C4</th>"),
        "{page}"
    );

    let dearer = ui.get(&format!("{study}/decision?price=2%20USD%2Fh&deadline=1h"));
    let dearer: serde_json::Value = serde_json::from_str(&dearer.body).unwrap();
    let decision = dearer["parts"]["decision"].as_str().unwrap();
    assert!(
        decision.contains("What if: costs are computed with price 2 USD/h")
            && !decision.contains("--price"),
        "{decision}"
    );
    let unknown = ui
        .get(&format!("{study}/decision?price=nowhere%2Fx&tax=17"))
        .body;
    assert!(
        unknown.contains("unknown price `nowhere/x`") || unknown.contains("<code>nowhere/x</code>"),
        "{unknown}"
    );
    assert!(
        !unknown.contains("the form:") && !unknown.contains("environments"),
        "{unknown}"
    );
    // The answer of the report, with what it saves, comes first.
    assert!(page.contains("<div class=\"pick "), "{page}");
    let wrong = ui.get(&format!("{study}/decision?deadline=soon")).body;
    assert!(
        wrong.contains("`soon` is not a duration") || wrong.contains("soon"),
        "{wrong}"
    );

    let id = study.rsplit('/').next().unwrap();
    let compared = ui.get(&format!("/compare?a={id}:C1&b={id}:C2")).body;
    assert!(
        compared.contains("<h2>Answer</h2>") && compared.contains("C2"),
        "{compared}"
    );
    let kept = ui.get(&format!("{study}/run/C1-r1")).body;
    assert!(
        kept.contains("Bill of the run") && kept.contains("&lt;i&gt;log&lt;/i&gt;"),
        "{kept}"
    );
    // It trains nothing.
    assert!(
        kept.contains("<th scope=\"row\">time</th>") && !kept.contains("training time"),
        "{kept}"
    );
    // Of what is like nothing that was measured, no time is known.
    let grown = text
        .replace("[1, 2]", "[1, 2, 3]")
        .replace("= 2\norder", "= 3\norder");
    let grown = grown.replace('%', "%25").replace('&', "%26");
    let draft = ui.post(
        &format!("{study}/draft"),
        &format!("text={grown}&changed=text"),
    );
    assert!(
        draft.body.contains("at least") && draft.body.contains("for 4 of 10 runs"),
        "{}",
        draft.body
    );

    let report = ui.get(&format!("{study}/report"));
    assert!(report.body.contains("<!DOCTYPE html>"));
    assert!(
        report
            .head
            .contains("content-security-policy: sandbox allow-scripts"),
        "{}",
        report.head
    );
}

#[test]
fn a_run_that_was_stopped_is_to_be_made_and_not_measured() {
    let bench = Bench::new();
    let text = STUDY.replace("sleep 0.{n}", "test {n} = 1 || sleep 60");
    bench.write("study.toml", &text.replace("[1, 2]", "[1, 2, 3]"));
    let ui = Ui::of(&bench);
    let study = ui.study("tried");
    assert_eq!(ui.post(&format!("{study}/start"), "").status, 303);
    let live = format!("{study}/live");
    // Two runs of a block are over, the third is in progress.
    ui.events_until(&live, "2 of 12 runs");
    ui.events_until(&live, "/run/C3-r1");
    assert_eq!(ui.post(&format!("{study}/stop"), "").status, 303);
    ui.events_until(&live, ">stopped</span>");
    let edit = ui.get(&format!("{study}/edit")).body;
    assert!(
        edit.contains("<dt>to be made</dt><dd>10 <span class=\"half\">2 measured already"),
        "{edit}"
    );
}

#[test]
fn what_cannot_start_says_why() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        &STUDY.replace("0.2 USD/h\"", "0.2 USD/h\"\ncores = 4096"),
    );
    let ui = Ui::of(&bench);
    let study = ui.study("tried");
    assert_eq!(ui.post(&format!("{study}/start"), "").status, 303);
    ui.wait_for(&study, "4096");
}
