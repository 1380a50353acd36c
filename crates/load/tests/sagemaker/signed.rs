//! Invocations: signed for others to send, or sent from here.

use load::sagemaker::{Client, Variables};

use crate::server::{Server, ok, refused};

fn client() -> Client {
    let variables = Variables::from([
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        (
            "AWS_SECRET_ACCESS_KEY",
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        ),
        ("AWS_SESSION_TOKEN", "a/session+token=="),
        ("AWS_REGION", "sa-east-1"),
    ]);
    Client::new(variables, None).unwrap()
}

/// The expected signature is botocore's (1.44.0) for the same request at the same time.
#[test]
fn an_invocation_is_signed_as_botocore_signs_it() {
    let client = client();
    let invoker = client.invoker("retina-2048", "image/jpeg");
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    let headers = invoker.sign(b"\xff\xd8\xff\xe0picture", now).unwrap();
    assert_eq!(
        invoker.url(),
        "https://runtime.sagemaker.sa-east-1.amazonaws.com/endpoints/retina-2048/invocations"
    );
    let value = |name: &str| {
        let found = headers.iter().find(|header| header.name == name);
        found.map(|header| header.value.as_str())
    };
    assert_eq!(value("x-amz-date"), Some("20260102T030405Z"));
    assert_eq!(value("x-amz-security-token"), Some("a/session+token=="));
    assert_eq!(value("host"), None);
    assert_eq!(value("content-type"), None);
    assert_eq!(
        value("authorization"),
        Some(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/sa-east-1/sagemaker/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, \
             Signature=f0ba1b85eadeaf71bb0a03530444ffb6eb196cc830bd05b9a60d700926fc21d1"
        )
    );
    let shown = format!("{headers:?}");
    assert!(
        !shown.contains("session+token") && !shown.contains("Signature"),
        "{shown}"
    );
}

#[test]
fn an_invocation_is_sent_once() {
    let server = Server::start(|_, before| match before {
        0 => ok(r#"{"classes": []}"#),
        _ => refused(429, "ThrottlingException", "Rate exceeded"),
    });
    let client = server.client();
    let invoker = client.invoker("retina", "image/jpeg");
    assert_eq!(invoker.invoke(b"picture").unwrap(), br#"{"classes": []}"#);
    let asked = &server.asked()[0];
    assert_eq!(asked.line, "POST /endpoints/retina/invocations");
    assert_eq!(asked.header("content-type"), "image/jpeg");
    assert_eq!(asked.body, b"picture");
    assert!(
        asked
            .header("authorization")
            .contains("SignedHeaders=content-type;")
    );

    let problem = invoker.invoke(b"picture").unwrap_err().to_string();
    assert!(
        problem.starts_with("InvokeEndpoint of `retina` was refused"),
        "{problem}"
    );
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_name_cannot_leave_its_place_in_the_path() {
    for name in ["", "a/b", "../models", "a?b", "a b"] {
        let client = client();
        let invoker = client.invoker(name, "image/jpeg");
        let now = "2026-01-02T03:04:05Z".parse().unwrap();
        let signed = invoker.sign(b"", now).map(|_| ());
        for refused in [signed, invoker.invoke(b"").map(|_| ())] {
            let problem = refused.unwrap_err().to_string();
            assert!(
                problem.contains("is not a valid endpoint name"),
                "{problem}"
            );
        }
    }
}
