//! HTML whose fixed parts are in the program and whose text is escaped: nothing that a study, a log or
//! a file name says can become markup.

use std::fmt::Display;

use report::{escape, prose};

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Html(String);

impl Html {
    pub(crate) fn new() -> Self {
        Html::default()
    }

    /// Markup. It is written in the program: what comes from elsewhere has no such lifetime.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    pub(crate) fn text(&mut self, text: impl Display) -> &mut Self {
        self.0.push_str(&escape(&text.to_string()));
        self
    }

    /// A sentence, where what stands in backticks is to be typed.
    pub(crate) fn prose(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&prose(text));
        self
    }

    pub(crate) fn add(&mut self, other: &Html) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// `<p class="note">…</p>`.
    pub(crate) fn paragraph(&mut self, class: &'static str, text: &str) -> &mut Self {
        self.raw("<p class=\"").raw(class).raw("\">");
        self.prose(text).raw("</p>\n")
    }

    /// ` name="value"`.
    pub(crate) fn attribute(&mut self, name: &'static str, value: impl Display) -> &mut Self {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    pub(crate) fn link(&mut self, to: impl Display, words: impl Display) -> &mut Self {
        self.raw("<a").attribute("href", to).raw(">");
        self.text(words).raw("</a>")
    }

    /// Nothing for no items.
    pub(crate) fn list(
        &mut self,
        class: &'static str,
        items: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> &mut Self {
        let mut is_open = false;
        for item in items {
            if !is_open {
                self.raw("<ul class=\"").raw(class).raw("\">\n");
                is_open = true;
            }
            self.raw("<li>").prose(item.as_ref()).raw("</li>\n");
        }
        match is_open {
            true => self.raw("</ul>\n"),
            false => self,
        }
    }

    /// Up to its first row. Columns of numbers are marked so. What is wider than the page scrolls, by
    /// keyboard too.
    pub(crate) fn table(&mut self, caption: &str, columns: &[(&'static str, bool)]) -> &mut Self {
        self.table_of("", caption, columns)
    }

    /// Of a class of its own, after a space.
    pub(crate) fn table_of(
        &mut self,
        class: &'static str,
        caption: &str,
        columns: &[(&'static str, bool)],
    ) -> &mut Self {
        self.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\"");
        self.attribute("aria-label", caption);
        self.raw("><table class=\"data").raw(class);
        self.raw("\">\n<caption class=\"quiet\">").text(caption);
        self.raw("</caption>\n<thead>\n<tr>");
        for (name, is_number) in columns {
            // A heading without words says nothing to who listens.
            if name.is_empty() {
                self.raw("<td></td>");
                continue;
            }
            self.raw(match is_number {
                true => "<th scope=\"col\" class=\"number\">",
                false => "<th scope=\"col\">",
            });
            self.text(name).raw("</th>");
        }
        self.raw("</tr>\n</thead>\n<tbody>\n")
    }

    pub(crate) fn end_table(&mut self) -> &mut Self {
        self.raw("</tbody>\n</table></div>\n")
    }

    pub(crate) fn cell(&mut self, text: impl Display) -> &mut Self {
        self.raw("<td>").text(text).raw("</td>")
    }

    pub(crate) fn number(&mut self, text: impl Display) -> &mut Self {
        self.raw("<td class=\"number\">").text(text).raw("</td>")
    }

    /// As the report has it.
    pub(crate) fn recommendation(&mut self, recommended: &analyse::Recommendation) -> &mut Self {
        self.0.push_str(&report::recommendation(recommended));
        self
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let mut html = Html::new();
        html.raw("<p").attribute("title", "\"><script>").raw(">");
        html.text("<b>&").raw("</p>").link("/a?b=\"c\"", "<i>");
        assert_eq!(
            html.into_string(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;b&gt;&amp;</p>\
             <a href=\"/a?b=&quot;c&quot;\">&lt;i&gt;</a>"
        );
    }
}
