//! Arguments of `quantise`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::InstanceArgs;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "MODEL is anything that `bancada serve` accepts. The default dataset is the one a run was trained on; \
                  for a network of the zoo, generated digits. Install the tools with `bancada setup onnx-tools`."
)]
pub(crate) struct QuantiseArgs {
    /// A network of the zoo, a run's folder, an .onnx file or a folder with one
    pub(crate) model: String,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
    /// Dataset: training images for calibration, held-out images for the accuracy
    #[arg(long, value_name = "NAME", value_parser = known_dataset)]
    pub(crate) dataset: Option<String>,
    /// Folder of the dataset's files [default: where fetch puts them]
    #[arg(long, value_name = "DIR", requires = "dataset")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Number of training images for calibration
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) images: u32,
    /// Number of held-out images for the accuracy
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) held_out: u32,
    /// Compute activation ranges during inference, not from images: smaller, rarely faster
    #[arg(long)]
    pub(crate) dynamic: bool,
    #[command(flatten)]
    pub(crate) instance: InstanceArgs,
    /// Print the results as JSON
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
