//! `--until RULE`: the study's `until`, for this time.

use model::{Study, Until};

use crate::error::Error;

pub fn set_until(study: &mut Study, asked: Option<&Until>) -> Result<(), Error> {
    let Some(until) = asked else { return Ok(()) };
    if study.repetitions <= Until::MINIMUM {
        return Err(Error::bad_study(format!(
            "--until {until} needs more than {} repetitions to choose from, but the study has {}: set `repetitions` to the maximum, such as 10",
            Until::MINIMUM,
            study.repetitions
        )));
    }
    study.until = Some(until.clone());
    Ok(())
}
