use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};
use std::fs::{self, File};

use ::reconcile::{Bills, Item, MatchedBy, Question, Reconciliation, Whose};
use model::Money;
use workbench::{Paid, open_results, tell_damaged};

use crate::args::ReconcileArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn reconcile(args: &ReconcileArgs, printer: &Printer) -> CommandResult {
    let results = open_results(args.results.request(), &printer.teller())?;
    tell_damaged(&results, &printer.teller())?;
    let Paid {
        mut records,
        superseded,
        ..
    } = Paid::settled(&results)?;
    records.extend(superseded);
    let undated = records.iter().filter(|r| r.bill.is_some() && !r.is_dated());
    let undated = undated.count();
    if undated > 0 && args.tag.is_none() {
        return Err(Failure::trouble(format!(
            "{undated} of the runs have no start time, so no row of a bill can be matched to them: import them with --started COLUMN, or pass a tag of the bill with --tag"
        )));
    }
    let question = Question {
        study: &results.study.name,
        runs: records.iter().collect(),
        currency: results.study.currency,
        rates: &results.study.rates,
        tag: args.tag.clone(),
    };
    let found = ::reconcile::reconcile(&question, |bills| read_all(bills, args))?;
    match args.json {
        true => printer.data(&serde_json::to_string_pretty(&found).map_err(Failure::trouble)?),
        false => printer.data(&text(&found)),
    }
    Ok(Exit::Ok)
}

fn read_all(bills: &mut Bills, args: &ReconcileArgs) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for path in &args.bills {
        let cannot =
            |why: &dyn Display| Failure::trouble(format!("the bill {}: {why}", path.display()));
        let whole = fs::canonicalize(path).map_err(|e| cannot(&e))?;
        if !seen.insert(whole) {
            return Err(cannot(&"it is listed twice and would count twice"));
        }
        let file = File::open(path).map_err(|e| cannot(&e))?;
        let name = path.display().to_string();
        bills.read(&name, file).map_err(|e| cannot(&e))?;
    }
    Ok(())
}

/// Columns: what, how much, its share.
const TITLE_WIDTH: usize = 38;
const AMOUNT_WIDTH: usize = 14;

fn text(found: &Reconciliation) -> String {
    let mut out = String::new();
    write_head(&mut out, found);
    write_totals(&mut out, found);
    write_lines(&mut out, found);
    write_items(&mut out, found);
    write_rest(&mut out, found);
    out
}

fn write_head(out: &mut String, found: &Reconciliation) {
    for file in &found.files {
        _ = writeln!(
            out,
            "{}: {}, {}",
            file.file,
            file.format.title(),
            count(file.rows, "row")
        );
    }
    let how = match &found.matched_by {
        MatchedBy::Tag { tag } => format!("Rows with the tag {tag} are counted for the study."),
        MatchedBy::MachineAndTime => {
            "Rows of the study's machines that were on during its runs are counted for the study."
                .to_owned()
        }
        MatchedBy::Nothing => "No row belongs to the study.".to_owned(),
    };
    _ = writeln!(out, "{how}\n");
}

fn write_totals(out: &mut String, found: &Reconciliation) {
    let runs = count(found.estimated_runs, "run");
    row(out, "estimate", &found.estimate, &runs);
    let written: Vec<String> = found
        .bill_as_written
        .iter()
        .filter(|money| money.currency != found.currency)
        .map(|money| format!(", {money} as written"))
        .collect();
    let rows = format!("{}{}", count(found.bill_rows, "row"), written.concat());
    row(out, "bill", &found.bill, &rows);
    let percent = found.difference_percent.map_or(String::new(), |percent| {
        format!("{percent} % of the estimate")
    });
    row(out, "difference", &found.difference, &percent);
    out.push('\n');
    for machine in &found.machines {
        _ = writeln!(out, "  {machine}");
    }
    for charge in &found.charges {
        _ = writeln!(out, "  {charge}");
    }
    out.push('\n');
}

fn write_lines(out: &mut String, found: &Reconciliation) {
    let (small, shown): (Vec<_>, Vec<_>) =
        found.lines.iter().partition(|line| line.is_negligible());
    for line in shown {
        let share = share(line.share_percent);
        row(out, &line.title, &line.amount, &share);
        for detail in &line.details {
            _ = writeln!(out, "      {detail}");
        }
    }
    if !small.is_empty() {
        let titles: Vec<&str> = small.iter().map(|line| line.title.as_str()).collect();
        _ = writeln!(out, "  below a cent: {}", titles.join(", "));
    }
    let unexplained = &found.unexplained;
    let share = share(unexplained.share_percent);
    row(out, "unexplained", &unexplained.amount, &share);
    for part in &unexplained.parts {
        _ = writeln!(out, "      {}: {}", part.what, part.amount);
    }
}

/// Every row of the files, in one item each.
fn write_items(out: &mut String, found: &Reconciliation) {
    if found.items.is_empty() {
        return;
    }
    let titles = [
        (Whose::Study, "this study"),
        (
            Whose::Account,
            "the account as a whole, divided in proportion",
        ),
        (Whose::Others, "not this study, not counted"),
    ];
    out.push_str("\nThe whole bill, each row in one item:\n");
    for (whose, title) in titles {
        let mut items = found.items.iter().filter(|item| item.whose == whose);
        let Some(first) = items.next() else { continue };
        _ = writeln!(out, "  {title}:");
        for item in std::iter::once(first).chain(items) {
            let what = format!("  {}", item.what);
            row(out, &what, &item.amount, &item_rest(item));
        }
    }
    for total in &found.total {
        let of = |item: &&Item| item.amount.currency == total.currency;
        let rows = found.items.iter().filter(of).map(|item| item.rows).sum();
        row(out, "total", total, &count(rows, "row"));
    }
}

fn item_rest(item: &Item) -> String {
    let rows = count(item.rows, "row");
    match item.whose {
        Whose::Account => format!("{rows}, {} counted for the study", item.of_study),
        Whose::Study | Whose::Others => rows,
    }
}

fn write_rest(out: &mut String, found: &Reconciliation) {
    if !found.notes.is_empty() || !found.problems.is_empty() {
        out.push('\n');
    }
    for note in &found.notes {
        _ = writeln!(out, "! {note}");
    }
    for problem in &found.problems {
        let end = if problem.left_out { " (skipped)" } else { "" };
        _ = writeln!(out, "  {problem}{end}");
    }
    if found.problem_count > found.problems.len() as u64 {
        let shown = found.problems.len();
        let all = found.problem_count;
        _ = writeln!(
            out,
            "  … {all} such rows in total; the first {shown} are shown"
        );
    }
}

fn row(out: &mut String, title: &str, amount: &Money, rest: &str) {
    let amount = amount.to_string();
    let line = format!("  {title:<TITLE_WIDTH$} {amount:>AMOUNT_WIDTH$}   {rest}");
    _ = writeln!(out, "{}", line.trim_end());
}

fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

fn share(percent: Option<impl Display>) -> String {
    percent.map_or(String::new(), |percent| format!("{percent:>6} %"))
}
