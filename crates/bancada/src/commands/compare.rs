//! `bancada compare A B`: one sentence, and an exit code for continuous integration.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use analyse::{Analysis, CompareRequest, Compared, ScenarioResult, Side, Verdict};
use workbench::{ResultsRequest, open_results};

use crate::args::{CompareArgs, CompareFormat, Gate};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

/// More are counted, not named.
const MOST_NAMED: usize = 6;

pub(super) fn compare(args: &CompareArgs, printer: &Printer) -> CommandResult {
    if args
        .margin
        .is_some_and(|margin| !(margin > 0.0 && margin <= 50.0))
    {
        return Err(Failure::wrong_arguments(
            "--margin takes a percentage above 0 and at most 50",
        ));
    }
    let (first, second) = sides(args)?;
    let (a, margin) = analysis(&first.path, printer)?;
    let b = match second.path == first.path {
        true => None,
        false => Some(analysis(&second.path, printer)?.0),
    };
    let names = [first.name(&second), second.name(&first)];
    let of_second = b.as_ref().unwrap_or(&a);
    let parts = match (first.part(&a), second.part(of_second)) {
        (Ok(first), Ok(second)) if first.names_as(&second) => [first, second],
        (Ok(_), Ok(_)) => {
            return Err(Failure::wrong_arguments(
                "both sides must be one scenario, or name levels of the same factors",
            ));
        }
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    let request = CompareRequest {
        first: Side {
            name: &names[0],
            analysis: &a,
            scenario: parts[0].number(),
            levels: parts[0].levels(),
        },
        second: Side {
            name: &names[1],
            analysis: of_second,
            scenario: parts[1].number(),
            levels: parts[1].levels(),
        },
        metric: args.metric.as_deref(),
        equal_within_percent: args.margin.unwrap_or(margin),
    };
    let compared = analyse::compare(&request).map_err(Failure::wrong_arguments)?;
    printer.data(&written(&compared, args.format)?);
    Ok(exit(&compared, args.gate))
}

fn sides(args: &CompareArgs) -> Result<(Named, Named), Failure> {
    let (first, second) = match &args.third {
        // `STUDY C1 C2`
        Some(third) => {
            let study = Named::parse(&args.first);
            let sides = (study.with(&args.second), study.with(third));
            match (study.scenario, sides) {
                (None, (Some(first), Some(second))) => (first, second),
                _ => {
                    return Err(Failure::wrong_arguments(
                        "with three names, the first is a study and the others are its scenarios: bancada compare STUDY C1 C2",
                    ));
                }
            }
        }
        None => {
            let first = Named::parse(&args.first);
            let second = first.with(&args.second);
            let second = second.unwrap_or_else(|| Named::parse(&args.second));
            (first, second)
        }
    };
    if !first.path.exists() && Scenario::parse(&args.first.to_string_lossy()).is_some() {
        return Err(Failure::wrong_arguments(format!(
            "{} is a scenario, but of which study? bancada compare STUDY {0} {}",
            args.first.display(),
            args.second.display()
        )));
    }
    if first.path == second.path && first.scenario == second.scenario && first.scenario.is_none() {
        return Err(Failure::wrong_arguments(format!(
            "both sides are {}: add scenarios (bancada compare {0} C1 C2), or keep a copy of the earlier results and compare the folders",
            first.path.display()
        )));
    }
    Ok((first, second))
}

/// A path, and a scenario of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    path: PathBuf,
    scenario: Option<Scenario>,
}

/// As it is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Scenario {
    /// `C3`
    Number(u32),
    /// `batch=32,image=64`: factors and levels.
    Levels(Vec<(String, String)>),
}

impl Scenario {
    fn parse(word: &str) -> Option<Scenario> {
        let word = word.trim_start_matches(':');
        let number = word.strip_prefix(['C', 'c']);
        if let Some(number) = number.and_then(|number| number.parse().ok()) {
            return Some(Scenario::Number(number));
        }
        let level = |part: &str| {
            let (factor, level) = part.split_once('=')?;
            Some((factor.trim().to_owned(), level.trim().to_owned()))
        };
        let levels: Option<Vec<_>> = word.split(',').map(level).collect();
        levels.map(Scenario::Levels)
    }

    fn has(&self, scenario: &ScenarioResult) -> bool {
        match self {
            Scenario::Number(number) => scenario.number == *number,
            Scenario::Levels(levels) => levels.iter().all(|(factor, level)| {
                let found = scenario.level(factor);
                found.is_some_and(|found| found.level == *level)
            }),
        }
    }
}

/// What of a study is compared.
enum Part<'a> {
    All,
    One(u32),
    /// Several scenarios, each with the one of the other side that differs in nothing else.
    Levels(&'a [(String, String)]),
}

impl<'a> Part<'a> {
    fn number(&self) -> Option<u32> {
        match self {
            Part::One(number) => Some(*number),
            Part::All | Part::Levels(_) => None,
        }
    }

    fn levels(&self) -> &'a [(String, String)] {
        match self {
            Part::Levels(levels) => levels,
            Part::All | Part::One(_) => &[],
        }
    }

    /// Whether scenarios that are known by their levels have counterparts.
    fn names_as(&self, other: &Part) -> bool {
        let factors = |part: &Part| {
            let levels = part.levels().iter();
            levels
                .map(|(factor, _)| factor.clone())
                .collect::<BTreeSet<_>>()
        };
        factors(self) == factors(other)
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scenario::Number(number) => write!(f, "C{number}"),
            Scenario::Levels(levels) => {
                let levels: Vec<String> = levels.iter().map(|(f, l)| format!("{f}={l}")).collect();
                f.write_str(&levels.join(","))
            }
        }
    }
}

impl Named {
    /// `study.toml:C3`. A file of that very name is meant first.
    fn parse(typed: &Path) -> Self {
        let text = typed.to_string_lossy();
        let parts = text.rsplit_once(':').filter(|_| !typed.exists());
        match parts.map(|(path, scenario)| (path, Scenario::parse(scenario))) {
            Some((path, Some(scenario))) => Named {
                path: existing(Path::new(path)),
                scenario: Some(scenario),
            },
            _ => Named {
                path: existing(typed),
                scenario: None,
            },
        }
    }

    /// A scenario of the same study, where the word is one.
    fn with(&self, typed: &Path) -> Option<Named> {
        let scenario = Scenario::parse(&typed.to_string_lossy());
        let scenario = scenario.filter(|_| !typed.exists())?;
        Some(Named {
            path: self.path.clone(),
            scenario: Some(scenario),
        })
    }

    fn part(&self, analysis: &Analysis) -> Result<Part<'_>, Failure> {
        let Some(wanted) = &self.scenario else {
            return Ok(Part::All);
        };
        let found = analysis.scenarios.iter().filter(|s| wanted.has(s));
        let found: Vec<&ScenarioResult> = found.collect();
        let labels = |of: &[&ScenarioResult]| {
            let labels: Vec<String> = of
                .iter()
                .map(|s| match s.phrase() {
                    levels if levels.is_empty() => s.label.clone(),
                    levels => format!("{} ({levels})", s.label),
                })
                .collect();
            report::format::listed(&labels, MOST_NAMED)
        };
        let path = self.path.display();
        match found.as_slice() {
            [one] => Ok(Part::One(one.number)),
            [] => {
                let all: Vec<&ScenarioResult> = analysis.scenarios.iter().collect();
                Err(Failure::wrong_arguments(format!(
                    "{path} has no scenario {wanted}: it has {}",
                    labels(&all)
                )))
            }
            _ => match wanted {
                Scenario::Levels(levels) => Ok(Part::Levels(levels)),
                Scenario::Number(number) => Ok(Part::One(*number)),
            },
        }
    }

    /// As short as tells the two apart.
    fn name(&self, other: &Named) -> String {
        let stem = |path: &Path| {
            let name = path.file_stem().or(path.file_name()).unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let scenario = self.scenario.as_ref().map(Scenario::to_string);
        match scenario {
            Some(scenario) if self.path == other.path => scenario,
            _ => {
                let (own, others) = (stem(&self.path), stem(&other.path));
                let own = match own == others {
                    true => self.path.display().to_string(),
                    false => own,
                };
                [Some(own), scenario]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" ")
            }
        }
    }
}

/// A study may be named without its `.toml`, results without their folder `results`.
fn existing(typed: &Path) -> PathBuf {
    let mut file = typed.as_os_str().to_owned();
    file.push(".toml");
    let candidates = [
        typed.to_owned(),
        PathBuf::from(file),
        Path::new("results").join(typed),
    ];
    let found = candidates.into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| typed.to_owned())
}

fn analysis(path: &Path, printer: &Printer) -> Result<(Analysis, f64), Failure> {
    let tell = printer.teller();
    let request = ResultsRequest {
        study: path,
        out: None,
        scale: None,
    };
    let results = open_results(request, &tell)?;
    let analysis = workbench::analyse(&results, None, &tell)?;
    Ok((analysis, results.study.equal_within()))
}

fn written(compared: &Compared, format: CompareFormat) -> Result<String, Failure> {
    Ok(match format {
        CompareFormat::Json => serde_json::to_string_pretty(compared).map_err(Failure::trouble)?,
        CompareFormat::Markdown => report::compared_markdown(compared),
        CompareFormat::Text => {
            let scenarios = compared.scenarios.iter().map(|scenario| {
                let levels = analyse::LevelFacts::phrase_of(&scenario.levels);
                format!("  {levels}: {}", scenario.sentence)
            });
            let sentences = compared.sentences.iter().cloned();
            sentences.chain(scenarios).collect::<Vec<_>>().join("\n")
        }
    })
}

fn exit(compared: &Compared, gate: Option<Gate>) -> Exit {
    let is_open = matches!(
        compared.verdict,
        Verdict::Inconclusive | Verdict::NotEstimable
    ) || compared.may_fail_more;
    match (gate, compared.is_worse) {
        (Some(_), Some(true)) => Exit::Worse,
        (Some(Gate::Unproven), None) if is_open => Exit::Worse,
        _ => Exit::Ok,
    }
}
