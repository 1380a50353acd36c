//! The metadata service of EC2 machines, version 2: a token first, then the role's credentials.

use super::{Credentials, CredentialsError, local, wire};
use crate::sagemaker::http::{Answer, Ask, Web};
use crate::sagemaker::{Header, Variables};

const PLACE: &str = "the machine's metadata service";
const ENDPOINT: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";

/// `None` if it is switched off, does not answer, or the machine has no role.
pub(super) fn ask(variables: &Variables) -> Result<Option<Credentials>, CredentialsError> {
    if variables.is_true("AWS_EC2_METADATA_DISABLED") {
        return Ok(None);
    }
    let base = variables.get(ENDPOINT).unwrap_or("http://169.254.169.254");
    let base = base.trim_end_matches('/');
    if !local::is_local(base) {
        return Err(CredentialsError::foreign(ENDPOINT, base));
    }
    let web = local::web();
    let Some(token) = token(&web, base) else {
        return Ok(None);
    };
    let headers = [Header::new("x-aws-ec2-metadata-token", token)];
    let Some(role) = role(&web, base, &headers) else {
        return Ok(None);
    };
    let url = format!("{base}{ROLES}{role}");
    let problem = |why: String| CredentialsError::answer(PLACE, &why);
    let answer = web
        .send(&Ask::get(&url, &headers))
        .map_err(|error| problem(error.to_string()))?;
    wire::read(&answer.body, "the machine's role")
        .map(Some)
        .map_err(problem)
}

fn token(web: &Web, base: &str) -> Option<String> {
    let url = format!("{base}/latest/api/token");
    let headers = [Header::new("x-aws-ec2-metadata-token-ttl-seconds", "21600")];
    let answer = web.send(&Ask {
        method: "PUT",
        url: &url,
        headers: &headers,
        body: Some(&[]),
    });
    line(answer.ok()?)
}

fn role(web: &Web, base: &str, headers: &[Header]) -> Option<String> {
    let url = format!("{base}{ROLES}");
    line(web.send(&Ask::get(&url, headers)).ok()?)
}

/// The first line of a good answer.
fn line(answer: Answer) -> Option<String> {
    let text = String::from_utf8(answer.body).ok()?;
    let line = text.lines().next()?.trim();
    (answer.status == 200 && !line.is_empty()).then(|| line.to_owned())
}
