//! Invoking an endpoint: a signed request for others to send, or sent from here.

use std::fmt;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::client::Sending;
use crate::spec::is_name;
use crate::{AwsError, Client, Header, Service};

/// After this the service no longer takes a signature: a load that goes on longer has to sign anew.
pub const SIGNATURE_LASTS: Duration = Duration::from_secs(5 * 60);

/// A request ready to be sent with the body it was signed for.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedRequest {
    pub method: &'static str,
    pub url: String,
    /// Also signed: it must be sent as it stands here.
    pub content_type: String,
    /// All that are signed, beside `Host` and `Content-Type`, and the signature.
    pub headers: Vec<Header>,
}

/// The headers hold the session's token: their names are shown alone.
impl fmt::Debug for SignedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?}", self.method, self.url, self.headers)
    }
}

/// What the model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    pub body: Vec<u8>,
    pub content_type: Option<String>,
    pub variant: Option<String>,
    /// From sending to the last byte, with the connection where there was none.
    pub latency: Duration,
}

/// Asks one endpoint.
#[derive(Debug)]
pub struct Invoker<'a> {
    client: &'a Client,
    endpoint: String,
    path: String,
    content_type: String,
    extra: Vec<Header>,
}

impl Client {
    pub fn invoker(&self, endpoint: &str, content_type: &str) -> Invoker<'_> {
        Invoker {
            client: self,
            endpoint: endpoint.to_owned(),
            path: format!("/endpoints/{endpoint}/invocations"),
            content_type: content_type.to_owned(),
            extra: Vec::new(),
        }
    }
}

impl Invoker<'_> {
    /// A header that is signed and sent, such as `accept` or `x-amzn-sagemaker-target-variant`.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.extra.push(Header::new(name, value));
        self
    }

    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    pub fn url(&self) -> String {
        let address = self.client.address(Service::Runtime);
        format!("{}{}", address.base, self.path)
    }

    /// The request for this body, good for [`SIGNATURE_LASTS`] from `now`.
    pub fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, AwsError> {
        self.check()?;
        let credentials = self.client.credentials(now)?;
        let headers = self.headers();
        let sending = Sending {
            service: Service::Runtime,
            path: &self.path,
            headers: &headers,
            body,
        };
        let mut signed = self.client.signed(&sending, now, &credentials);
        signed.retain(|header| header.name != "content-type");
        Ok(SignedRequest {
            method: "POST",
            url: self.url(),
            content_type: self.content_type.clone(),
            headers: signed,
        })
    }

    /// Asks once. What is throttled or not ready is an error and not tried again: the caller
    /// measures.
    pub fn invoke(&self, body: &[u8]) -> Result<Prediction, AwsError> {
        let request = self.sign(body, Timestamp::now())?;
        let mut headers = request.headers;
        headers.push(Header::new("content-type", request.content_type));
        let asked = format!("InvokeEndpoint of `{}`", self.endpoint);
        let begin = Instant::now();
        let answer = self.client.post(&request.url, &headers, body, &asked)?;
        let latency = begin.elapsed();
        let header = |name: &str| answer.header(name).map(str::to_owned);
        Ok(Prediction {
            content_type: header("content-type"),
            variant: header("x-amzn-invoked-production-variant"),
            body: answer.body,
            latency,
        })
    }

    fn headers(&self) -> Vec<Header> {
        let mut headers = vec![Header::new("content-type", self.content_type.as_str())];
        headers.extend_from_slice(&self.extra);
        headers
    }

    fn check(&self) -> Result<(), AwsError> {
        match is_name(&self.endpoint) {
            true => Ok(()),
            false => Err(AwsError::Spec {
                mistakes: vec![format!("`{}` is not a valid endpoint name", self.endpoint)],
            }),
        }
    }
}
