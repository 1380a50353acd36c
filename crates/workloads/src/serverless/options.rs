//! What is asked of the emulator.

use std::net::SocketAddr;
use std::time::Duration;

use host::limits::usable_cores;
use model::study::Limits;

use crate::serverless::container::Engine;
use crate::serverless::terms::BillingTerms;

pub const USUAL_MB_PER_CPU: f64 = model::serving::WORKER_MB_PER_CORE;

#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub address: SocketAddr,
    pub stack: Stack,
    pub size: Size,
    /// Workers at most, each with one request at a time.
    pub concurrency: usize,
    /// So long after its last answer a worker is ended.
    pub idle: Duration,
    /// For a worker's first healthy ping.
    pub start_timeout: Duration,
    /// For a worker's answer.
    pub timeout: Duration,
    /// Between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// For requests to end when the emulator ends.
    pub drain: Duration,
    /// Of requests and answers.
    pub body_bytes: usize,
    /// Open at once, of all clients together.
    pub connections: usize,
    pub terms: BillingTerms,
}

/// What a worker is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stack {
    /// A command; `{port}` in its arguments becomes the worker's port.
    Command(Vec<String>),
    /// A container of an image, with these arguments.
    Container {
        engine: Engine,
        image: String,
        arguments: Vec<String>,
    },
}

/// What a worker may use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    pub memory_mb: u32,
    pub cpus: f64,
}

impl Size {
    /// A size that the service sells, with cores in proportion to the memory. The error is a sentence.
    pub fn sold(terms: &BillingTerms, memory_mb: u32, mb_per_cpu: f64) -> Result<Size, String> {
        if terms.sizes_mb().any(|size| size == memory_mb) {
            return Size::any(memory_mb, mb_per_cpu);
        }
        let nearest = terms.sizes_mb().min_by_key(|size| size.abs_diff(memory_mb));
        let nearest = nearest.map(|size| format!("; the nearest are {size}"));
        let sizes: Vec<String> = terms.sizes_mb().map(|size| size.to_string()).collect();
        Err(format!(
            "the service has no workers of {memory_mb} MB{}: choose {}, or allow any size with --any-memory",
            nearest.unwrap_or_default(),
            sizes.join(", ")
        ))
    }

    pub fn any(memory_mb: u32, mb_per_cpu: f64) -> Result<Size, String> {
        let cpus = f64::from(memory_mb) / mb_per_cpu;
        if !(cpus > 0.0 && cpus.is_finite()) {
            return Err(format!(
                "{mb_per_cpu} MB per core is invalid: it must be above 0"
            ));
        }
        // Thousandths of a core are finer than any scheduler.
        let cpus = (cpus * 1e3).round().max(1.0) / 1e3;
        Ok(Size { memory_mb, cpus })
    }

    pub(crate) fn limits(self) -> Limits {
        Limits {
            cores: Some(self.cpus),
            memory_bytes: Some(u64::from(self.memory_mb) << 20),
        }
    }

    /// The cores a worker can really get here.
    pub fn cpus_here(self) -> f64 {
        self.cpus.min(usable_cores())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn options() -> Options {
        Options {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            stack: Stack::Command(vec!["stack".to_owned()]),
            size: Size::any(2048, USUAL_MB_PER_CPU).unwrap(),
            concurrency: 5,
            idle: Duration::from_secs(60),
            start_timeout: Duration::from_secs(240),
            timeout: Duration::from_secs(60),
            grace: Duration::from_secs(5),
            drain: Duration::from_secs(30),
            body_bytes: 4_000_000,
            connections: 512,
            terms: BillingTerms::sagemaker(),
        }
    }

    #[test]
    fn cores_follow_the_memory() {
        let check = |memory_mb, mb_per_cpu, expected| {
            let size = Size::any(memory_mb, mb_per_cpu).unwrap();
            assert_eq!(size.cpus, expected, "{memory_mb}");
        };
        check(1024, USUAL_MB_PER_CPU, 0.579);
        check(2048, USUAL_MB_PER_CPU, 1.158);
        check(6144, USUAL_MB_PER_CPU, 3.473);
        check(2048, 1024.0, 2.0);
        check(1, 1e9, 0.001);
        assert_eq!(
            Size::any(64, 64.0).unwrap().limits().memory_bytes,
            Some(64 << 20)
        );
    }

    #[test]
    fn what_is_not_sold_is_refused_with_what_is() {
        let terms = BillingTerms::sagemaker();
        assert!(Size::sold(&terms, 3072, USUAL_MB_PER_CPU).is_ok());
        let check = |memory_mb, mb_per_cpu, expected: &str| {
            let refused = Size::sold(&terms, memory_mb, mb_per_cpu).unwrap_err();
            assert_eq!(refused, expected);
        };
        check(
            1500,
            1769.0,
            "the service has no workers of 1500 MB; the nearest are 1024: choose 1024, 2048, 3072, 4096, 5120, 6144, or allow any size with --any-memory",
        );
        for no_share in [0.0, -1.0, f64::NAN] {
            let told = format!("{no_share} MB per core is invalid: it must be above 0");
            check(1024, no_share, &told);
        }
    }
}
