//! Lines of a pen → how much of each pixel is covered.

use crate::strokes::Point;

/// One plane of values from 0 (not touched) to 1.
#[derive(Debug, Clone)]
pub(crate) struct Cover {
    side: usize,
    pub(crate) values: Vec<f32>,
}

impl Cover {
    pub(crate) fn new(side: usize) -> Self {
        Cover {
            side,
            values: vec![0.0; side * side],
        }
    }

    /// A pen of this radius from point to point, with edges one pixel soft. Points are in pixels.
    pub(crate) fn draw(&mut self, way: &[Point], radius: f32) {
        for pair in way.windows(2) {
            if let [from, to] = *pair {
                self.segment(from, to, radius);
            }
        }
    }

    fn segment(&mut self, from: Point, to: Point, radius: f32) {
        let reach = radius + 0.5;
        let (left, right) = self.span(from.x.min(to.x) - reach, from.x.max(to.x) + reach);
        let (top, bottom) = self.span(from.y.min(to.y) - reach, from.y.max(to.y) + reach);
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let per_length_squared = 1.0 / (dx * dx + dy * dy).max(1e-12);
        for row in top..bottom {
            let py = row as f32 + 0.5 - from.y;
            let pixels = &mut self.values[row * self.side + left..row * self.side + right];
            for (column, pixel) in (left..right).zip(pixels) {
                let px = column as f32 + 0.5 - from.x;
                let along = ((px * dx + py * dy) * per_length_squared).clamp(0.0, 1.0);
                let (ex, ey) = (px - along * dx, py - along * dy);
                let squared = ex * ex + ey * ey;
                if squared < reach * reach {
                    *pixel = pixel.max((reach - squared.sqrt()).min(1.0));
                }
            }
        }
    }

    /// Pixels that an interval touches, inside the image.
    fn span(&self, low: f32, high: f32) -> (usize, usize) {
        let limit = self.side as f32;
        (
            low.floor().clamp(0.0, limit) as usize,
            high.ceil().clamp(0.0, limit) as usize,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_covers_what_it_crosses_and_its_edge_is_soft() {
        let mut cover = Cover::new(5);
        cover.draw(&[Point { x: 0.0, y: 2.5 }, Point { x: 5.0, y: 2.5 }], 1.0);
        let column: Vec<f32> = (0..5).map(|row| cover.values[row * 5 + 2]).collect();
        assert_eq!(column, [0.0, 0.5, 1.0, 0.5, 0.0]);
    }

    #[test]
    fn lines_may_leave_the_image() {
        let mut cover = Cover::new(3);
        cover.draw(
            &[Point { x: -90.0, y: -90.0 }, Point { x: 90.0, y: 90.0 }],
            1.0,
        );
        assert_eq!(
            [cover.values[0], cover.values[4], cover.values[8]],
            [1.0, 1.0, 1.0]
        );
    }
}
