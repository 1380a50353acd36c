//! One training step of a tiny network: what `setup` and `doctor` let every framework do.

use std::path::{Path, PathBuf};

use frameworks::Trial;
use network::InputSpec;

use crate::error::WorkError;
use crate::verification::{Question, job, sgd};

/// One of each kind of layer that all networks have, as small as can be.
const NETWORK: &str = r#"
name = "trial"
layers = [
  { conv = { k = 3, o = 2 } },
  "relu",
  { max-pool = { k = 2, s = 2 } },
  "flatten",
  { dense = { o = "classes" } },
  "softmax",
]
"#;
const SIDE: u32 = 8;
const CLASSES: u32 = 2;
const BATCH: u32 = 2;

/// Writes weights and images into `folder`, which the caller removes. `bancada` is this program.
pub fn trial(folder: &Path, bancada: PathBuf) -> Result<Trial, WorkError> {
    let failed = |why: String| WorkError::Network {
        network: "trial".to_owned(),
        why,
    };
    let graph = network::parse(NETWORK)
        .map_err(|problems| failed(format!("{problems:?}")))?
        .instantiate(InputSpec::square(1, SIDE, CLASSES))
        .map_err(|problems| failed(format!("{problems:?}")))?;
    let question = Question {
        network: "trial".to_owned(),
        graph,
        batch: BATCH,
        steps: 1,
        seed: 1,
        timeout_seconds: 0.0,
    };
    let mut job = job(&question, folder)?;
    job.optimizer = sgd(0.01);
    Ok(Trial {
        job: serde_json::to_value(&job).map_err(|e| failed(e.to_string()))?,
        folder: folder.to_owned(),
        bancada,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_one_step_with_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let trial = trial(folder.path(), PathBuf::from("bancada")).unwrap();
        let number = |name: &str| trial.job[name].as_u64().unwrap();
        assert_eq!((number("epochs"), number("batch")), (1, u64::from(BATCH)));
        assert_eq!(trial.job["data"]["images"], BATCH);
        let cache = trial.job["data"]["cache"].as_str().unwrap();
        for file in [
            trial.job["weights"].as_str().unwrap().to_owned(),
            format!("{cache}/train-images.npy"),
        ] {
            assert!(Path::new(&file).is_file(), "{file}");
        }
    }
}
