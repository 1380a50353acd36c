//! The usual chain: variables, shared files, a program, the container, the machine. The first
//! place that has credentials gives them.

use super::{Credentials, CredentialsError, Profile, container, instance, process};
use crate::sagemaker::{Secret, Variables};

/// Settings of a profile whose credentials must be requested at another service first.
const NOT_YET: [(&str, &str); 5] = [
    ("role_arn", "assuming a role"),
    ("sso_session", "single sign-on"),
    ("sso_start_url", "single sign-on"),
    ("login_session", "console sign-in"),
    ("web_identity_token_file", "web identity"),
];

/// May start the profile's program and ask this machine's services.
pub fn find_credentials(variables: &Variables) -> Result<Credentials, CredentialsError> {
    if let Some(credentials) = of_variables(variables)? {
        return Ok(credentials);
    }
    let profile = Profile::read(variables)?;
    if let Some(credentials) = of_profile(&profile)? {
        return Ok(credentials);
    }
    if let Some(credentials) = container::ask(variables)? {
        return Ok(credentials);
    }
    if let Some(credentials) = instance::ask(variables)? {
        return Ok(credentials);
    }
    Err(CredentialsError::new(format!(
        "no AWS credentials were found (not in the environment; not in the profile `{}` of the AWS files; \
             no container endpoint is named; not an EC2 machine with a role); set AWS_ACCESS_KEY_ID and \
             AWS_SECRET_ACCESS_KEY, or run `aws configure`",
        profile.name
    )))
}

fn of_variables(variables: &Variables) -> Result<Option<Credentials>, CredentialsError> {
    let found = pair(
        variables.get("AWS_ACCESS_KEY_ID"),
        variables.get("AWS_SECRET_ACCESS_KEY"),
        variables.get("AWS_SESSION_TOKEN"),
    );
    let found = found.map_err(|missing| CredentialsError::half("the environment", missing))?;
    if let Some(credentials) = found {
        return Ok(Some(Credentials {
            source: "the environment",
            ..credentials
        }));
    }
    match variables.get("AWS_WEB_IDENTITY_TOKEN_FILE") {
        Some(_) => Err(CredentialsError::not_yet(
            "web identity (AWS_WEB_IDENTITY_TOKEN_FILE)",
            variables.get("AWS_PROFILE").unwrap_or("default"),
        )),
        None => Ok(None),
    }
}

fn of_profile(profile: &Profile) -> Result<Option<Credentials>, CredentialsError> {
    if let Some((setting, way)) = NOT_YET
        .into_iter()
        .find(|(setting, _)| profile.get(setting).is_some())
    {
        let way = format!("{way} (`{setting}` of the AWS profile `{}`)", profile.name);
        return Err(CredentialsError::not_yet(&way, &profile.name));
    }
    let found = pair(
        profile.get("aws_access_key_id"),
        profile.get("aws_secret_access_key"),
        profile.get("aws_session_token"),
    );
    let found = found.map_err(|missing| {
        CredentialsError::half(&format!("the AWS profile `{}`", profile.name), missing)
    })?;
    match (found, profile.get("credential_process")) {
        (Some(credentials), _) => Ok(Some(credentials)),
        (None, Some(command_line)) => {
            let run = process::run(command_line);
            run.map(Some).map_err(|why| {
                let name = &profile.name;
                let what = format!("the credential_process of the AWS profile `{name}` {why}");
                CredentialsError::new(what)
            })
        }
        (None, None) => Ok(None),
    }
}

/// Both halves, none of them, or the name of the one that is missing.
fn pair(
    id: Option<&str>,
    secret: Option<&str>,
    token: Option<&str>,
) -> Result<Option<Credentials>, &'static str> {
    match (id, secret) {
        (Some(id), Some(secret)) => Ok(Some(Credentials {
            access_key_id: id.to_owned(),
            secret_access_key: Secret::new(secret),
            session_token: token.map(Secret::new),
            expires: None,
            source: "the AWS files",
        })),
        (None, None) => Ok(None),
        (Some(_), None) => Err("the secret access key"),
        (None, Some(_)) => Err("the access key's name"),
    }
}
