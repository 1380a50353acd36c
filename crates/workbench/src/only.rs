//! `--only FACTOR=LEVEL,…`: the part of a study that runs on one of its machines.

use model::Study;
use runner::Only;

use crate::error::Error;

pub fn only(asked: &[String], study: &Study) -> Result<Vec<Only>, Error> {
    let mut all: Vec<Only> = Vec::new();
    for text in asked {
        let one = read_one(text, study)?;
        match all.iter_mut().find(|only| only.factor == one.factor) {
            Some(known) => known.levels.extend(one.levels),
            None => all.push(one),
        }
    }
    Ok(all)
}

fn read_one(text: &str, study: &Study) -> Result<Only, Error> {
    let wrong = |why: String| Error::bad_study(format!("--only {text}: {why}"));
    let Some((name, levels)) = text.split_once('=') else {
        return Err(wrong("not of the form FACTOR=LEVEL".to_owned()));
    };
    let Some(factor) = study.factors.iter().find(|f| f.name == name.trim()) else {
        let known: Vec<&str> = study.factors.iter().map(|f| f.name.as_str()).collect();
        return Err(wrong(format!(
            "the study has no factor `{}`; its factors are {}",
            name.trim(),
            known.join(", ")
        )));
    };
    let known: Vec<String> = factor.levels.iter().map(ToString::to_string).collect();
    // A level may have a comma of its own.
    let as_written = |asked: &str| {
        let same = |level: &&String| match (level.parse::<f64>(), asked.parse::<f64>()) {
            (Ok(level), Ok(asked)) => level == asked,
            _ => **level == asked,
        };
        known.iter().find(same).cloned()
    };
    let levels: Vec<String> = match known.iter().any(|level| level == levels.trim()) {
        true => vec![levels.trim().to_owned()],
        false => levels.split(',').map(|l| l.trim().to_owned()).collect(),
    };
    if let Some(unknown) = levels.iter().find(|level| as_written(level).is_none()) {
        return Err(wrong(format!(
            "`{}` has no level `{unknown}`; its levels are {}",
            factor.name,
            known.join(", ")
        )));
    }
    Ok(Only {
        factor: factor.name.clone(),
        levels: levels
            .iter()
            .filter_map(|level| as_written(level))
            .collect(),
    })
}
