//! What a day costs on demand and always on, against requests per day: a panel for each model, with the
//! points from which on a machine is cheaper.

use analyse::lists::{entry, push_new};
use analyse::{Analysis, BreakEven, Serving, format};
use messages::{message, word};

use super::page::LegendEntry;
use super::pieces::{ONLY_PANEL_HEIGHT, PANEL_HEIGHT, Panel, Panels};
use crate::figure::{
    Axis, Colour, Dash, Extent, Figure, Line, Mark, Point, Series, Symbol, swatch,
};
use crate::tables::{currency_symbol, money};

/// More lines of one panel cross each other too often; the table has all pairs.
const MOST_LINES: usize = 6;
/// How far an axis goes on behind a break-even point, and behind what a machine can answer.
const BEHIND_POINT: f64 = 2.0;
const BEHIND_CAPACITY: f64 = 1.1;

pub(super) fn day_costs(analysis: &Analysis, serving: &Serving) -> Panels {
    let mut tasks: Vec<(&str, Task)> = Vec::new();
    for even in &serving.break_evens {
        let task = entry(
            &mut tasks,
            |(phrase, _)| *phrase == even.phrase,
            || (even.phrase.as_str(), Task { pairs: Vec::new() }),
        );
        task.1.pairs.push(even);
    }
    let in_all = serving.break_evens.len();
    tasks.iter_mut().for_each(|(_, task)| task.choose());
    let drawn: usize = tasks.iter().map(|(_, task)| task.pairs.len()).sum();
    let plot = Plot {
        analysis,
        serving,
        places: places(&tasks),
        height: match tasks.len() {
            1 => ONLY_PANEL_HEIGHT,
            _ => PANEL_HEIGHT,
        },
    };
    let panels = tasks.iter().map(|(phrase, task)| Panel {
        title: (*phrase).to_owned(),
        figure: plot.figure(task),
    });
    Panels {
        caption: message!(
            "serving-day-caption",
            drawn,
            all = in_all,
            some = drawn < in_all
        ),
        panels: panels.collect(),
        legend: plot.legend(&tasks),
    }
}

/// The pairs of one model.
struct Task<'a> {
    pairs: Vec<&'a BreakEven>,
}

/// Where answers come from.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place<'a> {
    environment: &'a str,
    is_on_demand: bool,
}

fn ends(even: &BreakEven) -> [Place<'_>; 2] {
    let place = |environment, is_on_demand| Place {
        environment,
        is_on_demand,
    };
    [
        place(even.on_demand_environment.as_str(), true),
        place(even.always_on_environment.as_str(), false),
    ]
}

/// Each once, for colours that are the same in all panels.
fn places<'a>(tasks: &[(&str, Task<'a>)]) -> Vec<Place<'a>> {
    let mut known = Vec::new();
    for even in tasks.iter().flat_map(|(_, task)| &task.pairs) {
        ends(even)
            .into_iter()
            .for_each(|end| push_new(&mut known, end));
    }
    known
}

impl Task<'_> {
    /// Those that break even come first, then as many as have room.
    fn choose(&mut self) {
        self.pairs.sort_by(|a, b| {
            let pays = b.within_capacity.cmp(&a.within_capacity);
            let rate = |even: &BreakEven| even.requests_per_day.value;
            pays.then(rate(a).total_cmp(&rate(b)))
        });
        let mut known: Vec<Place> = Vec::new();
        self.pairs.retain(|even| {
            let mut with = known.clone();
            ends(even)
                .into_iter()
                .for_each(|end| push_new(&mut with, end));
            let has_room = with.len() <= MOST_LINES;
            if has_room {
                known = with;
            }
            has_room
        });
    }

    /// Requests per day up to which the lines are drawn.
    fn reach(&self) -> f64 {
        let pays = self.pairs.iter().any(|even| even.within_capacity);
        let counted = self
            .pairs
            .iter()
            .filter(|even| even.within_capacity == pays);
        let reach = counted.map(|even| {
            let most = BEHIND_CAPACITY * even.capacity_per_day;
            match pays {
                true => most.min(BEHIND_POINT * even.requests_per_day.value),
                false => most,
            }
        });
        reach.fold(0.0, f64::max)
    }
}

struct Plot<'a> {
    analysis: &'a Analysis,
    serving: &'a Serving,
    places: Vec<Place<'a>>,
    height: u32,
}

impl<'a> Plot<'a> {
    fn figure(&self, task: &Task<'a>) -> Figure {
        let symbol = currency_symbol(self.analysis);
        let reach = task.reach();
        let mut drawn: Vec<Place> = Vec::new();
        let mut series = Vec::new();
        for even in &task.pairs {
            for end in ends(even) {
                if !drawn.contains(&end) {
                    drawn.push(end);
                    series.push(self.line(end, even, reach));
                }
            }
        }
        series.extend(self.points(task));
        let x = Axis::linear(word!("serving-rate"), Extent::FromZero);
        let cost = format!("{} ({symbol})", word!("serving-day-cost"));
        Figure {
            legend: false,
            ..Figure::new(
                word!("serving-day-short"),
                self.height,
                x,
                Axis::linear(cost, Extent::FromZero),
            )
            .with(series)
        }
    }

    /// Of a response on demand.
    fn each(&self, even: &BreakEven) -> f64 {
        let mut all = self.serving.scenarios.iter();
        let found = all.find(|s| s.scenario == even.on_demand);
        let cost = found.and_then(|s| s.cost_per_inference.as_ref());
        cost.map_or(f64::NAN, |each| each.value)
    }

    fn line(&self, end: Place, even: &BreakEven, reach: f64) -> Series {
        let day = even.requests_per_day.value * self.each(even);
        let (from, last, to) = match end.is_on_demand {
            true => (0.0, reach, self.each(even) * reach),
            // One machine answers no more than that.
            false => (day, reach.min(even.capacity_per_day), day),
        };
        self.look(end).with([
            Point::new(0.0, from),
            Point::new(last, to).says(self.says(end.environment, last, to)),
        ])
    }

    /// Of a point of the figure.
    fn says(&self, name: &str, requests: f64, y: f64) -> String {
        let cost = money(y, &self.analysis.study.currency);
        let requests = format::count(requests.round() as usize);
        format!("{name}\n{} {requests}: {cost}", word!("serving-rate"))
    }

    /// How its line looks.
    fn look(&self, end: Place) -> Series {
        let place = self
            .places
            .iter()
            .position(|known| *known == end)
            .unwrap_or(0);
        let dash = match end.is_on_demand {
            true => Dash::Solid,
            false => Dash::Dashed,
        };
        Series {
            group: format!("place-{place}"),
            ..Series::new(
                end.environment,
                Colour::Series(place),
                Mark::Line(Line::plain(2.0, dash)),
            )
        }
    }

    fn points(&self, task: &Task) -> Option<Series> {
        let reached = task.pairs.iter().filter(|even| even.within_capacity);
        let point = |even: &&BreakEven| {
            let rate = even.requests_per_day.value;
            let cost = rate * self.each(even);
            let [on_demand, always_on] = ends(even).map(|end| end.environment);
            Point {
                symbol: Symbol::Diamond,
                ..Point::new(rate, cost).says(self.says(
                    &format!("{on_demand} = {always_on}"),
                    rate,
                    cost,
                ))
            }
        };
        let points: Vec<Point> = reached.map(point).collect();
        (!points.is_empty()).then(|| crossings().with(points))
    }

    fn legend(&self, tasks: &[(&str, Task)]) -> Vec<LegendEntry> {
        let entry = |series: Series| LegendEntry {
            group: series.group.clone(),
            name: series.name.clone(),
            swatch: swatch(&series),
            shown: true,
        };
        let lines = self.places.iter().map(|place| self.look(*place));
        let pairs = tasks.iter().flat_map(|(_, task)| &task.pairs);
        let pays = pairs.into_iter().any(|even| even.within_capacity);
        let mark = || {
            crossings().with([Point {
                symbol: Symbol::Diamond,
                ..Point::new(0.0, 0.0)
            }])
        };
        lines.chain(pays.then(mark)).map(entry).collect()
    }
}

fn crossings() -> Series {
    Series {
        group: "break-even".to_owned(),
        ..Series::new(
            word!("serving-day-point"),
            Colour::Muted,
            Mark::Symbols { size: 10.0 },
        )
    }
}
