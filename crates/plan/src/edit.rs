//! The levels of factors, changed in the text of a study: everything else stays as it was typed.

use diagnostics::{Problems, parse};

/// A factor as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedFactor {
    pub name: String,
    /// Its levels as a person would type them: `rede1, rede2`; a range as it stands.
    pub levels: String,
    span: std::ops::Range<usize>,
}

/// Those whose levels stand in one place; none where the text cannot be read.
pub fn typed_factors(text: &str) -> Vec<TypedFactor> {
    let problems = Problems::default();
    parse(text, &problems, |top| {
        let Some(table) = top.table("factors") else {
            return Vec::new();
        };
        let factors = table.entries().filter_map(|(name, value)| {
            let typed = text.get(value.span.clone())?;
            Some(TypedFactor {
                name: name.value.to_owned(),
                levels: shown(typed)?,
                span: value.span.clone(),
            })
        });
        factors.collect()
    })
}

/// The text with these levels of these factors, each as a person would type them. Factors that the
/// text does not have are passed over.
pub fn with_typed_levels(text: &str, levels: &[(String, String)]) -> String {
    let mut factors = typed_factors(text);
    factors.sort_by_key(|factor| std::cmp::Reverse(factor.span.start));
    let mut text = text.to_owned();
    for factor in factors {
        let asked = levels.iter().find(|(name, _)| *name == factor.name);
        if let Some((_, asked)) = asked
            && asked.trim() != factor.levels
        {
            text.replace_range(factor.span, &written(asked));
        }
    }
    text
}

/// Without brackets, and without quotes where every level is a plain word or a number.
fn shown(typed: &str) -> Option<String> {
    let typed = typed.trim();
    let Some(inner) = typed.strip_prefix('[').and_then(|t| t.strip_suffix(']')) else {
        // `{ from = 1, to = 8 }`, or a single level. A table of its own has no text of its own.
        return (!typed.starts_with('[')).then(|| plain(typed).unwrap_or(typed).to_owned());
    };
    let inner = inner.trim().trim_end_matches(',');
    let items: Option<Vec<&str>> = inner.split(',').map(|item| plain(item.trim())).collect();
    Some(items.map_or_else(|| inner.to_owned(), |items| items.join(", ")))
}

/// What reads the same without its quotes.
fn plain(item: &str) -> Option<&str> {
    let bare = match item.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"').filter(|word| is_word(word))?,
        None => item,
    };
    (bare == item && is_value(item) || is_word(bare)).then_some(bare)
}

fn written(asked: &str) -> String {
    let asked = asked.trim();
    if asked.starts_with(['[', '{']) {
        return asked.to_owned();
    }
    let item = |item: &str| match item.trim() {
        word if is_word(word) => format!("\"{word}\""),
        other => other.to_owned(),
    };
    let items = asked.split(',').map(item);
    let items: Vec<String> = items.filter(|item| !item.is_empty()).collect();
    format!("[{}]", items.join(", "))
}

/// A text that needs no quotes to be known as one.
fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./@:".contains(c);
    !text.is_empty() && text.chars().all(is_plain) && !is_value(text)
}

/// A number or a truth value.
fn is_value(text: &str) -> bool {
    matches!(text, "true" | "false") || text.replace('_', "").parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# what is varied
[factors]
network = ["rede1", "rede2"] # two
image = [32, 64]
batch = { from = 32, to = 64, step = 32 }
note = ["a, b", "c"]
one = 7
[study]
name = "s"
"#;

    #[test]
    fn levels_are_shown_as_a_person_types_them() {
        let shown: Vec<(String, String)> = typed_factors(TEXT)
            .into_iter()
            .map(|factor| (factor.name, factor.levels))
            .collect();
        let expected = [
            ("network", "rede1, rede2"),
            ("image", "32, 64"),
            ("batch", "{ from = 32, to = 64, step = 32 }"),
            ("note", r#""a, b", "c""#),
            ("one", "7"),
        ];
        let expected = expected.map(|(name, levels)| (name.to_owned(), levels.to_owned()));
        assert_eq!(shown, expected);
        assert!(typed_factors("[factors\n").is_empty());
    }

    #[test]
    fn the_rest_of_the_text_stays() {
        let check = |name: &str, levels: &str, before: &str, after: &str| {
            let edited = with_typed_levels(TEXT, &[(name.to_owned(), levels.to_owned())]);
            assert_eq!(edited, TEXT.replace(before, after));
        };
        check("image", "32, 64, 128", "[32, 64]", "[32, 64, 128]");
        check("network", "rede1", r#"["rede1", "rede2"]"#, r#"["rede1"]"#);
        check("network", "rede1, rede2", "", "");
        check("note", r#""a, b", "c""#, "", "");
        check(
            "one",
            "{ from = 1, to = 2 }",
            "one = 7",
            "one = { from = 1, to = 2 }",
        );
        check("unknown", "1", "", "");
        // What is no level is for the reader of the study to complain about.
        check("image", "3 2", "[32, 64]", "[3 2]");
    }

    #[test]
    fn words_that_would_read_as_numbers_keep_their_quotes() {
        let text = "[factors]\nv = [\"1\", \"x\"]\n";
        assert_eq!(typed_factors(text)[0].levels, "\"1\", \"x\"");
        assert_eq!(
            with_typed_levels(text, &[("v".into(), "\"1\", y".into())]),
            text.replace("\"x\"", "\"y\"")
        );
    }
}
