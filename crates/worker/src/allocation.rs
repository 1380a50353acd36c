//! The nodes of the Slurm job that a worker is in: the workers of its run are spread over them.

use std::process::Command;
use std::time::Duration;

use model::hosts::HOST_PLACE;
use model::{Hosts, Order, Work};

const PATIENCE: Duration = Duration::from_secs(30);

/// A training with several workers uses the nodes of its job, if there are several.
pub fn use_allocation(order: &mut Order) -> Result<(), String> {
    let Work::Train(train) = &mut order.work else {
        return Ok(());
    };
    let nodes = std::env::var("SLURM_JOB_NODELIST").unwrap_or_default();
    let count = std::env::var("SLURM_JOB_NUM_NODES").unwrap_or_default();
    let is_several = count.parse().is_ok_and(|count: u32| count > 1);
    if train.job.workers < 2 || train.hosts.is_some() || !is_several {
        return Ok(());
    }
    let listed = ask(&["show", "hostnames", &nodes])?;
    let mut names: Vec<String> = listed.lines().map(|line| line.trim().to_owned()).collect();
    if let Some(first) = names.first_mut() {
        let shown = ask(&["-o", "show", "node", first])?;
        // Others connect to the first; names of nodes are Slurm's, not the network's.
        if let Some(address) = address(&shown) {
            *first = address;
        }
    }
    train.hosts = Some(Hosts {
        names,
        launch: launch(),
    });
    Ok(())
}

/// A step beside the one that the worker is in, with all cores of its node.
fn launch() -> Vec<String> {
    let node = format!("--nodelist={HOST_PLACE}");
    [
        "srun",
        "--overlap",
        "--nodes=1",
        "--ntasks=1",
        "--cpu-bind=none",
        "--mem=0",
        "--kill-on-bad-exit",
        &node,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn address(shown: &str) -> Option<String> {
    let mut words = shown.split_whitespace();
    let address = words.find_map(|word| word.strip_prefix("NodeAddr="))?;
    Some(address.to_owned())
}

fn ask(words: &[&str]) -> Result<String, String> {
    let failed = |why: &str| format!("cannot list the nodes of this job with scontrol: {why}");
    let answer = host::ask(Command::new("scontrol").args(words), PATIENCE);
    let answer = answer.map_err(|error| failed(&error.to_string()))?;
    match answer.success() {
        true => Ok(String::from_utf8_lossy(&answer.stdout).into_owned()),
        false => Err(failed(String::from_utf8_lossy(&answer.stderr).trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_node_is_reached_at_its_address() {
        let shown = "NodeName=n1 Arch=x86_64 NodeAddr=10.0.0.7 NodeHostName=node1 Port=0";
        assert_eq!(address(shown).as_deref(), Some("10.0.0.7"));
        assert_eq!(address("Node n9 not found"), None);
    }
}
