//! Studies that serve, from their file to their report, with what needs no installation.

use crate::common::Bench;

/// A server in Python that fulfils the container contract: told by an argument how to misbehave.
const SERVER: &str = r#"
import http.server, os, sys
how, asked = sys.argv[2], 0

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self, status, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    def do_GET(self):
        self.answer(503 if how == "sick" else 200)
    def do_POST(self):
        global asked
        asked += 1
        body = self.rfile.read(int(self.headers["content-length"]))
        assert body[:3] == b"\xff\xd8\xff", "a JPEG"
        if how == "dies" and asked > 3:
            os._exit(7)
        self.answer(500 if how == "half" and asked % 2 else 200, [("x-prediction-ms", "0.5")])
    def log_message(self, *words):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

fn has_python() -> bool {
    let python = std::process::Command::new("python3")
        .arg("--version")
        .output();
    python.is_ok_and(|output| output.status.success())
}

#[test]
fn a_network_is_served_asked_and_costed_on_demand_and_always_on() {
    let bench = Bench::new();
    bench.write(
        "answers.toml",
        r#"
[study]
name = "answers"
repetitions = 2
exclude = [{ environment = "worker", load = "clients" }, { environment = "machine", load = ["cold", "warm"] }]

[factors]
environment = ["worker", "machine"]
load = ["cold", "warm", "clients"]

[workload]
kind = "serve"
model = "rede1"
image = 32
requests = 3
pause = "10ms"

[environments.worker]
price = "0.144 USD/h"
serverless = { memory = 2048, idle = "300ms" }

[environments.machine]
price = "0.36 USD/h"
"#,
    );
    let ran = bench.bancada(&["run", "answers.toml"]).ends_with(0);
    let ran = ran.says("a cold response takes").says("per million");
    drop(ran);
    let record = |run: &str| bench.record("answers", run);
    let metric = |run: &str, name: &str| record(run)["metrics"][name]["value"].as_f64();

    // C1 is cold: every request had to wait for a worker.
    assert_eq!(metric("C1-r1", "cold_requests"), Some(3.0));
    assert_eq!(metric("C1-r1", "requests"), Some(3.0));
    // C2 is warm: the request that started the worker is not counted.
    assert_eq!(metric("C2-r1", "cold_requests"), None);
    let phases: Vec<String> = record("C2-r1")["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(phases, ["setup", "cold", "warm", "shutdown"]);
    let service = record("C1-r1")["serving"]["service"].to_string();
    assert!(
        service.contains("2048 MB, ended after 0.3 s idle"),
        "{service}"
    );

    // Only the time of requests is paid on demand; 0.144 an hour is 0.00004 a second.
    let billed = metric("C1-r1", "billed_seconds").unwrap();
    let bill = record("C1-r1")["bill"].clone();
    assert_eq!(bill["lines"].as_array().unwrap().len(), 1);
    let total: f64 = bill["total"]["amount"].as_str().unwrap().parse().unwrap();
    assert!((total - 0.00004 * billed).abs() < 1e-9, "{total} {billed}");
    let each = metric("C1-r1", "cost_per_inference").unwrap();
    let expected = 0.00004 * metric("C1-r1", "billed_seconds_per_request").unwrap();
    assert!((each - expected).abs() < 1e-12, "{each} {expected}");

    // A machine is paid for all its life; an answer costs its share of the busy time.
    let busy = metric("C3-r1", "busy_seconds").unwrap();
    let each = metric("C3-r1", "cost_per_inference").unwrap();
    assert!((each - 0.0001 * busy / 3.0).abs() < 1e-12, "{each} {busy}");
    assert!(metric("C3-r1", "setup_seconds").unwrap() > 0.0);
    let folder = bench.path().join("results/answers/runs/C1-r1");
    let requests = std::fs::read_to_string(folder.join("requests.csv")).unwrap();
    assert_eq!(requests.lines().count(), 4);

    let shown = bench.bancada(&[
        "export",
        "results/answers",
        "--format",
        "markdown",
        "--to",
        "out.md",
    ]);
    drop(shown.ends_with(0));
    let markdown = std::fs::read_to_string(bench.path().join("out.md")).unwrap();
    assert!(
        markdown.contains("## Serverless or always on"),
        "{markdown}"
    );
}

#[test]
fn servers_that_fail_are_results_of_their_own_and_the_study_goes_on() {
    if !has_python() {
        println!("python3 is not here: the servers of this test were not tried");
        return;
    }
    let bench = Bench::new();
    bench.write("server.py", SERVER);
    bench.write(
        "failing.toml",
        r#"
[study]
name = "failing"
repetitions = 1
order = "listed"

[factors]
how = ["well", "half", "dies", "sick"]

[workload]
kind = "serve"
stack = "command"
model = "rede1"
command = ["python3", "server.py", "{port}", "{how}"]
load = "real-time"
requests = 8
pause = "1ms"

[measure]
timeout = "20s"
"#,
    );
    // `sick` never gets healthy: the study's timeout ends it, which is a result.
    let ran = bench.bancada(&["run", "failing.toml"]).ends_with(5);
    drop(ran.says("4 of 8 requests failed"));
    let record = |run: &str| bench.record("failing", run);
    let status = |run: &str| {
        record(run)["outcome"]["status"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let runs = ["C1-r1", "C2-r1", "C3-r1", "C4-r1"];
    assert_eq!(runs.map(status), ["ok", "ok", "failed", "timed-out"]);
    assert_eq!(record("C2-r1")["serving"]["ends"]["500"], 4);
    assert_eq!(record("C2-r1")["metrics"]["failed_requests"]["value"], 4.0);
    let detail = record("C3-r1")["outcome"]["detail"].to_string();
    assert!(
        detail.contains("the server ended with exit code 7"),
        "{detail}"
    );
    let prediction = record("C1-r1")["metrics"]["prediction_seconds"]["value"].as_f64();
    assert!((prediction.unwrap() - 0.0005).abs() < 1e-9);
}
