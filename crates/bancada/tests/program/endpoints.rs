//! Studies at endpoints of SageMaker, as far as an emulator of AWS goes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::aws::{Asked, Fake, Keys, Moto, REGION, ROLE, Reply};
use crate::common::{Bench, Ran};

const NAME: &str = "endpoints";
const FAILED_RUNS: i32 = 5;
const RESULTS_IN_USE: i32 = 6;
const INTERRUPTED: i32 = 130;
const ANSWER: &str = r#"{"classes": [], "prediction_ms": 2}"#;

/// One environment of each kind; requests that moto takes.
fn bench(environments: &[&str], figures: &str) -> Bench {
    let bench = Bench::new();
    for (name, body) in [("a.json", "[[0.25]]"), ("b.json", "[[0.5, 1]]")] {
        fs::create_dir_all(bench.path().join("bodies")).unwrap();
        bench.write(&format!("bodies/{name}"), body);
    }
    let listed = environments.join("\", \"");
    let sagemaker = format!(
        "sagemaker = {{ region = \"{REGION}\", image = \"123456789012.dkr.ecr.{REGION}.amazonaws.com/retina:1\", \
         role = \"{ROLE}\", model_data = \"s3://bucket/model.tar.gz\", figures = \"{figures}\" }}"
    );
    let mut study = format!(
        "[study]\nname = \"{NAME}\"\nrepetitions = 1\norder = \"listed\"\n\
         [factors]\nenvironment = [\"{listed}\"]\n\
         [workload]\nkind = \"serve\"\nmodel = \"rede1\"\nload = \"warm\"\nrequests = 3\npause = \"10ms\"\nbody = \"bodies\"\n"
    );
    for (name, place, price) in [
        ("on-demand", "serverless = { memory = 2048 }", "0.144"),
        ("always-on", "instance = \"ml.m5.xlarge\"", "0.23"),
    ] {
        if environments.contains(&name) {
            study.push_str(&format!(
                "[environments.{name}]\n{place}\nprice = \"{price} USD/h\"\n{sagemaker}\n"
            ));
        }
    }
    bench.write("study.toml", &study);
    bench
}

fn command(bench: &Bench, variables: &[(&str, String)]) -> Command {
    let mut command = bench.command(&["run", "study.toml", "--real"]);
    for name in ["AWS_PROFILE", "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command
}

fn start(bench: &Bench, variables: &[(&str, String)]) -> Child {
    let mut command = command(bench, variables);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn signal(child: &Child, signal: i32) {
    // SAFETY: it is our child, which has not been waited for.
    unsafe { libc::kill(child.id() as i32, signal) };
}

fn ended(child: Child) -> Ran {
    Ran::new(child.wait_with_output().unwrap())
}

/// Invocations go to another server than the rest.
fn with_runtime(
    mut variables: Vec<(&'static str, String)>,
    runtime: &Fake,
) -> Vec<(&'static str, String)> {
    variables.push(("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME", runtime.url.clone()));
    variables
}

/// Neither what was said nor any file holds what nobody may know.
#[track_caller]
fn tells_no_secret(bench: &Bench, ran: &Ran, keys: &Keys) {
    let secrets = [&keys.secret, &keys.token];
    let holds = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        secrets.iter().any(|secret| text.contains(secret.as_str()))
    };
    assert!(!holds(ran.out.as_bytes()) && !holds(ran.err.as_bytes()));
    let mut files = 0;
    walk(bench.path(), &mut |path| {
        files += 1;
        assert!(!holds(&fs::read(path).unwrap()), "{}", path.display());
    });
    assert!(files > 10, "only {files} files were looked at");
}

fn walk(folder: &Path, look: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => walk(&path, look),
            false => look(&path),
        }
    }
}

fn metric(record: &Value, name: &str) -> Option<f64> {
    record["metrics"][name]["value"].as_f64()
}

fn warnings(record: &Value) -> String {
    record["warnings"].to_string()
}

/// One moto for all: it takes seconds to start.
#[test]
#[ignore = "needs moto (BANCADA_MOTO): .ci/serving runs it"]
fn installed_moto_answers_studies_and_keeps_nothing() {
    let moto = Moto::start();
    let results = json!({ "results": [{ "Body": ANSWER, "ContentType": "application/json" }] });
    moto.tell("static/sagemaker/endpoint-results", &results.to_string());
    both_kinds_are_made_asked_billed_and_gone(&moto);
    every_request_is_signed_for_its_own_body(&moto);
    an_interrupted_run_leaves_nothing(&moto);
    a_killed_program_leaves_nothing(&moto);
    a_refused_invocation_leaves_nothing_and_tells_no_secret(&moto);
    a_wrong_key_makes_nothing(&moto);
    println!("asked moto: both kinds of endpoints made, asked, billed and gone");
}

fn both_kinds_are_made_asked_billed_and_gone(moto: &Moto) {
    let bench = bench(&["on-demand", "always-on"], "60s");
    let child = start(&bench, &moto.keys.variables(&moto.url));
    thread::scope(|scope| {
        scope.spawn(|| put_figures_of(2, moto));
    });
    let ran = ended(child).ends_with(0);
    assert_eq!(moto.everything(), [""; 0]);
    tells_no_secret(&bench, &ran, &moto.keys);
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(RESULTS_IN_USE)
        .says("C1-r1 of these results was measured at the provider");

    let on_demand = bench.record(NAME, "C1-r1");
    // One that does not count, and three; each took its container 250 ms.
    assert_eq!(metric(&on_demand, "requests"), Some(3.0));
    assert_eq!(metric(&on_demand, "billed_seconds"), Some(1.0));
    assert_eq!(metric(&on_demand, "billed_seconds_per_request"), Some(0.25));
    assert_eq!(on_demand["bill"]["total"]["amount"], "0.00004");
    // The one worker that was started took 3 s.
    assert_eq!(metric(&on_demand, "setup_seconds"), Some(3.0));
    assert_eq!(metric(&on_demand, "cold_requests"), Some(1.0));
    assert_eq!(metric(&on_demand, "prediction_seconds"), Some(0.002));
    assert!(metric(&on_demand, "endpoint_seconds").is_some());

    let always_on = bench.record(NAME, "C2-r1");
    assert_eq!(metric(&always_on, "container_seconds"), Some(0.25));
    assert_eq!(metric(&always_on, "billed_seconds"), None);
    let lines = always_on["bill"]["lines"].as_array().unwrap();
    let paid: Vec<&str> = lines.iter().filter_map(|l| l["what"].as_str()).collect();
    assert!(
        paid.contains(&"warm") && paid.contains(&"shutdown"),
        "{paid:?}"
    );
    assert!(!paid.contains(&"figures"), "{paid:?}");
    for record in [&on_demand, &always_on] {
        assert_eq!(record["outcome"]["status"], "ok");
        assert!(!warnings(record).contains("endpoint"), "{record}");
        assert_eq!(record["serving"]["is_elsewhere"], true);
    }
}

/// CloudWatch counts what moto does not: four requests of each endpoint, and one start.
fn put_figures_of(endpoints: usize, moto: &Moto) {
    let begin = Instant::now();
    let mut seen: Vec<String> = Vec::new();
    while seen.len() < endpoints {
        assert!(begin.elapsed() < Duration::from_secs(60), "only {seen:?}");
        for name in moto.endpoints() {
            if !seen.contains(&name) {
                moto.put_figure(&name, "ModelSetupTime", 1, 3e6);
                moto.put_figure(&name, "ModelLatency", 4, 250e3);
                seen.push(name);
            }
        }
    }
}

/// By a server that computes the signature anew; moto does not look at invocations so closely.
fn every_request_is_signed_for_its_own_body(moto: &Moto) {
    let keys = moto.keys.clone();
    let runtime = Fake::start(move |asked, url| match asked.is_signed(&keys, url) {
        true => Reply::Answer(200, ANSWER.to_owned()),
        false => Reply::Answer(403, "not signed".to_owned()),
    });
    let bench = bench(&["always-on"], "0s");
    let variables = with_runtime(moto.keys.variables(&moto.url).into(), &runtime);
    Ran::new(command(&bench, &variables).output().unwrap()).ends_with(0);
    let record = bench.record(NAME, "C1-r1");
    assert_eq!(metric(&record, "failed_requests"), Some(0.0), "{record}");
    assert_eq!(runtime.asked().len(), 4);
    assert_eq!(moto.everything(), [""; 0]);
}

fn hangs() -> Fake {
    Fake::start(|_, _| Reply::Never)
}

fn an_interrupted_run_leaves_nothing(moto: &Moto) {
    let runtime = hangs();
    let bench = bench(&["on-demand", "always-on"], "0s");
    let variables = with_runtime(moto.keys.variables(&moto.url).into(), &runtime);
    let child = start(&bench, &variables);
    runtime.wait_for("POST /endpoints/");
    assert_eq!(moto.endpoints().len(), 1);
    signal(&child, libc::SIGINT);
    let ran = ended(child)
        .ends_with(INTERRUPTED)
        .says("deleting the endpoint first");
    assert_eq!(moto.everything(), [""; 0]);
    let record = bench.record(NAME, "C1-r1");
    assert_eq!(record["outcome"]["status"], "interrupted");
    assert!(!warnings(&record).contains("endpoint-left"), "{record}");
    tells_no_secret(&bench, &ran, &moto.keys);
}

/// Nobody can catch SIGKILL, but the client that made the endpoint is another process.
fn a_killed_program_leaves_nothing(moto: &Moto) {
    let runtime = hangs();
    let bench = bench(&["on-demand"], "0s");
    let variables = with_runtime(moto.keys.variables(&moto.url).into(), &runtime);
    let mut child = start(&bench, &variables);
    runtime.wait_for("POST /endpoints/");
    child.kill().unwrap();
    child.wait().unwrap();
    let begin = Instant::now();
    while !moto.everything().is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it stays");
        thread::sleep(Duration::from_millis(50));
    }
}

/// AWS repeats the headers of a request whose signature it refuses, the token among them.
fn a_refused_invocation_leaves_nothing_and_tells_no_secret(moto: &Moto) {
    let runtime = Fake::start(|asked: &Asked, _| {
        let headers = format!("should have been {:?}", asked.headers);
        Reply::Answer(403, json!({ "message": headers }).to_string())
    });
    let bench = bench(&["on-demand"], "0s");
    let variables = with_runtime(moto.keys.variables(&moto.url).into(), &runtime);
    let ran = Ran::new(command(&bench, &variables).output().unwrap())
        .ends_with(FAILED_RUNS)
        .says("the first request failed")
        .says("403")
        .says("should have been");
    assert_eq!(moto.everything(), [""; 0]);
    tells_no_secret(&bench, &ran, &moto.keys);
}

fn a_wrong_key_makes_nothing(moto: &Moto) {
    let wrong = Keys {
        secret: "not-the-secret".to_owned(),
        ..moto.keys.clone()
    };
    let bench = bench(&["on-demand"], "0s");
    let ran = Ran::new(
        command(&bench, &wrong.variables(&moto.url))
            .output()
            .unwrap(),
    )
    .ends_with(FAILED_RUNS)
    .says("SignatureDoesNotMatch");
    assert_eq!(moto.everything(), [""; 0]);
    tells_no_secret(&bench, &ran, &wrong);
}

/// Makes everything, is asked, and deletes as `delete` says.
fn stubborn(delete: fn() -> Reply) -> Fake {
    Fake::start(move |asked, _| match asked.operation() {
        "DescribeEndpoint" => {
            let status =
                json!({ "EndpointStatus": "InService", "EndpointArn": "arn", "EndpointName": "n" });
            Reply::Answer(200, status.to_string())
        }
        "DeleteEndpoint" => delete(),
        "" => match asked.line.starts_with("POST /endpoints/") {
            true => Reply::Answer(200, ANSWER.to_owned()),
            false => Reply::Answer(404, String::new()),
        },
        _ => Reply::Answer(200, "{}".to_owned()),
    })
}

#[track_caller]
fn shouts(bench: &Bench, ran: &Ran) -> Value {
    let record = bench.record(NAME, "C1-r1");
    let left = &record["warnings"].as_array().unwrap()[..];
    let left = left
        .iter()
        .find(|w| w.to_string().contains("bancada-on-demand-"));
    let left = left.unwrap_or_else(|| panic!("{}", warnings(&record)));
    let name = left["endpoint"].as_str().unwrap();
    let words = format!("the endpoint `{name}` in {REGION} MAY STILL EXIST AND COST MONEY");
    assert!(ran.err.contains(&words), "{}", ran.err);
    assert!(
        ran.err.contains("aws sagemaker delete-endpoint"),
        "{}",
        ran.err
    );
    record
}

#[test]
fn an_endpoint_that_cannot_be_deleted_is_shouted_about() {
    let aws = stubborn(|| {
        let refused = json!({ "__type": "AccessDeniedException", "message": "you may not" });
        Reply::Answer(400, refused.to_string())
    });
    let bench = bench(&["on-demand"], "0s");
    let keys = Keys::made_up();
    let ran = Ran::new(command(&bench, &keys.variables(&aws.url)).output().unwrap()).ends_with(0);
    let record = shouts(&bench, &ran);
    assert!(ran.err.contains("you may not"), "{}", ran.err);
    // The answers are worth what they are.
    assert_eq!(record["outcome"]["status"], "ok");
    assert_eq!(metric(&record, "requests"), Some(3.0));
    tells_no_secret(&bench, &ran, &keys);
}

#[test]
fn an_endpoint_whose_client_had_no_time_is_shouted_about() {
    let aws = stubborn(|| Reply::Never);
    let bench = bench(&["on-demand"], "0s");
    let mut child = start(&bench, &Keys::made_up().variables(&aws.url));
    aws.wait_for("DeleteEndpoint");
    signal(&child, libc::SIGINT);
    // Two signals at once would be one.
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = said.find(|line| {
        line.as_ref()
            .unwrap()
            .contains("deleting the endpoint first")
    });
    assert!(first.is_some());
    signal(&child, libc::SIGINT);
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    let mut ran = ended(child).ends_with(INTERRUPTED);
    ran.err = rest.join("\n");
    let record = shouts(&bench, &ran);
    assert_eq!(record["outcome"]["status"], "interrupted");
}
