//! What holds for every task: nobody chooses for the average of a small network and a large one.

use std::collections::BTreeMap;

use model::{Role, Study};
use stats::{At, Design, LevelPair, Observation, Scale};

use crate::decides::FirstChoice;
use crate::design::PresentFactor;
use crate::effects::Fit;
use crate::variation::{MOST_ORDER, Model};

/// The tasks of a study that have runs.
pub(crate) struct Tasks {
    factors: Vec<usize>,
    /// Levels of these factors.
    tasks: Vec<Task>,
}

struct Task {
    levels: Vec<usize>,
    /// Of the values as measured.
    mean: f64,
}

impl Tasks {
    /// Of values as measured.
    pub(crate) fn of(study: &Study, factors: &[PresentFactor], data: &[Observation]) -> Tasks {
        let is_task = |place: &usize| study.role(&factors[*place].name) == Role::Task;
        let factors: Vec<usize> = (0..factors.len()).filter(is_task).collect();
        let mut values: BTreeMap<Vec<usize>, Vec<f64>> = BTreeMap::new();
        for one in data {
            let levels = factors.iter().map(|factor| one.levels[*factor]);
            values.entry(levels.collect()).or_default().push(one.value);
        }
        let tasks = values.into_iter().map(|(levels, values)| Task {
            levels,
            mean: stats::precise::mean(&values),
        });
        Tasks {
            factors,
            tasks: tasks.collect(),
        }
    }

    /// Differences within it count as none, on the scale of the model: for the smallest task a difference that is
    /// nothing beside the largest one may be everything.
    pub(crate) fn margin(&self, study: &Study, scale: Scale) -> f64 {
        let margins = self.tasks.iter().map(|task| task.margin(study, scale));
        margins.min_by(f64::total_cmp).unwrap_or(0.0)
    }

    /// Whether the levels of a factor are equal for every task, with evidence, and nothing is supposed for it. `level`
    /// is the error rate of the factor.
    pub(crate) fn is_free(&self, fit: &Fit, model: &Model, factor: usize, level: f64) -> bool {
        if model.supposes_no_interactions() || self.factors.contains(&factor) {
            return false;
        }
        let levels = fit.factors[factor].levels.len();
        let pairs = (1..levels).flat_map(|level| (0..level).map(move |base| (level, base)));
        let pairs: Vec<LevelPair> = pairs
            .map(|(level, base)| LevelPair {
                factor,
                level,
                base,
            })
            .collect();
        let level = level / pairs.len().max(1) as f64;
        self.tasks.iter().all(|task| {
            let at = self.at(task);
            let margin = task.margin(fit.study, fit.scale);
            let is_equal = |pair: &LevelPair| {
                let difference = fit.means.difference(*pair, &at);
                difference.is_some_and(|found| fit.is_equal(&found, level, margin))
            };
            pairs.iter().all(is_equal)
        })
    }

    fn at(&self, task: &Task) -> Vec<At> {
        let levels = self.factors.iter().zip(&task.levels);
        let at = levels.map(|(factor, level)| At {
            factor: *factor,
            level: *level,
        });
        at.collect()
    }

    /// What explains most within each task, of the choices that were found to matter. Empty where there is one task.
    pub(crate) fn first_choices(&self, fit: &Fit, model: &Model, level: f64) -> Vec<FirstChoice> {
        if self.tasks.len() < 2 || !fit.is_asked {
            return Vec::new();
        }
        let first = |task: &Task| {
            let level = level / self.tasks.len() as f64;
            let factor = self.first(task, fit, model, level)?;
            let levels = self.factors.iter().zip(&task.levels);
            let levels = levels.map(|(factor, level)| &fit.factors[*factor].levels[*level].phrase);
            let levels: Vec<&str> = levels.map(String::as_str).collect();
            Some(FirstChoice {
                task: levels.join(", "),
                factor: fit.factors[factor].name.clone(),
            })
        };
        self.tasks.iter().filter_map(first).collect()
    }

    fn first(&self, task: &Task, fit: &Fit, model: &Model, level: f64) -> Option<usize> {
        let at = self.at(task);
        let is_of = |one: &&Observation| at.iter().all(|at| one.levels[at.factor] == at.level);
        let data: Vec<Observation> = model.data.iter().filter(is_of).cloned().collect();
        let design = Design {
            levels: fit.factors.iter().map(|f| f.levels.len()).collect(),
        };
        let found = stats::factorial(&design, &data, MOST_ORDER).ok()?;
        let level = level / found.terms.len().max(1) as f64;
        let is_sure = |term: &&stats::Term| term.p.is_some_and(|p| p <= level);
        let sure = || found.terms.iter().filter(is_sure);
        let share = |factor: usize| {
            let own = sure().filter(|t| t.inseparable.is_empty() && t.factors.contains(&factor));
            own.map(|term| term.share).sum::<f64>()
        };
        let factors = (0..fit.factors.len()).filter(|factor| !self.factors.contains(factor));
        let shares = factors.map(|factor| (share(factor), factor));
        let (share, factor) = shares.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (share > 0.0).then_some(factor)
    }

    pub(crate) fn count(&self) -> usize {
        self.tasks.len()
    }
}

impl Task {
    fn margin(&self, study: &Study, scale: Scale) -> f64 {
        let share = study.equal_within() / 100.0;
        match scale {
            Scale::Linear => share * self.mean.abs(),
            Scale::Logarithmic => share.ln_1p(),
        }
    }
}
