//! `/proc/diskstats`: bytes and requests of whole disks, since boot.

use host::limits::bytes::{fields, lines, number};

/// The unit of diskstats, whatever the disk's own sector size (kernel: Documentation/admin-guide/iostats.rst).
const SECTOR_BYTES: u64 = 512;

/// Devices that live in memory or on top of other disks: their bytes are not a disk's, or are
/// counted there already.
const NOT_DISKS: [&[u8]; 8] = [
    b"loop", b"ram", b"zram", b"dm-", b"md", b"sr", b"fd", b"drbd",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Disk {
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    /// Requests that were completed.
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

pub(crate) fn parse(text: &[u8]) -> Disk {
    let mut disk = Disk::default();
    let mut whole: &[u8] = b"";
    for line in lines(text) {
        let mut words = fields(line);
        let Some(name) = words.nth(2) else { continue };
        if NOT_DISKS.iter().any(|prefix| name.starts_with(prefix)) || is_partition(name, whole) {
            continue;
        }
        whole = name;
        let reads = words.next().and_then(number);
        let read = words.nth(1).and_then(number);
        let writes = words.nth(1).and_then(number);
        let written = words.nth(1).and_then(number);
        if let (Some(read), Some(written)) = (read, written) {
            disk.reads = disk.reads.saturating_add(reads.unwrap_or(0));
            disk.writes = disk.writes.saturating_add(writes.unwrap_or(0));
            disk.read_bytes = disk
                .read_bytes
                .saturating_add(read.saturating_mul(SECTOR_BYTES));
            disk.write_bytes = disk
                .write_bytes
                .saturating_add(written.saturating_mul(SECTOR_BYTES));
        }
    }
    disk
}

/// The kernel lists a disk, then its partitions: `sda`, `sda1`; `nvme0n1`, `nvme0n1p1`.
fn is_partition(name: &[u8], whole: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(whole).filter(|_| !whole.is_empty()) else {
        return false;
    };
    let digits = rest.strip_prefix(b"p").unwrap_or(rest);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, sectors: [u64; 2], requests: [u64; 2]) {
        let expected = Disk {
            read_bytes: 512 * sectors[0],
            write_bytes: 512 * sectors[1],
            reads: requests[0],
            writes: requests[1],
        };
        assert_eq!(parse(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn whole_disks_are_summed_and_their_partitions_left_out() {
        check(
            "   7       0 loop0 5 0 50 0 5 0 50 0 0 0 0 0 0 0 0 0 0\n\
             \x20254       0 vda 27483 7375 3000 54861 8685 45482 4000 18919 2 9096 74937\n\
             \x20254       1 vda1 27483 7375 2999 54861 8685 45482 3999 18919 2 9096 74937\n\
             \x20259       0 nvme0n1 1 1 10 1 1 1 20 1 0 1 1\n\
             \x20259       1 nvme0n1p1 1 1 10 1 1 1 20 1 0 1 1\n\
             \x20253       0 dm-0 1 1 10 1 1 1 20 1 0 1 1\n",
            [3010, 4020],
            [27484, 8686],
        );
    }

    #[test]
    fn a_partition_without_its_disk_is_a_disk() {
        check(
            "202 1 xvda1 1 1 10 1 1 1 20 1 0 1 1\n202 2 xvda2 1 1 5 1 1 1 5 1 0 1 1\n",
            [15, 25],
            [2, 2],
        );
        check("", [0, 0], [0, 0]);
        check("garbage\n1 2 sda\n", [0, 0], [0, 0]);
    }
}
