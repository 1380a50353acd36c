//! Keys and values in one cell: JSON as an object, as a list of `key` and `value`, without its
//! braces (Azure), or `key=value; …`.

use serde_json::Value;

use crate::charge::{Tag, contains};

/// Most rows lack the tag: they are distinguished before anything is parsed.
pub(super) fn has_tag(text: &str, tag: &Tag) -> bool {
    contains(text.as_bytes(), tag.value.as_bytes())
        && entry(text, &tag.key).is_some_and(|value| value.eq_ignore_ascii_case(&tag.value))
}

/// The value of a key, whatever the key's case, and whether or not AWS put `user:` before it.
pub(super) fn entry(text: &str, key: &str) -> Option<String> {
    if !contains(text.as_bytes(), key.as_bytes()) {
        return None;
    }
    let parsed = match text.starts_with('"') {
        true => serde_json::from_str(&format!("{{{text}}}")),
        false => serde_json::from_str(text),
    };
    match parsed {
        Ok(Value::Object(map)) => map
            .into_iter()
            .find(|(name, _)| is_key(name, key))
            .map(|(_, value)| plain(value)),
        Ok(Value::Array(list)) => list.into_iter().find_map(|item| {
            let name = item.get("key")?.as_str()?;
            is_key(name, key).then(|| item.get("value").cloned().map(plain))?
        }),
        _ => text
            .split([';', ','])
            .filter_map(|pair| pair.split_once(['=', ':']))
            .find(|(name, _)| is_key(name.trim(), key))
            .map(|(_, value)| value.trim().to_owned()),
    }
}

pub(super) fn is_key(name: &str, key: &str) -> bool {
    let bare = name
        .strip_prefix("user:")
        .or_else(|| name.strip_prefix("user_"))
        .unwrap_or(name);
    name.eq_ignore_ascii_case(key) || bare.eq_ignore_ascii_case(key)
}

fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_however_they_are_written() {
        let tag: Tag = "bancada=Training-cost".parse().unwrap();
        let check =
            |text: &str, expected: bool| assert_eq!(has_tag(text, &tag), expected, "{text}");
        check(r#"{"bancada": "training-cost"}"#, true);
        check(r#"{"env":"x","Bancada":"training-cost"}"#, true);
        check(r#"{"user:bancada":"training-cost"}"#, true);
        check(r#""env": "x","bancada": "training-cost""#, true);
        check(r#"[{"key":"bancada","value":"training-cost"}]"#, true);
        check(r#"[{"value":"training-cost","key":"bancada"}]"#, true);
        check("env=x; bancada=training-cost", true);
        check("bancada:training-cost", true);
        check(r#"{"bancada": "training-cost-2"}"#, false);
        check(r#"{"other": "training-cost", "bancada": "x"}"#, false);
        check(r#"{"training-cost": "bancada"}"#, false);
        check("", false);
        check("{broken bancada training-cost", false);
    }
}
