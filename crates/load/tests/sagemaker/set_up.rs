//! Set-up and tear-down: what is made, waited for, and deleted again.

use std::sync::atomic::{AtomicUsize, Ordering};

use load::sagemaker::{AwsError, EndpointSpec, Kind, Resource, set_up, tear_down};

use crate::server::{Asked, Reply, Server, impatient, ok, quick, refused};

fn spec() -> EndpointSpec {
    EndpointSpec {
        name: "retina".to_owned(),
        image: "registry/retina:1".to_owned(),
        model_data: None,
        role_arn: "arn:aws:iam::123456789012:role/endpoints".to_owned(),
        tags: Default::default(),
        kind: Kind::Serverless {
            memory_mb: 1024,
            max_concurrency: 1,
        },
    }
}

fn status(text: &str) -> Reply {
    ok(&format!(
        r#"{{"EndpointStatus": "{text}", "FailureReason": "The container did not pass the ping health check."}}"#
    ))
}

fn gone() -> Reply {
    refused(400, "ValidationException", "Could not find endpoint x")
}

/// Answers descriptions in turn, the last one again and again; everything else is done.
fn service(descriptions: &'static [&'static str]) -> impl Fn(&Asked, usize) -> Reply {
    let described = AtomicUsize::new(0);
    move |asked, _| match asked.operation() {
        "DescribeEndpoint" => {
            let turn = described.fetch_add(1, Ordering::Relaxed);
            match descriptions[turn.min(descriptions.len() - 1)] {
                "gone" => gone(),
                text => status(text),
            }
        }
        _ => ok("{}"),
    }
}

#[test]
fn an_endpoint_is_made_and_waited_for() {
    let server = Server::start(service(&["Creating", "Creating", "InService"]));
    let mut steps = 0;
    let mut go_on = || {
        steps += 1;
        true
    };
    let endpoint = set_up(&server.client(), &spec(), &quick(), &mut go_on).unwrap();
    assert_eq!(endpoint.name, "retina");
    assert_eq!(
        server.operations(),
        [
            "CreateModel",
            "CreateEndpointConfig",
            "CreateEndpoint",
            "DescribeEndpoint",
            "DescribeEndpoint",
            "DescribeEndpoint"
        ]
    );
    assert_eq!(steps, 5);
}

#[test]
fn a_failed_endpoint_is_deleted_and_its_reason_told() {
    let server = Server::start(service(&["Creating", "Failed", "Deleting", "gone"]));
    let error = set_up(&server.client(), &spec(), &quick(), &mut || true).unwrap_err();
    let shown = error.to_string();
    assert!(
        shown.contains("did not pass the ping health check"),
        "{shown}"
    );
    assert!(
        shown.contains("was deleted: endpoint, endpoint configuration, model"),
        "{shown}"
    );
    let operations = server.operations();
    let deletions: Vec<&String> = operations
        .iter()
        .filter(|name| name.starts_with("Delete"))
        .collect();
    assert_eq!(
        deletions,
        ["DeleteEndpoint", "DeleteEndpointConfig", "DeleteModel"]
    );
}

#[test]
fn only_what_was_made_is_deleted() {
    let server = Server::start(|asked, _| match asked.operation() {
        "CreateEndpointConfig" => refused(400, "ValidationException", "already existing"),
        _ => ok("{}"),
    });
    let error = set_up(&server.client(), &spec(), &quick(), &mut || true).unwrap_err();
    assert!(matches!(error.why, AwsError::Refused { .. }));
    assert_eq!(
        server.operations(),
        ["CreateModel", "CreateEndpointConfig", "DeleteModel"]
    );
}

#[test]
fn who_stops_or_loses_patience_leaves_nothing() {
    let server = Server::start(service(&["Creating", "Creating", "gone"]));
    let mut made = 0;
    let mut until_it_waits = || {
        made += 1;
        made <= 3
    };
    let error = set_up(&server.client(), &spec(), &quick(), &mut until_it_waits).unwrap_err();
    assert!(error.why.to_string().contains("was stopped"));
    assert!(error.torn_down.is_clean());

    let server = Server::start(service(&["Creating"]));
    let error = set_up(&server.client(), &spec(), &impatient(), &mut || true).unwrap_err();
    assert!(error.why.to_string().contains("was still Creating"));
    // It never went away, and that is said; the others are deleted nevertheless.
    assert_eq!(error.torn_down.left.len(), 1);
    assert_eq!(error.torn_down.deleted.len(), 2);
    assert!(
        error
            .to_string()
            .contains("could NOT be deleted and may cost money")
    );
}

#[test]
fn a_caller_that_panics_leaves_nothing() {
    let server = Server::start(service(&["Creating", "gone"]));
    let client = server.client();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut made = 0;
        set_up(&client, &spec(), &quick(), &mut || {
            made += 1;
            assert!(made <= 3, "the caller's own");
            true
        })
    }));
    assert!(ended.is_err());
    assert_eq!(server.operations().last().unwrap(), "DeleteModel");
}

#[test]
fn an_endpoint_being_made_is_deleted_when_it_can_be() {
    let deletions = AtomicUsize::new(0);
    let server = Server::start(move |asked, _| match asked.operation() {
        "DeleteEndpoint" if deletions.fetch_add(1, Ordering::Relaxed) < 2 => refused(
            400,
            "ValidationException",
            "Cannot update in-progress endpoint",
        ),
        "DescribeEndpoint" if deletions.load(Ordering::Relaxed) < 3 => status("Creating"),
        "DescribeEndpoint" => gone(),
        _ => ok("{}"),
    });
    let torn_down = tear_down(&server.client(), "retina", &quick());
    assert_eq!(
        torn_down.deleted,
        [Resource::Endpoint, Resource::Configuration, Resource::Model]
    );
}

#[test]
fn tearing_down_nothing_is_no_error() {
    let server = Server::start(|_, _| gone());
    let torn_down = tear_down(&server.client(), "retina", &quick());
    assert!(torn_down.is_clean());
    assert!(torn_down.deleted.is_empty());
    assert_eq!(torn_down.to_string(), "nothing of `retina` was deleted");
}

#[test]
fn what_could_not_be_deleted_is_said() {
    let server = Server::start(|asked, _| match asked.operation() {
        "DeleteEndpointConfig" => refused(400, "AccessDeniedException", "may not"),
        "DescribeEndpoint" => gone(),
        _ => ok("{}"),
    });
    let torn_down = tear_down(&server.client(), "retina", &quick());
    assert_eq!(torn_down.deleted, [Resource::Endpoint, Resource::Model]);
    let shown = torn_down.to_string();
    assert!(
        shown.contains("its endpoint configuration could NOT be deleted"),
        "{shown}"
    );
    assert!(shown.contains("IAM policy"), "{shown}");
}

#[test]
fn mistakes_are_told_before_anything_is_made() {
    let server = Server::start(|_, _| ok("{}"));
    let bad = EndpointSpec {
        name: "a b".to_owned(),
        ..spec()
    };
    let error = set_up(&server.client(), &bad, &quick(), &mut || true);
    let why = error.unwrap_err().why.to_string();
    assert!(why.contains("`a b` is not a valid name"), "{why}");
    assert!(server.asked().is_empty());
}
