//! The endpoint that ECS, EKS and others give to their containers.

use std::fs;
use std::path::Path;

use super::{Credentials, CredentialsError, local, wire};
use crate::sagemaker::http::Ask;
use crate::sagemaker::{Header, Variables};

const PLACE: &str = "the container's credentials endpoint";
const RELATIVE: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";

/// `None` if no variable names such an endpoint.
pub(super) fn ask(variables: &Variables) -> Result<Option<Credentials>, CredentialsError> {
    let Some(url) = url(variables)? else {
        return Ok(None);
    };
    let headers: Vec<Header> = token(variables)?
        .map(|token| Header::new("authorization", token))
        .into_iter()
        .collect();
    let problem = |why: String| CredentialsError::answer(PLACE, &why);
    let answer = local::web()
        .send(&Ask::get(&url, &headers))
        .map_err(|error| problem(error.to_string()))?;
    if answer.status != 200 {
        return Err(problem(format!("it returned status {}", answer.status)));
    }
    wire::read(&answer.body, "the container")
        .map(Some)
        .map_err(problem)
}

fn url(variables: &Variables) -> Result<Option<String>, CredentialsError> {
    let (variable, url) = match (variables.get(RELATIVE), variables.get(FULL)) {
        (Some(path), _) => (RELATIVE, format!("http://169.254.170.2{path}")),
        (None, Some(url)) => (FULL, url.to_owned()),
        (None, None) => return Ok(None),
    };
    match local::is_local(&url) {
        true => Ok(Some(url)),
        false => Err(CredentialsError::foreign(variable, &url)),
    }
}

/// From the file, where one is named: the platform renews it there.
fn token(variables: &Variables) -> Result<Option<String>, CredentialsError> {
    let text = match variables.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(path) => {
            let path = Path::new(path);
            let text = fs::read_to_string(path);
            Some(text.map_err(|error| CredentialsError::file(path, &error))?)
        }
        None => variables
            .get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
            .map(str::to_owned),
    };
    let token = text.map(|text| text.trim().to_owned());
    match token {
        Some(token) if token.contains(['\r', '\n']) => Err(CredentialsError::answer(
            PLACE,
            "its authorization token contains line breaks",
        )),
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_made_and_foreign_ones_refused() {
        let relative = Variables::from([(RELATIVE, "/v2/x")]);
        assert_eq!(
            url(&relative).unwrap().as_deref(),
            Some("http://169.254.170.2/v2/x")
        );
        assert_eq!(url(&Variables::default()).unwrap(), None);
        for pairs in [
            [(FULL, "http://example.com/x")],
            [(RELATIVE, "@example.com/x")],
            [(RELATIVE, ".example.com/x")],
        ] {
            let problem = url(&Variables::from(pairs)).err().unwrap().to_string();
            assert!(
                problem.contains("only requested from this machine"),
                "{problem}"
            );
        }
    }
}
