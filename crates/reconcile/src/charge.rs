//! One row of a provider's bill, whatever the format it came in.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use model::{Currency, Money};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq)]
pub struct Charge<'r> {
    /// Of the file, counted from 1.
    pub line: u64,
    pub provider: Provider,
    /// `Usage`, `Tax`, `Credit`, in the provider's word.
    pub kind: Cow<'r, str>,
    pub service: Cow<'r, str>,
    /// What was counted: a meter's name, AWS's usage type.
    pub meter: Cow<'r, str>,
    /// The family the meter is of.
    pub meter_kind: Cow<'r, str>,
    pub sku: Cow<'r, str>,
    pub description: Cow<'r, str>,
    /// A machine type, where the row names one by itself.
    pub machine: Cow<'r, str>,
    pub region: Cow<'r, str>,
    pub resource: Cow<'r, str>,
    /// What holds resources that belong together: Azure's resource group, else the account or
    /// project.
    pub scope: Cow<'r, str>,
    pub time: Option<Interval>,
    /// Machine time, where the quantity is one.
    pub seconds: Option<Decimal>,
    pub cost: Decimal,
    pub currency: Currency,
    /// What is taken off (negative) in the same row.
    pub credits: Decimal,
    /// Cost less quantity × unit price, where that is the rounding of an amount.
    pub rounding: Decimal,
    /// The cost in the currency of the price list, where the bill was converted and says how.
    pub list_cost: Option<Money>,
    /// Whether the row carries the tag that was requested.
    pub tagged: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// Milliseconds since 1970, UTC.
    pub start_ms: i64,
    pub end_ms: i64,
}

impl Interval {
    pub(crate) fn with(self, other: Interval) -> Interval {
        Interval {
            start_ms: self.start_ms.min(other.start_ms),
            end_ms: self.end_ms.max(other.end_ms),
        }
    }

    pub(crate) fn with_other(self, other: Option<Interval>) -> Interval {
        other.map_or(self, |other| self.with(other))
    }

    pub(crate) fn meets(self, other: Interval) -> bool {
        self.start_ms < other.end_ms && other.start_ms < self.end_ms
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    Aws,
    Azure,
    Google,
    Other,
}

impl Provider {
    /// As catalogs (`gcp`, `sagemaker`) and bills (`Amazon Web Services`) call them.
    pub fn of_name(name: &str) -> Provider {
        let has = |word: &str| contains(name.as_bytes(), word.as_bytes());
        if has("aws") || has("amazon") || has("sagemaker") {
            Provider::Aws
        } else if has("azure") || has("microsoft") {
            Provider::Azure
        } else if has("google") || has("gcp") {
            Provider::Google
        } else {
            Provider::Other
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Provider::Aws => "aws",
            Provider::Azure => "azure",
            Provider::Google => "gcp",
            Provider::Other => "other",
        }
    }
}

/// `bancada=training-cost`: what marks the resources of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tag {
    pub key: String,
    pub value: String,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl FromStr for Tag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => Ok(Tag {
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
            _ => Err(format!("`{text}` is not a tag such as project=thesis")),
        }
    }
}

/// Whether a text has a word in it, whatever the case of ASCII letters.
pub(crate) fn contains(text: &[u8], word: &[u8]) -> bool {
    let Some(&first) = word.first() else {
        return true;
    };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text).any(|at| {
        text.get(at..at + word.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(word))
    })
}
