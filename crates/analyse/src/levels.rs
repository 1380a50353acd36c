//! How a study spends its error rate. The probability that any of its statements of a difference is false is 5 %; what
//! one kind of statement cannot need goes to the effects of the factors.

use model::Role;

use crate::RANKING_LEVEL;
use crate::analysis::ScenarioResult;
use crate::table::Table;

const ALL: f64 = 0.05;
/// For what the tests only approximate: three runs, noise that drifts.
const SPARE: f64 = 0.01;
/// Which scenarios others beat in everything that counts.
const DOMINANCE: f64 = 0.0025;
/// A machine that changed while the study ran.
const DRIFT: f64 = 0.0025;
/// Which of two machines is cheaper, and cold against warm responses.
const PAIRS: f64 = 0.0025;

/// Error rates of the kinds of statements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Levels {
    pub(crate) effects: f64,
    /// Of all rankings by one metric: by time, or by cost.
    pub(crate) ranking: f64,
    pub(crate) dominance: f64,
    pub(crate) drift: f64,
    pub(crate) pairs: f64,
}

/// What a study can say, by its design.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    /// A task has several scenarios.
    has_rivals: bool,
    has_costs: bool,
    has_criteria: bool,
    serves: bool,
    /// Whether the fastest is another way to say what the one factor does to the one metric: a difference in the
    /// ranking, which is stated at a quarter of the level or less, is one of the factor's too.
    is_one_question: bool,
    /// And there are two levels: then which is faster is what the effect says, and has its level.
    is_one_pair: bool,
}

impl Asked {
    pub(crate) fn of(table: &Table, scenarios: &[ScenarioResult], metrics: usize) -> Self {
        let factors = table.study.factors.iter();
        let varied: Vec<(Role, usize)> = factors
            .map(|factor| (table.study.role(&factor.name), factor.levels.len()))
            .filter(|(role, levels)| *levels > 1 && *role != Role::Block)
            .collect();
        let measured = scenarios.iter().filter(|s| s.runs.total() > 0).count();
        let has_costs = table.column(model::run::metric::COST).is_some();
        let is_one_question = varied.len() == 1 && metrics == 1 && !has_costs;
        let is_choice = |(role, _): &(Role, usize)| *role == Role::Choice;
        Asked {
            has_rivals: measured > 1 && varied.iter().any(is_choice),
            has_costs,
            serves: matches!(table.study.workload, model::Workload::Serve(_)),
            has_criteria: has_costs || !table.study.pareto.is_empty(),
            is_one_question,
            is_one_pair: is_one_question && varied == [(Role::Choice, 2)],
        }
    }
}

impl Levels {
    pub(crate) fn of(table: &Table, asked: Asked) -> Self {
        let rivals = |level: f64, is_asked: bool| match asked.has_rivals && is_asked {
            true => level,
            false => 0.0,
        };
        let each = RANKING_LEVEL / 2.0;
        let taken = rivals(each, !asked.is_one_question)
            + rivals(each, asked.has_costs)
            + rivals(DOMINANCE, asked.has_criteria)
            + if asked.serves || asked.has_costs {
                PAIRS
            } else {
                0.0
            };
        let effects = table.level(ALL - SPARE - DRIFT - taken);
        Levels {
            effects,
            ranking: match asked.is_one_pair {
                true => effects,
                false => table.level(each),
            },
            dominance: table.level(DOMINANCE),
            drift: table.level(DRIFT),
            pairs: table.level(PAIRS),
        }
    }
}
