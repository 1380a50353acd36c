//! Series, closed and open loops.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use load::{
    Arrivals, Closed, Extent, Load, Open, Options, Request, Search, Series, Trials, Watch,
    search_server,
};

use crate::server::{Asked, Reply, ok, serve};
use crate::{closed, post, run};

fn at_rate(per_second: f64, requests: u64, max_connections: usize) -> Load {
    Load::Open(Open {
        arrivals: Arrivals::Constant { per_second },
        warm_up: Extent::NONE,
        counted: Extent::Requests(requests),
        max_connections,
    })
}

#[test]
fn a_closed_loop_counts_every_request() {
    let server = serve(|_| Reply::Text(ok("{\"prediction_ms\": 1.5}")));
    let load = Load::Closed(Closed {
        clients: 4,
        warm_up: Extent::Requests(10),
        counted: Extent::Requests(500),
    });
    let outcome = run(&post(&server.url()), &load, &Options::default());
    assert_eq!(outcome.counts.ok, 500);
    assert_eq!(outcome.uncounted.ok, 10);
    assert_eq!(outcome.counts.failed(), 0);
    assert_eq!(outcome.connections.opened, 4);
    assert_eq!(server.seen.requests.load(SeqCst), 510);
    assert_eq!(server.seen.connections.load(SeqCst), 4);
    assert_eq!(outcome.prediction.count(), 500);
    assert_eq!(outcome.prediction.mean_seconds(), Some(0.0015));
    assert!(outcome.prediction_share().unwrap() > 0.0);
    assert!(outcome.wall_seconds > 0.0 && outcome.ok_per_second() > 0.0);
    assert_eq!(outcome.late.count(), 0);
    assert_eq!(outcome.latency, outcome.service);
    assert!(outcome.singles.is_empty());
}

#[test]
fn threads_share_clients_and_requests() {
    let server = serve(|_| Reply::Text(ok("")));
    let options = Options {
        threads: 3,
        ..Options::default()
    };
    let outcome = run(&post(&server.url()), &closed(5, 301), &options);
    assert_eq!((outcome.counts.ok, outcome.connections.opened), (301, 5));
    assert_eq!(outcome.client.threads, 3);
    let few = run(&post(&server.url()), &closed(1, 5), &options);
    assert_eq!((few.counts.ok, few.client.threads), (5, 1));
}

#[test]
fn a_loop_may_end_by_time() {
    let server = serve(|_| Reply::Text(ok("")));
    let load = Load::Closed(Closed {
        clients: 2,
        warm_up: Extent::Time(Duration::from_millis(20)),
        counted: Extent::Time(Duration::from_millis(100)),
    });
    let outcome = run(&post(&server.url()), &load, &Options::default());
    assert!(outcome.counts.ok > 0 && outcome.uncounted.ok > 0);
    assert!(outcome.wall_seconds > 0.05);
}

#[test]
fn bodies_are_sent_in_turn() {
    let server = serve(|asked: &Asked| {
        let said = String::from_utf8_lossy(&asked.body);
        let right = said == format!("body {}", asked.number % 3);
        assert!(asked.head.starts_with("POST /invocations HTTP/1.1\r\n"));
        assert!(asked.head.contains("\r\nx-test: yes\r\n"));
        Reply::Text(match right {
            true => ok(""),
            false => "HTTP/1.1 400 Bad\r\ncontent-length: 0\r\n\r\n".to_owned(),
        })
    });
    let bodies = (0..3).map(|n| format!("body {n}").into_bytes()).collect();
    let mut request = Request::post(server.url().parse().unwrap(), "text/plain", bodies);
    request.headers.push(load::Header::new("x-test", "yes"));
    let outcome = run(&request, &closed(1, 30), &Options::default());
    assert_eq!(outcome.counts.ok, 30);
}

#[test]
fn large_bodies_and_answers_pass() {
    let answer = format!("{}\"prediction_ms\":2", "x".repeat(3_000_000));
    let server = serve(move |asked| match asked.body.len() {
        5_000_000 => Reply::Text(ok(&answer)),
        _ => Reply::Then(String::new()),
    });
    let bodies = vec![vec![7; 5_000_000]];
    let request = Request::post(server.url().parse().unwrap(), "image/png", bodies);
    let outcome = run(&request, &closed(2, 6), &Options::default());
    assert_eq!((outcome.counts.ok, outcome.prediction.count()), (6, 6));
}

#[test]
fn a_series_keeps_each_result() {
    let server = serve(|asked| Reply::Text(ok(&format!("{{\"prediction_ms\":{}}}", asked.number))));
    let series = Series {
        count: 4,
        uncounted: 1,
        pause: Duration::from_millis(15),
    };
    let outcome = run(
        &post(&server.url()),
        &Load::Series(series),
        &Options::default(),
    );
    assert_eq!((outcome.counts.ok, outcome.uncounted.ok), (4, 1));
    assert_eq!(outcome.connections.opened, 1);
    let singles = &outcome.singles;
    assert_eq!(singles.len(), 5);
    assert!(!singles[0].counted && singles[1..].iter().all(|single| single.counted));
    for (index, single) in singles.iter().enumerate() {
        assert!(single.end.is_ok());
        assert_eq!(single.prediction_seconds, Some(index as f64 / 1e3));
    }
    for pair in singles.windows(2) {
        let ended = pair[0].started_seconds + pair[0].latency_seconds;
        assert!(pair[1].started_seconds >= ended + 0.015 - 1e-6);
    }
}

/// A server with one worker that holds one request for a while; the others wait behind it.
fn stalling(at: u64, wait: Duration) -> crate::server::Server {
    let worker = std::sync::Mutex::new(());
    serve(move |asked| {
        let _worker = worker.lock().unwrap();
        if asked.number == at {
            std::thread::sleep(wait);
        }
        Reply::Text(ok(""))
    })
}

#[test]
fn an_open_loop_shows_a_stall_that_a_closed_loop_hides() {
    let stall = Duration::from_millis(200);
    // 1000 requests at 1000/s: about 200 of them come during the stall.
    let server = stalling(300, stall);
    let open = run(
        &post(&server.url()),
        &at_rate(1000.0, 1000, 400),
        &Options::default(),
    );
    let server = stalling(300, stall);
    let closed = run(&post(&server.url()), &closed(1, 1000), &Options::default());
    assert_eq!((open.counts.ok, closed.counts.ok), (1000, 1000));
    let slow = |outcome: &load::Outcome, share| outcome.latency.quantile(share).unwrap().seconds;
    assert!(slow(&open, 0.99) > 0.15, "{}", slow(&open, 0.99));
    assert!(slow(&open, 0.90) > 0.05, "{}", slow(&open, 0.90));
    // One request of a thousand: beyond the ninety-ninth percentile.
    assert!(closed.latency.max_seconds().unwrap() > 0.19);
    assert!(slow(&closed, 0.99) < slow(&open, 0.99));
}

#[test]
fn waiting_for_a_connection_counts() {
    let server = serve(|_| Reply::After(Duration::from_millis(10), ok("")));
    let outcome = run(
        &post(&server.url()),
        &at_rate(1000.0, 50, 1),
        &Options::default(),
    );
    assert_eq!((outcome.counts.ok, outcome.connections.opened), (50, 1));
    // The last of 50 waits for 49 before it, 10 ms each.
    let last = outcome.latency.max_seconds().unwrap();
    assert!(last > 0.4, "{last}");
    assert!(outcome.service.quantile(0.5).unwrap().seconds < last);
    assert!(outcome.connections.waited >= 40);
    assert!(
        outcome
            .client_limited
            .unwrap()
            .contains("waited for one of 1 connections")
    );
}

#[test]
fn poisson_and_recorded_arrivals_are_sent() {
    let server = serve(|_| Reply::Text(ok("")));
    let load = |arrivals, counted| {
        Load::Open(Open {
            arrivals,
            warm_up: Extent::Requests(5),
            counted: Extent::Requests(counted),
            max_connections: 50,
        })
    };
    let poisson = Arrivals::Poisson {
        per_second: 2000.0,
        seed: 3,
    };
    let poisson = load(poisson, 100);
    let outcome = run(&post(&server.url()), &poisson, &Options::default());
    assert_eq!((outcome.counts.ok, outcome.uncounted.ok), (100, 5));
    assert!(outcome.wall_seconds > 0.02);
    assert_eq!(outcome.late.count(), 100);
    let times = (0..30).map(Duration::from_millis).collect();
    let outcome = run(
        &post(&server.url()),
        &load(Arrivals::Trace(times), 25),
        &Options::default(),
    );
    assert_eq!((outcome.counts.ok, outcome.uncounted.ok), (25, 5));
}

#[test]
fn a_load_can_be_watched_and_stopped() {
    let server = serve(|_| Reply::Text(ok("")));
    let watch = Watch::default();
    let endless = Load::Series(Series {
        count: 1000,
        uncounted: 0,
        pause: Duration::from_secs(3600),
    });
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            load::run_watched(&post(&server.url()), &endless, &Options::default(), &watch)
        });
        while watch.ok() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        watch.stop();
        running.join().unwrap().unwrap()
    });
    assert_eq!(outcome.counts.ok, 1);
}

#[test]
fn an_outcome_is_written_as_json() {
    let server = serve(|_| Reply::Text(ok("{\"prediction_ms\":1}")));
    let series = Series {
        count: 3,
        uncounted: 0,
        pause: Duration::ZERO,
    };
    let outcome = run(
        &post(&server.url()),
        &Load::Series(series),
        &Options::default(),
    );
    let written = serde_json::to_value(&outcome).unwrap();
    assert_eq!(written["counts"]["ok"], 3);
    assert_eq!(written["singles"][2]["end"]["answered"], 200);
    let quantiles = serde_json::to_value(outcome.latency.quantiles()).unwrap();
    assert_eq!(written["latency"]["quantiles"], quantiles);
    assert_eq!(written["prediction"]["buckets"][0][1], 3);
}

#[test]
fn the_highest_rate_of_a_server_is_searched() {
    // One worker that takes 10 ms: no more than 100 a second in the long run.
    let worker = std::sync::Mutex::new(());
    let server = serve(move |_| {
        let _worker = worker.lock().unwrap();
        std::thread::sleep(Duration::from_millis(10));
        Reply::Text(ok(""))
    });
    let plan = Search {
        first_per_second: 20.0,
        within: 0.5,
        ..Search::p99_under(0.15)
    };
    let trials = Trials {
        seed: Some(5),
        warm_up: Duration::ZERO,
        counted: Duration::from_millis(400),
        max_connections: 300,
    };
    let found = search_server(&plan, &post(&server.url()), &trials, &Options::default()).unwrap();
    assert!(found.fails_per_second.unwrap() < 1000.0, "{found:?}");
    assert!(
        found.holds_per_second.is_none_or(|rate| rate < 500.0),
        "{found:?}"
    );
    assert!(found.trials.iter().all(|trial| trial.failed == 0));
}
