//! The scenario table for a paper: LaTeX with the package `booktabs`.

use std::fmt::Write;

use analyse::{Analysis, format};

use crate::view::scenario_table;

pub fn latex(analysis: &Analysis) -> String {
    let table = scenario_table(analysis);
    let alignment: String = table
        .columns
        .iter()
        .map(|c| if c.is_number() { 'r' } else { 'l' })
        .collect();
    let headers: Vec<String> = table
        .columns
        .iter()
        .map(|c| escape(&c.header_with_unit()))
        .collect();
    let mut out = String::from("% \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n");
    let scale = analysis.study.scale.as_ref();
    let scale = scale.map_or_else(String::new, |s| format!(" {}", s.sentence.replace('`', "")));
    let repriced = analysis.study.repriced.as_ref();
    let repriced = repriced.map_or_else(String::new, |s| format!(" {}", s.replace('`', "")));
    let _ = writeln!(
        out,
        "  \\caption{{{}: means over repetitions, $\\pm$ half the {} interval.{}{}}}",
        escape(&analysis.study.name),
        escape(&format::percent(analysis.study.confidence)),
        escape(&scale),
        escape(&repriced)
    );
    let _ = writeln!(
        out,
        "  \\begin{{tabular}}{{{alignment}}}\n    \\toprule\n    {} \\\\\n    \\midrule",
        headers.join(" & ")
    );
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| escape(&cell.joined())).collect();
        let _ = writeln!(out, "    {} \\\\", cells.join(" & "));
    }
    out + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '±' => out.push_str("$\\pm$"),
            '×' => out.push_str("$\\times$"),
            '−' => out.push_str("$-$"),
            '–' => out.push_str("--"),
            'µ' => out.push_str("\\textmu{}"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
