//! Whether what the factors leave looks like noise, in a sentence.

use messages::message;
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
        result.residuals = message!("residuals-unchecked");
        return;
    };
    let check = stats::check_residuals(residuals);
    let outliers = check.outliers.iter().filter_map(|index| rows.get(*index));
    result.outliers = outliers.map(|r| r.record.run).collect();
    let mut wrong: Vec<String> = Vec::new();
    if !result.outliers.is_empty() {
        let names: Vec<String> = result.outliers.iter().map(RunId::to_string).collect();
        wrong.push(message!(
            "residuals-far",
            names = format::listed(&names, 4),
            count = names.len()
        ));
    }
    if check.spread_p.is_some_and(|p| p < 0.01) {
        wrong.push(message!("residuals-unequal"));
    }
    if check.normality_p.is_some_and(|p| p < 0.01) {
        wrong.push(message!("residuals-skewed"));
    }
    let few = residuals.degrees_of_freedom < FEWEST;
    result.residuals_fine = (!few || !check.fine).then_some(check.fine);
    if wrong.is_empty() && !check.fine {
        wrong.push(message!("residuals-not-random"));
    }
    let is_clean = wrong.is_empty();
    let wrong = format::listed(&wrong, 3);
    result.residuals = match (check.fine, is_clean) {
        (true, true) if few => message!("residuals-few"),
        (true, true) => message!("residuals-fine"),
        (true, false) => message!("residuals-fine-though", wrong),
        (false, _) => message!("residuals-not-fine", wrong),
    };
}
