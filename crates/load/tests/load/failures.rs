//! What goes wrong is counted, never dropped, and never stops the load.

use std::net::TcpListener;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use load::{Arrivals, End, Extent, Load, Open, Options, Series, Watch};

use crate::server::{Reply, ok, serve};
use crate::{closed, post, run, within};

const SHORT: Duration = Duration::from_millis(60);

#[test]
fn statuses_are_counted_by_code() {
    let server = serve(|asked| {
        Reply::Text(match asked.number % 4 {
            0 => "HTTP/1.1 503 Busy\r\nretry-after: 1\r\ncontent-length: 4\r\n\r\nbusy".to_owned(),
            1 => "HTTP/1.1 404 None\r\ncontent-length: 0\r\n\r\n".to_owned(),
            2 => "HTTP/1.1 204 Empty\r\n\r\n".to_owned(),
            _ => ok("fine"),
        })
    });
    let outcome = run(&post(&server.url()), &closed(1, 40), &Options::default());
    assert_eq!(outcome.counts.ok, 20);
    assert_eq!(outcome.counts.status.get(&503), Some(&10));
    assert_eq!(outcome.counts.status.get(&404), Some(&10));
    assert_eq!(
        outcome.first_failure.unwrap(),
        "a response had the status 503: busy"
    );
    assert_eq!(outcome.connections.opened, 1);
}

#[test]
fn the_sentence_of_a_server_is_told() {
    let server = serve(|_| {
        let body = r#"{"error":"the body is no picture"}"#;
        let length = body.len();
        Reply::Text(format!(
            "HTTP/1.1 400 Bad\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
    });
    let outcome = run(&post(&server.url()), &closed(1, 2), &Options::default());
    assert_eq!(
        outcome.first_failure.unwrap(),
        "a response had the status 400: the body is no picture"
    );
}

#[test]
fn a_server_that_never_answers_times_out() {
    let server = serve(|_| Reply::Silence);
    let outcome = run(&post(&server.url()), &closed(3, 6), &within(SHORT));
    assert_eq!((outcome.counts.timed_out, outcome.counts.ok), (6, 0));
    assert!(outcome.failed.quantile(0.5).unwrap().seconds >= 0.06);
    // A late answer must not be taken for the next request's: each begins afresh.
    assert_eq!(outcome.connections.opened, 6);
    assert!(
        outcome
            .first_failure
            .unwrap()
            .contains("no complete response within 0.06 s")
    );
}

#[test]
fn only_the_slow_time_out() {
    let server = serve(|asked| match asked.number % 2 {
        0 => Reply::Text(ok("")),
        _ => Reply::After(Duration::from_secs(4), ok("late")),
    });
    let outcome = run(
        &post(&server.url()),
        &closed(1, 4),
        &within(Duration::from_secs(1)),
    );
    assert_eq!((outcome.counts.ok, outcome.counts.timed_out), (2, 2));
}

#[test]
fn a_port_that_nobody_listens_on_refuses() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let series = Series {
        count: 3,
        uncounted: 1,
        pause: Duration::ZERO,
    };
    let request = post(&format!("http://{address}/"));
    let outcome = run(&request, &Load::Series(series), &Options::default());
    assert_eq!((outcome.counts.refused, outcome.uncounted.refused), (3, 1));
    assert!(
        outcome
            .singles
            .iter()
            .all(|single| single.end == End::Refused)
    );
    assert!(outcome.first_failure.unwrap().contains("could not connect"));
}

#[test]
fn a_name_with_several_addresses_is_tried_through() {
    // localhost often is ::1 first, where this server does not listen.
    let server = serve(|_| Reply::Text(ok("")));
    let url = format!("http://localhost:{}/", server.address.port());
    let outcome = run(&post(&url), &closed(2, 10), &Options::default());
    assert_eq!(outcome.counts.ok, 10);
}

#[test]
fn answers_cut_short_are_closed() {
    let server =
        serve(|_| Reply::Then("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_owned()));
    let outcome = run(&post(&server.url()), &closed(2, 8), &Options::default());
    assert_eq!((outcome.counts.closed, outcome.counts.total()), (8, 8));
    assert!(outcome.first_failure.unwrap().contains("during"));
    let server = serve(|_| Reply::Then(String::new()));
    let outcome = run(&post(&server.url()), &closed(1, 4), &Options::default());
    assert_eq!((outcome.counts.closed, outcome.counts.total()), (4, 4));
}

#[test]
fn garbage_is_broken() {
    let server = serve(|_| Reply::Text("what is this\r\n\r\n".to_owned()));
    let outcome = run(&post(&server.url()), &closed(1, 5), &Options::default());
    assert_eq!((outcome.counts.broken, outcome.connections.opened), (5, 5));
}

#[test]
fn bytes_after_an_answer_end_the_connection() {
    let server = serve(|_| Reply::Text(format!("{}SURPLUS", ok("fine"))));
    let outcome = run(&post(&server.url()), &closed(1, 5), &Options::default());
    assert_eq!((outcome.counts.ok, outcome.connections.unasked), (5, 5));
    assert_eq!(outcome.connections.opened, 5);
}

#[test]
fn a_server_may_close_after_each_answer() {
    for text in [
        ok("fine"),
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok".to_owned(),
        "HTTP/1.0 200 OK\r\n\r\nuntil the end".to_owned(),
    ] {
        let server = serve(move |_| Reply::Then(text.clone()));
        let outcome = run(&post(&server.url()), &closed(2, 20), &Options::default());
        assert_eq!((outcome.counts.ok, outcome.counts.failed()), (20, 0));
        assert!(outcome.connections.opened >= 20);
    }
}

#[test]
fn where_the_server_closes_each_request_has_its_connection() {
    let server = serve(|_| {
        Reply::Then("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned())
    });
    let outcome = run(&post(&server.url()), &closed(1, 10), &Options::default());
    assert_eq!(
        (outcome.counts.ok, server.seen.connections.load(SeqCst)),
        (10, 10)
    );
}

#[test]
fn a_kept_connection_closed_in_the_pause_is_opened_again() {
    // The server closes without a word, as one does whose keep-alive time is over.
    let server = serve(|_| Reply::Then(ok("fine")));
    let series = Series {
        count: 5,
        uncounted: 0,
        pause: Duration::from_millis(20),
    };
    let outcome = run(
        &post(&server.url()),
        &Load::Series(series),
        &Options::default(),
    );
    assert_eq!((outcome.counts.ok, outcome.connections.opened), (5, 5));
}

#[test]
fn chunked_answers_and_going_on_are_understood() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
                10\r\n{\"prediction_ms\"\r\n3\r\n:42\r\n1\r\n}\r\n0\r\n\r\n";
    let server = serve(move |_| Reply::Text(text.to_owned()));
    let outcome = run(&post(&server.url()), &closed(2, 50), &Options::default());
    assert_eq!((outcome.counts.ok, outcome.connections.opened), (50, 2));
    assert_eq!(outcome.prediction.mean_seconds(), Some(0.042));
}

#[test]
fn an_open_loop_against_a_dead_server_ends() {
    let server = serve(|_| Reply::Silence);
    let load = Load::Open(Open {
        arrivals: Arrivals::Constant { per_second: 1000.0 },
        warm_up: Extent::NONE,
        counted: Extent::Requests(100),
        max_connections: 2,
    });
    let outcome = run(&post(&server.url()), &load, &within(SHORT));
    assert_eq!(outcome.counts.total(), 100);
    assert_eq!(outcome.counts.ok, 0);
    assert_eq!(outcome.counts.timed_out + outcome.counts.not_sent, 100);
    assert!(outcome.client_limited.is_some());
}

#[test]
fn enough_failures_stop_a_load() {
    let server = serve(|_| Reply::Text("HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n".to_owned()));
    let watch = Watch::stopping_after_failures(10);
    let load = closed(1, 100_000);
    let outcome =
        load::run_watched(&post(&server.url()), &load, &Options::default(), &watch).unwrap();
    assert_eq!(outcome.counts.total(), 10);
}

#[test]
fn what_cannot_be_begun_is_said() {
    let request = post("http://no-such-host.invalid/");
    let error = load::run(&request, &closed(1, 1), &Options::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`no-such-host.invalid` was not found"),
        "{error}"
    );
    let error = load::run(&request, &closed(0, 1), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("without clients"), "{error}");
    let error = load::run(&request, &closed(1, 1), &within(Duration::ZERO)).unwrap_err();
    assert!(error.to_string().contains("timeout of zero"), "{error}");
}
