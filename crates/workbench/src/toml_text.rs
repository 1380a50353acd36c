//! Parts of a study file, written.

/// A basic string, whose escapes are those of JSON.
pub fn string(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json.replace('\u{7f}', "\\u007f")
}

pub fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => string(name),
    }
}

pub fn strings(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| string(text)).collect();
    texts.join(", ")
}

/// Levels as they were typed, without brackets: numbers where all are numbers, since the levels of
/// a factor are of one type.
pub fn levels(levels: &[String]) -> String {
    let all = |is: &dyn Fn(&str) -> bool| levels.iter().all(|level| is(level));
    let is_integer = |level: &str| {
        let number: Option<i64> = level.parse().ok();
        // `007` and `+1` would reach the command in another form.
        number.is_some_and(|number| number.to_string() == level)
    };
    let is_number = |level: &str| {
        let number: Option<f64> = level.parse().ok();
        let is_plain = level.contains('.') && !level.contains(['e', 'E', '+']);
        number.is_some_and(|number| is_plain && format!("{number:?}") == level)
    };
    match all(&is_integer) || all(&is_number) {
        true => levels.join(", "),
        false => strings(levels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_keep_the_form_in_which_they_were_typed() {
        let check = |typed: &[&str], expected: &str| {
            let typed: Vec<String> = typed.iter().map(|&level| level.to_owned()).collect();
            assert_eq!(levels(&typed), expected);
        };
        check(&["32", "64"], "32, 64");
        check(&["0.1", "0.5"], "0.1, 0.5");
        check(&["0.10", "0.5"], "\"0.10\", \"0.5\"");
        check(&["1", "007"], "\"1\", \"007\"");
        check(&["quick", "merge\n"], "\"quick\", \"merge\\n\"");
    }

    #[test]
    fn keys_are_bare_where_they_can_be() {
        assert_eq!(key("batch_size-2"), "batch_size-2");
        assert_eq!(key("image size"), "\"image size\"");
        assert_eq!(key(""), "\"\"");
    }
}
