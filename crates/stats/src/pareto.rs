//! Which of many choices are not beaten in both of two criteria at once.

use serde::{Deserialize, Serialize};

/// One choice by two criteria, the smaller the better in both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// The choices that nothing beats, and what beats the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pareto {
    /// Indices of the points on the front, by growing `x`.
    pub front: Vec<usize>,
    /// For every point, one front point that is no worse in both criteria and better in one; `None` on the front
    /// and for points that are not finite.
    pub beaten_by: Vec<Option<usize>>,
}

/// Both criteria are minimised. Points equal in both are all kept; points that are not finite are left out.
pub fn pareto(points: &[Point]) -> Pareto {
    let mut order: Vec<usize> = (0..points.len())
        .filter(|index| points[*index].x.is_finite() && points[*index].y.is_finite())
        .collect();
    order.sort_by(|a, b| {
        let (a, b) = (points[*a], points[*b]);
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y))
    });
    let mut result = Pareto {
        front: Vec::new(),
        beaten_by: vec![None; points.len()],
    };
    for index in order {
        match result.front.last().copied() {
            Some(best) if points[best].y <= points[index].y && points[best] != points[index] => {
                result.beaten_by[index] = Some(best);
            }
            _ => result.front.push(index),
        }
    }
    result
}
