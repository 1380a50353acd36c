//! `/proc/meminfo`.

use host::limits::bytes::{fields, lines, number};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Memory {
    pub(crate) total_bytes: u64,
    /// What programs hold and cannot be had back: total less available.
    pub(crate) used_bytes: u64,
    pub(crate) swap_total_bytes: u64,
    pub(crate) swap_used_bytes: u64,
}

pub(crate) fn parse(text: &[u8]) -> Option<Memory> {
    let (mut total, mut available, mut swap_total, mut swap_free) = (None, None, None, None);
    // Before Linux 3.14 there is no MemAvailable; free and cache come closest.
    let mut reclaimable = 0;
    for line in lines(text) {
        let mut words = fields(line);
        let (Some(key), Some(kilobytes)) = (words.next(), words.next().and_then(number)) else {
            continue;
        };
        let bytes = kilobytes.saturating_mul(1024);
        match key {
            b"MemTotal:" => total = Some(bytes),
            b"MemAvailable:" => available = Some(bytes),
            b"MemFree:" | b"Buffers:" | b"Cached:" => {
                reclaimable = bytes.saturating_add(reclaimable);
            }
            b"SwapTotal:" => swap_total = Some(bytes),
            b"SwapFree:" => {
                swap_free = Some(bytes);
                break;
            }
            _ => {}
        }
    }
    let total_bytes = total?;
    Some(Memory {
        total_bytes,
        used_bytes: total_bytes.saturating_sub(available.unwrap_or(reclaimable)),
        swap_total_bytes: swap_total.unwrap_or(0),
        swap_used_bytes: swap_total
            .unwrap_or(0)
            .saturating_sub(swap_free.unwrap_or(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<Memory>) {
        assert_eq!(parse(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn used_is_what_is_not_available() {
        check(
            "MemTotal:       1000 kB\nMemFree:        100 kB\nMemAvailable:   600 kB\n\
             Cached: 300 kB\nSwapTotal:      50 kB\nSwapFree:       20 kB\nDirty: 5 kB\n",
            Some(Memory {
                total_bytes: 1_024_000,
                used_bytes: 400 * 1024,
                swap_total_bytes: 50 * 1024,
                swap_used_bytes: 30 * 1024,
            }),
        );
    }

    #[test]
    fn old_kernels_say_only_what_is_free() {
        let memory = parse(b"MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 200 kB\n");
        assert_eq!(memory.map(|m| m.used_bytes), Some(650 * 1024));
        check("nothing here", None);
    }
}
