//! Larger pieces of a page: tables with words in them, and small figures side by side under one
//! legend.

use std::fmt::Write;

use messages::message;

use super::axis::Group;
use super::page::{LegendEntry, Page, TABLE_END, escape, number_class, prose, table_head};
use crate::figure::{Figure, share_heights};
use crate::tables::{Table, TableCell, Tone};

/// Small figures that share axes, colours and a legend.
pub(super) struct Panels {
    /// What all of them show.
    pub(super) caption: String,
    pub(super) panels: Vec<Panel>,
    pub(super) legend: Vec<LegendEntry>,
}

pub(super) struct Panel {
    /// What tells it from the others; empty where it is the only one.
    pub(super) title: String,
    pub(super) figure: Figure,
}

/// Above this, the others can be opened.
const MOST_PANELS_AT_ONCE: usize = 12;
/// Large figures, of which each is a page of scenarios.
const MOST_PAGES_AT_ONCE: usize = 4;
pub(super) const PANEL_HEIGHT: u32 = 260;
pub(super) const ONLY_PANEL_HEIGHT: u32 = 400;

impl Page {
    pub(super) fn table(&mut self, caption: &str, table: &Table) {
        let headers = table.headers.iter();
        let headers = headers.map(|h| (escape(&h.text), h.is_number));
        let mut out = table_head("data grid", caption, headers);
        for row in &table.rows {
            out.push_str("<tr>");
            for (place, (cell, header)) in row.iter().zip(&table.headers).enumerate() {
                // The first column names the row.
                let tag = if place == 0 { "th" } else { "td" };
                out.push_str(&table_cell(tag, cell, header.is_number));
            }
            out.push_str("</tr>\n");
        }
        self.html(&(out + TABLE_END));
        if let Some(rest) = table.rest_sentence() {
            self.note(&rest);
        }
    }

    /// What must be read before the numbers next to it.
    pub(super) fn callout(&mut self, name: &str, items: impl IntoIterator<Item = impl AsRef<str>>) {
        let items = items.into_iter();
        let items: Vec<String> = items.map(|item| prose(item.as_ref())).collect();
        let _ = writeln!(
            self.body,
            "<div class=\"callout\" role=\"note\" aria-label=\"{}\">",
            escape(name)
        );
        match items.as_slice() {
            [only] => {
                let _ = writeln!(self.body, "<p>{only}</p>");
            }
            _ => {
                let _ = writeln!(
                    self.body,
                    "<ul>\n<li>{}</li>\n</ul>",
                    items.join("</li>\n<li>")
                );
            }
        }
        self.body.push_str("</div>\n");
    }

    /// One figure a group; those after the first few can be opened.
    pub(super) fn pages<'a>(
        &mut self,
        groups: Vec<Group<'a>>,
        figure: impl Fn(&Group<'a>) -> Option<Figure>,
    ) {
        let mut figures: Vec<Figure> = groups.iter().filter_map(figure).collect();
        share_heights(&mut figures);
        let more = figures.split_off(figures.len().min(MOST_PAGES_AT_ONCE));
        figures.iter().for_each(|figure| self.figure(figure));
        if !more.is_empty() {
            let count = message!("page-more-figures", count = more.len());
            self.html(&format!("<details>\n<summary>{count}</summary>"));
            more.iter().for_each(|figure| self.figure(figure));
            self.html("</details>");
        }
    }

    pub(super) fn panels(&mut self, group: &Panels) {
        let ids: Vec<String> = group.panels.iter().map(|_| self.next_figure()).collect();
        self.body.push_str("<div class=\"panels\">\n");
        if let Some(first) = group.panels.first() {
            self.log_switch(&first.figure.y, &ids);
        }
        self.legend(&group.legend, &ids);
        let alone = group.panels.len() == 1;
        let panels: Vec<(&String, &Panel)> = ids.iter().zip(&group.panels).collect();
        for (place, part) in panels.chunks(MOST_PANELS_AT_ONCE).enumerate() {
            if place > 0 {
                let (from, to) = (part[0].1, part[part.len() - 1].1);
                let _ = write!(
                    self.body,
                    "<details>\n<summary>{}</summary>\n",
                    escape(&message!(
                        "page-more-panels",
                        count = part.len(),
                        from = from.title,
                        to = to.title
                    ))
                );
            }
            let class = match alone {
                true => "panel-grid alone",
                false => "panel-grid",
            };
            let _ = writeln!(self.body, "<div class=\"{class}\">");
            for (id, panel) in part {
                self.panel(id, panel);
            }
            self.body.push_str("</div>\n");
            if place > 0 {
                self.body.push_str("</details>\n");
            }
        }
        let _ = write!(
            self.body,
            "<p class=\"figcaption\">{}</p>\n</div>\n",
            escape(&group.caption)
        );
    }

    fn panel(&mut self, id: &str, panel: &Panel) {
        self.body.push_str("<figure>\n");
        if !panel.title.is_empty() {
            let _ = writeln!(
                self.body,
                "<figcaption>{}</figcaption>",
                escape(&panel.title)
            );
        }
        self.plot(id, &panel.figure);
        self.body.push_str("</figure>\n");
    }
}

fn table_cell(tag: &str, cell: &TableCell, is_number: bool) -> String {
    let tone = match cell.tone {
        Tone::Plain => "",
        Tone::Ended => "ended",
        Tone::Warning => "bad",
        Tone::Absent => "absent",
    };
    let class = match (is_number, tone) {
        (_, "") => number_class(is_number).to_owned(),
        (true, tone) => format!(" class=\"number {tone}\""),
        (false, tone) => format!(" class=\"{tone}\""),
    };
    let small = match cell.small.as_str() {
        "" => String::new(),
        small => format!(" <span class=\"half\">{}</span>", escape(small)),
    };
    let scope = if tag == "th" { " scope=\"row\"" } else { "" };
    format!("<{tag}{scope}{class}>{}{small}</{tag}>", escape(&cell.text))
}
