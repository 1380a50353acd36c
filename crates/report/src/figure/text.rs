//! How wide words are, roughly: the font of the reader is not known here.

/// Pixels at the size of the figures' text, 12 px.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '('
        | ')' | '[' | ']' | ' ' | '\u{a0}' | '·' => 4.0,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '×' => 10.5,
        'A'..='Z' => 8.3,
        _ if (c as u32) < 0x2e80 => 7.0,
        _ => 12.0,
    }
}

/// Cut to so many pixels, with a mark that it was.
pub(super) fn fitted(text: &str, most: f64) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut room = most - char_width('…');
    let fits = |c: &char| {
        room -= char_width(*c);
        room >= 0.0
    };
    let kept: String = text.chars().take_while(fits).collect();
    kept.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_cut_and_marked() {
        assert_eq!(fitted("batch 32", 100.0), "batch 32");
        assert_eq!(fitted("a name of many words", 70.0), "a name of…");
        assert_eq!(fitted("näme ✕✕✕✕✕✕", 50.0).chars().last(), Some('…'));
        assert_eq!(fitted("anything", 0.0), "…");
        assert!(width("mmmm") > width("llll"));
    }
}
