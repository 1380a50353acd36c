//! Servers, and who asks them.

use measure::ClientCommand;

use super::*;

/// A server that ends when it is asked to, and says that it did.
const SERVER: &str = "trap 'echo bye; exit 143' TERM; while true; do sleep 0.02; done";

fn served(server: &str, client: &str) -> Ran {
    carry_out(&["sh", "-c", server], |request| {
        let command = ["sh", "-c", client].map(str::to_owned).to_vec();
        request.client = Some(ClientCommand {
            command,
            env: vec![("WHO".to_owned(), "client".to_owned())],
        });
    })
}

#[test]
fn the_end_of_the_client_ends_the_run_well() {
    let ran = served(
        SERVER,
        r#"echo "{\"event\":\"phase\",\"phase\":\"setup\",\"at\":$BANCADA_STARTED}" >> "$BANCADA_EVENTS"
           echo '{"event":"phase","phase":"warm"}' >> "$BANCADA_EVENTS"
           echo "{\"event\":\"note\",\"text\":\"$WHO\"}" >> "$BANCADA_EVENTS"
           sleep 0.3"#,
    );
    assert_eq!(
        ran.measured.outcome.status,
        Status::Ok,
        "{:?}",
        ran.measured.outcome
    );
    assert_eq!(ran.phases(), ["setup", "warm"]);
    assert!(ran.file("log.txt").ends_with("bye\n"));
    assert!(ran.metric(metric::CLIENT_CPU_SECONDS).is_some());
    assert!(
        ran.metric(metric::CORES_USED).is_some(),
        "while it was asked"
    );
    let reported = ran
        .events
        .iter()
        .any(|event| matches!(&event.kind, model::EventKind::Note { text } if text == "client"));
    assert!(reported, "{:?}", ran.events);
    assert!(
        ran.measured
            .warnings
            .iter()
            .all(|warning| !matches!(warning, model::Warning::LeftBehind { .. }))
    );
    // It said nothing.
    assert!(!ran.folder.path().join("client.txt").exists());
}

#[test]
fn a_client_that_fails_says_why() {
    let ran = served(
        SERVER,
        "echo 'error: no healthy ping within 2 s' >&2; exit 1",
    );
    assert_eq!(ran.measured.outcome.status, Status::Failed);
    let detail = ran.detail();
    assert!(detail.starts_with("no healthy ping within 2 s"), "{detail}");
    assert!(ran.file("client.txt").contains("no healthy ping"));
}

#[test]
fn a_server_that_ends_while_it_is_asked_has_failed_and_its_client_is_ended() {
    let ran = served(
        "sleep 0.2; echo broken; exit 0",
        r#"echo '{"event":"phase","phase":"warm"}' >> "$BANCADA_EVENTS"
           echo "{\"event\":\"note\",\"text\":\"$$\"}" >> "$BANCADA_EVENTS"; exec sleep 60"#,
    );
    assert_eq!(ran.measured.outcome.status, Status::Failed);
    let expected =
        "the server ended with exit code 0, while requests were in progress; the log ends:\nbroken";
    assert_eq!(ran.detail(), expected);
    let pid = ran.events.iter().find_map(|event| match &event.kind {
        model::EventKind::Note { text } => Some(text.clone()),
        _ => None,
    });
    assert!(!is_alive(&pid.unwrap()));
}

#[test]
fn a_run_that_takes_too_long_ends_both() {
    let ran = carry_out(&["sh", "-c", SERVER], |request| {
        request.settings.timeout_seconds = Some(0.3);
        request.client = Some(ClientCommand {
            command: vec!["sleep".to_owned(), "60".to_owned()],
            env: Vec::new(),
        });
    });
    assert_eq!(ran.measured.outcome.status, Status::TimedOut);
    let detail = ran.detail();
    let never_healthy = "the server was not healthy after 0.3 s and was stopped; the log ends:\n";
    assert!(detail.starts_with(never_healthy), "{detail}");
    assert!(detail.ends_with("bye"), "{detail}");
}

#[test]
fn a_server_that_dies_at_its_start_was_never_asked() {
    let ran = served("echo 'no such model' >&2; exit 3", "exec sleep 60");
    assert_eq!(ran.measured.outcome.status, Status::Failed);
    assert_eq!(
        ran.detail(),
        "the server ended with exit code 3 before it was healthy; the log ends:\nno such model"
    );
}

#[test]
fn a_client_that_cannot_be_started_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut request = request(&["sh", "-c", SERVER], folder.path());
    request.client = Some(ClientCommand {
        command: vec!["no-such-client-here".to_owned()],
        env: Vec::new(),
    });
    let error = measure::run(&request, &Stop::new(), &mut |_| ()).unwrap_err();
    assert!(
        error.to_string().contains("the client of a server"),
        "{error}"
    );
}
