//! The chain of credentials, place by place.

use std::fs;

use load::sagemaker::{Client, Credentials, CredentialsError, Variables, find_credentials};

use crate::server::{Reply, Server, ok};

const JSON: &str = r#"{"Code": "Success", "AccessKeyId": "from-service", "SecretAccessKey": "hidden", "Token": "hidden-token", "Expiration": "2099-01-01T00:00:00Z"}"#;

fn find<const N: usize>(pairs: [(&str, &str); N]) -> Result<Credentials, CredentialsError> {
    find_credentials(&Variables::from(pairs))
}

fn problem<const N: usize>(pairs: [(&str, &str); N]) -> String {
    find(pairs).unwrap_err().to_string()
}

#[test]
fn variables_come_first() {
    let found = find([
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_PROFILE", "nobody"),
    ]);
    assert_eq!(found.unwrap().access_key_id, "a");
    assert!(problem([("AWS_ACCESS_KEY_ID", "a")]).contains("the secret access key is missing"));
    assert!(
        problem([("AWS_WEB_IDENTITY_TOKEN_FILE", "x")]).contains("not supported yet; export them")
    );
}

#[test]
fn files_come_next() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let keys = file(
        "credentials",
        "[default]\naws_access_key_id = one\naws_secret_access_key = x\n[half]\naws_access_key_id = y\n",
    );
    let config = file(
        "config",
        "[default]\nregion = sa-east-1\n[profile role]\nrole_arn = arn:x\nsource_profile = default\n\
         [profile sso]\nsso_session = s\n[profile broken]\ncredential_process = /nowhere/tool\n",
    );
    let with = |profile: &str| {
        find([
            ("AWS_SHARED_CREDENTIALS_FILE", &keys),
            ("AWS_CONFIG_FILE", &config),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("AWS_PROFILE", profile),
        ])
    };
    assert_eq!(with("").unwrap().access_key_id, "one");
    let says = |profile: &str, expected: &str| {
        let problem = with(profile).unwrap_err().to_string();
        assert!(problem.contains(expected), "{problem}");
    };
    says(
        "role",
        "assuming a role (`role_arn` of the AWS profile `role`) are not supported yet; export them first: eval \"$(aws configure export-credentials --profile role --format env)\"",
    );
    says("sso", "single sign-on");
    says("half", "the AWS profile `half` has incomplete");
    says("broken", "could not be started");
    says(
        "nobody",
        "the AWS files have broken, default, half, role, sso",
    );

    let variables = Variables::from([("AWS_CONFIG_FILE", config.as_str())]);
    let client = Client::new(variables, None).unwrap();
    let url = client.invoker("a", "").url();
    assert!(url.contains(".sa-east-1."), "{url}");
}

#[cfg(unix)]
#[test]
fn a_program_may_give_them() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let line = format!("[default]\ncredential_process = printf %s '{JSON}'\n");
    fs::write(&config, line).unwrap();
    let found = find([("AWS_CONFIG_FILE", &config.display().to_string())]);
    assert_eq!(found.unwrap().source, "credential_process");
}

#[test]
fn containers_may_give_them() {
    let server = Server::start(|asked, _| match asked.header("authorization") {
        "Bearer x" => ok(JSON),
        _ => Reply(403, "hidden".to_owned()),
    });
    let url = format!("{}/credentials", server.url);
    let found = find([
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer x"),
    ])
    .unwrap();
    assert_eq!(found.access_key_id, "from-service");
    assert!(found.session_token.is_some() && found.expires.is_some());
    assert_eq!(server.asked()[0].line, "GET /credentials");

    let shown = problem([("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url)]);
    assert!(
        shown.contains("status 403") && !shown.contains("hidden"),
        "{shown}"
    );
    let foreign = problem([("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://192.0.2.1/x")]);
    assert!(
        foreign.contains("only requested from this machine"),
        "{foreign}"
    );
}

#[test]
fn machines_may_give_them() {
    let server = Server::start(|asked, _| {
        let token = asked.header("x-aws-ec2-metadata-token") == "t";
        match asked.line.as_str() {
            "PUT /latest/api/token" => ok("t"),
            "GET /latest/meta-data/iam/security-credentials/" if token => ok("role\n"),
            "GET /latest/meta-data/iam/security-credentials/role" if token => ok(JSON),
            _ => Reply(404, String::new()),
        }
    });
    let found = find([("AWS_EC2_METADATA_SERVICE_ENDPOINT", &server.url)]);
    assert_eq!(found.unwrap().source, "the machine's role");
    let asked = &server.asked()[0];
    assert_eq!(
        asked.header("x-aws-ec2-metadata-token-ttl-seconds"),
        "21600"
    );

    let nowhere = problem([
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", &server.url),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ]);
    assert!(
        nowhere.contains("no AWS credentials were found"),
        "{nowhere}"
    );
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_machine_without_a_role_has_none() {
    let server = Server::start(|asked, _| match asked.line.as_str() {
        "PUT /latest/api/token" => ok("t"),
        _ => Reply(404, "not found".to_owned()),
    });
    let shown = problem([("AWS_EC2_METADATA_SERVICE_ENDPOINT", &server.url)]);
    assert!(shown.contains("not an EC2 machine with a role"), "{shown}");
}

#[test]
fn those_that_end_are_asked_for_again() {
    let soon = JSON.replace("2099", "2001");
    let server = Server::start(move |_, before| ok(if before == 0 { &soon } else { JSON }));
    let variables = Variables::from([
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url.as_str()),
        ("AWS_REGION", "us-east-1"),
    ]);
    let client = Client::new(variables, None).unwrap();
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    for _ in 0..3 {
        client.credentials(now).unwrap();
    }
    assert_eq!(server.asked().len(), 2);
}
