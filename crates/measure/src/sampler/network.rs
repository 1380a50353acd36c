//! `/proc/net/dev`: bytes over the machine's network interfaces, since boot.

use host::limits::bytes::{fields, lines, number};

/// The loop back to the machine itself, and interfaces behind which the same bytes are counted
/// a second time.
const NOT_WIRES: [&[u8]; 8] = [
    b"veth", b"docker", b"br-", b"virbr", b"ifb", b"cni", b"flannel", b"cali",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Network {
    pub(crate) receive_bytes: u64,
    pub(crate) send_bytes: u64,
}

pub(crate) fn parse(text: &[u8]) -> Network {
    let mut network = Network::default();
    for line in lines(text) {
        let Some(colon) = line.iter().position(|b| *b == b':') else {
            continue;
        };
        let name = line[..colon].trim_ascii();
        if name == b"lo" || NOT_WIRES.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let mut words = fields(&line[colon + 1..]);
        let receive = words.next().and_then(number);
        let send = words.nth(7).and_then(number);
        if let (Some(receive), Some(send)) = (receive, send) {
            network.receive_bytes = network.receive_bytes.saturating_add(receive);
            network.send_bytes = network.send_bytes.saturating_add(send);
        }
    }
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_are_summed_without_the_loop() {
        let text = b"Inter-|   Receive                            |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n    \
             lo:    3193      29    0    0    0     0          0         0     3193      29 0 0\n  \
             eth0: 361266093   16245    0    0    0     0          0         0  1016582    9191 0\n\
             eth1:7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n\
             docker0: 99 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0\n";
        let expected = Network {
            receive_bytes: 361266100,
            send_bytes: 1016590,
        };
        assert_eq!(parse(text), expected);
        assert_eq!(parse(b"eth0: nonsense"), Network::default());
    }
}
