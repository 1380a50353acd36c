//! The content of a study file with its positions, before it is checked.

use model::study::{LogPattern, MeasureSettings};
use model::{Currency, ExchangeRate, Hosts, Level, Limits, Money, Price, RunSequence, Service};
use source::{Located, Span};

use crate::design::same_level;

#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) head: Head,
    pub(crate) factors: Vec<DraftFactor>,
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
        let values = match self.workload.as_ref()? {
            DraftWorkload::Train(train) => &train.values,
            DraftWorkload::Serve(serve) => &serve.values,
            DraftWorkload::Command(_) => return None,
        };
        values.iter().find(|v| v.field == field)
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
    pub(crate) exclude: Vec<DraftExclusion>,
}

/// `[scale.NAME]`: what takes the place of what the study says.
#[derive(Debug, Clone)]
pub(crate) struct DraftScale {
    pub(crate) name: Located<String>,
    pub(crate) repetitions: Option<Located<u32>>,
    pub(crate) values: Vec<FieldValue>,
    /// Of emulated serverless workers, in seconds.
    pub(crate) idle: Option<Located<f64>>,
    pub(crate) factors: Vec<DraftFactor>,
}

impl DraftScale {
    pub(super) fn is_empty(&self) -> bool {
        self.repetitions.is_none()
            && self.values.is_empty()
            && self.idle.is_none()
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

#[derive(Debug)]
pub(crate) struct DraftExclusion {
    pub(crate) span: Span,
    pub(crate) conditions: Vec<DraftCondition>,
}

#[derive(Debug)]
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

impl DraftTrain {
    pub(crate) fn value(&self, field: &str) -> Option<&FieldValue> {
        self.values.iter().find(|v| v.field == field)
    }
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
