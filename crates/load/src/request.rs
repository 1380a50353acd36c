//! What is sent: one or more bodies in turn, each made into bytes once, before anything is timed.

use crate::{Header, LoadError, Target};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
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

/// A request that is sent again and again.
#[derive(Debug, Clone)]
pub struct Request {
    pub target: Target,
    method: Method,
    /// Beside `Host`, `Content-Type` and `Content-Length`, which are written here.
    pub headers: Vec<Header>,
    /// Of one body alone, such as its signature: a list for each of the bodies, or none at all.
    pub own_headers: Vec<Vec<Header>>,
    pub content_type: String,
    /// Sent in turn; at least one.
    pub bodies: Vec<Vec<u8>>,
}

impl Request {
    pub fn post(target: Target, content_type: &str, bodies: Vec<Vec<u8>>) -> Self {
        Request {
            target,
            method: Method::Post,
            headers: Vec::new(),
            own_headers: Vec::new(),
            content_type: content_type.to_owned(),
            bodies,
        }
    }

    pub fn get(target: Target) -> Self {
        Request {
            method: Method::Get,
            ..Request::post(target, "", vec![Vec::new()])
        }
    }

    /// The bytes of each body with its head before it.
    pub(crate) fn wire(&self) -> Result<Vec<Vec<u8>>, LoadError> {
        if self.bodies.is_empty() {
            return Err(LoadError::Plan("there is no body to send".to_owned()));
        }
        if !self.own_headers.is_empty() && self.own_headers.len() != self.bodies.len() {
            let problem = "some bodies have their own headers and some do not";
            return Err(LoadError::Plan(problem.to_owned()));
        }
        let head = self.head()?;
        let message = |(place, body): (usize, &Vec<u8>)| {
            let mut head = head.clone();
            for Header { name, value } in self.own_headers.get(place).into_iter().flatten() {
                add_header(&mut head, name, value)?;
            }
            Ok(self.message(&head, body))
        };
        self.bodies.iter().enumerate().map(message).collect()
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
        if !self.content_type.is_empty() {
            add_header(&mut head, "content-type", &self.content_type)?;
        }
        for Header { name, value } in &self.headers {
            add_header(&mut head, name, value)?;
        }
        Ok(head)
    }
}

fn add_header(head: &mut String, name: &str, value: &str) -> Result<(), LoadError> {
    check_header(name, value)?;
    head.push_str(&format!("{name}: {value}\r\n"));
    Ok(())
}

/// A line break in a header would begin another request.
fn check_header(name: &str, value: &str) -> Result<(), LoadError> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(LoadError::Plan(format!(
            "`{name}` is not a valid header name"
        )));
    }
    if value
        .bytes()
        .any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f)
    {
        return Err(LoadError::Plan(format!(
            "the value of the header `{name}` contains control characters"
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
        let request = Request::post(target.clone(), "image/jpeg", vec![b"xyz".to_vec()]);
        assert_eq!(
            text(&request),
            "POST /p?q HTTP/1.1\r\nhost: a:1\r\ncontent-type: image/jpeg\r\ncontent-length: 3\r\n\r\nxyz"
        );
        assert_eq!(
            text(&Request::get(target)),
            "GET /p?q HTTP/1.1\r\nhost: a:1\r\n\r\n"
        );
    }

    #[test]
    fn bodies_may_have_headers_of_their_own() {
        let target: Target = "http://a/".parse().unwrap();
        let mut request = Request::post(target, "", vec![b"x".to_vec(), b"y".to_vec()]);
        let signed = |value: &str| vec![Header::new("signature", value)];
        request.own_headers = vec![signed("of x"), signed("of y")];
        let sent = text(&request);
        for (value, body) in [("of x", "x"), ("of y", "y")] {
            let expected = format!("signature: {value}\r\ncontent-length: 1\r\n\r\n{body}");
            assert!(sent.contains(&expected), "{sent}");
        }
        request.own_headers.pop();
        assert!(matches!(request.wire(), Err(LoadError::Plan(_))));
        request.own_headers.push(signed("a\r\nb: c"));
        assert!(matches!(request.wire(), Err(LoadError::Plan(_))));
    }

    #[test]
    fn headers_cannot_smuggle_lines() {
        let target: Target = "http://a/".parse().unwrap();
        for (name, value) in [("x", "a\r\nb: c"), ("x y", "a"), ("", "a"), ("x:", "a")] {
            let mut request = Request::get(target.clone());
            request.headers.push(Header::new(name, value));
            assert!(
                matches!(request.wire(), Err(LoadError::Plan(_))),
                "{name:?}: {value:?}"
            );
        }
        let nothing = Request::post(target, "text/plain", Vec::new());
        assert!(nothing.wire().is_err());
    }
}
