//! Products of two-level factors that are the same in all scenarios: the defining relation of a
//! regular fraction, read off the scenarios.

/// Beyond so many independent ones they are not multiplied out: 2^14 words.
const MOST_INDEPENDENT: usize = 14;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConstantWord {
    /// A bit for each factor.
    pub(crate) mask: u64,
    pub(crate) negative: bool,
}

/// `rows` have a bit for each of `factors` two-level factors, set where it is high. Shortest words
/// first.
pub(crate) fn constant_words(rows: &[u64], factors: usize) -> Vec<ConstantWord> {
    let Some(first) = rows.first().filter(|_| factors <= 64) else {
        return Vec::new();
    };
    let differences = rows.iter().map(|row| row ^ first);
    let independent = orthogonal(differences, factors);
    if independent.len() > MOST_INDEPENDENT {
        return Vec::new();
    }
    let mut words: Vec<ConstantWord> = (1..1_usize << independent.len())
        .map(|choice| {
            let chosen = independent.iter().enumerate();
            let chosen = chosen.filter(|(place, _)| choice >> place & 1 == 1);
            let mask = chosen.fold(0, |mask, (_, word)| mask ^ word);
            ConstantWord {
                mask,
                negative: (mask & !first).count_ones() % 2 == 1,
            }
        })
        .collect();
    words.sort_by_key(|word| {
        (
            word.mask.count_ones(),
            std::cmp::Reverse(word.mask.reverse_bits()),
        )
    });
    words
}

/// A basis of the words that have an even number of bits in common with every row, over two
/// elements.
fn orthogonal(rows: impl Iterator<Item = u64>, factors: usize) -> Vec<u64> {
    // Reduced rows by their leading bit.
    let mut reduced: Vec<(u32, u64)> = Vec::new();
    for mut row in rows {
        for (lead, other) in &reduced {
            if row >> lead & 1 == 1 {
                row ^= other;
            }
        }
        if row == 0 {
            continue;
        }
        let lead = row.trailing_zeros();
        for (_, other) in &mut reduced {
            if *other >> lead & 1 == 1 {
                *other ^= row;
            }
        }
        reduced.push((lead, row));
    }
    let is_free = |bit: &u32| reduced.iter().all(|(lead, _)| lead != bit);
    let word = |bit: u32| {
        let leads = reduced.iter().filter(|(_, row)| row >> bit & 1 == 1);
        leads.fold(1_u64 << bit, |word, (lead, _)| word | 1 << lead)
    };
    (0..factors as u32).filter(is_free).map(word).collect()
}
