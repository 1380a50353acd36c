//! Tables for a paper: LaTeX with the packages `booktabs` and `graphicx`, as wide as the text of the
//! class `article` and no longer than a page. What does not fit becomes a second table.

use std::fmt::Write;

use analyse::{Analysis, format};
use messages::message;

use crate::delimited::Grid;
use crate::export::{ExportedFile, TableTitle};
use crate::html::DrawnFigure;
use crate::text::width;
use crate::view::scenario_table;
use crate::{figure, html};

/// `\\textwidth` of `article` on letter paper at 10 pt; on A4 it is the same.
const TEXT_WIDTH_PT: usize = 345;
/// A character of `\\footnotesize` (8 pt) in Computer Modern; digits have 4.25 pt.
const CHARACTER_PT: usize = 5;
/// Twice `\\tabcolsep`, as set below.
const GAP_PT: usize = 6;
const ROWS_A_PAGE: usize = 45;

pub fn latex(analysis: &Analysis) -> String {
    let scenarios = scenario_table(analysis, false);
    let sentences = [
        analysis.study.scale.as_ref().map(|s| s.sentence.as_str()),
        analysis.study.repriced.as_deref(),
    ];
    let mut caption = message!(
        "latex-means",
        study = analysis.study.name,
        interval = format::percent(analysis.study.confidence)
    );
    for sentence in sentences.into_iter().flatten() {
        caption += &format!(" {}", sentence.replace('`', ""));
    }
    let columns = scenarios.columns.iter();
    Tables {
        caption,
        label: label("tab", &analysis.study.name),
        first: columns.clone().take_while(|c| !c.is_number()).count(),
        is_number: columns.clone().map(|c| c.is_number()).collect(),
        headers: columns.map(|c| c.header_with_unit()).collect(),
        rows: scenarios
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| cell.joined()).collect())
            .collect(),
    }
    .written()
}

/// What `\\ref` takes: plain letters, which LaTeX needs no escapes for.
fn label(kind: &str, name: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() {
        true => c,
        false => '-',
    };
    let name: String = name.chars().map(plain).collect();
    format!("{kind}:{name}")
}

/// One table of the exports.
pub(crate) fn latex_table(grid: &Grid, title: TableTitle) -> String {
    let is_number = |place: usize| {
        let mut cells = grid.rows.iter().filter_map(|row| row.get(place));
        cells.all(|cell| cell.is_empty() || cell.parse::<f64>().is_ok())
    };
    let place = |name: &str| grid.headers.iter().position(|header| header == name);
    let mut tables = Tables {
        caption: title.caption.to_owned(),
        label: label("tab", title.label),
        // Every part says whose row it is: by its run, else by its scenario.
        first: 0,
        is_number: (0..grid.headers.len()).map(is_number).collect(),
        headers: grid.headers.clone(),
        rows: grid.rows.clone(),
    };
    if let Some(key) = place("run").or_else(|| place("scenario")) {
        tables.move_to_front(key);
        tables.first = 1;
    }
    tables.written()
}

/// What stands above a part.
struct Head<'a> {
    /// Escaped.
    caption: String,
    label: &'a str,
}

struct Tables {
    caption: String,
    /// Of the first part; the others have a number behind it.
    label: String,
    /// Columns that say what a row is about: all of them in the first part, the very first in all.
    first: usize,
    is_number: Vec<bool>,
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Tables {
    fn move_to_front(&mut self, place: usize) {
        self.is_number[..=place].rotate_right(1);
        for row in self.rows.iter_mut().chain([&mut self.headers]) {
            row[..=place].rotate_right(1);
        }
    }

    fn column_pt(&self, place: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(place));
        let widest = cells.chain([&self.headers[place]]).map(|cell| width(cell));
        widest.max().unwrap_or(0) * CHARACTER_PT + GAP_PT
    }

    /// Which columns stand in each part: the first part has the first columns, the others only the
    /// very first, and each has at least one more.
    fn parts(&self) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = vec![(0..self.first).collect()];
        let width_of = |columns: &[usize]| columns.iter().map(|c| self.column_pt(*c)).sum();
        let mut used: usize = width_of(&parts[0]);
        let mut is_open = true;
        for column in self.first..self.headers.len() {
            let width = self.column_pt(column);
            if !is_open && used + width > TEXT_WIDTH_PT {
                let key: Vec<usize> = (0..self.first.min(1)).collect();
                used = width_of(&key);
                parts.push(key);
            }
            used += width;
            is_open = false;
            if let Some(part) = parts.last_mut() {
                part.push(column);
            }
        }
        parts
    }

    fn written(&self) -> String {
        let parts = self.parts();
        let pages: Vec<&[Vec<String>]> = match self.rows.is_empty() {
            true => vec![&[]],
            false => self.rows.chunks(ROWS_A_PAGE).collect(),
        };
        let all = parts.len() * pages.len();
        let mut out = String::from("% \\usepackage{booktabs}\n% \\usepackage{graphicx}\n");
        let mut number = 0_usize;
        for columns in &parts {
            for rows in &pages {
                number += 1;
                let part = match all {
                    1 => String::new(),
                    _ => message!("latex-part", number, all),
                };
                let label = match number {
                    1 => self.label.clone(),
                    _ => format!("{}-{number}", self.label),
                };
                let (caption, label) = (escape(&self.caption) + &part, &label);
                let head = Head { caption, label };
                self.part(&mut out, columns, rows, &head);
            }
        }
        out
    }

    fn part(&self, out: &mut String, columns: &[usize], rows: &[Vec<String>], head: &Head) {
        let alignment = columns.iter().map(|c| match self.is_number[*c] {
            true => 'r',
            false => 'l',
        });
        let line = |row: &Vec<String>| {
            let cells = columns.iter().filter_map(|c| row.get(*c));
            let cells: Vec<String> = cells.map(|cell| escape(cell)).collect();
            format!("    {} \\\\\n", cells.join(" & "))
        };
        let pt: usize = columns.iter().map(|c| self.column_pt(*c)).sum();
        // Names may be longer than a line: then the whole table is made smaller.
        let (begin, end) = match pt > TEXT_WIDTH_PT {
            true => ("  \\resizebox{\\textwidth}{!}{%\n", "  }\n"),
            false => ("", ""),
        };
        let _ = write!(
            out,
            "\\begin{{table}}\n  \\centering\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n  \\caption{{{}}}\\label{{{}}}\n{begin}  \\begin{{tabular}}{{{}}}\n    \\toprule\n{}    \\midrule\n",
            head.caption,
            head.label,
            alignment.collect::<String>(),
            line(&self.headers)
        );
        out.extend(rows.iter().map(line));
        let _ = write!(
            out,
            "    \\bottomrule\n  \\end{{tabular}}\n{end}\\end{{table}}\n"
        );
    }
}

pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in diagnostics::screen::safe(text).chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '±' => out.push_str("$\\pm$"),
            '×' => out.push_str("$\\times$"),
            '−' => out.push_str("$-$"),
            '–' => out.push_str("--"),
            '…' => out.push_str("\\ldots{}"),
            'µ' => out.push_str("\\textmu{}"),
            '·' => out.push_str("$\\cdot$"),
            '→' => out.push_str("$\\rightarrow$"),
            '≤' => out.push_str("$\\leq$"),
            '≥' => out.push_str("$\\geq$"),
            '≈' => out.push_str("$\\approx$"),
            '⁻' => out.push_str("$^{-}$"),
            '⁰' | '⁴'..='⁹' => raised(&mut out, c as u32 - '⁰' as u32),
            '¹' => raised(&mut out, 1),
            '²' => raised(&mut out, 2),
            '³' => raised(&mut out, 3),
            c => out.push(c),
        }
    }
    out
}

/// The inputs of pdflatex lack most of these digits.
fn raised(out: &mut String, digit: u32) {
    let _ = write!(out, "$^{{{digit}}}$");
}

/// Every figure as a picture of its own, and a document that shows all of them.
pub(crate) fn latex_figures(analysis: &Analysis) -> Vec<ExportedFile> {
    let drawn = html::figures(analysis, figure::pgf);
    let study = &analysis.study.name;
    let mut document = String::from(
        "\\documentclass{article}\n\\usepackage{pgfplots}\n\\pgfplotsset{compat=1.16}\n\\begin{document}\n",
    );
    for one in &drawn {
        let label = label("fig", &format!("{study}-{}", one.name));
        let _ = write!(
            document,
            "\n\\begin{{figure}}[p]\n  \\centering\n  \\input{{{}.tex}}\n  \\caption{{{}}}\\label{{{label}}}\n\\end{{figure}}\n\\clearpage\n",
            one.name,
            escape(&one.caption)
        );
    }
    document.push_str("\n\\end{document}\n");
    let all = ExportedFile::text("figures.tex".to_owned(), document);
    let file = |one: DrawnFigure| ExportedFile::text(format!("{}.tex", one.name), one.text);
    drawn.into_iter().map(file).chain([all]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(columns: usize, cell: &str, rows: usize) -> Grid {
        let headers = (0..columns).map(|n| match n {
            2 => "run".to_owned(),
            n => format!("column_{n}"),
        });
        Grid {
            headers: headers.collect(),
            rows: vec![vec![cell.to_owned(); columns]; rows],
        }
    }

    const TITLE: TableTitle<'static> = TableTitle {
        caption: "x",
        label: "a_b-runs",
    };

    /// Parts, the columns of each, and how many are made smaller.
    fn shape(text: &str) -> (Vec<usize>, usize) {
        let heads = text.split("\\begin{tabular}{").skip(1);
        let columns = heads.map(|rest| rest.find('}').unwrap_or(0));
        (columns.collect(), text.matches("\\resizebox").count())
    }

    #[test]
    fn tables_fit_the_page() {
        let check = |grid: &Grid, expected: (Vec<usize>, usize)| {
            assert_eq!(shape(&latex_table(grid, TITLE)), expected);
        };
        // The run and five columns of eight characters: 6 × (8 × 5 + 6) = 276 pt.
        check(&wide(4, "12345678", 2), (vec![4], 0));
        check(&wide(10, "12345678", 2), (vec![7, 4], 0));
        check(&wide(4, "12345678", 100), (vec![4, 4, 4], 0));
        check(&wide(3, &"x".repeat(100), 1), (vec![2, 2], 2));
        check(&wide(0, "", 0), (vec![0], 0));
    }

    #[test]
    fn every_part_begins_with_the_run() {
        let text = latex_table(&wide(10, "12345678", 1), TITLE);
        assert_eq!(text.matches("    run & ").count(), 2, "{text}");
        assert!(text.contains("Part 2 of 2."), "{text}");
        assert!(text.contains("\\label{tab:a-b-runs}\n"), "{text}");
        assert!(text.contains("\\label{tab:a-b-runs-2}\n"), "{text}");
    }
}
