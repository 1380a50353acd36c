//! The digits as strokes of a pen, in a box from (0, 0) top left to (1, 1) bottom right.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// How the pen goes along the points of a stroke.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stroke {
    /// Straight from point to point.
    Line(&'static [(f32, f32)]),
    /// Round, from the first point to the last, drawn towards those between.
    Curve(&'static [(f32, f32)]),
    /// Round and closed, drawn towards its points.
    Loop(&'static [(f32, f32)]),
}

impl Stroke {
    pub(crate) fn points(self) -> &'static [(f32, f32)] {
        match self {
            Stroke::Line(points) | Stroke::Curve(points) | Stroke::Loop(points) => points,
        }
    }
}

/// The strokes of one digit; of 9 for anything larger.
pub(crate) fn of(digit: u8) -> &'static [Stroke] {
    use Stroke::{Curve, Line, Loop};
    match digit {
        0 => &[Loop(&[(0.05, 0.0), (0.95, 0.0), (0.95, 1.0), (0.05, 1.0)])],
        1 => &[Line(&[(0.25, 0.22), (0.55, 0.0), (0.55, 1.0)])],
        2 => &[
            Curve(&[
                (0.05, 0.25),
                (0.15, 0.0),
                (0.55, -0.05),
                (0.95, 0.08),
                (0.95, 0.4),
                (0.5, 0.7),
                (0.0, 1.0),
            ]),
            Line(&[(0.0, 1.0), (1.0, 1.0)]),
        ],
        3 => &[
            Curve(&[
                (0.05, 0.1),
                (0.45, -0.08),
                (0.95, 0.05),
                (0.95, 0.42),
                (0.38, 0.48),
            ]),
            Curve(&[
                (0.38, 0.48),
                (1.0, 0.5),
                (1.05, 0.95),
                (0.5, 1.06),
                (0.0, 0.92),
            ]),
        ],
        4 => &[Line(&[(0.72, 1.0), (0.72, 0.0), (0.0, 0.66), (1.0, 0.66)])],
        5 => &[
            Line(&[(0.92, 0.0), (0.18, 0.0), (0.12, 0.45)]),
            Curve(&[
                (0.12, 0.45),
                (0.5, 0.32),
                (1.0, 0.4),
                (1.02, 0.95),
                (0.5, 1.06),
                (0.0, 0.94),
            ]),
        ],
        6 => &[
            Curve(&[(0.8, 0.0), (0.3, 0.12), (0.0, 0.5), (0.06, 0.74)]),
            Loop(&[(0.06, 0.42), (0.95, 0.42), (0.95, 1.0), (0.06, 1.0)]),
        ],
        7 => &[Line(&[(0.0, 0.0), (1.0, 0.0), (0.38, 1.0)])],
        8 => &[
            Loop(&[(0.12, 0.0), (0.88, 0.0), (0.88, 0.47), (0.12, 0.47)]),
            Loop(&[(0.04, 0.47), (0.96, 0.47), (0.96, 1.0), (0.04, 1.0)]),
        ],
        _ => &[
            Loop(&[(0.06, 0.0), (0.94, 0.0), (0.94, 0.56), (0.06, 0.56)]),
            Curve(&[(0.93, 0.28), (0.98, 0.6), (0.7, 1.0)]),
        ],
    }
}

/// The way of the pen as a row of points, close enough together to look round.
pub(crate) fn trace(stroke: Stroke, points: &[Point]) -> Vec<Point> {
    match stroke {
        Stroke::Line(_) => points.to_vec(),
        Stroke::Curve(_) => curve(points),
        Stroke::Loop(_) => closed(points),
    }
}

/// Quadratic Bézier arcs that join in the middle between control points: a quadratic B-spline.
fn curve(points: &[Point]) -> Vec<Point> {
    let [first, inner @ .., last] = points else {
        return points.to_vec();
    };
    let mut way = vec![*first];
    let mut from = *first;
    for (index, &control) in inner.iter().enumerate() {
        let to = inner
            .get(index + 1)
            .map_or(*last, |&next| middle(control, next));
        arc(from, control, to, &mut way);
        from = to;
    }
    if inner.is_empty() {
        way.push(*last);
    }
    way
}

fn closed(points: &[Point]) -> Vec<Point> {
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    let start = middle(last, first);
    let mut way = vec![start];
    let mut from = start;
    for (index, &control) in points.iter().enumerate() {
        let to = points
            .get(index + 1)
            .map_or(start, |&next| middle(control, next));
        arc(from, control, to, &mut way);
        from = to;
    }
    way
}

fn arc(from: Point, control: Point, to: Point, way: &mut Vec<Point>) {
    const PIECES: u32 = 4;
    for piece in 1..=PIECES {
        let t = piece as f32 / PIECES as f32;
        let (a, b, c) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
        way.push(Point {
            x: a * from.x + b * control.x + c * to.x,
            y: a * from.y + b * control.y + c * to.y,
        });
    }
}

fn middle(a: Point, b: Point) -> Point {
    Point {
        x: (a.x + b.x) / 2.0,
        y: (a.y + b.y) / 2.0,
    }
}
