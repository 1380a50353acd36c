//! The pieces a page is built of. All text passes [`escape`]; all JSON passes [`inline_json`].

use std::fmt::{Display, Write};

use messages::word;
use serde_json::Value;

use crate::figure::{self, Axis, Figure, Series};

#[derive(Default)]
pub(super) struct Page {
    pub(super) body: String,
    sections: Vec<Section>,
    figures: usize,
    /// Draws every figure once more, for a file of its own.
    pub(super) draw: Option<fn(&Figure) -> String>,
    pub(super) drawn: Vec<DrawnFigure>,
}

/// A figure of the page as a file.
pub(crate) struct DrawnFigure {
    /// By its section and its place there: `time-1`.
    pub(crate) name: String,
    pub(crate) caption: String,
    pub(crate) text: String,
}

struct Section {
    id: &'static str,
    title: String,
}

/// A name in a legend; pressing it hides the series of its group in all figures of the legend.
pub(super) struct LegendEntry {
    pub(super) group: String,
    pub(super) name: String,
    /// How its series look, as SVG.
    pub(super) swatch: String,
    pub(super) shown: bool,
}

impl Page {
    pub(super) fn open(&mut self, id: &'static str, title: &str) {
        self.sections.push(Section {
            id,
            title: title.to_owned(),
        });
        let _ = write!(
            self.body,
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n",
            escape(title)
        );
    }

    pub(super) fn close(&mut self) {
        self.body.push_str("</section>\n");
    }

    /// Text that is already HTML.
    pub(super) fn html(&mut self, html: &str) {
        self.body.push_str(html);
        self.body.push('\n');
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", prose(text));
    }

    pub(super) fn note(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"note\">{}</p>", prose(text));
    }

    pub(super) fn subtitle(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h3>{}</h3>", escape(text));
    }

    /// Nothing for no items.
    pub(super) fn list(&mut self, class: &str, items: impl IntoIterator<Item = impl AsRef<str>>) {
        let items = items.into_iter();
        let items: String = items
            .map(|item| format!("<li>{}</li>\n", prose(item.as_ref())))
            .collect();
        if !items.is_empty() {
            let _ = write!(self.body, "<ul class=\"{class}\">\n{items}</ul>\n");
        }
    }

    /// Rows of a name and what it is; the caption is for those who cannot see what stands above.
    pub(super) fn facts(&mut self, caption: &str, rows: &[(String, String)]) {
        let _ = write!(
            self.body,
            "<div class=\"wide\"><table class=\"facts\">\n<caption class=\"unseen\">{}</caption>\n<tbody>\n",
            escape(caption)
        );
        for (name, value) in rows {
            let _ = writeln!(
                self.body,
                "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
                escape(name),
                escape(value)
            );
        }
        self.body.push_str("</tbody>\n</table></div>\n");
    }

    pub(super) fn figure(&mut self, figure: &Figure) {
        let id = self.next_figure();
        self.body.push_str("<figure>\n");
        self.log_switch(&figure.y, std::slice::from_ref(&id));
        if figure.legend {
            self.legend(&legend_entries(figure), std::slice::from_ref(&id));
        }
        self.plot(&id, figure);
        let caption = escape(&figure.caption);
        let _ = write!(self.body, "<figcaption>{caption}</figcaption>\n</figure>\n");
    }

    pub(super) fn next_figure(&mut self) -> String {
        self.figures += 1;
        format!("figure-{}", self.figures)
    }

    /// A button for the axes of all these figures, where they can be logarithmic.
    pub(super) fn log_switch(&mut self, axis: &Axis, figures: &[String]) {
        if axis.switchable {
            let _ = writeln!(
                self.body,
                "<button type=\"button\" class=\"log-switch\" data-figures=\"{}\" aria-pressed=\"{}\">{}</button>",
                figures.join(" "),
                axis.is_logarithmic(),
                word!("page-logarithmic")
            );
        }
    }

    /// One name alone needs no legend.
    pub(super) fn legend(&mut self, entries: &[LegendEntry], figures: &[String]) {
        if entries.len() < 2 {
            return;
        }
        let _ = writeln!(
            self.body,
            "<ul class=\"legend\" data-figures=\"{}\">",
            figures.join(" ")
        );
        for entry in entries {
            let _ = writeln!(
                self.body,
                "<li><button type=\"button\" aria-pressed=\"{}\" data-group=\"{}\">{}{}</button></li>",
                entry.shown,
                escape(&entry.group),
                entry.swatch,
                escape(&entry.name)
            );
        }
        self.body.push_str("</ul>\n");
    }

    /// The picture, and its numbers for the script.
    pub(super) fn plot(&mut self, id: &str, figure: &Figure) {
        if let Some(draw) = self.draw {
            let section = self.sections.last().map_or("figure", |section| section.id);
            let is_beside = |one: &&DrawnFigure| {
                let name = one.name.rsplit_once('-');
                name.is_some_and(|(name, _)| name == section)
            };
            let before = self.drawn.iter().filter(is_beside);
            self.drawn.push(DrawnFigure {
                name: format!("{section}-{}", before.count() + 1),
                caption: figure.caption.clone(),
                text: draw(figure),
            });
        }
        let _ = write!(
            self.body,
            "<div class=\"plot{}\" id=\"{id}\">{}</div>\n<script type=\"application/json\" class=\"figure-data\" data-for=\"{id}\">{}</script>\n",
            match figure.has_many_bands() {
                true => " many-bands",
                false => "",
            },
            figure::svg(figure, id),
            inline_json(&figure::data(figure))
        );
    }

    /// Navigation and body.
    pub(super) fn finish(self) -> (String, String) {
        let links = self
            .sections
            .iter()
            .map(|s| format!("<li><a href=\"#{}\">{}</a></li>\n", s.id, escape(&s.title)));
        (links.collect(), self.body)
    }
}

/// A table up to its first row. Names of columns are HTML already; those of numbers are marked so.
pub(super) fn table_head(
    class: &str,
    caption: &str,
    columns: impl IntoIterator<Item = (impl Display, bool)>,
) -> String {
    let mut out = format!(
        "<div class=\"wide\"><table class=\"{class}\">\n<caption>{}</caption>\n<thead>\n<tr>",
        escape(caption)
    );
    for (name, is_number) in columns {
        let class = number_class(is_number);
        let _ = write!(out, "<th scope=\"col\"{class}>{name}</th>");
    }
    out + "</tr>\n</thead>\n<tbody>\n"
}

pub(super) const TABLE_END: &str = "</tbody>\n</table></div>";

pub(super) fn number_class(is_number: bool) -> &'static str {
    match is_number {
        true => " class=\"number\"",
        false => "",
    }
}

fn legend_entries(figure: &Figure) -> Vec<LegendEntry> {
    let named = figure.series.iter().enumerate();
    let named = named.filter(|(_, series)| !series.name.is_empty());
    let entry = |(place, series): (usize, &Series)| LegendEntry {
        group: figure.group(place),
        name: series.name.clone(),
        swatch: figure::swatch(series),
        shown: !series.hidden,
    };
    named.map(entry).collect()
}

/// For text and for attributes in double quotes.
pub fn escape(text: &str) -> String {
    let text = diagnostics::screen::redacted(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A number stays with what follows or leads it.
            ' ' if keeps_together(&out, rest.peek()) => out.push('\u{a0}'),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML has no way to write the other control characters.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A sentence, where what stands in backticks is to be typed.
pub fn prose(text: &str) -> String {
    let escaped = escape(text);
    let parts: Vec<&str> = escaped.split('`').collect();
    // An odd one out is a backtick that means itself.
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let marked = |(place, part): (usize, &&str)| match place % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(marked).collect()
}

fn keeps_together(before: &str, next: Option<&char>) -> bool {
    let after_currency = before.ends_with(['$', '€', '£']);
    let number = before.ends_with(|c: char| c.is_ascii_digit());
    after_currency
        || number && next.is_some_and(|c| matches!(c, '%' | '±'))
        || before.ends_with('±')
}

/// JSON that cannot end the script element it stands in.
fn inline_json(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out() {
        assert_eq!(
            escape("US$ 0.10 is 5 % of it"),
            "US$\u{a0}0.10 is 5\u{a0}% of it"
        );
        assert_eq!(
            escape("<script>\"'&\u{1b}"),
            "&lt;script&gt;&quot;&#39;&amp;\u{fffd}"
        );
        assert_eq!(
            prose("type `a <b>` now"),
            "type <code>a &lt;b&gt;</code> now"
        );
        assert_eq!(prose("it`s"), "it`s");
        let json = inline_json(&serde_json::json!("</script><!--"));
        assert_eq!(json, "\"\\u003c/script>\\u003c!--\"");
    }
}
