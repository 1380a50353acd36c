//! Downloads that break off, stall, and go on.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::download::{Download, Limits};
use crate::server_tests::{Asked, LIMITS, Reply, Server};

const BODY_BYTES: usize = 200_000;

fn body() -> Vec<u8> {
    (0..BODY_BYTES).map(|place| (place / 3) as u8).collect()
}

/// Downloads from a server; the sentence if it failed, and what was requested.
fn download(
    reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    prepare: impl FnOnce(&Path),
    limits: Limits,
) -> (String, Vec<Asked>) {
    let server = Server::start(reply);
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("file");
    prepare(&folder.path().join("file.part"));
    let mut last = 0;
    let download = Download {
        url: &format!("{}/file", server.url),
        to: &to,
        most_bytes: 300_000,
        limits,
        headers: &[],
    };
    let result = download.run(&mut |progress| last = progress.received_bytes);
    let told = match result {
        Ok(()) => {
            assert_eq!(fs::read(&to).unwrap(), body());
            assert_eq!(last, BODY_BYTES as u64);
            "ok".to_owned()
        }
        Err(why) => {
            assert!(!to.exists());
            why.to_string().replace(&server.url, "URL")
        }
    };
    (told, server.asked())
}

/// The file comes whole, requested from these bytes on.
fn check(
    reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    prepare: impl FnOnce(&Path),
    expected: &[Option<usize>],
) {
    let (told, asked) = download(reply, prepare, LIMITS);
    assert_eq!(told, "ok");
    assert_eq!(begins(&asked), expected);
}

fn begins(asked: &[Asked]) -> Vec<Option<usize>> {
    asked.iter().map(|asked| asked.begin).collect()
}

fn check_interrupted(
    reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    limits: Limits,
    tries: usize,
) {
    let (told, asked) = download(reply, |_| {}, limits);
    let expected = "URL/file was interrupted every time (";
    assert!(told.starts_with(expected), "{told}");
    assert_eq!(asked.len(), tries);
}

#[test]
fn what_broke_off_is_gone_on_with() {
    let reply = |asked: &Asked| match asked.number {
        0 => Reply::ranged(asked, body()).cut(150_000),
        1 => Reply::status(503),
        2 => Reply::ranged(asked, body()).cut(20_000),
        _ => Reply::ranged(asked, body()),
    };
    let expected = [None, Some(150_000), Some(150_000), Some(170_000)];
    check(reply, |_| {}, &expected);
}

#[test]
fn an_earlier_part_is_gone_on_with() {
    let earlier = |part: &Path| fs::write(part, &body()[..100_000]).unwrap();
    let reply = |asked: &Asked| Reply::ranged(asked, body());
    check(reply, earlier, &[Some(100_000)]);
}

#[test]
fn a_server_that_cannot_resume_sends_all_again() {
    let reply = |asked: &Asked| match asked.number {
        0 => Reply::whole(body()).cut(150_000),
        _ => Reply::whole(body()),
    };
    check(reply, |_| {}, &[None, Some(150_000)]);
}

#[test]
fn a_part_that_does_not_fit_or_was_all_of_it_is_requested_again() {
    let reply = |asked: &Asked| Reply::ranged(asked, body());
    let longer = |part: &Path| fs::write(part, vec![0; BODY_BYTES + 1]).unwrap();
    check(reply, longer, &[Some(BODY_BYTES + 1), None]);
    let whole = |part: &Path| fs::write(part, body()).unwrap();
    check(reply, whole, &[Some(BODY_BYTES), None]);
}

#[test]
fn tries_are_bounded() {
    let nothing = |asked: &Asked| Reply::ranged(asked, body()).cut(0);
    check_interrupted(nothing, LIMITS, 3);
    let little = |asked: &Asked| Reply::ranged(asked, body()).cut(1000);
    check_interrupted(little, LIMITS, 10);

    let (told, asked) = download(|_| Reply::status(500), |_| {}, LIMITS);
    assert_eq!(told, "URL/file was interrupted every time (status 500)");
    assert_eq!(asked.len(), 3);
}

#[test]
fn what_is_not_there_is_asked_for_once() {
    for status in [400, 401, 403, 404, 410] {
        let (told, asked) = download(move |_| Reply::status(status), |_| {}, LIMITS);
        assert_eq!(told, format!("returned {status} for URL/file"));
        assert_eq!(asked.len(), 1);
    }
}

#[test]
fn a_server_that_stalls_is_left_and_asked_again() {
    let limits = Limits {
        body: Duration::from_millis(400),
        answer: Duration::from_millis(400),
        ..LIMITS
    };
    let in_the_body = |asked: &Asked| match asked.number {
        0 => Reply::ranged(asked, body()).stall(120_000),
        _ => Reply::ranged(asked, body()),
    };
    let (told, asked) = download(in_the_body, |_| {}, limits);
    assert_eq!(told, "ok");
    let begin = asked.last().unwrap().begin.unwrap();
    assert!((1..=120_000).contains(&begin), "{begin}");

    let for_ever = |asked: &Asked| Reply::ranged(asked, body()).stall(0);
    check_interrupted(for_ever, limits, 3);
    check_interrupted(|_| Reply::silent(), limits, 3);
}

#[test]
fn nonsense_is_an_error() {
    let (told, _) = download(|_| Reply::nonsense(), |_| {}, LIMITS);
    assert!(
        told.contains("was interrupted") || told.contains("cannot be reached"),
        "{told}"
    );
    let larger = |asked: &Asked| Reply::ranged(asked, vec![0; 400_000]);
    let (told, asked) = download(larger, |_| {}, LIMITS);
    assert_eq!(
        told,
        "URL/file is larger than 300000 bytes: not the expected file"
    );
    assert_eq!(asked.len(), 1);
}

#[test]
fn redirections_are_followed() {
    let reply = |asked: &Asked| match asked.path.as_str() {
        "/file" => Reply::redirect("/elsewhere"),
        _ => Reply::ranged(asked, body()),
    };
    check(reply, |_| {}, &[None, None]);
}

#[test]
fn the_rest_is_asked_of_the_same_version() {
    let reply = |asked: &Asked| match asked.number {
        0 => Reply::whole([7; 1000]).header("ETag: \"one\"").cut(500),
        // The file has changed: it comes whole.
        _ => Reply::whole(body()).header("ETag: \"two\""),
    };
    let (told, asked) = download(reply, |_| {}, LIMITS);
    assert_eq!(told, "ok");
    assert_eq!(begins(&asked), [None, Some(500)]);
    assert_eq!(asked[1].version.as_deref(), Some("\"one\""));
}

#[test]
fn a_server_says_when_to_come_again() {
    let soon = |asked: &Asked| match asked.number {
        0 => Reply::status(429).header("Retry-After: 0"),
        _ => Reply::whole(body()),
    };
    let (told, asked) = download(soon, |_| {}, LIMITS);
    assert_eq!((told.as_str(), asked.len()), ("ok", 2));
    let never = |_: &Asked| Reply::status(429).header("Retry-After: 3600");
    let (told, asked) = download(never, |_| {}, LIMITS);
    assert_eq!(
        told,
        "returned 429 for URL/file and asks to retry in 3600 s"
    );
    assert_eq!(asked.len(), 1);
}
