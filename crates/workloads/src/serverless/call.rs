//! A request that has been received, and the answer that goes back: nothing is changed on the
//! way but what belongs to a connection.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde_json::json;

use crate::serverless::refusal::Refusal;

pub(crate) type Reply = Response<Full<Bytes>>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
/// Of one connection, not of the message (RFC 9110, 7.6.1), and the length, which is set anew.
const OF_CONNECTION: [HeaderName; 9] = [
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    HOST,
    KEEP_ALIVE,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// What a worker is asked.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn request(self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri;
        *request.headers_mut() = of_message(self.headers);
        request
    }
}

pub(crate) fn of_message(mut headers: HeaderMap) -> HeaderMap {
    // What `connection` names belongs to the connection, too.
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in OF_CONNECTION.iter().chain(&named) {
        headers.remove(name);
    }
    headers
}

pub(crate) fn passed_on(answer: Response<Bytes>) -> Reply {
    let (mut head, body) = answer.into_parts();
    head.headers = of_message(head.headers);
    // The answer is sent by the front's own version of the protocol.
    head.version = hyper::Version::HTTP_11;
    Response::from_parts(head, Full::new(body))
}

pub(crate) fn refused(refusal: &Refusal) -> Reply {
    let outcome = refusal.outcome.word();
    let text = json!({ "error": refusal.message, "outcome": outcome }).to_string();
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut reply = json_reply(status, text);
    let headers = reply.headers_mut();
    headers.insert("x-bancada-outcome", HeaderValue::from_static(outcome));
    if refusal.is_busy() {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    reply
}

pub(crate) fn json_reply(status: StatusCode, text: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(text.into()));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, JSON);
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_the_connection_stays_there() {
        let headers = [
            ("content-type", "image/jpeg"),
            ("Connection", "keep-alive, x-own"),
            ("x-own", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("x-prediction-ms", "1.5"),
        ];
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        let left = of_message(map);
        let mut names: Vec<&str> = left.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["content-type", "x-prediction-ms"]);
    }
}
