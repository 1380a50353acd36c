//! Short runs of a search: the beginnings of trainings, from which the whole is predicted. They are
//! kept in a folder of their own, so that results have whole runs alone.

use std::collections::BTreeMap;

use model::goal::Goal;
use model::run::{Origin, metric, phase};
use model::{RunRecord, Work};
use store::{Store, StoreError};

use crate::forecast::RunForecast;
use crate::orders::ScenarioOrder;

/// In the folder of the results.
pub const SHORT_FOLDER: &str = "short";
/// Of a whole run, on average over the scenarios: longer beginnings save little.
const MOST_SHARE: f64 = 0.25;
/// What a beginning tells of.
const TOLD: [&str; 5] = [
    "time",
    metric::TRAIN_SECONDS,
    metric::TOTAL_SECONDS,
    "cost",
    metric::COST,
];

/// Where beginnings are kept, and what they are.
#[derive(Clone, Copy)]
pub struct ShortRuns<'a> {
    pub store: &'a Store,
    pub orders: &'a ShortOrders,
}

#[derive(Debug)]
pub struct ShortOrders {
    /// By scenario number.
    pub(crate) orders: BTreeMap<u32, ScenarioOrder>,
    /// Of the machine time of a whole run, on average.
    pub share: f64,
}

impl ShortOrders {
    /// `None` where short runs say nothing of the goal, where a run cannot be shortened, or where its
    /// beginning is much of it (start-up, loading). That is known from forecasts: without one of
    /// every scenario there are none.
    pub fn of(
        orders: BTreeMap<u32, ScenarioOrder>,
        goal: &Goal,
        expected: &BTreeMap<u32, RunForecast>,
    ) -> Option<Self> {
        let metrics = [&goal.metric].into_iter();
        let mut metrics = metrics.chain(goal.limits.iter().map(|limit| &limit.metric));
        if !metrics.all(|name| TOLD.contains(&name.as_str())) {
            return None;
        }
        let shares: Option<Vec<f64>> = orders
            .iter()
            .map(|(number, order)| share(order, expected.get(number)?))
            .collect();
        let shares = shares.filter(|shares| !shares.is_empty())?;
        let share = shares.iter().sum::<f64>() / shares.len() as f64;
        (share <= MOST_SHARE).then_some(ShortOrders { orders, share })
    }
}

fn share(order: &ScenarioOrder, expected: &RunForecast) -> Option<f64> {
    let (Work::Train(train), Some(length)) = (&order.order.work, &order.length) else {
        return None;
    };
    let preview = train.job.preview.as_ref()?;
    let steps = f64::from(preview.steps) / length.whole_steps().max(1) as f64;
    let all: f64 = expected.phases.iter().map(|phase| phase.seconds).sum();
    let training = expected.phases.iter().filter(|p| p.name == phase::TRAIN);
    let training: f64 = training.map(|phase| phase.seconds).sum();
    let share = (all - training + steps * training) / all;
    share.is_finite().then_some(share)
}

/// Of these results; of earlier sessions, too.
pub fn short_records(store: &Store) -> Result<Vec<RunRecord>, StoreError> {
    let folder = store.dir().join(SHORT_FOLDER);
    match folder.join("runs").is_dir() {
        true => Store::open(&folder)?.records(),
        false => Ok(Vec::new()),
    }
}

/// A predicted run as it is paid: what was carried out of it, with its phases in proportion.
pub(crate) fn as_paid(record: &RunRecord) -> RunRecord {
    let mut paid = record.clone();
    if let Origin::Predicted {
        bancada,
        prediction,
    } = &record.origin
        && record.seconds > 0.0
    {
        let share = prediction.seen_seconds / record.seconds;
        for phase in &mut paid.phases {
            phase.begin_seconds *= share;
            phase.seconds *= share;
        }
        paid.seconds = prediction.seen_seconds;
        paid.origin = Origin::Measured {
            bancada: bancada.clone(),
        };
    }
    paid
}
