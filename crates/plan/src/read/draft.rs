//! The content of a study file with its positions, before it is checked.

use diagnostics::{Located, Span};
use model::run::metric::Runs;
use model::study::{LogPattern, MeasureSettings};
use model::{
    CarbonIntensity, Currency, ExchangeRate, Hosts, Level, Limits, Location, Money, PowerModel,
    Price, Role, RunSequence, Service, Until,
};

use crate::field::Field;
use crate::placeholder::{Piece, pieces};
use crate::scenarios::same_level;
use crate::{serve, train};

#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) head: Head,
    pub(crate) factors: Vec<DraftFactor>,
    pub(crate) design: DraftDesign,
    /// `None` if it is missing or says nothing that can be run.
    pub(crate) workload: Option<DraftWorkload>,
    pub(crate) environments: Vec<DraftEnvironment>,
    pub(crate) rates: Vec<ExchangeRate>,
    pub(crate) measure: MeasureSettings,
    pub(crate) import: Option<DraftImport>,
    pub(crate) scales: Vec<DraftScale>,
}

impl Draft {
    pub(crate) fn factor(&self, name: &str) -> Option<&DraftFactor> {
        self.factors.iter().find(|f| f.name.value == name)
    }

    /// What `[workload]` sets, of a workload that has settings.
    pub(crate) fn value(&self, field: &str) -> Option<&FieldValue> {
        let values = self.workload.as_ref()?.values();
        values.iter().find(|v| v.field == field)
    }

    /// Of a factor, or the one that `[workload]` sets.
    pub(crate) fn levels(&self, field: &str) -> Vec<&Level> {
        let levels = match self.factor(field) {
            Some(factor) => factor.levels.iter().collect(),
            None => Vec::from_iter(self.value(field).map(|value| &value.level)),
        };
        levels.into_iter().map(|level| &level.value).collect()
    }

    /// Where a field is set: the factor's name, or the value.
    pub(crate) fn place(&self, field: &str) -> Option<Span> {
        match (self.factor(field), self.value(field)) {
            (Some(factor), _) => Some(factor.name.span.clone()),
            (None, value) => value.map(|value| value.level.span.clone()),
        }
    }

    pub(crate) fn train(&self) -> Option<&DraftTrain> {
        match &self.workload {
            Some(DraftWorkload::Train(train)) => Some(train),
            _ => None,
        }
    }
}

/// `[study]`.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) name: Option<Located<String>>,
    pub(crate) objective: Option<String>,
    pub(crate) repetitions: Option<Located<u32>>,
    pub(crate) seed: Option<u64>,
    pub(crate) order: Option<RunSequence>,
    pub(crate) budget: Option<Located<Money>>,
    pub(crate) currency: Option<Currency>,
    pub(crate) metrics: Vec<Located<String>>,
    pub(crate) target_accuracy: Option<f64>,
    pub(crate) roles: Vec<(Located<String>, Role)>,
    pub(crate) equal_within: Option<f64>,
    pub(crate) pareto: Vec<Located<String>>,
    pub(crate) carbon: Option<CarbonIntensity>,
    pub(crate) until: Option<Located<Until>>,
    pub(crate) exclude: Vec<DraftExclusion>,
}

/// `[design]`.
#[derive(Debug, Clone)]
pub(crate) struct DraftDesign {
    pub(crate) kind: Located<&'static str>,
    /// The two levels of factors for which they are not the extremes.
    pub(crate) levels: Vec<DraftFactor>,
    pub(crate) generators: Vec<Located<String>>,
    pub(crate) resolution: Option<Located<i64>>,
    pub(crate) scenarios: Option<Located<i64>>,
    pub(crate) interactions: Vec<Located<String>>,
    /// Scenarios written out, as exclusions are.
    pub(crate) list: Vec<DraftExclusion>,
}

impl Default for DraftDesign {
    fn default() -> Self {
        DraftDesign {
            kind: Located::new("full", 0..0),
            levels: Vec::new(),
            generators: Vec::new(),
            resolution: None,
            scenarios: None,
            interactions: Vec::new(),
            list: Vec::new(),
        }
    }
}

/// `[scale.NAME]`: what takes the place of what the study says.
#[derive(Debug, Clone)]
pub(crate) struct DraftScale {
    pub(crate) name: Located<String>,
    pub(crate) repetitions: Option<Located<u32>>,
    pub(crate) values: Vec<FieldValue>,
    /// Of emulated serverless workers, in seconds.
    pub(crate) idle: Option<Located<f64>>,
    /// All runs happen on this machine.
    pub(crate) here: bool,
    pub(crate) factors: Vec<DraftFactor>,
}

impl DraftScale {
    pub(super) fn is_empty(&self) -> bool {
        self.repetitions.is_none()
            && self.values.is_empty()
            && self.idle.is_none()
            && !self.here
            && self.factors.is_empty()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct DraftFactor {
    pub(crate) name: Located<String>,
    pub(crate) levels: Vec<Located<Level>>,
}

impl DraftFactor {
    pub(crate) fn find(&self, level: &Level) -> Option<&Located<Level>> {
        self.levels.iter().find(|l| same_level(&l.value, level))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct DraftExclusion {
    pub(crate) span: Span,
    pub(crate) conditions: Vec<DraftCondition>,
}

#[derive(Debug, Clone)]
pub(crate) struct DraftCondition {
    pub(crate) factor: Located<String>,
    /// Any of these.
    pub(crate) levels: Vec<Located<Level>>,
}

#[derive(Debug)]
pub(crate) enum DraftWorkload {
    Train(DraftTrain),
    Serve(DraftServe),
    Command(DraftCommand),
}

/// What the checks ask of any kind of workload.
impl DraftWorkload {
    /// The settings that factors can vary; `None` for a command, which takes any factor as a
    /// placeholder.
    pub(crate) fn fields(&self) -> Option<&'static [Field]> {
        match self {
            DraftWorkload::Train(_) => Some(train::FIELDS),
            DraftWorkload::Serve(_) => Some(serve::FIELDS),
            DraftWorkload::Command(_) => None,
        }
    }

    /// The settings that the study file gives.
    pub(super) fn values_mut(&mut self) -> Option<&mut Vec<FieldValue>> {
        match self {
            DraftWorkload::Train(train) => Some(&mut train.values),
            DraftWorkload::Serve(serve) => Some(&mut serve.values),
            DraftWorkload::Command(_) => None,
        }
    }

    fn values(&self) -> &[FieldValue] {
        match self {
            DraftWorkload::Train(train) => &train.values,
            DraftWorkload::Serve(serve) => &serve.values,
            DraftWorkload::Command(_) => &[],
        }
    }

    /// What it does, in messages.
    pub(crate) fn activity(&self) -> &'static str {
        match self {
            DraftWorkload::Train(_) => "training",
            DraftWorkload::Serve(_) => "serving",
            DraftWorkload::Command(_) => "command",
        }
    }

    /// Runs whose metrics it never has.
    pub(crate) fn other_runs(&self) -> Option<Runs> {
        match self {
            DraftWorkload::Train(_) => Some(Runs::Serving),
            DraftWorkload::Serve(_) => Some(Runs::Training),
            DraftWorkload::Command(_) => None,
        }
    }

    /// Whether the user's own program has a placeholder of this name.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        match self {
            DraftWorkload::Serve(serve) => serve.command.mentions(name),
            _ => false,
        }
    }
}

#[derive(Debug)]
pub(crate) struct DraftTrain {
    pub(crate) span: Span,
    pub(crate) values: Vec<FieldValue>,
    pub(crate) keep_model: Option<bool>,
}

#[derive(Debug)]
pub(crate) struct DraftServe {
    pub(crate) span: Span,
    pub(crate) values: Vec<FieldValue>,
    /// The user's own server, for the stack of that name.
    pub(crate) command: DraftCommand,
}

#[derive(Debug, Clone)]
pub(crate) struct FieldValue {
    pub(crate) field: &'static str,
    pub(crate) level: Located<Level>,
}

#[derive(Debug)]
pub(crate) struct DraftCommand {
    pub(crate) span: Span,
    pub(crate) command: Vec<Located<String>>,
    pub(crate) env: Vec<DraftVariable>,
    pub(crate) directory: Option<Located<String>>,
    pub(crate) log: Vec<LogPattern>,
    pub(crate) inputs: Vec<Located<String>>,
}

impl DraftCommand {
    /// Whether it has a placeholder for this factor.
    pub(crate) fn mentions(&self, factor: &str) -> bool {
        let variables = self.env.iter().map(|v| &v.value);
        let mut texts = self.command.iter().chain(variables);
        texts.any(|text| {
            let pieces = pieces(&text.value, |name| name == factor);
            pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Placeholder { name, .. } if *name == factor))
        })
    }

    /// Of a study that holds measurements only.
    pub(super) fn nothing() -> Self {
        DraftCommand {
            span: 0..0,
            command: Vec::new(),
            env: Vec::new(),
            directory: None,
            log: Vec::new(),
            inputs: Vec::new(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct DraftVariable {
    pub(crate) name: String,
    pub(crate) value: Located<String>,
}

#[derive(Debug)]
pub(crate) struct DraftEnvironment {
    pub(crate) name: Located<String>,
    pub(crate) price: Option<Price>,
    pub(crate) limits: Limits,
    pub(crate) device: Option<String>,
    pub(crate) service: Option<Located<Service>>,
    pub(crate) hosts: Option<Located<Hosts>>,
    pub(crate) location: Location,
    pub(crate) power: Option<PowerModel>,
    pub(crate) carbon: Option<CarbonIntensity>,
}

/// `[import]`. What has no place here cannot be wrong once it is read.
#[derive(Debug, Default)]
pub(crate) struct DraftImport {
    pub(crate) factors: Vec<DraftColumn>,
    pub(crate) metrics: Vec<DraftColumn>,
    pub(crate) levels: Vec<DraftConstant>,
    pub(crate) file_pattern: Option<Located<String>>,
    pub(crate) row: Option<&'static str>,
    pub(crate) repetition: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) started: Option<String>,
    pub(crate) delimiter: Option<char>,
    pub(crate) decimal_mark: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct DraftColumn {
    pub(crate) column: String,
    pub(crate) means: Located<String>,
}

#[derive(Debug)]
pub(crate) struct DraftConstant {
    pub(crate) factor: Located<String>,
    pub(crate) level: Located<Level>,
}
