//! `bancada compare A B`: one sentence, and an exit code for continuous integration.

use std::path::{Path, PathBuf};

use analyse::{Analysis, CompareRequest, Compared, Side, Verdict};
use workbench::{ResultsRequest, open_results};

use crate::args::{CompareArgs, CompareFormat, Gate};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn compare(args: &CompareArgs, printer: &Printer) -> CommandResult {
    if args
        .margin
        .is_some_and(|margin| !(margin > 0.0 && margin <= 50.0))
    {
        return Err(Failure::wrong_arguments(
            "--margin takes a percentage above 0 and at most 50",
        ));
    }
    let first = Named::parse(&args.first);
    let second = Named::parse_after(&args.second, &first);
    let (a, margin) = analysis(&first.path, printer)?;
    let b = match second.path == first.path {
        true => None,
        false => Some(analysis(&second.path, printer)?.0),
    };
    let names = [first.name(&second), second.name(&first)];
    let request = CompareRequest {
        first: Side {
            name: &names[0],
            analysis: &a,
            scenario: first.scenario,
        },
        second: Side {
            name: &names[1],
            analysis: b.as_ref().unwrap_or(&a),
            scenario: second.scenario,
        },
        metric: args.metric.as_deref(),
        equal_within_percent: args.margin.unwrap_or(margin),
    };
    let compared = analyse::compare(&request).map_err(Failure::wrong_arguments)?;
    printer.data(&written(&compared, args.format)?);
    Ok(exit(&compared, args.gate))
}

/// A path, and a scenario of it.
struct Named {
    path: PathBuf,
    scenario: Option<u32>,
}

impl Named {
    /// `study.toml:C3`. A file of that very name is meant first.
    fn parse(typed: &Path) -> Self {
        let whole = || Named {
            path: typed.to_owned(),
            scenario: None,
        };
        let text = typed.to_string_lossy();
        match text.rsplit_once(':') {
            Some((path, scenario)) if !typed.exists() => Named {
                path: PathBuf::from(path),
                scenario: number(scenario),
            },
            _ => whole(),
        }
    }

    fn parse_after(typed: &Path, first: &Named) -> Self {
        match number(&typed.to_string_lossy()) {
            Some(scenario) if !typed.exists() => Named {
                path: first.path.clone(),
                scenario: Some(scenario),
            },
            _ => Named::parse(typed),
        }
    }

    /// As short as tells the two apart.
    fn name(&self, other: &Named) -> String {
        let stem = |path: &Path| {
            let name = path.file_stem().or(path.file_name()).unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let scenario = self.scenario.map(|number| format!("C{number}"));
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

fn number(word: &str) -> Option<u32> {
    word.trim_start_matches(':').strip_prefix('C')?.parse().ok()
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
    );
    match (gate, compared.is_worse) {
        (Some(_), Some(true)) => Exit::Worse,
        (Some(Gate::Unproven), _) if is_open => Exit::Worse,
        _ => Exit::Ok,
    }
}
