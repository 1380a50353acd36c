//! Catalogs as text: comma-separated, one row per machine, region and currency. The embedded one,
//! the updated one and a user's own have this format.

use model::{Currency, KnownDate, Money};
use rust_decimal::Decimal;

use super::{Architecture, Catalog, CatalogEntry, Gpu, Quote, Reason, Shape, Tally};
use crate::currency::known_currency;

pub(super) const COLUMNS: [&str; 16] = [
    "provider",
    "machine",
    "region",
    "vcpus",
    "memory_gib",
    "gpu",
    "gpus",
    "gpu_memory_gib",
    "architecture",
    "currency",
    "on_demand",
    "on_demand_source",
    "on_demand_date",
    "spot",
    "spot_source",
    "spot_date",
];

/// Lines that begin with it are for people.
const COMMENT: u8 = b'#';

/// What a file gave, and what of it was left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CatalogFile {
    pub catalog: Catalog,
    pub left_out: Tally,
}

impl Catalog {
    /// `name` is how messages call the file. A row that is wrong is left out and counted; a
    /// heading that is wrong leaves out all.
    pub fn parse(name: &str, text: &str) -> CatalogFile {
        let mut read = CatalogFile::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .comment(Some(COMMENT))
            .from_reader(text.as_bytes());
        let is_whole = |headers: &csv::StringRecord| headers.iter().eq(COLUMNS);
        if !reader.headers().is_ok_and(is_whole) {
            read.left_out.count(Reason::Malformed, || {
                format!("{name}:1: the first line must be {}", COLUMNS.join(","))
            });
            return read;
        }
        let mut record = csv::StringRecord::new();
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    read.left_out
                        .count(Reason::Malformed, || format!("{name}: {error}"));
                    break;
                }
            }
            match Row(&record).entry() {
                Ok(entry) => read.catalog.entries.push(entry),
                Err((reason, said)) => {
                    let line = record.position().map_or(0, |at| {
                        diagnostics::row_line(text, at.byte(), at.line(), Some(COMMENT))
                    });
                    let machine = record.get(1).unwrap_or_default();
                    read.left_out
                        .count(reason, || format!("{name}:{line}: {machine}: {said}"));
                }
            }
        }
        read
    }
}

/// Why a row is left out, and what it says.
type Wrong = (Reason, String);

struct Row<'r>(&'r csv::StringRecord);

/// What the price in a column is called in the two after it.
const ON_DEMAND: usize = 10;
const SPOT: usize = 13;

impl Row<'_> {
    fn cell(&self, column: usize) -> &str {
        self.0.get(column).unwrap_or_default()
    }

    fn entry(&self) -> Result<CatalogEntry, Wrong> {
        if self.0.len() != COLUMNS.len() {
            let said = format!("{} cells, expected {}", self.0.len(), COLUMNS.len());
            return Err((Reason::TooFewCells, said));
        }
        let named = |column: usize| match self.cell(column) {
            "" => Err((Reason::NoMachine, format!("`{}` is empty", COLUMNS[column]))),
            text => Ok(text.to_owned()),
        };
        let (provider, machine, region) = (named(0)?, named(1)?, named(2)?);
        let currency =
            known_currency(self.cell(9)).map_err(|said| (Reason::UnknownCurrency, said))?;
        let (on_demand, spot) = (
            self.quote(ON_DEMAND, currency)?,
            self.quote(SPOT, currency)?,
        );
        if on_demand.is_none() && spot.is_none() {
            return Err((Reason::ZeroPrice, "no price".to_owned()));
        }
        Ok(CatalogEntry {
            provider,
            machine,
            region,
            shape: self.shape()?,
            on_demand,
            spot,
        })
    }

    fn shape(&self) -> Result<Shape, Wrong> {
        let gpu = match self.cell(5) {
            "" => None,
            kind => Some(Gpu {
                kind: kind.to_owned(),
                count: self.positive(6)?,
                memory_gib: self.positive(7)?,
            }),
        };
        Ok(Shape {
            vcpus: self.positive(3)?,
            memory_gib: self.positive(4)?,
            gpu,
            architecture: match self.cell(8) {
                "" => None,
                word => Some(Architecture::parse(word).ok_or_else(|| {
                    let said = format!("architecture `{word}` is neither x86-64 nor arm64");
                    (Reason::Malformed, said)
                })?),
            },
        })
    }

    /// Empty is unknown; so is 0.
    fn positive(&self, column: usize) -> Result<Option<Decimal>, Wrong> {
        let text = self.cell(column);
        let what = COLUMNS[column];
        match text.parse::<Decimal>() {
            _ if text.is_empty() => Ok(None),
            Ok(value) if value.is_sign_negative() && !value.is_zero() => {
                Err((Reason::Negative, format!("`{what}` is {text}")))
            }
            Ok(value) => Ok(Some(value).filter(|value| !value.is_zero())),
            Err(_) => {
                let said = format!("`{what}` is `{text}`, expected a decimal number");
                Err((Reason::NotANumber, said))
            }
        }
    }

    fn quote(&self, column: usize, currency: Currency) -> Result<Option<Quote>, Wrong> {
        let Some(amount) = self.positive(column)? else {
            return Ok(None);
        };
        let (source, date) = (self.cell(column + 1), self.cell(column + 2));
        if date.parse::<KnownDate>().is_err() || source.is_empty() {
            let said = format!(
                "`{}` has the source `{source}` and the date `{date}`: both are required, the date as 2026-08-22",
                COLUMNS[column]
            );
            return Err((Reason::BadDate, said));
        }
        Ok(Some(Quote {
            per_hour: Money::new(amount, currency),
            source: source.to_owned(),
            date: date.to_owned(),
        }))
    }
}

/// In the format that [`Catalog::parse`] reads.
pub fn write_catalog(catalog: &Catalog) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    _ = writer.write_record(COLUMNS);
    let number = |value: Option<Decimal>| value.map(|v| v.normalize().to_string());
    for entry in &catalog.entries {
        let CatalogEntry { shape, .. } = entry;
        let gpu = shape.gpu.as_ref();
        let quote = |quote: Option<&Quote>| match quote {
            Some(quote) => [
                quote.per_hour.amount.normalize().to_string(),
                quote.source.clone(),
                quote.date.clone(),
            ],
            None => Default::default(),
        };
        let numbers = [
            number(shape.vcpus),
            number(shape.memory_gib),
            gpu.map(|gpu| gpu.kind.clone()),
            number(gpu.and_then(|gpu| gpu.count)),
            number(gpu.and_then(|gpu| gpu.memory_gib)),
            shape.architecture.map(|a| a.word().to_owned()),
            entry.currency().map(|c| c.to_string()),
        ];
        let names = [&entry.provider, &entry.machine, &entry.region].map(String::as_str);
        let (on_demand, spot) = (quote(entry.on_demand.as_ref()), quote(entry.spot.as_ref()));
        let cells = numbers
            .iter()
            .map(|cell| cell.as_deref().unwrap_or_default());
        let quotes = on_demand.iter().chain(&spot).map(String::as_str);
        _ = writer.write_record(names.into_iter().chain(cells).chain(quotes));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
