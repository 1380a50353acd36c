//! Arguments of `price`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use cost::{Architecture, Bound, GpuWanted};
use model::{Currency, KnownDate, Money};

use crate::completion;

#[derive(Debug, Subcommand)]
pub(crate) enum PriceCommand {
    /// Find machines by size and price
    Find(Box<PriceFindArgs>),
    /// Show everything known about a machine: size, prices, sources, ages, in all regions
    Show {
        /// Such as azure/Standard_NC4as_T4_v3, with or without @REGION
        #[arg(required = true, add = completion::machines())]
        machines: Vec<String>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show how providers bill: increments, minimums, memory, free amounts, disks, with sources and dates
    Rules {
        /// Only rules whose name begins with this: aws, aws/lambda
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Compare prices of machines, or the cost of a study at different machines' prices
    Compare(PriceCompareArgs),
    /// Update the prices from the providers' lists, or from files
    Update(PriceUpdateArgs),
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Numbers are minimums: --vcpus 4 finds 4 and more, --vcpus =4 exactly 4, --vcpus 4-8 a range. \
                  Prices are for Linux machines, per hour."
)]
pub(crate) struct PriceFindArgs {
    /// azure, aws, gcp (or google), or any other provider in the catalog
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// The provider's name for it: eastus, us-east-1, southamerica-east1
    #[arg(long)]
    pub(crate) region: Option<String>,
    #[arg(long, value_parser = Bound::parse)]
    pub(crate) vcpus: Option<Bound>,
    /// Memory in GiB
    #[arg(long, value_parser = Bound::parse)]
    pub(crate) memory: Option<Bound>,
    /// T4, A100 (A100-80GB too), any or none
    #[arg(long, value_parser = gpu)]
    pub(crate) gpu: Option<GpuWanted>,
    #[arg(long, value_parser = Bound::parse)]
    pub(crate) gpus: Option<Bound>,
    /// x86-64 or arm64
    #[arg(long, value_parser = architecture)]
    pub(crate) arch: Option<Architecture>,
    /// Maximum price: "1 USD/h"
    #[arg(long, value_name = "PRICE", value_parser = per_hour)]
    pub(crate) max: Option<Money>,
    /// Only prices in this currency
    #[arg(long, value_parser = cost::known_currency)]
    pub(crate) currency: Option<Currency>,
    /// Use spot prices
    #[arg(long)]
    pub(crate) spot: bool,
    #[arg(long, value_enum, default_value_t = PriceSort::Price)]
    pub(crate) sort: PriceSort,
    /// Number of machines to show; 0 shows all
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PriceSort {
    Price,
    Vcpus,
    Memory,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "With results, the measured time is billed at each machine's price. For machines with a profile \
                  (`bancada probe`) the time is predicted; everywhere else the same time is assumed, which compares \
                  prices and does not predict speed. Without machines, those of similar size are used."
)]
pub(crate) struct PriceCompareArgs {
    /// A study file or a folder of results, then machines; or only machines
    #[arg(value_name = "STUDY|DIR|MACHINE", required = true, add = completion::machines_or_paths())]
    pub(crate) what: Vec<String>,
    /// Folder of the results [default: results/NAME next to the study file]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Use results of scale NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) scale: Option<String>,
    /// Use spot prices
    #[arg(long)]
    pub(crate) spot: bool,
    /// Number of machines to show; 0 shows all
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "BANCADA_AZURE_PRICES, BANCADA_AWS_PRICES and BANCADA_GOOGLE_PRICES name mirrors. Google needs an API \
                  key, in GOOGLE_API_KEY or a file. Prices are stored in BANCADA_CACHE, by default ~/.cache/bancada."
)]
pub(crate) struct PriceUpdateArgs {
    /// azure, aws, google, or price lists as files or URLs [default: azure, aws, and google with a key]
    #[arg(value_name = "SOURCE|FILE|URL")]
    pub(crate) sources: Vec<String>,
    /// Regions (comma-separated) [default: eastus, us-east-1; all of google's]
    #[arg(long, value_delimiter = ',')]
    pub(crate) region: Vec<String>,
    /// Currency to request from azure and google; aws has only dollars
    #[arg(long, default_value = "USD", value_parser = cost::known_currency)]
    pub(crate) currency: Currency,
    /// Provider of the machines in a vms.csv, if it cannot be derived from their names
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// Date of the prices in a file without dates [default: the file's modification time]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    pub(crate) date: Option<String>,
    /// File with the Google API key
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn gpu(text: &str) -> Result<GpuWanted, String> {
    Ok(GpuWanted::parse(text))
}

fn architecture(text: &str) -> Result<Architecture, String> {
    Architecture::parse(text).ok_or_else(|| format!("`{text}` is neither x86-64 nor arm64"))
}

/// `1 USD/h`, or `1 USD`.
fn per_hour(text: &str) -> Result<Money, String> {
    text.trim().trim_end_matches("/h").parse()
}

fn date(text: &str) -> Result<String, String> {
    match text.parse() {
        Ok(KnownDate::Day(_)) => Ok(text.to_owned()),
        _ => Err(format!("`{text}` is not a date such as 2026-08-22")),
    }
}
