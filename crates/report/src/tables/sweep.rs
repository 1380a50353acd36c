//! Rows of scenarios, columns of a numeric factor's levels: a time, or the reason for its absence.

use analyse::format::{self, Unit};
use analyse::{Analysis, CellState, MetricInfo, ScenarioResult, Sweep, SweepCell};
use messages::message;

use super::{Table, TableCell, Tone};
use crate::view::{typical, unit_of};

pub(crate) fn sweep_table(analysis: &Analysis, sweep: &Sweep) -> Option<Table> {
    let info = analysis.metric(&sweep.metric)?;
    let unit = sweep_unit(analysis, sweep, info);
    let mut table = Table::default();
    let others = sweep.lines.first().map_or(&[][..], |l| &l.levels);
    for level in others {
        table.text(&level.factor);
    }
    for (place, level) in sweep.levels.iter().enumerate() {
        let name = match place {
            0 => format!("{} {}", sweep.factor, level.level),
            _ => level.level.clone(),
        };
        table.number(&name);
    }
    for line in &sweep.lines {
        let levels = line.levels.iter().map(|l| TableCell::new(&l.level));
        let cells = line
            .cells
            .iter()
            .map(|cell| sweep_cell(analysis, cell, info, unit));
        table.rows.push(levels.chain(cells).collect());
    }
    Some(table.cut())
}

/// One unit for the whole table and its figure.
pub(crate) fn sweep_unit(analysis: &Analysis, sweep: &Sweep, info: &MetricInfo) -> Unit {
    let cells = sweep.lines.iter().flat_map(|l| &l.cells);
    let means = cells.filter_map(|c| analysis.scenario(c.scenario?)?.mean(&info.name));
    unit_of(info, typical(means.map(|e| e.value)).unwrap_or(0.0))
}

fn sweep_cell(analysis: &Analysis, cell: &SweepCell, info: &MetricInfo, unit: Unit) -> TableCell {
    let found = cell.scenario.and_then(|number| analysis.scenario(number));
    let mean = found.and_then(|s| s.mean(&info.name));
    match (cell.state, mean, found) {
        (CellState::Measured, Some(mean), Some(found)) => {
            let quantity = format::quantity(mean, unit.scale);
            let mut small: Vec<String> = Vec::new();
            if !quantity.half_width.is_empty() {
                small.push(format!("± {}", quantity.half_width));
            }
            small.extend(not_ok(found));
            TableCell::new(quantity.value).small(small.join(", "))
        }
        (CellState::Measured, _, _) | (CellState::LeftOut, _, _) => TableCell::none(),
        (state @ (CellState::OutOfMemory | CellState::TimedOut), _, _) => {
            TableCell::new(state.words()).tone(Tone::Ended)
        }
        (CellState::Failed, _, _) => TableCell::new(CellState::Failed.words()).tone(Tone::Warning),
        (state, _, _) => TableCell::new(state.words()).tone(Tone::Absent),
    }
}

/// `2 of 3 out of memory`: a mean over the others must not hide them.
fn not_ok(scenario: &ScenarioResult) -> Option<String> {
    let runs = &scenario.runs;
    let total = runs.total();
    let states = [
        (runs.out_of_memory, CellState::OutOfMemory),
        (runs.timed_out, CellState::TimedOut),
        (runs.failed, CellState::Failed),
    ];
    let (count, state) = states.into_iter().find(|(count, _)| *count > 0)?;
    Some(message!(
        "sweep-not-ok",
        count,
        total,
        state = state.words()
    ))
}
