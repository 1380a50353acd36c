use std::io::Write as _;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serve::{Batching, Description, Offer, Options};

use crate::common::{Answer, Means, Server, offer, options, png, post};

#[test]
fn the_contract() {
    let server = Server::quick();
    server
        .post("/invocations", "image/png", &png([255, 255, 0, 0]))
        .is(200, r#""probabilities":[0.5,0.5]"#);
    server.get("/ping").is(200, "{}");
    let answer = server.post("/invocations", "application/json", b"[[[[1, 0], [0, 0]]]]");
    let answer = answer.is(200, r#"{"model":"means","classes":[{"class":"1","probability":0.75}],"other_classes":{"count":1,"probability":0.25},"probabilities":[0.25,0.75],"prediction_ms":"#);
    assert!(answer.head.contains("x-prediction-ms: "), "{}", answer.head);
    let several = br#"{"instances": [[[[1, 1], [1, 1]]], [[[0, 0], [0, 0]]]]}"#;
    server
        .post("/invocations", "application/json", several)
        .is(200, r#""predictions":[{"classes""#);
    server
        .get("/models")
        .is(200, r#""outputs":[{"datatype":"FP32","meaning":"probabilities","name":"means","shape":[null,2]}],"ready":true,"runtime":"means""#);
    server
        .get("/metrics")
        .is(200, "bancada_requests_total{status=\"200\"} 3\n");
}

#[test]
fn what_cannot_be_answered_is_told() {
    let server = Server::quick();
    let picture = png([0; 4]);
    server
        .post("/invocations", "text/csv", b"1,2")
        .is(415, "`text/csv` is not supported");
    server
        .post("/invocations", "image/png", &[0; 10_001])
        .is(413, "more than 10000 bytes");
    server
        .post("/invocations", "image/png", b"hello")
        .is(400, "neither PNG nor JPEG");
    server
        .post("/invocations", "image/png", &picture[..picture.len() - 20])
        .is(400, "not a usable picture");
    server
        .post("/invocations", "application/json", b"[[1]]")
        .is(400, "the model needs any×1×2×2");
    server
        .post("/invocations", "application/x-npy", b"x")
        .is(400, "not a NumPy array");
    server
        .post("/nowhere", "image/png", &picture)
        .is(404, "there is nothing at /nowhere");
    server
        .post("/models/other/invocations", "image/png", &picture)
        .is(404, "there is nothing at");
    assert!(
        server
            .get("/invocations")
            .is(405, "only POST")
            .head
            .contains("allow: post")
    );
    server.post("/ping", "image/png", b"").is(405, "only GET");
    let chunked = b"POST /invocations HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
    let parts = format!("2710\r\n{}\r\n", "x".repeat(10_000)).repeat(2);
    server
        .send(&[&chunked[..], parts.as_bytes()].concat())
        .is(413, "more than 10000 bytes");
    server
        .get("/metrics")
        .is(200, "bancada_requests_total{status=\"400\"} 4\n");
}

#[test]
fn several_models_by_path() {
    let means = Means {
        pause: Duration::ZERO,
    };
    let server = Server::start(
        vec![offer("a", means.clone()), offer("b", means)],
        options(),
    );
    let picture = png([255; 4]);
    server
        .post("/invocations", "image/png", &picture)
        .is(200, r#""model":"a""#);
    server
        .post("/models/b/invocations", "image/png", &picture)
        .is(200, r#""model":"b""#);
    server.get("/models/b/ping").is(200, "{}");
}

#[test]
fn requests_wait_for_the_model() {
    let (let_load, may_load) = mpsc::channel::<()>();
    let slow = Offer {
        name: "slow".to_owned(),
        description: Description::default(),
        load: Box::new(move |_| {
            may_load.recv().unwrap();
            Ok(Box::new(Means {
                pause: Duration::ZERO,
            }))
        }),
    };
    let server = Server::starting(vec![slow], options());
    server.get("/ping").is(503, "still loading");
    let mut waiting = server.connect();
    waiting
        .write_all(&post("/invocations", "image/png", &png([0; 4])))
        .unwrap();
    let_load.send(()).unwrap();
    Answer::read(&mut waiting).is(200, "probabilities");
    server.get("/ping").is(200, "{}");
}

#[test]
fn more_than_fit_are_told_to_come_again() {
    let slow = Means {
        pause: Duration::from_millis(300),
    };
    let full = Options {
        queue: 1,
        workers: Some(1),
        ..options()
    };
    let server = Server::start(vec![offer("slow", slow)], full);
    let answers: Vec<Answer> = thread::scope(|scope| {
        let asked: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| server.post("/invocations", "image/png", &png([0; 4]))))
            .collect();
        asked
            .into_iter()
            .map(|asked| asked.join().unwrap())
            .collect()
    });
    let refused: Vec<&Answer> = answers
        .iter()
        .filter(|answer| answer.status == 503)
        .collect();
    assert!((1..6).contains(&refused.len()), "{answers:?}");
    assert!(
        refused
            .iter()
            .all(|answer| answer.head.contains("retry-after: 1"))
    );
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer.status, 200 | 503))
    );
}

#[test]
fn requests_are_computed_together() {
    let slow = Means {
        pause: Duration::from_millis(50),
    };
    let together = Options {
        workers: Some(1),
        batching: Batching {
            most: 4,
            linger: Duration::from_secs(10),
        },
        ..options()
    };
    let server = Server::start(vec![offer("slow", slow)], together);
    thread::scope(|scope| {
        for value in [0, 51, 102, 255] {
            let server = &server;
            scope.spawn(move || {
                let mean = f32::from(value) / 255.0;
                let words = format!(r#""probabilities":[{mean:?},"#).replace(".0,", ".0,");
                server
                    .post("/invocations", "image/png", &png([value; 4]))
                    .is(200, &words);
            });
        }
    });
    server
        .get("/metrics")
        .is(200, "bancada_prediction_seconds_count 1\n");
}
