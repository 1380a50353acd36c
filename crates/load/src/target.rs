//! Where requests go: an http:// or https:// URL taken apart.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use crate::LoadError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// A server and a path on it. Written and read as a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub scheme: Scheme,
    /// A name or an address; IPv6 without its brackets.
    pub host: String,
    pub port: u16,
    /// Begins with `/`; a query belongs to it.
    pub path: String,
}

impl FromStr for Target {
    type Err = LoadError;

    fn from_str(url: &str) -> Result<Self, LoadError> {
        parse(url).map_err(|why| LoadError::Target {
            url: url.to_owned(),
            why,
        })
    }
}

fn parse(url: &str) -> Result<Target, &'static str> {
    if url.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        return Err("it contains spaces or control characters");
    }
    let (scheme, rest) = match url.split_once("://") {
        Some(("http", rest)) => (Scheme::Http, rest),
        Some(("https", rest)) => (Scheme::Https, rest),
        Some(_) => return Err("only http:// and https:// are supported"),
        None => return Err("it does not begin with http:// or https://"),
    };
    let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err("credentials in the address are not sent; use a header");
    }
    let (host, port) = host_and_port(authority)?;
    let port = match port {
        Some(digits) => digits
            .parse::<u16>()
            .ok()
            .filter(|port| *port > 0)
            .ok_or("its port is not a number from 1 to 65535")?,
        None => scheme.port(),
    };
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok(Target {
        scheme,
        host: host.to_owned(),
        port,
        path: format!("{slash}{path}"),
    })
}

/// `host`, `host:80`, `[::1]` and `[::1]:80`.
fn host_and_port(authority: &str) -> Result<(&str, Option<&str>), &'static str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("its bracket is not closed")?;
            match after.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if after.is_empty() => (host, None),
                None => return Err("something other than a port follows its bracket"),
            }
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() {
        return Err("it names no host");
    }
    Ok((host, port))
}

impl Target {
    /// What the `Host` header says: the port only where it is not the usual one.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        if self.port == self.scheme.port() {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }

    /// All addresses of the host, requested once, before anything is timed.
    pub(crate) fn resolve(&self) -> Result<Vec<SocketAddr>, LoadError> {
        let failed = |source| LoadError::Resolve {
            host: self.host.clone(),
            source,
        };
        let found: Vec<SocketAddr> = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(failed)?
            .collect();
        if found.is_empty() {
            return Err(failed(std::io::Error::other("it has no address")));
        }
        Ok(found)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}://{}{}",
            self.scheme.name(),
            self.authority(),
            self.path
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: Result<(&str, u16, &str), &str>) {
        match (url.parse::<Target>(), expected) {
            (Ok(got), Ok((host, port, path))) => {
                assert_eq!(
                    (got.host.as_str(), got.port, got.path.as_str()),
                    (host, port, path)
                );
                assert_eq!(got.to_string().parse::<Target>().unwrap(), got);
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (got, expected) => panic!("{url}: {got:?}, not {expected:?}"),
        }
    }

    #[test]
    fn urls_are_taken_apart() {
        check("http://localhost", Ok(("localhost", 80, "/")));
        check(
            "https://a.example/x?y=1#z",
            Ok(("a.example", 443, "/x?y=1")),
        );
        check("http://a:8080/invocations", Ok(("a", 8080, "/invocations")));
        check("http://a?q", Ok(("a", 80, "/?q")));
        check("http://[::1]:9/p", Ok(("::1", 9, "/p")));
        check("http://[::1]", Ok(("::1", 80, "/")));
    }

    #[test]
    fn what_is_no_url_is_said() {
        check("localhost:8080", Err("does not begin with http"));
        check("ftp://a/", Err("only http://"));
        check("http://", Err("names no host"));
        check("http://:80/", Err("names no host"));
        check("http://a:0/", Err("1 to 65535"));
        check("http://a:99999/", Err("1 to 65535"));
        check("http://a:b/", Err("1 to 65535"));
        check("http://[::1/", Err("not closed"));
        check("http://[::1]x/", Err("follows its bracket"));
        check("http://me:secret@a/", Err("use a header"));
        check("http://a/b c", Err("spaces or"));
        check("http://a/\r\nX: y", Err("spaces or"));
    }
}
