//! What is sent: one or more bodies in turn, each made into bytes once, before anything is timed.

use serde::{Deserialize, Serialize};

use crate::{LoadError, Target};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Post,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub name: String,
    pub value: String,
}

/// A request that is sent again and again.
#[derive(Debug, Clone)]
pub struct Request {
    pub target: Target,
    pub method: Method,
    /// Beside `Host`, `Content-Type`, `Content-Length` and `Connection`, which are written here.
    pub headers: Vec<Header>,
    pub content_type: String,
    /// Sent in turn; at least one.
    pub bodies: Vec<Vec<u8>>,
    /// Without it every request opens a connection of its own.
    pub keep_alive: bool,
}

impl Request {
    pub fn post(target: Target, content_type: &str, bodies: Vec<Vec<u8>>) -> Self {
        Request {
            target,
            method: Method::Post,
            headers: Vec::new(),
            content_type: content_type.to_owned(),
            bodies,
            keep_alive: true,
        }
    }

    pub fn get(target: Target) -> Self {
        Request {
            method: Method::Get,
            content_type: String::new(),
            ..Request::post(target, "", vec![Vec::new()])
        }
    }

    /// The bytes of each body with its head before it.
    pub(crate) fn wire(&self) -> Result<Vec<Vec<u8>>, LoadError> {
        if self.bodies.is_empty() {
            return Err(LoadError::Plan("there is no body to send".to_owned()));
        }
        let head = self.head()?;
        Ok(self
            .bodies
            .iter()
            .map(|body| self.message(&head, body))
            .collect())
    }

    fn message(&self, head: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = head.as_bytes().to_vec();
        if self.method == Method::Post || !body.is_empty() {
            bytes.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        bytes
    }

    fn head(&self) -> Result<String, LoadError> {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nhost: {}\r\n",
            self.method.name(),
            self.target.path,
            self.target.authority()
        );
        let own = [
            ("content-type", self.content_type.as_str()),
            ("connection", if self.keep_alive { "" } else { "close" }),
        ];
        let given = self
            .headers
            .iter()
            .map(|header| (header.name.as_str(), header.value.as_str()));
        for (name, value) in own
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .chain(given)
        {
            check_header(name, value)?;
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        Ok(head)
    }
}

/// A line break in a header would begin another request.
fn check_header(name: &str, value: &str) -> Result<(), LoadError> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(LoadError::Plan(format!("`{name}` is no name of a header")));
    }
    if value
        .bytes()
        .any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f)
    {
        return Err(LoadError::Plan(format!(
            "the header `{name}` has control characters in its value"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(request: &Request) -> String {
        String::from_utf8(request.wire().unwrap().concat()).unwrap()
    }

    #[test]
    fn bodies_get_their_head() {
        let target: Target = "http://a:1/p?q".parse().unwrap();
        let mut request = Request::post(target.clone(), "image/jpeg", vec![b"xyz".to_vec()]);
        assert_eq!(
            text(&request),
            "POST /p?q HTTP/1.1\r\nhost: a:1\r\ncontent-type: image/jpeg\r\ncontent-length: 3\r\n\r\nxyz"
        );
        request.keep_alive = false;
        assert!(text(&request).contains("connection: close\r\n"));
        assert_eq!(
            text(&Request::get(target)),
            "GET /p?q HTTP/1.1\r\nhost: a:1\r\n\r\n"
        );
    }

    #[test]
    fn headers_cannot_smuggle_lines() {
        let target: Target = "http://a/".parse().unwrap();
        for (name, value) in [("x", "a\r\nb: c"), ("x y", "a"), ("", "a"), ("x:", "a")] {
            let mut request = Request::get(target.clone());
            request.headers.push(Header {
                name: name.into(),
                value: value.into(),
            });
            assert!(
                matches!(request.wire(), Err(LoadError::Plan(_))),
                "{name:?}: {value:?}"
            );
        }
        let nothing = Request::post(target, "text/plain", Vec::new());
        assert!(nothing.wire().is_err());
    }
}
