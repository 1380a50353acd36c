//! Each kind of figure, drawn.

use super::*;

fn scenarios(names: &[&str]) -> Axis {
    let category = |name: &&str| Category {
        short: (*name).to_owned(),
        long: vec![format!("level of {name}")],
    };
    Axis::categories("scenario", names.iter().map(category).collect())
}

fn value(title: &str) -> Axis {
    Axis::linear(title, Extent::FromZero)
}

fn bars(name: &str, values: &[f64]) -> Series {
    let bar = |(place, value): (usize, &f64)| {
        Point::new(place as f64, *value)
            .margin(Some(0.5))
            .says(format!("{value} s"))
    };
    Series::new(name, Colour::Series(0), Mark::Bars).with(values.iter().enumerate().map(bar))
}

fn line(name: &str, values: &[Option<f64>], band: bool) -> Series {
    let point = |(place, value): (usize, &Option<f64>)| {
        Point::new(place as f64 + 1.0, *value).margin(value.map(|_| 0.1))
    };
    let mark = Mark::Line(Line {
        dots: Line::DOTS,
        band,
        ..Line::plain(2.0, Dash::Dashed)
    });
    Series::new(name, Colour::Scale(0.5), mark).with(values.iter().enumerate().map(point))
}

/// The `d` of all paths of a class.
fn paths(svg: &str, class: &str) -> Vec<String> {
    let begin = format!("<path class=\"{class}\"");
    let parts = svg.split(&begin).skip(1);
    let d = |part: &str| {
        let (_, rest) = part.split_once(" d=\"")?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    parts.filter_map(d).collect()
}

fn numbers(d: &str) -> Vec<f64> {
    let parts = d.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[test]
fn bars_stand_on_the_foot_with_whiskers() {
    let figure = Figure::new("Times.", 300, scenarios(&["C1", "C2"]), value("time (s)"))
        .with(vec![bars("time", &[2.0, 4.0])]);
    let drawn = svg(&figure, "f");
    let d = &paths(&drawn, "bar")[0];
    assert_eq!(d.matches('Z').count(), 2, "{d}");
    let [low, high] = [&d[..d.len() / 2], &d[d.len() / 2..]].map(|half| {
        let y: Vec<f64> = numbers(half).into_iter().skip(1).step_by(2).collect();
        y.iter().copied().fold(f64::INFINITY, f64::min)
    });
    assert!(high < low, "the larger value is higher up: {d}");
    assert_eq!(paths(&drawn, "whisker")[0].matches('M').count(), 2);
    assert!(drawn.contains("role=\"img\" aria-labelledby=\"f-title f-about\""));
    assert!(drawn.contains("<title id=\"f-title\">Times.</title>"));
    assert!(drawn.contains("Up: time (s). Shown: time."));
    assert!(
        drawn.contains(">level of C2</text>"),
        "few categories are named in full"
    );
}

#[test]
fn bars_share_a_category_or_stand_on_each_other() {
    let two = || vec![bars("a", &[2.0, 1.0]), bars("b", &[3.0, 1.0])];
    let mut figure = Figure::new("", 300, scenarios(&["C1", "C2"]), value("")).with(two());
    let beside = data(&figure);
    assert_eq!(
        beside["series"][0]["slot"],
        serde_json::json!([-0.185, 0.37])
    );
    assert_eq!(
        beside["series"][1]["slot"],
        serde_json::json!([0.185, 0.37])
    );
    assert_eq!(beside["y"]["linear"][1], 3.71, "whiskers belong to it");
    figure.bars = BarMode::Stacked;
    let stacked = data(&figure);
    assert_eq!(stacked["series"][1]["bases"], serde_json::json!([2, 1]));
    assert_eq!(stacked["y"]["linear"][1], 5.3, "as high as the sum");
}

#[test]
fn rows_lie_with_the_first_on_top() {
    let row = |place: f64| Point::new(40.0, place);
    let whole = Extent::Exactly(Range::new(0.0, 100.0));
    let figure = Figure {
        bars: BarMode::Stacked,
        ..Figure::new("", 200, Axis::linear("%", whole), scenarios(&["C1", "C2"])).with(vec![
            Series::new("a", Colour::Muted, Mark::Bars).with([row(0.0), row(1.0)]),
            Series::new("b", Colour::Ink, Mark::Bars).with([row(0.0), row(1.0)]),
        ])
    };
    let drawn = svg(&figure, "f");
    let [a, b] = [0, 1].map(|at| numbers(&paths(&drawn, "bar")[at]));
    assert!(a[1] < a[a.len() - 1], "the second row is below the first");
    assert_eq!(a[4], b[0], "b begins where a ends");
    assert!(drawn.contains(">C1 level of C1</text>"));
    assert_eq!(data(&figure)["lying"], true);
}

#[test]
fn a_line_has_gaps_bands_and_dots() {
    let values = [Some(1.0), Some(2.0), None, Some(3.0)];
    let epochs = Axis::linear("epoch", Extent::Points);
    let figure = Figure::new("", 300, epochs, value("loss")).with(vec![line("C1", &values, true)]);
    let drawn = svg(&figure, "f");
    assert_eq!(paths(&drawn, "line")[0].matches('M').count(), 2);
    assert_eq!(paths(&drawn, "band")[0].matches('Z').count(), 2);
    assert_eq!(paths(&drawn, "dots")[0].matches("h0").count(), 3);
    assert!(paths(&drawn, "whisker").is_empty());
    assert!(drawn.contains("stroke-dasharray=\"7 4\""));
    assert!(drawn.contains("style=\"--l:#1f858a;--d:#3fb4a8;color:#1f858a\""));
}

#[test]
fn few_lines_are_named_where_they_end() {
    let values = [Some(1.0), Some(2.0)];
    let levels = || Axis {
        ticks: vec![1.0, 2.0],
        ..Axis::logarithmic("batch")
    };
    let lines = |count: usize| {
        let line = |n: usize| line(&format!("network {n}"), &values, false);
        (0..count).map(line).collect()
    };
    let y = || Axis::logarithmic("s").switchable();
    let few = svg(&Figure::new("", 300, levels(), y()).with(lines(3)), "f");
    assert_eq!(few.matches("class=\"name ").count(), 3);
    assert_eq!(paths(&few, "whisker").len(), 3);
    let many = Figure::new("", 300, levels(), y()).with(lines(12));
    assert!(!svg(&many, "f").contains("class=\"name "));
    let numbers = data(&many);
    assert_eq!(
        (&numbers["y"]["log"], numbers["y"]["linear"].is_array()),
        (&true.into(), true)
    );
    assert_eq!(numbers["x"]["ticks"], serde_json::json!([1, 2]));
}

#[test]
fn symbols_have_shapes_intervals_and_labels_that_keep_apart() {
    let at = |x: f64, symbol: Symbol| Point {
        symbol,
        x_ends: Some(Range::new(x - 1.0, x + 1.0)),
        label: "C1".to_owned(),
        ..Point::new(x, 1.0)
    };
    let symbols = [
        Symbol::Dot,
        Symbol::Diamond,
        Symbol::Cross,
        Symbol::Triangle,
        Symbol::Stroke,
    ];
    let points = symbols.iter().map(|symbol| at(5.0, *symbol));
    let figure = Figure::new("", 300, value("x"), value("y")).with(vec![
        Series::new("a", Colour::Series(9), Mark::Symbols { size: 8.0 }).with(points),
    ]);
    let drawn = svg(&figure, "f");
    assert_eq!(drawn.matches("class=\"filled\"").count(), 2);
    assert_eq!(drawn.matches("class=\"open\"").count(), 2);
    assert_eq!(paths(&drawn, "dots")[0].matches("h0").count(), 1);
    assert_eq!(paths(&drawn, "whisker")[0].matches('M').count(), 5);
    assert_eq!(
        drawn.matches("class=\"label\"").count(),
        2,
        "above and below"
    );
    assert_eq!(drawn.matches("class=\"label off\"").count(), 3);
    assert!(drawn.contains("class=\"s c2\""), "colours begin again");
}

#[test]
fn a_second_axis_and_words_at_the_foot() {
    let words = Series {
        on: Side::Foot,
        ..Series::new("", Colour::Muted, Mark::Words).with([Point {
            label: "out of memory".to_owned(),
            ..Point::new(1.0, 6.0)
        }])
    };
    let cost = Series {
        on: Side::Right,
        ..bars("cost", &[0.02])
    };
    let figure = Figure {
        right: Some(value("cost (USD)")),
        ..Figure::new("", 300, scenarios(&["C1", "C2"]), value("time (s)")).with(vec![
            bars("time", &[100.0]),
            cost,
            words,
        ])
    };
    let drawn = svg(&figure, "f");
    assert!(drawn.contains(">cost (USD)</text>") && drawn.contains(">out of memory</text>"));
    let numbers = data(&figure);
    assert_eq!(numbers["right"]["linear"][1], 0.58, "its own values only");
    assert_eq!(numbers["y"]["linear"][1], 106.53);
    assert_eq!(numbers["series"][2]["side"], "foot");
}

#[test]
fn hostile_names_are_text() {
    let hostile = "</text><script>alert(1)</script>\"'&\u{1b}";
    let named = Axis::categories(
        hostile,
        vec![Category {
            short: hostile.to_owned(),
            long: vec![hostile.to_owned()],
        }],
    );
    let mut series = bars(hostile, &[1.0]);
    series.group = hostile.to_owned();
    series.points[0].label = hostile.to_owned();
    let figure = Figure::new(hostile, 300, named, value(hostile)).with(vec![series]);
    let drawn = svg(&figure, "f") + &swatch(&figure.series[0]);
    assert!(!drawn.contains("<script") && !drawn.contains('\u{1b}') && !drawn.contains("\"'&"));
    assert!(drawn.contains("&lt;/text&gt;&lt;script&gt;alert(1)"));
}

#[test]
fn nothing_to_draw_is_drawn() {
    let empty = Figure::new("", 300, value("x"), Axis::logarithmic("y"));
    assert!(svg(&empty, "f").ends_with("</svg>"));
    let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0];
    let points = odd.iter().map(|v| Point::new(1.0, *v));
    let series = Series::new("a", Colour::Ink, Mark::Symbols { size: 5.0 }).with(points);
    let drawn = svg(
        &Figure {
            series: vec![series],
            ..empty
        },
        "f",
    );
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
}
