//! Designs of experiments: which combinations of levels to measure, and what these can tell apart.
//!
//! A row is a combination: an index below the number of levels for each factor, in the order of the
//! study. All functions are pure; what is drawn is drawn by a seed. Rows come in the order of a
//! full factorial, the first factor varying slowest, so that their numbering is stable.
//!
//! [`alias_table`] looks at the scenarios alone: it holds for lists, for optimal designs and for
//! designs with excluded cells as well as for those of books.

mod aberration;
mod aliases;
mod contrasts;
mod exchange;
mod hypercube;
mod linear;
mod plackett_burman;
mod random;
mod regular;
mod words;

pub use aberration::{Chosen, minimum_aberration, with_resolution};
pub use aliases::alias_table;
pub use exchange::{Wanted, d_optimal};
pub use hypercube::latin_hypercube;
pub use plackett_burman::{plackett_burman, sizes as plackett_burman_sizes};
pub use random::Shuffler;
pub use regular::{Column, fraction};

/// A combination of levels, by their places.
pub type Row = Vec<usize>;

/// Every combination, the last factor varying fastest.
pub fn full(counts: Vec<usize>) -> impl Iterator<Item = Row> {
    let mut next = counts.iter().all(|l| *l > 0).then(|| vec![0; counts.len()]);
    std::iter::from_fn(move || {
        let current = next.take()?;
        let mut following = current.clone();
        for (index, limit) in following.iter_mut().zip(&counts).rev() {
            *index += 1;
            if *index < *limit {
                next = Some(following);
                break;
            }
            *index = 0;
        }
        Some(current)
    })
}

/// The first level of every factor, and each other level with all others at the first.
pub fn one_at_a_time(counts: &[usize]) -> Vec<Row> {
    let base = vec![0; counts.len()];
    let others = counts.iter().enumerate().flat_map(|(factor, count)| {
        let base = &base;
        (1..*count).map(move |level| {
            let mut row = base.clone();
            row[factor] = level;
            row
        })
    });
    let mut rows: Vec<Row> = others.collect();
    rows.push(base.clone());
    rows.sort();
    rows
}

/// Factors that vary.
fn varied(counts: &[usize]) -> Vec<usize> {
    let all = counts.iter().enumerate();
    all.filter(|(_, count)| **count > 1)
        .map(|(factor, _)| factor)
        .collect()
}
