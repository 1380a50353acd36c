//! The prices that this machine knows.

use cost::Catalog;
use fetch::prices::Loaded;
use frameworks::Home;
use model::{Price, Study, Timestamp};

use crate::Tell;
use crate::error::Error;

/// The refreshed prices over those that came with the program.
pub fn catalog(tell: Tell<'_>) -> Catalog {
    let Ok(home) = Home::find() else {
        // Without a place for a cache nothing was ever refreshed.
        return cost::catalog().clone();
    };
    let loaded = fetch::prices::load(home.path());
    tell_left_out(&loaded, tell);
    loaded.catalog
}

/// `0.526 USD/h`, or a name of the catalog.
pub fn price_as_typed(text: &str, tell: Tell<'_>) -> Result<Price, Error> {
    if text.contains(char::is_whitespace) {
        let per_hour = plan::price_per_hour(text).map_err(Error::bad_study)?;
        return Ok(Price::typed_in(per_hour));
    }
    let price = catalog(tell).price(text);
    price.map_err(|error| Error::bad_study(error.to_string()))
}

/// What is wrong with the refreshed prices; what is right of them is used.
pub fn tell_left_out(loaded: &Loaded, tell: Tell<'_>) {
    if let Some(problem) = &loaded.problem {
        tell(&format!(
            "! The updated prices cannot be read ({problem}): using those that come with bancada. bancada price update downloads them again."
        ));
    }
    for (reason, left_out) in loaded.left_out.iter() {
        let example = left_out.examples.first().map_or("", String::as_str);
        tell(&format!(
            "! {} of the updated prices skipped: {reason} ({example})",
            report::format::counted(left_out.count as usize, "row", "rows"),
        ));
    }
}

/// `2026-11-18`.
pub fn today() -> String {
    Timestamp::now().to_string().chars().take(10).collect()
}

/// Prices of the catalog change several times a year: who plans by old ones is told.
pub fn age_note(study: &Study) -> Option<String> {
    const OLD_DAYS: i64 = 180;
    let today = today();
    let prices = study.environments.iter().filter_map(|e| e.price.as_ref());
    let dates = prices.flat_map(|price| price.all_sizes());
    let dates = dates.filter(|price| price.machine.contains('/'));
    let oldest = dates.map(|price| price.date.as_str()).min()?;
    let is_old = fetch::prices::age_days(oldest, &today).is_some_and(|days| days >= OLD_DAYS);
    is_old.then(|| {
        format!(
            "  ! The prices are {} (read {oldest}): `bancada price update` fetches today's",
            fetch::prices::age(oldest, &today)
        )
    })
}
