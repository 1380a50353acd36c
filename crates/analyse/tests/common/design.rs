//! Every combination of levels.

use model::study::FactorLevel;
use model::{Factor, Scenario};

pub fn full_factorial(factors: &[Factor]) -> Vec<Scenario> {
    let mut combinations: Vec<Vec<FactorLevel>> = vec![Vec::new()];
    for factor in factors {
        combinations = combinations
            .into_iter()
            .flat_map(|known| {
                factor.levels.iter().map(move |level| {
                    let mut next = known.clone();
                    next.push(FactorLevel {
                        factor: factor.name.clone(),
                        level: level.clone(),
                    });
                    next
                })
            })
            .collect();
    }
    let numbered = combinations.into_iter().enumerate();
    numbered
        .map(|(place, levels)| Scenario {
            number: place as u32 + 1,
            levels,
        })
        .collect()
}
