//! What a form says, in an address or in a body.

/// Names and values, in order.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Ask(Vec<(String, String)>);

impl Ask {
    /// `application/x-www-form-urlencoded`.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        });
        Ask(pairs.collect())
    }

    /// `None` where it is empty, too.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.as_typed(name)
            .map(str::trim)
            .filter(|value| !value.is_empty())
    }

    pub(crate) fn as_typed(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Of names that begin so, without that.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Vec<(String, String)> {
        let inner = |(name, value): &(String, String)| {
            Some((name.strip_prefix(prefix)?.to_owned(), value.clone()))
        };
        self.0.iter().filter_map(inner).collect()
    }

    /// Of an address, without what is empty.
    pub(crate) fn query(&self) -> String {
        let given = self.0.iter().filter(|(_, value)| !value.trim().is_empty());
        let pairs = given.map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        pairs.collect::<Vec<_>>().join("&")
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = rest
                    .clone()
                    .take(2)
                    .map(|digit| (digit as char).to_digit(16));
                let digits: Option<Vec<u32>> = digits.collect();
                match digits.as_deref() {
                    Some([high, low]) => {
                        rest.nth(1);
                        (high * 16 + low) as u8
                    }
                    _ => b'%',
                }
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte as char);
            }
            other => out += &format!("%{other:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_and_written_back() {
        let ask = Ask::parse("a=1+2&b=%C3%A9%3D%26&c=&d&price=0.2%20USD%2Fh&e=%zz%");
        assert_eq!(ask.get("a"), Some("1 2"));
        assert_eq!(ask.get("b"), Some("é=&"));
        assert_eq!(
            (ask.get("c"), ask.get("d"), ask.get("x")),
            (None, None, None)
        );
        assert_eq!(ask.get("e"), Some("%zz%"));
        assert_eq!(Ask::parse(&ask.query()).get("b"), Some("é=&"));
        assert_eq!(Ask::parse("f.a=1&f.b=2&g=3").with_prefix("f.").len(), 2);
    }
}
