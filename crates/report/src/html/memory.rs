//! Memory sizes of workers on demand side by side: does more memory make a response faster, or
//! cheaper (study B of docs/studies.md)?

use analyse::lists::unique;
use analyse::{Analysis, Estimate, ServedBy, ServedScenario, Serving, format};
use messages::word;

use super::page::{LegendEntry, Page};
use super::pieces::{PANEL_HEIGHT, Panel, Panels};
use super::serving;
use crate::figure::{Axis, Category, Colour, Extent, Figure, Mark, Point, Range, Series, swatch};
use crate::tables::currency_symbol;

/// More lines of bars do not fit beside each other.
const MOST_SERIES: usize = 6;

pub(super) fn memory_sizes(page: &mut Page, analysis: &Analysis, serving: &Serving) {
    let sized = serving.scenarios.iter().filter_map(|s| match s.place {
        ServedBy::OnDemand { memory_mb } => Some((memory_mb, s)),
        ServedBy::AlwaysOn => None,
    });
    let sized: Vec<(u32, &ServedScenario)> = sized.collect();
    let mut sizes = unique(sized.iter().map(|(size, _)| *size));
    sizes.sort_unstable();
    let names = unique(sized.iter().map(|(_, s)| s.beside_environment.as_str()));
    if sizes.len() < 2 || names.len() > MOST_SERIES {
        return;
    }
    let drawn = Drawn {
        sized,
        sizes,
        names,
    };
    let cost = format!(
        "{} ({})",
        word!("head-cost-per-million"),
        currency_symbol(analysis)
    );
    let quantities = [
        Quantity {
            title: serving::latency_title(),
            of: |s| s.latency_seconds.as_ref(),
            scale: 1e3,
        },
        Quantity {
            title: cost,
            of: |s| s.cost_per_inference.as_ref(),
            scale: 1e6,
        },
    ];
    let told = quantities.iter().filter(|quantity| drawn.is_told(quantity));
    let panels: Vec<Panel> = told.map(|quantity| drawn.panel(quantity)).collect();
    if panels.is_empty() {
        return;
    }
    page.panels(&Panels {
        caption: word!("serving-memory-caption").to_owned(),
        legend: drawn.legend(),
        panels,
    });
}

struct Quantity {
    title: String,
    of: fn(&ServedScenario) -> Option<&Estimate>,
    scale: f64,
}

struct Drawn<'a> {
    sized: Vec<(u32, &'a ServedScenario)>,
    sizes: Vec<u32>,
    names: Vec<&'a str>,
}

impl Drawn<'_> {
    fn is_told(&self, quantity: &Quantity) -> bool {
        self.sized.iter().any(|(_, s)| (quantity.of)(s).is_some())
    }

    fn panel(&self, quantity: &Quantity) -> Panel {
        let category = |size: &u32| Category {
            short: format!("{size} {}", word!("unit-MB")),
            long: Vec::new(),
        };
        let x = Axis::categories(
            word!("head-memory"),
            self.sizes.iter().map(category).collect(),
        );
        let y = Axis::linear(&quantity.title, Extent::FromZero).switchable();
        let series = (0..self.names.len()).map(|place| self.series(place, quantity));
        Panel {
            title: crate::markdown::capital(&quantity.title),
            figure: Figure {
                legend: false,
                ..Figure::new(quantity.title.clone(), PANEL_HEIGHT + 60, x, y)
                    .with(series.collect())
            },
        }
    }

    fn series(&self, place: usize, quantity: &Quantity) -> Series {
        let name = self.names[place];
        let own = self
            .sized
            .iter()
            .filter(|(_, s)| s.beside_environment == name);
        let points = own.filter_map(|(size, scenario)| {
            let at = self.sizes.iter().position(|known| known == size)?;
            let estimate = (quantity.of)(scenario)?;
            let value = quantity.scale * estimate.value;
            let ends = Range::of(estimate);
            let ends = ends.map(|r| Range::new(quantity.scale * r.low, quantity.scale * r.high));
            let says = format!(
                "{} {}\n{}: {}",
                scenario.label,
                scenario.phrase,
                quantity.title,
                format::significant(value, 3)
            );
            Some(Point {
                y_ends: ends,
                ..Point::new(at as f64, value).says(says)
            })
        });
        Series {
            group: format!("model-{place}"),
            ..Series::new(name, Colour::Series(place), Mark::Bars).with(points)
        }
    }

    fn legend(&self) -> Vec<LegendEntry> {
        let entry = |(place, name): (usize, &&str)| LegendEntry {
            group: format!("model-{place}"),
            name: (*name).to_owned(),
            swatch: swatch(&Series::new(*name, Colour::Series(place), Mark::Bars)),
            shown: true,
        };
        self.names.iter().enumerate().map(entry).collect()
    }
}
