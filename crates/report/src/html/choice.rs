//! What to choose: scenarios by the first two criteria of the Pareto set, with their intervals.

use analyse::{Analysis, LevelFacts, MetricInfo, ScenarioResult, TaskBest, format, metric_value};
use model::run::metric::{self, Better};

use super::axis::{MetricAxis, heading};
use super::page::Page;
use crate::figure::{Axis, Colour, Dash, Extent, Figure, Line, Mark, Point, Range, Series, Symbol};
use crate::markdown::capital;

/// More names than this cover each other.
const MOST_LABELS: usize = 40;
/// More intervals than this are a thicket.
const MOST_INTERVALS: usize = 60;
/// More dominated scenarios than this are only counted.
const MOST_NAMED: usize = 12;
const SIZE: f64 = 9.0;

/// Nothing where there are too few scenarios for a choice.
pub(super) fn choice(page: &mut Page, analysis: &Analysis) {
    let criteria = analysis.best.criteria.iter();
    let criteria: Vec<&MetricInfo> = criteria.filter_map(|name| analysis.metric(name)).collect();
    let [x, y, ..] = criteria.as_slice() else {
        return;
    };
    let has_both = |s: &&ScenarioResult| s.mean(&x.name).is_some() && s.mean(&y.name).is_some();
    let scenarios: Vec<&ScenarioResult> = analysis.scenarios.iter().filter(has_both).collect();
    if scenarios.len() < 3 {
        return;
    }
    let plot = Plot {
        analysis,
        x: Criterion::new(x, &scenarios, analysis),
        y: Criterion::new(y, &scenarios, analysis),
        criteria: &criteria,
        scenarios: &scenarios,
    };
    page.open("choice", "What to choose");
    page.list("findings", &analysis.best.sentences);
    page.figure(&plot.figure());
    let dominated = analysis.best.tasks.iter().flat_map(|task| &task.dominated);
    let sentences = dominated.map(|one| &one.sentence);
    let new: Vec<&String> = sentences
        .filter(|sentence| !analysis.best.sentences.contains(sentence))
        .collect();
    if !new.is_empty() {
        page.list("findings", new.iter().take(MOST_NAMED));
    }
    if let Some(more @ 1..) = new.len().checked_sub(MOST_NAMED) {
        page.note(&format!(
            "{more} more are dominated; `bancada export` with --json names each."
        ));
    }
    page.close();
}

/// A metric along an axis.
struct Criterion<'a> {
    axis: MetricAxis<'a>,
    is_money: bool,
    title: String,
}

impl<'a> Criterion<'a> {
    fn new(info: &'a MetricInfo, scenarios: &[&ScenarioResult], analysis: &Analysis) -> Self {
        let axis = MetricAxis::new(info, scenarios);
        let is_money = metric::is_of_bills(&info.name);
        let title = match info.name.as_str() {
            metric::COST => format!("cost of a run ({})", analysis.study.currency),
            _ if is_money => format!("{} ({})", info.label, analysis.study.currency),
            _ => axis.title(),
        };
        Criterion {
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

    fn ends(&self, scenario: &ScenarioResult) -> Option<Range> {
        let interval = scenario.mean(&self.axis.info.name)?.interval?;
        Some(Range::new(
            self.axis.scaled(interval.low),
            self.axis.scaled(interval.high),
        ))
    }

    fn says(&self, scenario: &ScenarioResult) -> String {
        let info = self.axis.info;
        match scenario.mean(&info.name).filter(|_| self.is_money) {
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
            (Standing::Unranked, "not ranked", Symbol::Cross),
            (Standing::Dominated, "dominated", Symbol::Dot),
            (Standing::Open, "not settled", Symbol::Diamond),
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
            let (name, colour) = match tasks.len() {
                1 => (format!("Pareto {}", self.word()), Colour::Series(2)),
                _ => (LevelFacts::phrase_of(&task.task), Colour::Series(place)),
            };
            let on_set = self.on_set(task);
            let points = self.points(on_set, labelled || tasks.len() == 1, Symbol::Dot);
            series.push(Series::new(&name, colour, self.mark()).with(points));
        }
        let (x, y) = (self.x.drawn(), self.y.drawn());
        Figure::new(self.caption(), 420, x, y).with(series)
    }

    /// Points of a set over more than the two axes are on no line.
    fn is_line(&self) -> bool {
        self.criteria.len() == 2
    }

    fn word(&self) -> &'static str {
        match self.is_line() {
            true => "line",
            false => "set",
        }
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
            let (x, y) = (self.x.axis.value(scenario)?, self.y.axis.value(scenario)?);
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
        let across = match x.better {
            Better::Higher => "right",
            Better::Lower | Better::Neither => "left",
        };
        let up = match y.better {
            Better::Higher => "Upper",
            Better::Lower | Better::Neither => "Lower",
        };
        let intervals = match self.scenarios.len() <= MOST_INTERVALS {
            true => "; whiskers are 95 % intervals",
            false => "",
        };
        let dominated = match self.of(Standing::Dominated).is_empty() {
            true => "",
            false => " Dominated scenarios are significantly worse.",
        };
        let labels: Vec<String> = self
            .criteria
            .iter()
            .map(|info| info.label.clone())
            .collect();
        let beaten = format!(
            "no scenario of the same task is better in {} than a point on its Pareto {}, as measured",
            format::listed(&labels, 8),
            self.word()
        );
        format!(
            "{} against {}, one point per scenario{intervals}. {up} {across} is better; {beaten}.{dominated}",
            capital(&x.label),
            y.label
        )
    }
}
