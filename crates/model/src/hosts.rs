//! Machines that the workers of one run are spread over.

use serde::{Deserialize, Serialize};

/// Stands for a host in the words that start a process there.
pub const HOST_PLACE: &str = "{host}";

/// The machines of an environment, and how a process is started on another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hosts {
    /// By the names under which they reach each other; the first is this machine.
    pub names: Vec<String>,
    /// Program and arguments that start a shell on `{host}`: `ssh`, `srun`, `ip netns exec`.
    pub launch: Vec<String>,
}

impl Hosts {
    /// Workers on each host, in the hosts' order: as even as can be, the first ones have one more.
    /// Hosts without any are left out.
    pub fn shares(&self, workers: u32) -> Vec<u32> {
        let hosts = u32::try_from(self.names.len()).unwrap_or(u32::MAX).max(1);
        let share = |place: u32| workers / hosts + u32::from(place < workers % hosts);
        (0..hosts.min(workers)).map(share).collect()
    }

    /// How many machines so many workers need.
    pub fn machines(&self, workers: u32) -> u32 {
        u32::try_from(self.shares(workers).len()).unwrap_or(u32::MAX)
    }

    /// The words that start a process on this host.
    pub fn launch_on(&self, host: &str) -> Vec<String> {
        let fill = |word: &String| word.replace(HOST_PLACE, host);
        self.launch.iter().map(fill).collect()
    }

    /// Without a question for a password, which nobody would answer.
    pub fn by_ssh() -> Vec<String> {
        ["ssh", "-o", "BatchMode=yes", HOST_PLACE]
            .map(str::to_owned)
            .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(count: usize) -> Hosts {
        Hosts {
            names: (0..count).map(|place| format!("node{place}")).collect(),
            launch: Hosts::by_ssh(),
        }
    }

    #[test]
    fn workers_are_spread_as_evenly_as_can_be() {
        let check = |count: usize, workers: u32, expected: &[u32]| {
            assert_eq!(
                hosts(count).shares(workers),
                expected,
                "{workers} on {count}"
            );
            assert_eq!(hosts(count).machines(workers), expected.len() as u32);
        };
        check(2, 1, &[1]);
        check(2, 2, &[1, 1]);
        check(2, 3, &[2, 1]);
        check(2, 4, &[2, 2]);
        check(3, 8, &[3, 3, 2]);
        check(4, 2, &[1, 1]);
    }

    #[test]
    fn the_host_stands_where_its_place_is() {
        let expected = ["ssh", "-o", "BatchMode=yes", "node7"];
        assert_eq!(hosts(2).launch_on("node7"), expected);
    }
}
