//! `--until RULE` and `--goal GOAL`: which runs are made, for this time.

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
    let text = until.to_string();
    plan::check_until(until, study)
        .map_err(|wrong| Error::mistakes("--until", &text, vec![*wrong]))?;
    study.until = Some(until.clone());
    Ok(())
}

pub fn set_goal(study: &mut Study, asked: Option<&str>) -> Result<(), Error> {
    let Some(text) = asked else { return Ok(()) };
    let goal = plan::read_goal(text, study);
    let goal = goal.map_err(|wrong| Error::mistakes("--goal", text, vec![*wrong]))?;
    study.goal = Some(goal);
    study.until = None;
    Ok(())
}
