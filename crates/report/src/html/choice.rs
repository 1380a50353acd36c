//! What to choose: scenarios by the first two criteria of the Pareto set, with their intervals.

use analyse::{Analysis, LevelFacts, MetricInfo, ScenarioResult, TaskBest, format, metric_value};
use messages::{message, word};
use model::run::metric::{self, Better};

use super::axis::{MetricAxis, heading};
use crate::figure::{Axis, Colour, Dash, Extent, Figure, Line, Mark, Point, Range, Series, Symbol};
use crate::markdown::capital;
use crate::tables::{currency_symbol, money};

/// More names than this cover each other.
const MOST_LABELS: usize = 40;
/// More intervals than this are a thicket.
const MOST_INTERVALS: usize = 60;
/// Over more than a decade, most of a linear axis would be empty.
const DECADE: f64 = 10.0;
/// More tasks than this are not told apart by colours.
const MOST_TASKS: usize = 8;
const SIZE: f64 = 9.0;

/// `None` where there are too few scenarios for a choice.
pub(super) fn figure(analysis: &Analysis) -> Option<Figure> {
    let criteria = analysis.best.criteria.iter();
    let criteria: Vec<&MetricInfo> = criteria.filter_map(|name| analysis.metric(name)).collect();
    let [x, y, ..] = criteria.as_slice() else {
        return None;
    };
    let has_both = |s: &&ScenarioResult| s.mean(&x.name).is_some() && s.mean(&y.name).is_some();
    let scenarios: Vec<&ScenarioResult> = analysis.choices().filter(has_both).collect();
    if scenarios.len() < 3 {
        return None;
    }
    let plot = Plot {
        analysis,
        x: Criterion::new(x, &scenarios, analysis),
        y: Criterion::new(y, &scenarios, analysis),
        criteria: &criteria,
        scenarios: &scenarios,
    };
    Some(plot.figure())
}

/// A metric along an axis.
struct Criterion<'a> {
    axis: MetricAxis<'a>,
    is_money: bool,
    title: String,
    is_wide: bool,
    /// From the metric's own unit, or the axis' unit, to what is drawn.
    scale: f64,
}

impl<'a> Criterion<'a> {
    fn new(info: &'a MetricInfo, scenarios: &[&ScenarioResult], analysis: &Analysis) -> Self {
        let axis = MetricAxis::new(info, scenarios);
        let is_money = metric::is_of_bills(&info.name);
        let title = match info.name.as_str() {
            metric::COST => {
                format!(
                    "{} ({})",
                    word!("head-cost-per-run"),
                    currency_symbol(analysis)
                )
            }
            metric::COST_PER_INFERENCE => {
                format!(
                    "{} ({})",
                    word!("head-cost-per-million"),
                    currency_symbol(analysis)
                )
            }
            _ if is_money => format!("{} ({})", info.label, currency_symbol(analysis)),
            _ => axis.title(),
        };
        let means = scenarios.iter().filter_map(|s| axis.value(s));
        let over = Range::over(means);
        Criterion {
            is_wide: over.is_some_and(|o| o.low > 0.0 && o.high > DECADE * o.low),
            scale: match info.name.as_str() {
                metric::COST_PER_INFERENCE => 1e6,
                _ => 1.0,
            },
            axis,
            is_money,
            title,
        }
    }

    fn drawn(&self) -> Axis {
        // What is better high is far from zero.
        let extent = match self.axis.info.better {
            Better::Higher => Extent::Points,
            Better::Lower | Better::Neither => Extent::FromZero,
        };
        Axis::linear(&self.title, extent).switchable()
    }

    fn drawn_along(&self, is_logarithmic: bool) -> Axis {
        match is_logarithmic {
            true => Axis::logarithmic(&self.title).switchable(),
            false => self.drawn(),
        }
    }

    fn ends(&self, scenario: &ScenarioResult) -> Option<Range> {
        let interval = scenario.mean(&self.axis.info.name)?.interval?;
        let drawn = |value: f64| self.scale * self.axis.scaled(value);
        Some(Range::new(drawn(interval.low), drawn(interval.high)))
    }

    fn value(&self, scenario: &ScenarioResult) -> Option<f64> {
        self.axis.value(scenario).map(|value| self.scale * value)
    }

    fn says(&self, scenario: &ScenarioResult) -> String {
        let info = self.axis.info;
        match scenario.mean(&info.name).filter(|_| self.is_money) {
            Some(mean) if info.name == metric::COST_PER_INFERENCE => {
                let million = money(self.scale * mean.value, &info.unit);
                format!("{} {million}", word!("head-cost-per-million"))
            }
            Some(mean) => format!("{} {}", info.label, metric_value(info, mean.value)),
            None => self.axis.text(scenario),
        }
    }
}

struct Plot<'a> {
    analysis: &'a Analysis,
    x: Criterion<'a>,
    y: Criterion<'a>,
    criteria: &'a [&'a MetricInfo],
    scenarios: &'a [&'a ScenarioResult],
}

/// Where a scenario stands among those of its task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    OnTheSet,
    Dominated,
    /// Beaten as measured, but not beyond doubt.
    Open,
    /// Runs failed, or there is nothing to choose between.
    Unranked,
}

impl Plot<'_> {
    fn figure(&self) -> Figure {
        let labelled = self.scenarios.len() <= MOST_LABELS;
        let apart = [
            (
                Standing::Unranked,
                word!("choice-not-ranked"),
                Symbol::Cross,
            ),
            (Standing::Dominated, word!("choice-dominated"), Symbol::Dot),
            (Standing::Open, word!("choice-not-settled"), Symbol::Diamond),
        ];
        let mut series = Vec::new();
        for (standing, name, symbol) in apart {
            let points = self.points(self.of(standing), labelled, symbol);
            if !points.is_empty() {
                let symbols = Mark::Symbols { size: SIZE };
                series.push(Series::new(name, Colour::Muted, symbols).with(points));
            }
        }
        let tasks = &self.analysis.best.tasks;
        for (place, task) in tasks.iter().enumerate() {
            let is_line = self.is_line();
            let line = || message!("choice-pareto", is_line);
            let (name, colour) = match tasks.len() {
                1 => (line(), Colour::Series(2)),
                2..=MOST_TASKS => (LevelFacts::phrase_of(&task.task), Colour::Series(place)),
                // One entry in the legend for all.
                _ if place == 0 => (message!("choice-pareto-each", is_line), Colour::Series(2)),
                _ => (String::new(), Colour::Series(2)),
            };
            let on_set = self.on_set(task);
            let points = self.points(on_set, labelled || tasks.len() == 1, Symbol::Dot);
            let group = match tasks.len() > MOST_TASKS {
                true => "pareto".to_owned(),
                false => String::new(),
            };
            series.push(Series {
                group,
                ..Series::new(&name, colour, self.mark()).with(points)
            });
        }
        // One button switches both.
        let is_logarithmic = self.x.is_wide || self.y.is_wide;
        let x = self.x.drawn_along(is_logarithmic);
        let y = self.y.drawn_along(is_logarithmic);
        Figure::new(self.caption(), 420, x, y).with(series)
    }

    /// Points of a set over more than the two axes are on no line.
    fn is_line(&self) -> bool {
        self.criteria.len() == 2
    }

    fn mark(&self) -> Mark {
        match self.is_line() {
            true => Mark::Line(Line {
                dots: SIZE,
                ..Line::plain(2.0, Dash::Dotted)
            }),
            false => Mark::Symbols { size: SIZE },
        }
    }

    fn on_set(&self, task: &TaskBest) -> Vec<&ScenarioResult> {
        let found = |number: &u32| self.scenarios.iter().find(|s| s.number == *number).copied();
        task.pareto.iter().filter_map(found).collect()
    }

    fn of(&self, standing: Standing) -> Vec<&ScenarioResult> {
        let all = self.scenarios.iter().copied();
        all.filter(|scenario| self.standing(scenario.number) == standing)
            .collect()
    }

    fn standing(&self, scenario: u32) -> Standing {
        let mut tasks = self.analysis.best.tasks.iter();
        let Some(task) = tasks.find(|task| task.ranked.contains(&scenario)) else {
            return Standing::Unranked;
        };
        let is_dominated = task.dominated.iter().any(|one| one.scenario == scenario);
        match (task.pareto.contains(&scenario), is_dominated) {
            (true, _) => Standing::OnTheSet,
            (false, true) => Standing::Dominated,
            (false, false) => Standing::Open,
        }
    }

    fn points(
        &self,
        scenarios: Vec<&ScenarioResult>,
        labelled: bool,
        symbol: Symbol,
    ) -> Vec<Point> {
        let with_ends = self.scenarios.len() <= MOST_INTERVALS;
        let point = |scenario: &ScenarioResult| {
            let says = [self.x.says(scenario), self.y.says(scenario)].join("\n");
            let (x, y) = (self.x.value(scenario)?, self.y.value(scenario)?);
            Some(Point {
                symbol,
                x_ends: self.x.ends(scenario).filter(|_| with_ends),
                y_ends: self.y.ends(scenario).filter(|_| with_ends),
                label: match labelled {
                    true => scenario.label.clone(),
                    false => String::new(),
                },
                ..Point::new(x, y).says(format!("{}\n{says}", heading(scenario)))
            })
        };
        scenarios.into_iter().filter_map(point).collect()
    }

    fn caption(&self) -> String {
        let (x, y) = (self.x.axis.info, self.y.axis.info);
        let labels: Vec<String> = self
            .criteria
            .iter()
            .map(|info| info.label.clone())
            .collect();
        message!(
            "choice-caption",
            x = capital(&x.label),
            y = y.label,
            whiskers = self.scenarios.len() <= MOST_INTERVALS,
            right = x.better == Better::Higher,
            up = y.better == Better::Higher,
            labels = format::listed(&labels, 8),
            is_line = self.is_line(),
            dominated = !self.of(Standing::Dominated).is_empty()
        )
    }
}
