//! Invoking an endpoint: a signed request for others to send, or sent from here.

use std::time::Duration;

use jiff::Timestamp;

use crate::sagemaker::client::Sending;
use crate::sagemaker::spec::is_name;
use crate::sagemaker::{AwsError, Client, Header, Service};

/// After this the service no longer takes a signature: a load that goes on longer has to sign anew.
pub const SIGNATURE_LASTS: Duration = Duration::from_secs(5 * 60);

/// Asks one endpoint.
#[derive(Debug)]
pub struct Invoker<'a> {
    client: &'a Client,
    endpoint: String,
    path: String,
    content_type: String,
}

impl Client {
    pub fn invoker(&self, endpoint: &str, content_type: &str) -> Invoker<'_> {
        Invoker {
            client: self,
            endpoint: endpoint.to_owned(),
            path: format!("/endpoints/{endpoint}/invocations"),
            content_type: content_type.to_owned(),
        }
    }
}

impl Invoker<'_> {
    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    pub fn url(&self) -> String {
        let address = self.client.address(Service::Runtime);
        format!("{}{}", address.base, self.path)
    }

    /// The headers for this body, signature included, good for [`SIGNATURE_LASTS`] from `now`. The
    /// sender adds `Host` and the content type, which are signed, too.
    pub fn sign(&self, body: &[u8], now: Timestamp) -> Result<Vec<Header>, AwsError> {
        let mut signed = self.signed(body, now)?;
        signed.retain(|header| header.name != "content-type");
        Ok(signed)
    }

    /// Sends one request and returns the body of the answer. What is throttled or not ready is an
    /// error and not tried again: the caller measures.
    pub fn invoke(&self, body: &[u8]) -> Result<Vec<u8>, AwsError> {
        let headers = self.signed(body, Timestamp::now())?;
        let asked = format!("InvokeEndpoint of `{}`", self.endpoint);
        let answer = self.client.post(&self.url(), &headers, body, &asked)?;
        Ok(answer.body)
    }

    fn signed(&self, body: &[u8], now: Timestamp) -> Result<Vec<Header>, AwsError> {
        self.check()?;
        let credentials = self.client.credentials(now)?;
        let sending = Sending {
            service: Service::Runtime,
            path: &self.path,
            headers: &[Header::new("content-type", self.content_type.as_str())],
            body,
        };
        Ok(self.client.signed(&sending, now, &credentials))
    }

    fn check(&self) -> Result<(), AwsError> {
        match is_name(&self.endpoint) {
            true => Ok(()),
            false => Err(AwsError::spec(&[format!(
                "`{}` is not a valid endpoint name",
                self.endpoint
            )])),
        }
    }
}
