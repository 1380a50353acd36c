//! Whether what the factors leave looks like noise, in a sentence.

use model::RunId;

use crate::decides::Variation;
use crate::table::Row;
use crate::words::format;

/// Of fewer values nothing can be said.
const FEWEST: usize = 8;

pub(crate) fn check(
    result: &mut Variation,
    rows: &[&Row],
    residuals: &Result<stats::Residuals, stats::StatsError>,
) {
    let Ok(residuals) = residuals else {
        result.residuals =
            "The model fit could not be checked: there are too few repetitions.".to_owned();
        return;
    };
    let check = stats::check_residuals(residuals);
    let outliers = check.outliers.iter().filter_map(|index| rows.get(*index));
    result.outliers = outliers.map(|r| r.record.run).collect();
    let mut wrong: Vec<String> = Vec::new();
    if !result.outliers.is_empty() {
        let names: Vec<String> = result.outliers.iter().map(RunId::to_string).collect();
        wrong.push(format!("{} far from the other repetitions", are(&names)));
    }
    if check.spread_p.is_some_and(|p| p < 0.01) {
        wrong.push("some scenarios vary much more than others".to_owned());
    }
    if check.normality_p.is_some_and(|p| p < 0.01) {
        wrong.push("residuals are skewed or heavy-tailed".to_owned());
    }
    let few = residuals.degrees_of_freedom < FEWEST;
    result.residuals_fine = (!few || !check.fine).then_some(check.fine);
    result.residuals = match (check.fine, wrong.is_empty()) {
        (true, true) if few => {
            "There are too few repetitions to check whether residuals look random.".to_owned()
        }
        (true, true) => "Residuals fine: they look random.".to_owned(),
        (true, false) => format!("Residuals fine, though {}.", wrong.join(" and ")),
        (false, _) => format!(
            "Residuals not fine: {}. All runs are included; the tests do not suppose equal spread, and intervals are as wide as the spread of their own scenarios makes them.",
            match wrong.is_empty() {
                true => "they do not look random".to_owned(),
                false => wrong.join(" and "),
            }
        ),
    };
}

fn are(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", format::listed(names, 4))
}
