//! A machine measured from inside a process that is held to its cores: steps of the embedded engine,
//! then memory, threads and the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use model::job::{ProbeJob, ProbeReport, TrainJob};
use model::profile::{HostRates, Measured};

use crate::error::Error;
use crate::protocol::write_report;

const ROUNDS: usize = 5;
/// Larger than the caches of most machines; one array is read, one written.
const MEMORY_BYTES: usize = 64 << 20;
const DISK_BYTES: usize = 32 << 20;
const DISK_ROUNDS: usize = 3;
const WAKE_UPS: usize = 200;

pub(crate) fn probe(job: &TrainJob, asked: &ProbeJob) -> Result<(), Error> {
    let rounds = engine::probe(job, asked).map_err(Error::failed)?;
    let host = match asked.host {
        true => host_rates(asked.report.parent().unwrap_or(Path::new("."))),
        false => HostRates::default(),
    };
    let report = ProbeReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rounds,
        host,
    };
    write_report(&report, &asked.report)
}

fn host_rates(folder: &Path) -> HostRates {
    // A disk that is full or read-only leaves its rates unknown; the rest is still worth having.
    let disk = disk(folder).unwrap_or_default();
    HostRates {
        memory_bytes_per_second: Measured::of(&memory()),
        wake_up_seconds: wake_up().as_deref().and_then(Measured::of),
        disk_write_bytes_per_second: Measured::of(&disk.write),
        disk_read_bytes_per_second: Measured::of(&disk.read),
    }
}

/// Every core copies its part; bytes read and written in a second.
fn memory() -> Vec<f64> {
    let cores = host::limits::usable_cores().ceil().max(1.0) as usize;
    let from = vec![1u8; MEMORY_BYTES];
    let mut to = vec![0u8; MEMORY_BYTES];
    let part = MEMORY_BYTES.div_ceil(cores);
    let mut copy = || {
        let began = Instant::now();
        thread::scope(|scope| {
            for (to, from) in to.chunks_mut(part).zip(from.chunks(part)) {
                scope.spawn(|| to.copy_from_slice(from));
            }
        });
        2.0 * MEMORY_BYTES as f64 / began.elapsed().as_secs_f64()
    };
    // The first writes pages that are not there yet.
    copy();
    (0..ROUNDS).map(|_| copy()).collect()
}

/// From handing something to a sleeping thread and back, halved.
fn wake_up() -> Option<Vec<f64>> {
    let (ask, asked) = mpsc::channel::<()>();
    let (answer, answered) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(
            move || {
                while asked.recv().is_ok() && answer.send(()).is_ok() {}
            },
        );
        let mut seconds = Vec::new();
        for _ in 0..WAKE_UPS {
            // Until the other one sleeps.
            thread::sleep(Duration::from_micros(200));
            let began = Instant::now();
            ask.send(()).ok()?;
            answered.recv().ok()?;
            seconds.push(began.elapsed().as_secs_f64() / 2.0);
        }
        drop(ask);
        Some(seconds)
    })
}

#[derive(Default)]
struct Disk {
    write: Vec<f64>,
    read: Vec<f64>,
}

/// Bytes in a second, of a file that is written to the disk and then read again.
fn disk(folder: &Path) -> io::Result<Disk> {
    let path = folder.join("probe.bin");
    let measured = disk_rounds(&path);
    _ = fs::remove_file(&path);
    measured
}

fn disk_rounds(path: &Path) -> io::Result<Disk> {
    let block: Vec<u8> = (0..1 << 20)
        .map(|place: usize| (place * 31 % 251) as u8)
        .collect();
    let mut rates = Disk::default();
    for _ in 0..DISK_ROUNDS {
        let began = Instant::now();
        let options = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .clone();
        let mut file = options.open(path)?;
        for _ in 0..DISK_BYTES / block.len() {
            file.write_all(&block)?;
        }
        file.sync_all()?;
        rates
            .write
            .push(DISK_BYTES as f64 / began.elapsed().as_secs_f64());
        drop_from_cache(&file);
        let began = Instant::now();
        let mut file = File::open(path)?;
        let mut buffer = vec![0; block.len()];
        while file.read(&mut buffer)? > 0 {}
        rates
            .read
            .push(DISK_BYTES as f64 / began.elapsed().as_secs_f64());
    }
    Ok(rates)
}

#[cfg(target_os = "linux")]
fn drop_from_cache(file: &File) {
    use std::os::fd::AsRawFd as _;
    // SAFETY: the descriptor is open, and advice changes no memory of ours.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

#[cfg(not(target_os = "linux"))]
fn drop_from_cache(_: &File) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_rates_and_no_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let HostRates {
            memory_bytes_per_second,
            wake_up_seconds,
            disk_write_bytes_per_second,
            disk_read_bytes_per_second,
        } = host_rates(folder.path());
        for rate in [
            memory_bytes_per_second,
            wake_up_seconds,
            disk_write_bytes_per_second,
            disk_read_bytes_per_second,
        ] {
            assert!(rate.unwrap().median > 0.0);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_leaves_the_disk_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let rates = host_rates(&folder.path().join("none"));
        assert_eq!(rates.disk_write_bytes_per_second, None);
        assert!(rates.memory_bytes_per_second.is_some());
    }
}
