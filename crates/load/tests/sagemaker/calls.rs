//! Calls: what is sent, what is tried again, and what errors say.

use load::sagemaker::{
    AwsError, Call, Client, Metric, Repeat, Service, VARIANT, Variables, Window,
};
use serde_json::json;

use crate::server::{Reply, Server, ok, quick_backoff, refused};

fn describe(client: &Client) -> Result<String, AwsError> {
    client.describe_endpoint("a").map(|status| status.status)
}

#[test]
fn calls_are_signed_posts() {
    let server = Server::start(|_, _| ok(r#"{"EndpointStatus": "InService"}"#));
    assert_eq!(describe(&server.client()).unwrap(), "InService");
    let asked = &server.asked()[0];
    assert_eq!(asked.line, "POST /");
    assert_eq!(asked.header("content-type"), "application/x-amz-json-1.1");
    assert_eq!(asked.header("x-amz-target"), "SageMaker.DescribeEndpoint");
    assert_eq!(asked.header("x-amz-security-token"), "hidden-session-token");
    assert_eq!(asked.body, br#"{"EndpointName":"a"}"#);
    let authorization = asked.header("authorization");
    assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"));
    assert!(authorization.contains("/us-east-1/sagemaker/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature="));
}

#[test]
fn throttled_calls_are_tried_again_and_not_for_ever() {
    let server = Server::start(|_, before| match before {
        0 | 1 => refused(400, "ThrottlingException", "Rate exceeded"),
        _ => ok(r#"{"EndpointStatus": "InService"}"#),
    });
    assert!(describe(&server.client()).is_ok());
    assert_eq!(server.asked().len(), 3);

    let server = Server::start(|_, _| refused(429, "TooManyRequestsException", "slowly"));
    let problem = describe(&server.client()).unwrap_err().to_string();
    assert_eq!(server.asked().len(), 3);
    assert!(problem.contains("send fewer"), "{problem}");
}

#[test]
fn what_may_have_been_done_is_not_done_twice() {
    let server = Server::start(|_, _| Reply(500, String::new()));
    let client = server.client();
    let body = json!({});
    let call = Call {
        service: Service::SageMaker,
        operation: "CreateModel",
        body: &body,
        repeat: Repeat::Throttled,
    };
    assert!(client.call(&call).is_err());
    assert_eq!(server.asked().len(), 1);
    let again = Call {
        repeat: Repeat::Faults,
        ..call
    };
    assert!(client.call(&again).is_err());
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn errors_say_what_was_asked_and_what_to_do_and_no_secret() {
    let server = Server::start(|_, _| {
        refused(
            403,
            "InvalidSignatureException",
            "should have been x-amz-security-token:hidden-session-token with hidden-secret-key",
        )
    });
    let client = server.client();
    let error = describe(&client).unwrap_err();
    let shown = format!("{error} {error:?} {client:?}");
    assert!(!shown.contains("hidden"), "{shown}");
    assert!(
        shown.contains("DescribeEndpoint was refused: InvalidSignatureException"),
        "{shown}"
    );
    assert!(shown.contains("clock"), "{shown}");
}

#[test]
fn nobody_listening_is_a_sentence() {
    let variables = Variables::from([
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
    ]);
    let client = Client::new(variables, None).unwrap();
    let problem = describe(&client.with_backoff(quick_backoff())).unwrap_err();
    assert!(
        matches!(problem, AwsError::Unreachable { sent: false, .. }),
        "{problem:?}"
    );
}

#[test]
fn answers_that_are_none_are_said_so() {
    for body in ["<html>", "{}", "[]", "\u{0}"] {
        let server = Server::start(|_, _| ok(body));
        let problem = describe(&server.client()).unwrap_err();
        assert!(matches!(problem, AwsError::Answer { .. }), "{problem}");
    }
}

#[test]
fn figures_of_long_windows_come_in_parts() {
    let server = Server::start(|_, before| {
        ok(&format!(
            r#"{{"Datapoints": [{{"Timestamp": 1, "SampleCount": 1, "Sum": {before}, "Unit": "Microseconds"}}]}}"#
        ))
    });
    let window = Window {
        begin: "1970-01-02T00:00:00Z".parse().unwrap(),
        end: "1970-01-03T12:00:00Z".parse().unwrap(),
    };
    let client = server.client();
    let points = client.metric(Metric::ModelSetupTime, "a", VARIANT, &window);
    let sums: Vec<f64> = points.unwrap().iter().map(|point| point.sum).collect();
    assert_eq!(sums, [0.0, 1.0]);
    let asked = &server.asked()[0];
    assert_eq!(
        asked.header("x-amz-target"),
        "GraniteServiceVersion20100801.GetMetricStatistics"
    );
    assert!(
        asked
            .header("authorization")
            .contains("/us-east-1/monitoring/aws4_request")
    );
    let body = String::from_utf8_lossy(&asked.body);
    assert!(body.contains(r#""MetricName":"ModelSetupTime""#), "{body}");
}
