//! `samples.csv`: one row a sample, units in the names of the columns, a group of columns for
//! each GPU. A value that could not be had is an empty field.

use std::fmt;
use std::io::Write;

use model::Sample;
use model::sample::GpuSample;

/// A column is named after its field: `machine_cpu_percent`.
macro_rules! columns {
    ($($kind:ident $part:ident.$field:ident;)*) => {
        /// Of every sample, without the GPUs'.
        pub const COLUMNS: &[&str] = &[
            "seconds",
            $(concat!(stringify!($part), "_", stringify!($field))),*
        ];

        fn write_columns(sample: &Sample, out: &mut Row<'_>) {
            $(out.$kind(sample.$part.$field);)*
        }

        fn read_columns(fields: &Fields<'_>, sample: &mut Sample) -> Result<(), String> {
            $(sample.$part.$field =
                fields.$kind(concat!(stringify!($part), "_", stringify!($field)))?;)*
            Ok(())
        }
    };
}

columns! {
    float machine.cpu_percent;
    float machine.steal_percent;
    float machine.iowait_percent;
    whole machine.memory_used_bytes;
    whole machine.swap_used_bytes;
    float machine.disk_read_bytes_per_second;
    float machine.disk_write_bytes_per_second;
    float machine.disk_reads_per_second;
    float machine.disk_writes_per_second;
    float machine.network_receive_bytes_per_second;
    float machine.network_send_bytes_per_second;
    float machine.context_switches_per_second;
    float machine.cpu_pressure_percent;
    float machine.memory_pressure_percent;
    float machine.io_pressure_percent;
    whole run.processes;
    whole run.threads;
    float run.cpu_percent;
    whole run.memory_bytes;
    float run.read_bytes_per_second;
    float run.write_bytes_per_second;
    float run.context_switches_per_second;
}

/// The columns of one GPU, each after `gpu0_`, `gpu1_`, …
pub const GPU_COLUMNS: [&str; 4] = [
    "used_percent",
    "memory_used_bytes",
    "memory_total_bytes",
    "power_watts",
];

/// The first line of the file, with its end.
pub fn header(gpus: u32) -> String {
    let of_gpus = (0..gpus).flat_map(|gpu| {
        GPU_COLUMNS
            .iter()
            .map(move |name| format!("gpu{gpu}_{name}"))
    });
    let all: Vec<String> = COLUMNS
        .iter()
        .map(|name| (*name).to_owned())
        .chain(of_gpus)
        .collect();
    all.join(",") + "\n"
}

/// Appends one row, with its end.
pub fn write_row(sample: &Sample, row: &mut Vec<u8>) {
    let mut out = Row { row, first: true };
    out.put(format_args!("{:.6}", sample.seconds));
    write_columns(sample, &mut out);
    for gpu in &sample.gpus {
        out.float(Some(gpu.used_percent));
        out.whole(gpu.memory_used_bytes);
        out.whole(gpu.memory_total_bytes);
        out.float(gpu.power_watts);
    }
    row.push(b'\n');
}

struct Row<'a> {
    row: &'a mut Vec<u8>,
    first: bool,
}

impl Row<'_> {
    fn put(&mut self, value: fmt::Arguments<'_>) {
        if !std::mem::take(&mut self.first) {
            self.row.push(b',');
        }
        // Writing to memory does not fail.
        let _ = self.row.write_fmt(value);
    }

    fn whole(&mut self, value: impl fmt::Display) {
        self.put(format_args!("{value}"));
    }

    fn float(&mut self, value: Option<f64>) {
        match value {
            Some(value) if value.is_finite() => self.put(format_args!("{value:.2}")),
            _ => self.put(format_args!("")),
        }
    }
}

/// A file that is not a `samples.csv`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of samples.csv: {reason}")]
pub struct SamplesError {
    pub line: usize,
    pub reason: String,
}

/// Reads a whole file back. Columns are found by name, so that their order may change.
pub fn parse(text: &str) -> Result<Vec<Sample>, SamplesError> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty());
    let Some((_, header)) = lines.next() else {
        return Ok(Vec::new());
    };
    let names: Vec<&str> = header.split(',').collect();
    if !names.contains(&"seconds") {
        return Err(SamplesError {
            line: 1,
            reason: "no column `seconds`".to_owned(),
        });
    }
    lines
        .map(|(index, line)| {
            let values: Vec<&str> = line.split(',').collect();
            let error = |reason| SamplesError {
                line: index + 1,
                reason,
            };
            if values.len() != names.len() {
                let reason = format!("{} fields under {} columns", values.len(), names.len());
                return Err(error(reason));
            }
            Fields {
                names: &names,
                values: &values,
            }
            .sample()
            .map_err(error)
        })
        .collect()
}

struct Fields<'a> {
    names: &'a [&'a str],
    values: &'a [&'a str],
}

impl Fields<'_> {
    fn sample(&self) -> Result<Sample, String> {
        let mut sample = Sample {
            seconds: self.float("seconds")?.ok_or("no time")?,
            ..Sample::default()
        };
        read_columns(self, &mut sample)?;
        let is_there = |gpu: &u32| {
            let name = format!("gpu{gpu}_used_percent");
            self.names.contains(&name.as_str())
        };
        let gpus = (0..).take_while(is_there).map(|gpu| self.gpu(gpu));
        sample.gpus = gpus.collect::<Result<_, _>>()?;
        Ok(sample)
    }

    fn gpu(&self, index: u32) -> Result<GpuSample, String> {
        Ok(GpuSample {
            index,
            used_percent: self
                .float(&format!("gpu{index}_used_percent"))?
                .unwrap_or(0.0),
            memory_used_bytes: self.whole(&format!("gpu{index}_memory_used_bytes"))?,
            memory_total_bytes: self.whole(&format!("gpu{index}_memory_total_bytes"))?,
            power_watts: self.float(&format!("gpu{index}_power_watts"))?,
        })
    }

    fn field(&self, name: &str) -> Option<&str> {
        let place = self.names.iter().position(|n| *n == name)?;
        self.values
            .get(place)
            .copied()
            .filter(|value| !value.is_empty())
    }

    fn float(&self, name: &str) -> Result<Option<f64>, String> {
        let parse = |text: &str| {
            let number: Option<f64> = text.parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| format!("`{text}` in {name}"))
        };
        self.field(name).map(parse).transpose()
    }

    fn whole<N: std::str::FromStr + Default>(&self, name: &str) -> Result<N, String> {
        let parse = |text: &str| text.parse().map_err(|_| format!("`{text}` in {name}"));
        self.field(name).map_or(Ok(N::default()), parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::sample::{MachineSample, TreeSample};
    use proptest::prelude::*;

    fn hundredth() -> impl Strategy<Value = f64> {
        (0_u32..1_000_000).prop_map(|n| f64::from(n) / 100.0)
    }

    prop_compose! {
        fn sample()(seconds in hundredth(), some in proptest::option::of(hundredth()),
                    bytes: u64, processes: u32, power in proptest::option::of(hundredth())) -> Sample {
            let gpu = |index| GpuSample { index, used_percent: 12.5, memory_used_bytes: bytes,
                                          memory_total_bytes: 7, power_watts: power };
            let machine = MachineSample { cpu_percent: some, memory_used_bytes: bytes,
                                          io_pressure_percent: some, ..MachineSample::default() };
            let run = TreeSample { processes, cpu_percent: some, memory_bytes: bytes,
                                   ..TreeSample::default() };
            Sample { seconds, machine, run, gpus: vec![gpu(0), gpu(1)] }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_read_back(samples in proptest::collection::vec(sample(), 0..5)) {
            let mut text = header(2).into_bytes();
            samples.iter().for_each(|sample| write_row(sample, &mut text));
            prop_assert_eq!(parse(std::str::from_utf8(&text).unwrap()), Ok(samples));
        }

        #[test]
        fn any_text_is_survived(text in "[a-z0-9_,.\n]{0,200}") {
            let _ = parse(&("seconds,gpu0_used_percent\n".to_owned() + &text));
        }
    }

    #[test]
    fn a_wrong_file_is_told_with_its_line() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
        };
        check(
            "time,cpu\n1,2\n",
            "line 1 of samples.csv: no column `seconds`",
        );
        check(
            "seconds\n1\n1,2\n",
            "line 3 of samples.csv: 2 fields under 1 columns",
        );
        check("seconds\nx\n", "line 2 of samples.csv: `x` in seconds");
        check("seconds\nNaN\n", "line 2 of samples.csv: `NaN` in seconds");
        assert_eq!(parse(""), Ok(Vec::new()));
    }
}
