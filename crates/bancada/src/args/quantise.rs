//! Arguments of `quantise`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::InstanceArgs;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "MODEL is what `bancada serve` takes. Of a run, the dataset is the one it was trained on; of a network \
                  of the zoo, drawn digits. The tools are set up by `bancada setup onnx-tools`."
)]
pub(crate) struct QuantiseArgs {
    /// A name of the zoo, a run's folder, an .onnx file or a folder with one
    pub(crate) model: String,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
    /// Its training images tell the ranges, its held-out ones what was lost
    #[arg(long, value_name = "NAME", value_parser = known_dataset)]
    pub(crate) dataset: Option<String>,
    /// Where the dataset's files are [default: where fetch puts them]
    #[arg(long, value_name = "DIR", requires = "dataset")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Training images that are looked at
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) images: u32,
    /// Held-out images that are asked about
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) held_out: u32,
    /// Find the ranges while it computes, not from images: smaller, seldom faster
    #[arg(long)]
    pub(crate) dynamic: bool,
    #[command(flatten)]
    pub(crate) instance: InstanceArgs,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn known_dataset(text: &str) -> Result<String, String> {
    match data::names().any(|name| name == text) {
        true => Ok(text.to_owned()),
        false => {
            let known: Vec<&str> = data::names().collect();
            Err(format!("known: {}", known.join(", ")))
        }
    }
}
