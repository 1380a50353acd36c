//! `bancada serve --stack`: other servers for the same models.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran, with_own_cache};
use crate::serving::{Server, picture};

const LONGEST_START: Duration = Duration::from_secs(120);
/// Of the largest probability, on the same pixels: two runtimes add in another order.
const ALLOWED: f64 = 1e-5;

#[test]
fn what_no_stack_can_do_is_told() {
    let bench = Bench::new();
    let serve = |arguments: &[&str]| bench.bancada(&[&["serve", "rede1"], arguments].concat());
    serve(&["--stack", "pytorch"])
        .ends_with(2)
        .says("known: fastapi-tensorflow, fastapi-onnxruntime");
    serve(&["--stack", "fastapi-tensorflow", "--batch", "4"]).ends_with(2);
    serve(&["--no-nginx"]).ends_with(2);
    serve(&["--stack", "fastapi-onnxruntime"])
        .ends_with(1)
        .says("fastapi-onnxruntime is not set up: bancada setup fastapi-onnxruntime");
    serve(&["rede2", "--stack", "fastapi-onnxruntime"])
        .ends_with(1)
        .says("a stack serves a single model");
}

#[test]
#[ignore = "needs the serving stacks: .ci/frameworks runs it"]
fn installed_stacks_answer_as_bancada_does() {
    for stack in ["fastapi-onnxruntime", "fastapi-tensorflow"] {
        let bench = Bench::new();
        let fronts: &[&[&str]] = match has_nginx() {
            true => &[&[], &["--no-nginx"]],
            false => &[&["--no-nginx"]],
        };
        for network in [
            ["rede1", "32", "3"],
            ["mobilenet", "64", "3"],
            ["lenet5", "28", "1"],
        ] {
            compare(&bench, stack, network, fronts[0]);
        }
        compare(
            &bench,
            stack,
            ["rede1", "32", "3"],
            fronts[fronts.len() - 1],
        );
    }
}

fn compare(bench: &Bench, stack: &str, [network, side, channels]: [&str; 3], front: &[&str]) {
    let serve = |more: &[&str]| {
        let mut command = bench.command(&["serve", network, "--port", "0", "--image", side]);
        command.args(["--channels", channels, "--classes", "10"]);
        command.args(more);
        with_own_cache(&mut command);
        command
    };
    let body = picture(side.parse().unwrap());
    let own = Server::start(serve(&[]));
    wait_for(&own);
    let right = own.predict("/invocations", &body);
    own.end();

    let prepared = Ran::new(serve(&["--stack", stack, "--prepare"]).output().unwrap());
    assert!(prepared.ends_with(0).out.contains("stack-models"));
    let mut server = Server::start(serve(
        &[&["--stack", stack, "--workers", "2"], front].concat(),
    ));
    wait_for(&server);
    let told = ask(&server, &body);
    assert!(told.to_lowercase().contains("x-prediction-ms: "), "{told}");
    assert!(told.contains(r#""weights":"untrained""#), "{told}");
    assert!(told.contains(r#""other_classes":{"count":5,"#), "{told}");
    assert!(server.said.contains("its weights are random"));
    let answered = server.predict("/invocations", &body);
    let largest = right.iter().copied().fold(0.0, f64::max);
    let apart = right.iter().zip(&answered).map(|(a, b)| (a - b).abs());
    let apart = apart.fold(0.0, f64::max) / largest;
    assert!(apart < ALLOWED, "{stack} {network}: {apart}");
    assert_eq!(answered.len(), right.len());

    let processes = tree(server.child.id());
    // At least Gunicorn and its two workers.
    assert!(processes.len() >= 3, "{processes:?}");
    // SAFETY: it is our child, which has not been waited for.
    unsafe { libc::kill(server.child.id() as i32, libc::SIGTERM) };
    assert!(server.child.wait().unwrap().success());
    let left: Vec<&u32> = processes
        .iter()
        .filter(|&&process| lives(process))
        .collect();
    assert!(left.is_empty(), "{stack} left {left:?} behind");
    eprintln!("asked {stack} {front:?} for {network}: within {apart:.1e}");
}

fn has_nginx() -> bool {
    Command::new("nginx").arg("-v").output().is_ok()
        || std::path::Path::new("/usr/sbin/nginx").exists()
}

fn wait_for(server: &Server) {
    let deadline = Instant::now() + LONGEST_START;
    let ready = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(&server.address)?;
        stream.write_all(b"GET /ping HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.starts_with("HTTP/1.1 200 "))
    };
    while !ready().unwrap_or(false) {
        assert!(Instant::now() < deadline, "it does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The whole answer, with its head.
fn ask(server: &Server, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "POST /invocations HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: image/png\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// State and parent, of what `/proc` tells; the name before them may hold anything.
fn stat(process: u32) -> Option<(String, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn lives(process: u32) -> bool {
    stat(process).is_some_and(|(state, _)| state != "Z")
}

/// The process and all below it.
fn tree(root: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let all: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
        .collect();
    let mut found = vec![root];
    let mut place = 0;
    while place < found.len() {
        let parent = found[place];
        let children = all
            .iter()
            .filter(|&&process| stat(process).is_some_and(|(_, of)| of == parent));
        found.extend(children);
        place += 1;
    }
    found
}
