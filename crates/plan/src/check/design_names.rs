//! Effects and generators as typed: by letters, `D=AB`, or by names, `batch=network*image`.

use diagnostics::{Diagnostic, Located, Problems};
use model::Factor;
use model::design::{Effect, Generator};

/// I is the mean in books, and no factor.
const LETTERS: &str = "ABCDEFGHJKLMNOPQRSTUVWXYZ";

/// Factors with several levels: those that letters stand for.
pub(super) struct Names {
    pub(super) varied: Vec<String>,
}

impl Names {
    pub(super) fn of(factors: &[Factor]) -> Names {
        let varied = factors.iter().filter(|f| f.levels.len() > 1);
        Names {
            varied: varied.map(|f| f.name.clone()).collect(),
        }
    }

    pub(super) fn generators(
        &self,
        typed: &[Located<String>],
        problems: &Problems,
    ) -> Option<Vec<Generator>> {
        let read = |text: &Located<String>| self.generator(text, problems);
        // All of them, so that all their mistakes are reported.
        let read: Vec<Option<Generator>> = typed.iter().map(read).collect();
        let generators: Vec<Generator> = read.into_iter().collect::<Option<_>>()?;
        let mut is_fine = true;
        for (place, (generator, text)) in generators.iter().zip(typed).enumerate() {
            let factor = &generator.factor;
            let mut earlier = generators[..place].iter().zip(typed);
            if let Some((_, first)) = earlier.find(|(g, _)| g.factor == *factor) {
                let twice = format!("`{factor}` is generated twice");
                let twice = Diagnostic::at(text.span.clone(), twice);
                problems.push(twice.other(first.span.clone(), "first here"));
                is_fine = false;
            }
            let is_generated = |name: &&String| generators.iter().any(|g| g.factor == **name);
            if let Some(name) = generator.product.0.iter().find(is_generated) {
                let message = format!("`{name}` is generated itself");
                let wrong = Diagnostic::at(text.span.clone(), message);
                problems.push(wrong.label("write the factors that it is a product of instead"));
                is_fine = false;
            }
        }
        is_fine.then_some(generators)
    }

    fn generator(&self, text: &Located<String>, problems: &Problems) -> Option<Generator> {
        let Some((factor, product)) = text.value.split_once('=') else {
            let message = format!("`{}` is not a generator", text.value);
            problems.push(Diagnostic::at(text.span.clone(), message).label("such as \"D=AB\""));
            return None;
        };
        let (negative, product) = match product.trim().strip_prefix(['-', '−']) {
            Some(rest) => (true, rest),
            None => (false, product),
        };
        let generated = self.factors(text, factor, problems)?;
        let [factor] = &generated[..] else {
            let message = "a generator is for one factor";
            problems.push(Diagnostic::at(text.span.clone(), message));
            return None;
        };
        Some(Generator {
            factor: self.varied[*factor].clone(),
            product: self.effect(text, product, problems)?,
            negative,
        })
    }

    /// A product of at least two factors, in the order of the study.
    pub(super) fn effect(
        &self,
        text: &Located<String>,
        product: &str,
        problems: &Problems,
    ) -> Option<Effect> {
        let mut places = self.factors(text, product, problems)?;
        let count = places.len();
        places.sort_unstable();
        places.dedup();
        if places.len() < count || count < 2 {
            let message = format!("`{}` is not a product of different factors", product.trim());
            let label = "such as \"AB\" or \"network*image\"";
            problems.push(Diagnostic::at(text.span.clone(), message).label(label));
            return None;
        }
        let names = places.iter().map(|place| self.varied[*place].clone());
        Some(Effect(names.collect()))
    }

    /// A name is a name before it is letters.
    fn factors(
        &self,
        text: &Located<String>,
        product: &str,
        problems: &Problems,
    ) -> Option<Vec<usize>> {
        let mut places = Vec::new();
        for word in product.split('*').map(str::trim) {
            let named = self.varied.iter().position(|name| name == word);
            let letter = |c: char| LETTERS.find(c).filter(|place| *place < self.varied.len());
            let letters = || word.chars().map(letter).collect::<Option<Vec<usize>>>();
            let found = named.map(|place| vec![place]).or_else(letters);
            let Some(found) = found.filter(|found| !found.is_empty()) else {
                problems.push(self.unknown(text, word));
                return None;
            };
            places.extend(found);
        }
        Some(places)
    }

    fn unknown(&self, text: &Located<String>, word: &str) -> Diagnostic {
        let known = self.varied.iter().map(String::as_str);
        let unknown = Diagnostic::unknown("factor", word, text.span.clone(), known);
        let letters = LETTERS.chars().zip(&self.varied);
        let letters: Vec<String> = letters.map(|(c, name)| format!("{c} = {name}")).collect();
        unknown.note(format!("by letters: {}", diagnostics::few_of(&letters)))
    }
}
