//! Many questions of one study: one rate of false answers for all of them.

/// A question, with its share of the level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Probability of such data if the answer were "no difference".
    pub p: f64,
    /// Shares need not add up to one.
    pub share: f64,
    /// Whether a "yes" leaves nothing more to ask of it, so that its share may go to the others. A factor of
    /// three levels still has pairs to be asked about.
    pub is_all: bool,
}

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// Comparable with the level of the whole family.
    pub adjusted_p: f64,
    /// The level at which this question itself was asked.
    pub level: f64,
    pub is_yes: bool,
}

/// Holm's procedure with shares (Holm 1979, section 4): the probability of any false "yes" is at most `level`,
/// however many of the questions have "no" as their answer and however they depend on each other.
pub fn weighted_holm(questions: &[Question], level: f64) -> Vec<Answer> {
    let mut order: Vec<usize> = (0..questions.len()).collect();
    let rank = |place: &usize| questions[*place].p / questions[*place].share;
    order.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let none = Answer {
        adjusted_p: 1.0,
        level: 0.0,
        is_yes: false,
    };
    let mut answers = vec![none; questions.len()];
    let total: f64 = questions.iter().map(|question| question.share).sum();
    // Shares that no "yes" has freed yet, at this level, and at the one where all so far were a "yes".
    let (mut taken, mut taken_then) = (total, total);
    let mut largest: f64 = 0.0;
    let mut goes_on = true;
    for place in order {
        let question = questions[place];
        // Its own share is among those taken, but for rounding.
        let part = |taken: f64| question.share / taken.max(question.share);
        let own = level * part(taken);
        largest = largest.max(question.p / part(taken_then)).min(1.0);
        goes_on &= question.p <= own;
        answers[place] = Answer {
            adjusted_p: largest,
            level: own,
            is_yes: goes_on,
        };
        if question.is_all {
            taken_then -= question.share;
            taken = if goes_on { taken_then } else { taken };
        }
    }
    answers
}
