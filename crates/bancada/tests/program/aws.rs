//! AWS for the tests of endpoints: moto where it is installed, and small servers that do what moto
//! cannot.

use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use load::sagemaker::{Call, Repeat, Service, VARIANT};
use serde_json::{Value, json};

#[path = "../../../load/tests/sagemaker/aws.rs"]
mod common;

pub(crate) use common::{Asked, Keys, Moto, REGION, ROLE};

impl Moto {
    fn call(&self, service: Service, operation: &str, body: &Value) -> Value {
        let call = Call {
            service,
            operation,
            body,
            repeat: Repeat::Throttled,
        };
        self.keys.client(&self.url).call(&call).unwrap()
    }

    fn names(&self, operation: &str, list: &str, name: &str) -> Vec<String> {
        let answer = self.call(Service::SageMaker, operation, &json!({}));
        let all = answer[list].as_array().unwrap().iter();
        all.map(|one| one[name].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn endpoints(&self) -> Vec<String> {
        self.names("ListEndpoints", "Endpoints", "EndpointName")
    }

    /// Models, configurations and endpoints.
    pub(crate) fn everything(&self) -> Vec<String> {
        let mut all = self.names("ListModels", "Models", "ModelName");
        all.extend(self.names(
            "ListEndpointConfigs",
            "EndpointConfigs",
            "EndpointConfigName",
        ));
        all.extend(self.endpoints());
        all
    }

    /// As many samples of so many microseconds, now.
    pub(crate) fn put_figure(&self, endpoint: &str, metric: &str, samples: u32, microseconds: f64) {
        let figure = json!({
            "MetricName": metric,
            "Dimensions": [
                { "Name": "EndpointName", "Value": endpoint },
                { "Name": "VariantName", "Value": VARIANT },
            ],
            "Value": microseconds,
            "Unit": "Microseconds",
            "Timestamp": unix_seconds(),
        });
        let figures = vec![figure; samples as usize];
        let body = json!({ "Namespace": "AWS/SageMaker", "MetricData": figures });
        self.call(Service::CloudWatch, "PutMetricData", &body);
    }
}

fn unix_seconds() -> u64 {
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

impl Asked {
    /// Signed by these keys for this address, over exactly these bytes: computed anew.
    pub(crate) fn is_signed(&self, keys: &Keys, url: &str) -> bool {
        let name = self.line.trim_start_matches("POST /endpoints/");
        let name = name.trim_end_matches("/invocations");
        let date = self.header("x-amz-date");
        let iso: String = date
            .char_indices()
            .flat_map(|(place, c)| match place {
                4 | 6 => vec!['-', c],
                11 | 13 => vec![':', c],
                _ => vec![c],
            })
            .collect();
        let client = keys.client(url);
        let signed = client
            .invoker(name, self.header("content-type"))
            .sign(&self.body, iso.parse().unwrap())
            .unwrap();
        let expected = signed.iter().find(|h| h.name == "authorization");
        self.header("authorization") == expected.unwrap().value
    }
}

pub(crate) enum Reply {
    Answer(u16, String),
    /// The connection stays open, and nothing comes.
    Never,
}

/// Answers as a test says, and remembers what it was asked.
pub(crate) struct Fake {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// Ends with the test's process.
    pub(crate) fn start(answer: impl Fn(&Asked, &str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (seen, own, answer) = (Arc::clone(&asked), url.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, own, answer) = (Arc::clone(&seen), own.clone(), Arc::clone(&answer));
                thread::spawn(move || converse(stream, &seen, &|asked| answer(asked, &own)));
            }
        });
        Fake { url, asked }
    }

    /// Operations, or lines of invocations.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn wait_for(&self, operation: &str) {
        let begin = Instant::now();
        while !self.asked().iter().any(|asked| asked.contains(operation)) {
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "{operation} did not come, but {:?}",
                self.asked()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn converse(stream: TcpStream, seen: &Mutex<Vec<String>>, answer: &dyn Fn(&Asked) -> Reply) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(asked) = common::read(&mut reader) {
        let name = match asked.operation() {
            "" => asked.line.clone(),
            operation => operation.to_owned(),
        };
        seen.lock().unwrap().push(name);
        let Reply::Answer(status, body) = answer(&asked) else {
            // Until whoever asked is gone.
            _ = reader.read(&mut [0]);
            return;
        };
        let length = body.len();
        let text = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n{body}");
        if writer.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}
