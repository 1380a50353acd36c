//! Which of many choices are not beaten in both of two criteria at once.

/// One choice by two criteria, the smaller the better in both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// Indices of the points that no other beats in both, by growing `x`. Both criteria are minimised. Points equal in
/// both are all kept; points that are not finite are left out.
pub fn pareto(points: &[Point]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len())
        .filter(|index| points[*index].x.is_finite() && points[*index].y.is_finite())
        .collect();
    order.sort_by(|a, b| {
        let (a, b) = (points[*a], points[*b]);
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y))
    });
    let mut front: Vec<usize> = Vec::new();
    for index in order {
        let beaten = front.last().is_some_and(|best| {
            points[*best].y <= points[index].y && points[*best] != points[index]
        });
        if !beaten {
            front.push(index);
        }
    }
    front
}
