//! End to end against moto, the emulator of AWS from PyPI, when BANCADA_MOTO names its server.
//!
//! moto is told to check credentials, signatures and permissions, which it does with botocore's
//! own code. What it does not have: endpoints are in service at once and never fail, nothing runs
//! behind them (answers are those put in before, also of endpoints that do not exist), a body that
//! is no text fails inside it (5.2.5, status 500), and there are no figures but those put in.

use std::env;
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use aws_endpoint::{
    AwsError, Call, Client, EndpointSpec, Kind, Metric, Repeat, Resource, Service, VARIANT,
    Variables, Window, set_up, tear_down,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::server::{quick, quick_backoff};

const ROLE: &str = "arn:aws:iam::123456789012:role/bench";
const REGION: &str = "us-east-1";

struct Moto {
    process: Child,
    url: String,
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Moto {
    /// The `moto_server` that BANCADA_MOTO names.
    fn start() -> Moto {
        let program = env::var_os("BANCADA_MOTO").unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let process = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let moto = Moto { process, url };
        moto.wait();
        moto
    }

    fn wait(&self) {
        let begin = Instant::now();
        while ureq::get(format!("{}/moto-api/data.json", self.url))
            .call()
            .is_err()
        {
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "moto did not start"
            );
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Moto's own interface beside AWS's.
    fn tell(&self, path: &str, body: &str) {
        let url = format!("{}/moto-api/{path}", self.url);
        ureq::post(url).send(body).unwrap();
    }

    /// An operation of AWS's XML services, unsigned: before signatures are asked for.
    fn query(&self, service: &str, form: &str) -> String {
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential=x/20260101/{REGION}/{service}/aws4_request, SignedHeaders=host, Signature=x"
        );
        let mut answer = ureq::post(&self.url)
            .header("authorization", authorization)
            .header("content-type", "application/x-www-form-urlencoded")
            .send(form)
            .unwrap();
        answer.body_mut().read_to_string().unwrap()
    }

    /// A role that may do everything, assumed: credentials with a session token. From here on
    /// moto refuses what is not signed by them.
    fn strict_credentials(&self) -> [String; 3] {
        let policy = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22%2A%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D";
        self.query(
            "iam",
            &format!("Action=CreateRole&Version=2010-05-08&RoleName=bench&AssumeRolePolicyDocument={policy}"),
        );
        self.query(
            "iam",
            &format!("Action=PutRolePolicy&Version=2010-05-08&RoleName=bench&PolicyName=all&PolicyDocument={policy}"),
        );
        let answer = self.query(
            "sts",
            &format!("Action=AssumeRole&Version=2011-06-15&RoleArn={ROLE}&RoleSessionName=test"),
        );
        self.tell("reset-auth", "0");
        ["AccessKeyId", "SecretAccessKey", "SessionToken"].map(|name| element(&answer, name))
    }

    fn client(&self, [id, secret, token]: &[String; 3]) -> Client {
        let variables = Variables::from([
            ("AWS_ACCESS_KEY_ID", id.as_str()),
            ("AWS_SECRET_ACCESS_KEY", secret),
            ("AWS_SESSION_TOKEN", token),
            ("AWS_REGION", REGION),
            ("AWS_ENDPOINT_URL", &self.url),
        ]);
        let client = Client::new(variables, None).unwrap();
        client.with_backoff(quick_backoff())
    }
}

fn element(text: &str, name: &str) -> String {
    let begin = text.split_once(&format!("<{name}>")).unwrap().1;
    begin.split_once('<').unwrap().0.to_owned()
}

fn spec(name: &str, kind: Kind) -> EndpointSpec {
    EndpointSpec {
        name: name.to_owned(),
        image: "123456789012.dkr.ecr.us-east-1.amazonaws.com/retina:1".to_owned(),
        model_data: Some("s3://bucket/model.tar.gz".to_owned()),
        role_arn: ROLE.to_owned(),
        environment: [("BANCADA_THREADS".to_owned(), "1".to_owned())].into(),
        tags: [("study".to_owned(), "b".to_owned())].into(),
        kind,
    }
}

fn kinds() -> [(&'static str, Kind); 2] {
    [
        (
            "always-on",
            Kind::RealTime {
                instance_type: "ml.m5.xlarge".to_owned(),
                instances: 1,
            },
        ),
        (
            "on-demand",
            Kind::Serverless {
                memory_mb: 2048,
                max_concurrency: 5,
                provisioned: None,
            },
        ),
    ]
}

/// One server for all: it takes seconds to start.
#[test]
#[ignore = "needs moto (BANCADA_MOTO): .ci/serving runs it"]
fn installed_moto_end_to_end() {
    let moto = Moto::start();
    let credentials = moto.strict_credentials();
    let client = moto.client(&credentials);
    refuses_a_wrong_signature(&moto, &credentials);
    sets_up_and_tears_down(&client);
    answers_invocations(&moto, &client);
    keeps_figures(&client);
}

fn sets_up_and_tears_down(client: &Client) {
    for (name, kind) in kinds() {
        let endpoint = set_up(client, &spec(name, kind), &quick(), &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(
            endpoint.arn.ends_with(&format!("endpoint/{name}")),
            "{endpoint:?}"
        );
        let status = client.describe_endpoint(name).unwrap();
        assert_eq!(status.status, "InService");
        assert!(status.created.is_some(), "{status:?}");
    }
    for (name, _) in kinds() {
        let torn_down = tear_down(client, name, &quick());
        assert!(torn_down.is_clean(), "{torn_down}");
        assert_eq!(
            torn_down.deleted,
            [Resource::Endpoint, Resource::Configuration, Resource::Model]
        );
        let again = tear_down(client, name, &quick());
        assert!(again.is_clean() && again.deleted.is_empty(), "{again}");
    }
    let problem = client
        .describe_endpoint("always-on")
        .unwrap_err()
        .to_string();
    assert!(problem.contains("Could not find endpoint"), "{problem}");
}

fn refuses_a_wrong_signature(moto: &Moto, good: &[String; 3]) {
    let mut wrong = good.clone();
    wrong[1] = "not-the-secret".to_owned();
    let error = moto.client(&wrong).describe_endpoint("a").unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("SignatureDoesNotMatch"), "{shown}");
    assert!(!shown.contains("not-the-secret"), "{shown}");
    let unknown = ["AKIAUNKNOWN", "x", "y"].map(str::to_owned);
    let error = moto.client(&unknown).describe_endpoint("a").unwrap_err();
    assert!(matches!(error, AwsError::Refused { .. }), "{error}");
    // The same request signed well is understood: nothing is there.
    let error = moto.client(good).describe_endpoint("a").unwrap_err();
    assert!(error.to_string().contains("Could not find"), "{error}");
}

fn answers_invocations(moto: &Moto, client: &Client) {
    let results = json!({ "results": [
        { "Body": "{\"classes\": []}", "ContentType": "application/json", "InvokedProductionVariant": VARIANT },
    ]});
    moto.tell("static/sagemaker/endpoint-results", &results.to_string());
    let invoker = client.invoker("always-on", "application/json");
    let answer = invoker.invoke(b"[[0.5]]").unwrap();
    assert_eq!(answer.body, br#"{"classes": []}"#);
    assert_eq!(answer.content_type.as_deref(), Some("application/json"));
    assert_eq!(answer.variant.as_deref(), Some(VARIANT));

    // As the load generator sends it: signed once, sent by somebody else.
    let signed = invoker.sign(b"[[0.5]]", Timestamp::now()).unwrap();
    let mut request = ureq::post(&signed.url).content_type(&signed.content_type);
    for header in &signed.headers {
        request = request.header(&header.name, &header.value);
    }
    let mut answer = request.send(&b"[[0.5]]"[..]).unwrap();
    assert_eq!(
        answer.body_mut().read_to_string().unwrap(),
        r#"{"classes": []}"#
    );
}

fn keeps_figures(client: &Client) {
    let now = Timestamp::now();
    let dimensions = json!([
        { "Name": "EndpointName", "Value": "on-demand" },
        { "Name": "VariantName", "Value": VARIANT },
    ]);
    let figures = [2_500_000.0, 3_500_000.0].map(|value| {
        json!({
            "MetricName": "ModelSetupTime", "Dimensions": dimensions, "Value": value,
            "Unit": "Microseconds", "Timestamp": now.as_second(),
        })
    });
    let body = json!({ "Namespace": "AWS/SageMaker", "MetricData": figures });
    let put = Call {
        service: Service::CloudWatch,
        operation: "PutMetricData",
        body: &body,
        repeat: Repeat::Throttled,
    };
    client.call(&put).unwrap();
    let window = Window {
        begin: now - SignedDuration::from_mins(10),
        end: now + SignedDuration::from_mins(1),
        period_minutes: 1,
    };
    let points = client
        .metric(Metric::ModelSetupTime, "on-demand", VARIANT, &window)
        .unwrap();
    assert_eq!(points.len(), 1, "{points:?}");
    assert_eq!((points[0].samples, points[0].sum), (2.0, 6_000_000.0));
    assert_eq!(
        points[0].as_time(points[0].mean()),
        Some(Duration::from_secs(3))
    );
    for metric in Metric::ALL.into_iter().skip(1) {
        let none = client
            .metric(metric, "on-demand", VARIANT, &window)
            .unwrap();
        assert!(none.is_empty(), "{metric:?} {none:?}");
    }
}
