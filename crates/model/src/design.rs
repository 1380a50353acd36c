//! Which of all combinations of levels are measured, and what they can tell apart.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::study::Level;

/// How scenarios are chosen (`[design]`). Factors have the levels that the design uses: two for a
/// two-level design, one in each stratum for a Latin hypercube.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Design {
    /// Every combination.
    #[default]
    Full,
    /// Every combination of two levels of each factor.
    TwoLevel,
    /// A regular fraction of these: 2^(k−p).
    Fractional {
        generators: Vec<Generator>,
    },
    PlackettBurman {
        scenarios: u32,
    },
    DOptimal {
        scenarios: u32,
        /// In the model for which it is best, beside the main effects.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        interactions: Vec<Effect>,
    },
    LatinHypercube {
        scenarios: u32,
    },
    /// From the first level of all factors, one factor changed at a time.
    OneAtATime,
    /// Written out by the user: levels in the order of the factors.
    List {
        scenarios: Vec<Vec<Level>>,
    },
}

impl Design {
    pub fn is_full(&self) -> bool {
        *self == Design::Full
    }

    /// As the study file has it.
    pub fn word(&self) -> &'static str {
        match self {
            Design::Full => "full",
            Design::TwoLevel => "two-level",
            Design::Fractional { .. } => "fractional",
            Design::PlackettBurman { .. } => "plackett-burman",
            Design::DOptimal { .. } => "d-optimal",
            Design::LatinHypercube { .. } => "latin-hypercube",
            Design::OneAtATime => "one-at-a-time",
            Design::List { .. } => "list",
        }
    }
}

/// `D = AB`: the sign of a factor is the product of the signs of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    pub factor: String,
    pub product: Effect,
    /// `D = −AB`: the other half.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negative: bool,
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "−" } else { "" };
        write!(f, "{} = {sign}{}", self.factor, self.product)
    }
}

/// The effect of one factor, or the interaction of several, by their names in the order of the
/// study.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Effect(pub Vec<String>);

impl Effect {
    pub fn is_main(&self) -> bool {
        self.0.len() == 1
    }
}

/// `network × image`.
impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" × "))
    }
}

/// What a set of scenarios can and cannot tell apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AliasTable {
    pub scenarios: usize,
    /// Of factors that vary: main effects first, then two-factor interactions unless there are too
    /// many to examine.
    pub effects: Vec<EffectAliases>,
    pub has_interactions: bool,
    /// Of a regular two-level fraction: the products that are constant, shortest first. Any effect
    /// times one of these is an alias of it, at every order.
    pub defining_words: Vec<Word>,
    /// Length of the shortest of these; of other two-level designs 3, where a main effect is
    /// correlated with an interaction. `None` where nothing up to two-factor interactions is
    /// aliased, or factors have more levels.
    pub resolution: Option<u32>,
    /// Of the main effects, beside a full factorial with as many scenarios (1); `None` where they
    /// cannot all be estimated.
    pub d_efficiency: Option<f64>,
}

impl AliasTable {
    pub fn of(&self, effect: &Effect) -> Option<&EffectAliases> {
        self.effects.iter().find(|row| row.effect == *effect)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectAliases {
    pub effect: Effect,
    /// Degrees of freedom it needs: the product of levels less one.
    pub contrasts: usize,
    pub estimable: Estimable,
    /// Main effects and interactions that are not orthogonal to it, the closest first.
    pub aliases: Vec<Alias>,
}

impl EffectAliases {
    /// Effects that cannot be distinguished from it, whatever is measured.
    pub fn inseparable(&self) -> impl Iterator<Item = &Effect> {
        let same = self.aliases.iter().filter(|alias| alias.is_complete());
        same.map(|alias| &alias.effect)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimable {
    /// Together with all main effects and all examined interactions.
    WithAll,
    /// Together with the main effects, if the (other) interactions are negligible.
    WithMainEffects,
    No,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alias {
    pub effect: Effect,
    /// Largest canonical correlation of the two: 1 where a contrast of one is a contrast of the
    /// other.
    pub correlation: f64,
}

impl Alias {
    /// What rounding leaves of a correlation of one.
    const ROUNDING: f64 = 1e-6;

    pub fn is_complete(&self) -> bool {
        self.correlation > 1.0 - Self::ROUNDING
    }
}

/// A product of factors whose sign is the same in all scenarios.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub effect: Effect,
    pub negative: bool,
}
