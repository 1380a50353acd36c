use clap::Args as ClapArgs;

use crate::completion;

/// Speed is taken to vary by so much at least.
const LEAST_PERCENT: f64 = 0.5;

#[derive(Debug, ClapArgs)]
pub(crate) struct WatchArgs {
    /// Price of this machine: a name in the catalog, or `0.2 USD/h` [default: time only]
    #[arg(long, value_name = "PRICE", add = completion::machines())]
    pub(crate) price: Option<String>,
    /// Number of epochs, where the script does not print it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) epochs: Option<u64>,
    /// Number of steps of the whole run, where the script does not print it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: Option<u64>,
    /// Regular expression for lines that are not recognised, with groups `step`, `steps`, `epoch`,
    /// `epochs`, `loss`: `--progress-pattern 'batch (?<step>\d+) of (?<steps>\d+)'`. May be repeated;
    /// nothing else is recognised in the output then
    #[arg(long, value_name = "REGEX")]
    pub(crate) progress_pattern: Vec<String>,
    /// End the script as soon as its total time is known to --precision, and print the prediction
    #[arg(long)]
    pub(crate) stop_when_known: bool,
    /// Half the width of the 95 % interval of the total time, in percent of it
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = precision)]
    pub(crate) precision: f64,
    /// Print the prediction as JSON lines on stdout; the script's output goes to stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not reserve the last line of the terminal: print a line at most every 30 s
    #[arg(long)]
    pub(crate) lines: bool,
    /// The script, as it is typed without bancada
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// As a fraction.
fn precision(text: &str) -> Result<f64, String> {
    let expected = || format!("`{text}` is not a percentage above 0 and below 100, such as 5%");
    let number = text.trim().trim_end_matches('%').trim_end();
    let percent: f64 = number.parse().map_err(|_| expected())?;
    match percent > 0.0 && percent < 100.0 {
        // No run is known to that: see docs/prediction.md.
        true if percent < LEAST_PERCENT => {
            let meant = (100.0 * percent).max(LEAST_PERCENT);
            Err(format!(
                "`{text}` is {percent} %, to which no run is known: did you mean {meant}%?"
            ))
        }
        true => Ok(percent / 100.0),
        false => Err(expected()),
    }
}
