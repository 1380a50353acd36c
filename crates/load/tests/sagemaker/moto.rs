//! End to end against moto, the emulator of AWS from PyPI, when BANCADA_MOTO names its server.
//!
//! moto is told to check credentials, signatures and permissions, which it does with botocore's
//! own code. What it does not have: endpoints are in service at once and never fail, nothing runs
//! behind them (answers are those put in before, also of endpoints that do not exist), a body that
//! is no text fails inside it (5.2.5, status 500), and there are no figures but those put in.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use load::sagemaker::{
    AwsError, Call, Client, EndpointSpec, Kind, Metric, Repeat, Resource, Service, VARIANT, Window,
    set_up, tear_down,
};
use serde_json::json;

use crate::aws::{Keys, Moto, ROLE};
use crate::server::{quick, quick_backoff};

fn client(moto: &Moto, keys: &Keys) -> Client {
    keys.client(&moto.url).with_backoff(quick_backoff())
}

fn spec(name: &str, kind: Kind) -> EndpointSpec {
    EndpointSpec {
        name: name.to_owned(),
        image: "123456789012.dkr.ecr.us-east-1.amazonaws.com/retina:1".to_owned(),
        model_data: Some("s3://bucket/model.tar.gz".to_owned()),
        role_arn: ROLE.to_owned(),
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
            },
        ),
        (
            "on-demand",
            Kind::Serverless {
                memory_mb: 2048,
                max_concurrency: 5,
            },
        ),
    ]
}

/// One server for all: it takes seconds to start.
#[test]
#[ignore = "needs moto (BANCADA_MOTO): .ci/serving runs it"]
fn installed_moto_end_to_end() {
    let moto = Moto::start();
    let client = client(&moto, &moto.keys);
    refuses_a_wrong_signature(&moto);
    sets_up_and_tears_down(&client);
    answers_invocations(&moto, &client);
    keeps_figures(&client);
}

fn sets_up_and_tears_down(client: &Client) {
    for (name, kind) in kinds() {
        let endpoint = set_up(client, &spec(name, kind), &quick(), &mut || true).unwrap();
        assert_eq!(endpoint.name, name);
        let status = client.describe_endpoint(name).unwrap();
        assert_eq!(status.status, "InService");
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

fn refuses_a_wrong_signature(moto: &Moto) {
    let wrong = Keys {
        secret: "not-the-secret".to_owned(),
        ..moto.keys.clone()
    };
    let error = client(moto, &wrong).describe_endpoint("a").unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("SignatureDoesNotMatch"), "{shown}");
    assert!(!shown.contains("not-the-secret"), "{shown}");
    let error = client(moto, &Keys::made_up()).describe_endpoint("a");
    let error = error.unwrap_err();
    assert!(matches!(error, AwsError::Refused { .. }), "{error}");
    // The same request signed well is understood: nothing is there.
    let error = client(moto, &moto.keys).describe_endpoint("a").unwrap_err();
    assert!(error.to_string().contains("Could not find"), "{error}");
}

fn answers_invocations(moto: &Moto, client: &Client) {
    let results = json!({ "results": [
        { "Body": "{\"classes\": []}", "ContentType": "application/json", "InvokedProductionVariant": VARIANT },
    ]});
    moto.tell("static/sagemaker/endpoint-results", &results.to_string());
    let invoker = client.invoker("always-on", "application/json");
    let answer = invoker.invoke(b"[[0.5]]").unwrap();
    assert_eq!(answer, br#"{"classes": []}"#);

    // As the load generator sends it: signed once, sent by somebody else.
    let signed = invoker.sign(b"[[0.5]]", Timestamp::now()).unwrap();
    let mut request = ureq::post(invoker.url()).content_type(invoker.content_type());
    for header in &signed {
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
    };
    let points = client
        .metric(Metric::ModelSetupTime, "on-demand", VARIANT, &window)
        .unwrap();
    assert_eq!(points.len(), 1, "{points:?}");
    assert_eq!((points[0].samples, points[0].sum), (2.0, 6_000_000.0));
    assert_eq!(points[0].time(), Some(Duration::from_secs(6)));
    for metric in [Metric::ModelLatency, Metric::OverheadLatency] {
        let none = client
            .metric(metric, "on-demand", VARIANT, &window)
            .unwrap();
        assert!(none.is_empty(), "{metric:?} {none:?}");
    }
}
