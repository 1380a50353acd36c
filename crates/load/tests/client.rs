//! A client against a small server of this test, over real connections.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use load::client::{ClientError, Context, run};
use model::job::{JOB_PROTOCOL, LoadJob, LoadTarget};
use model::run::metric;
use model::serving::UrlService;
use model::{EventKind, LoadClientJob, LoadShape, Service, ServingRecord};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Pings are unhealthy until the third, every `fails`-th invocation has status 500.
struct Server {
    address: String,
    invocations: Arc<AtomicUsize>,
}

fn server(fails: usize) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let invocations = Arc::new(AtomicUsize::new(0));
    let pings = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&invocations);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (counted, pings) = (Arc::clone(&counted), Arc::clone(&pings));
            thread::spawn(move || answer_all(stream, &counted, &pings, fails));
        }
    });
    Server {
        address,
        invocations,
    }
}

fn answer_all(
    stream: impl Read + Write,
    invocations: &AtomicUsize,
    pings: &AtomicUsize,
    fails: usize,
) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            head.push(line.to_ascii_lowercase());
        }
        let length = head
            .iter()
            .find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        let has_key = head.iter().any(|line| line.starts_with("x-key: sesame"));
        let answer = if head[0].starts_with("get /ping") {
            let status = match pings.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => "503 not yet",
                _ => "200 OK",
            };
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        } else if head[0].starts_with("post") && body == b"picture" {
            let number = invocations.fetch_add(1, Ordering::Relaxed) + 1;
            let status = match number.is_multiple_of(fails) {
                true => "500 broken",
                false => "200 OK",
            };
            let cold = match number {
                1 => "x-bancada-setup-ms: 7\r\n",
                _ => "",
            };
            let time = if has_key { "0.5" } else { "0.25" };
            format!(
                "HTTP/1.1 {status}\r\n{cold}x-prediction-ms: {time}\r\ncontent-length: 2\r\n\r\n{{}}"
            )
        } else {
            "HTTP/1.1 404 no\r\ncontent-length: 0\r\n\r\n".to_owned()
        };
        let written = reader.get_mut().write_all(answer.as_bytes());
        if written.is_err() || reader.get_mut().flush().is_err() || answer.contains("close") {
            return;
        }
    }
}

struct Asked {
    result: Result<(), String>,
    events: Vec<EventKind>,
    folder: tempfile::TempDir,
}

impl Asked {
    fn metric(&self, wanted: &str) -> Option<f64> {
        // The last one told holds, as in a run.
        self.events.iter().rev().find_map(|event| match event {
            EventKind::Metric { name, value, .. } if name == wanted => Some(*value),
            _ => None,
        })
    }

    fn phases(&self) -> Vec<&str> {
        let phases = self.events.iter().filter_map(|event| match event {
            EventKind::Phase { phase } => Some(phase.as_str()),
            _ => None,
        });
        phases.collect()
    }

    fn record(&self) -> ServingRecord {
        let bytes = std::fs::read(self.folder.path().join("serving.json")).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }
}

fn job(target: LoadTarget, shape: LoadShape, folder: &Path) -> LoadClientJob {
    std::fs::write(folder.join("body"), "picture").unwrap();
    LoadClientJob {
        protocol: JOB_PROTOCOL,
        target,
        bodies: vec![folder.join("body")],
        content_type: "image/jpeg".to_owned(),
        load: LoadJob {
            shape,
            clients: 2,
            rate: Some(200.0),
            requests: Some(20),
            pause_seconds: Some(0.001),
            seconds: 1.0,
            under_seconds: None,
            timeout_seconds: 10.0,
            trace: None,
            seed: 1,
        },
        requests: folder.join("requests.csv"),
        outcome: folder.join("load.json"),
        record: folder.join("serving.json"),
        endpoint: folder.join("endpoint.json"),
    }
}

fn asked(target: LoadTarget, shape: LoadShape, change: impl FnOnce(&mut LoadClientJob)) -> Asked {
    asked_trusting(String::new(), target, shape, change)
}

fn asked_trusting(
    roots_pem: String,
    target: LoadTarget,
    shape: LoadShape,
    change: impl FnOnce(&mut LoadClientJob),
) -> Asked {
    let folder = tempfile::tempdir().unwrap();
    let mut job = job(target, shape, folder.path());
    change(&mut job);
    let mut events = Vec::new();
    let result = run(
        &job,
        Context {
            server_started_unix_seconds: Some(0.0),
            stop: &AtomicBool::new(false),
            roots_pem,
            emit: &mut |kind, _| events.push(kind),
        },
    );
    Asked {
        result: result.map_err(|error| error.to_string()),
        events,
        folder,
    }
}

fn local(server: &Server) -> LoadTarget {
    LoadTarget::Server {
        address: server.address.clone(),
        start_timeout_seconds: 20.0,
    }
}

#[test]
fn a_warm_series_leaves_its_first_request_out() {
    let server = server(usize::MAX);
    let asked = asked(local(&server), LoadShape::Warm, |_| ());
    asked.result.as_ref().unwrap();
    assert_eq!(asked.phases(), ["setup", "cold", "warm", "shutdown"]);
    assert_eq!(server.invocations.load(Ordering::Relaxed), 21);
    assert_eq!(asked.metric(metric::REQUESTS), Some(20.0));
    assert_eq!(asked.metric(metric::FAILED_REQUESTS), Some(0.0));
    let prediction = asked.metric(metric::PREDICTION_SECONDS).unwrap();
    assert!((prediction - 0.00025).abs() < 1e-9, "{prediction}");
    // Unhealthy answers are answers, and no health.
    let told = |wanted: &str| {
        asked.events.iter().find_map(|event| match event {
            EventKind::Metric { name, value, .. } if name == wanted => Some(*value),
            _ => None,
        })
    };
    let first = told(metric::FIRST_PING_SECONDS).unwrap();
    let healthy = told(metric::SETUP_SECONDS).unwrap();
    assert!(first < healthy, "{first} {healthy}");
    assert!(told(metric::FIRST_ANSWER_SECONDS).unwrap() > healthy);
    // A worker that was started for the first answer says itself how long that took.
    assert_eq!(asked.metric(metric::SETUP_SECONDS), Some(0.007));
    // The worker that had to be started was the first request's.
    assert_eq!(asked.metric(metric::COLD_REQUESTS), None);
    let requests = std::fs::read_to_string(asked.folder.path().join("requests.csv")).unwrap();
    assert_eq!(requests.lines().count(), 21);
    assert_eq!(asked.record().requests(), 20);
    assert_eq!(asked.record().latency.len(), 4);
}

#[test]
fn a_series_that_counts_all_has_its_cold_request() {
    let server = server(usize::MAX);
    let asked = asked(local(&server), LoadShape::Cold, |_| ());
    asked.result.as_ref().unwrap();
    assert_eq!(asked.phases(), ["setup", "cold", "shutdown"]);
    assert_eq!(server.invocations.load(Ordering::Relaxed), 20);
    assert_eq!(asked.metric(metric::COLD_REQUESTS), Some(1.0));
    assert_eq!(asked.metric(metric::SETUP_SECONDS), Some(0.007));
}

#[test]
fn other_loads_count_what_they_say() {
    for shape in [LoadShape::Clients, LoadShape::Rate, LoadShape::Poisson] {
        let server = server(usize::MAX);
        let asked = asked(local(&server), shape, |_| ());
        asked.result.as_ref().unwrap();
        assert_eq!(asked.metric(metric::REQUESTS), Some(20.0), "{shape:?}");
        assert!(asked.metric(metric::REQUESTS_PER_SECOND).unwrap() > 0.0);
        // The first, two to warm up, and those that count.
        assert_eq!(server.invocations.load(Ordering::Relaxed), 23, "{shape:?}");
    }
}

#[test]
fn a_trace_is_followed_and_a_bad_one_named() {
    let server = server(usize::MAX);
    let with_trace = |text: &'static str| {
        move |job: &mut LoadClientJob| {
            let path = job.record.with_file_name("trace.txt");
            std::fs::write(&path, text).unwrap();
            job.load.trace = Some(path);
            job.load.requests = None;
        }
    };
    let good = asked(
        local(&server),
        LoadShape::Trace,
        with_trace("0\n0.01\n\n0.02\n"),
    );
    good.result.as_ref().unwrap();
    assert_eq!(good.metric(metric::REQUESTS), Some(3.0));
    let bad = asked(
        local(&server),
        LoadShape::Trace,
        with_trace("0\n0.01\n0.005\n"),
    );
    let why = bad.result.unwrap_err();
    assert!(
        why.ends_with("trace.txt: line 3: its time is earlier than on the previous line"),
        "{why}"
    );
    let longer = asked(local(&server), LoadShape::Trace, |job| {
        with_trace("0\n0.01\n")(job);
        job.load.requests = Some(3);
    });
    let why = longer.result.unwrap_err();
    assert!(
        why.starts_with("3 requests were requested, but the trace has 2"),
        "{why}"
    );
}

#[test]
fn failed_requests_are_kept_apart_and_all_failing_is_no_result() {
    let some = server(5);
    let asked_some = asked(local(&some), LoadShape::RealTime, |_| ());
    asked_some.result.as_ref().unwrap();
    assert_eq!(asked_some.metric(metric::FAILED_REQUESTS), Some(4.0));
    let record = asked_some.record();
    assert_eq!((record.requests(), record.failed()), (20, 4));
    assert_eq!(record.ends.get("500"), Some(&4));
    let all = server(1);
    let why = asked(local(&all), LoadShape::RealTime, |_| ())
        .result
        .unwrap_err();
    assert!(why.contains("all 20 requests failed"), "{why}");
    assert!(why.contains("500"), "{why}");
    let why = asked(local(&all), LoadShape::Clients, |_| ())
        .result
        .unwrap_err();
    assert!(why.contains("the first request failed"), "{why}");
}

#[test]
fn a_server_that_never_listens_is_given_up() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let target = LoadTarget::Server {
        address: format!("http://{port}"),
        start_timeout_seconds: 0.05,
    };
    let why = asked(target, LoadShape::Warm, |_| ()).result.unwrap_err();
    assert!(
        why.contains("no healthy ping within 0.05 s: nothing is listening"),
        "{why}"
    );
}

#[test]
fn a_server_elsewhere_is_asked_with_its_headers() {
    let server = server(usize::MAX);
    let service = |value: &str| LoadTarget::Service {
        service: Service::Url(UrlService {
            url: format!("{}/predict", server.address),
            headers: [("X-Key".to_owned(), value.to_owned())].into(),
        }),
        name: "n".to_owned(),
    };
    let asked_well = asked(service("sesame"), LoadShape::Clients, |_| ());
    asked_well.result.as_ref().unwrap();
    // It is no server of ours: nothing is known of its start.
    assert_eq!(asked_well.phases(), ["cold", "warm", "shutdown"]);
    let prediction = asked_well.metric(metric::PREDICTION_SECONDS).unwrap();
    assert!((prediction - 0.0005).abs() < 1e-9, "{prediction}");
    let why = asked(
        service("{NO_SUCH_VARIABLE_HERE}"),
        LoadShape::Clients,
        |_| (),
    )
    .result
    .unwrap_err();
    assert!(why.contains("NO_SUCH_VARIABLE_HERE"), "{why}");
}

struct Secured {
    url: String,
    certificate_pem: String,
}

/// The same server behind TLS, with a certificate of its own making.
fn secured() -> Secured {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let stream = StreamOwned::new(connection, stream);
            thread::spawn(move || {
                answer_all(
                    stream,
                    &AtomicUsize::new(0),
                    &AtomicUsize::new(0),
                    usize::MAX,
                );
            });
        }
    });
    Secured {
        url: format!("https://localhost:{port}/predict"),
        certificate_pem: pem(made.cert.der()),
    }
}

fn pem(der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
    for three in der.chunks(3) {
        let byte = |at: usize| usize::from(three.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = char::from(DIGITS[word >> (18 - 6 * at) & 63]);
            text.push(if at <= three.len() { digit } else { '=' });
        }
    }
    text + "\n-----END CERTIFICATE-----\n"
}

#[test]
fn https_is_spoken_to_whom_is_trusted() {
    let server = secured();
    let target = || LoadTarget::Service {
        service: Service::Url(UrlService {
            url: server.url.clone(),
            headers: [("X-Key".to_owned(), "sesame".to_owned())].into(),
        }),
        name: "n".to_owned(),
    };
    let trusted = server.certificate_pem.clone();
    let well = asked_trusting(trusted, target(), LoadShape::RealTime, |_| ());
    well.result.as_ref().unwrap();
    assert_eq!(well.metric(metric::REQUESTS), Some(20.0));
    assert_eq!(well.metric(metric::FAILED_REQUESTS), Some(0.0));
    assert!(well.record().is_elsewhere);
    let why = asked(target(), LoadShape::RealTime, |job| {
        job.load.requests = Some(1)
    })
    .result
    .unwrap_err();
    assert!(why.contains("certificate"), "{why}");
}

/// A server that never answers is left at once by whoever is asked to end.
#[test]
fn who_is_asked_to_end_leaves_its_answers_behind() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = LoadTarget::Service {
        service: Service::Url(UrlService {
            url: format!("http://{}/", listener.local_addr().unwrap()),
            headers: Default::default(),
        }),
        name: "n".to_owned(),
    };
    let folder = tempfile::tempdir().unwrap();
    let mut job = job(target, LoadShape::RealTime, folder.path());
    job.load.timeout_seconds = 3600.0;
    let stop = AtomicBool::new(false);
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            let (_connection, _) = listener.accept().unwrap();
            stop.store(true, Ordering::Relaxed);
        });
        let context = Context {
            server_started_unix_seconds: None,
            stop: &stop,
            roots_pem: String::new(),
            emit: &mut |_, _| (),
        };
        run(&job, context)
    });
    assert!(matches!(result, Err(ClientError::Stopped)), "{result:?}");
}
