//! A small checker: every element that opens is closed, in order, and ids are told apart.

const VOID: [&str; 5] = ["meta", "br", "img", "hr", "input"];

pub(crate) fn check(html: &str) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        let end = tag_end(rest).ok_or_else(|| format!("a tag without end: {}", around(rest)))?;
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('!') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            match open.pop() {
                Some(last) if last == name => {}
                last => {
                    return Err(format!(
                        "</{name}> closes {last:?}, before {}",
                        around(rest)
                    ));
                }
            }
            continue;
        }
        let name = tag
            .split(|c: char| c.is_whitespace())
            .next()
            .unwrap_or("")
            .to_owned();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(format!("<{tag}> is no tag"));
        }
        if let Some(id) = attribute(tag, "id") {
            if ids.contains(&id) {
                return Err(format!("two elements have the id {id}"));
            }
            ids.push(id);
        }
        if VOID.contains(&name.as_str()) {
            continue;
        }
        // What stands in these is no markup.
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            let end = rest
                .find(&close)
                .ok_or_else(|| format!("<{name}> without end"))?;
            rest = &rest[end + close.len()..];
            continue;
        }
        open.push(name);
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(format!("never closed: {open:?}")),
    }
}

/// The `>` that is not inside a quoted value.
fn tag_end(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(place, c)| {
        quoted ^= c == '"';
        (c == '>' && !quoted).then_some(place)
    })
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value.to_owned())
}

fn around(text: &str) -> String {
    text.chars().take(80).collect()
}

#[test]
fn the_checker_can_fail() {
    assert!(check("<p>a <b>c</b></p><br>").is_ok());
    assert!(check("<p>a <b>c</p></b>").is_err());
    assert!(check("<p>").is_err());
    assert!(check("<p id=\"a\"></p><p id=\"a\"></p>").is_err());
    assert!(check("a < b").is_err());
}
