//! The model matrix: contrasts of factors (Helmert's, scaled), and their products.

/// Orthogonal contrasts of a factor, each with a mean square of 1 over the levels: in a full factorial
/// all columns of the model matrix are then orthogonal and as long as there are rows.
pub(crate) struct Contrasts {
    /// By level.
    values: Vec<Vec<f64>>,
}

impl Contrasts {
    pub(crate) fn new(levels: usize) -> Self {
        let value = |level: usize, contrast: usize| {
            let (count, j) = (levels as f64, contrast as f64);
            let scale = (count / (j * (j + 1.0))).sqrt();
            match level.cmp(&contrast) {
                std::cmp::Ordering::Less => -scale,
                std::cmp::Ordering::Equal => j * scale,
                std::cmp::Ordering::Greater => 0.0,
            }
        };
        let row = |level: usize| (1..levels).map(|contrast| value(level, contrast)).collect();
        Contrasts {
            values: (0..levels).map(row).collect(),
        }
    }
}

/// Effects as sets of factors, and where their columns lie; column 0 is the mean.
pub(crate) struct ModelMatrix {
    contrasts: Vec<Contrasts>,
    effects: Vec<Vec<usize>>,
}

impl ModelMatrix {
    pub(crate) fn new(counts: &[usize], effects: Vec<Vec<usize>>) -> Self {
        ModelMatrix {
            contrasts: counts.iter().map(|count| Contrasts::new(*count)).collect(),
            effects,
        }
    }

    pub(crate) fn size_of(&self, effect: &[usize]) -> usize {
        let sizes = effect.iter().map(|f| self.contrasts[*f].values.len() - 1);
        sizes.product()
    }

    /// The columns of each effect.
    pub(crate) fn spans(&self) -> Vec<std::ops::Range<usize>> {
        let mut next = 1;
        let span = |effect: &Vec<usize>| {
            let start = next;
            next += self.size_of(effect);
            start..next
        };
        self.effects.iter().map(span).collect()
    }

    /// With the mean.
    pub(crate) fn columns(&self) -> usize {
        self.spans().last().map_or(1, |span| span.end)
    }

    /// Multiplications to examine so many rows.
    pub(crate) fn work(&self, rows: usize) -> usize {
        let columns = self.columns();
        let square = columns.saturating_mul(columns);
        square.saturating_mul(rows.saturating_add(columns))
    }

    pub(crate) fn row(&self, levels: &[usize]) -> Vec<f64> {
        let mut row = vec![1.0];
        for effect in &self.effects {
            let mut products = vec![1.0];
            for factor in effect {
                let values = &self.contrasts[*factor].values[levels[*factor]];
                let times = |product: f64| values.iter().map(move |v| product * v);
                products = products.into_iter().flat_map(times).collect();
            }
            row.extend(products);
        }
        row
    }
}
