//! What a study and the flags of a command say of the columns, put together.

use model::Timestamp;
use model::study::{ImportColumn, ImportSettings};

use crate::{ColumnFactor, ColumnMetric, FilePattern, ImportSpec, RowKind, SpecError};

impl ImportSpec {
    /// What `[import]` of a study says.
    pub fn of_settings(settings: &ImportSettings) -> Result<Self, SpecError> {
        let factor = |column: &ImportColumn| ColumnFactor {
            column: column.column.clone(),
            factor: column.means.clone(),
        };
        let metric = |column: &ImportColumn| {
            let ImportColumn { column, means } = column;
            ColumnMetric::new(column, means).map_err(|why| {
                SpecError(format!(
                    "[import] metrics: `{column} = \"{means}\"` is not METRIC:UNIT or UNIT: {why}"
                ))
            })
        };
        Ok(ImportSpec {
            row: parsed(&settings.row)?,
            factors: settings.factors.iter().map(factor).collect(),
            metrics: settings
                .metrics
                .iter()
                .map(metric)
                .collect::<Result<_, _>>()?,
            file_pattern: parsed(&settings.file_pattern)?,
            constants: settings.levels.clone().into_iter().collect(),
            delimiter: settings.delimiter,
            decimal_mark: parsed(&settings.decimal_mark)?,
            repetition_column: settings.repetition.clone(),
            status_column: settings.status.clone(),
            started_column: settings.started.clone(),
            started_otherwise: Timestamp::default(),
        })
    }

    /// `other` goes before: it takes the place of what is said here of the same factor, column or
    /// metric, and adds the rest.
    #[must_use]
    pub fn overridden_by(mut self, other: ImportSpec) -> ImportSpec {
        let in_names = other.file_pattern.iter().flat_map(FilePattern::names);
        let columns = other.factors.iter().map(|f| &f.factor);
        let constants = other.constants.iter().map(|(factor, _)| factor);
        let told: Vec<&String> = in_names.chain(columns).chain(constants).collect();
        self.factors.retain(|f| !told.contains(&&f.factor));
        self.constants.retain(|(name, _)| !told.contains(&name));
        let again =
            |m: &ColumnMetric, n: &ColumnMetric| m.column == n.column || m.metric == n.metric;
        self.metrics
            .retain(|m| !other.metrics.iter().any(|n| again(m, n)));
        ImportSpec {
            row: other.row.or(self.row),
            factors: joined(self.factors, other.factors),
            metrics: joined(self.metrics, other.metrics),
            file_pattern: other.file_pattern.or(self.file_pattern),
            constants: joined(self.constants, other.constants),
            delimiter: other.delimiter.or(self.delimiter),
            decimal_mark: other.decimal_mark.or(self.decimal_mark),
            repetition_column: other.repetition_column.or(self.repetition_column),
            status_column: other.status_column.or(self.status_column),
            started_column: other.started_column.or(self.started_column),
            started_otherwise: other.started_otherwise,
        }
    }

    /// Fails when no column holds a metric: there would be nothing to import.
    pub fn checked(self, started_otherwise: Timestamp) -> Result<ImportSpec, SpecError> {
        let counted = self.metrics.iter().find(|m| m.counted.is_some());
        if let Some(metric) = counted.filter(|_| self.row() != RowKind::Step) {
            return Err(SpecError(format!(
                "column `{}`: `each` and `cumulative` need rows that are steps (--row step)",
                metric.column
            )));
        }
        if self.metrics.is_empty() {
            return Err(SpecError(
                "no column is defined as a metric: give --metric COLUMN=METRIC:UNIT, such as --metric \
                 time=train_seconds:s, or write metrics = { time = \"train_seconds:s\" } under [import] of the study"
                    .to_owned(),
            ));
        }
        Ok(ImportSpec {
            started_otherwise,
            ..self
        })
    }

    /// For logs, whose metrics are known: only what tells levels counts.
    #[must_use]
    pub fn for_logs(self, started_otherwise: Timestamp) -> ImportSpec {
        ImportSpec {
            file_pattern: self.file_pattern,
            constants: self.constants,
            started_otherwise,
            ..ImportSpec::default()
        }
    }
}

fn parsed<T: std::str::FromStr<Err = SpecError>>(
    text: &Option<String>,
) -> Result<Option<T>, SpecError> {
    text.as_deref().map(str::parse).transpose()
}

fn joined<T>(mut first: Vec<T>, second: Vec<T>) -> Vec<T> {
    first.extend(second);
    first
}
