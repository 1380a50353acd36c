//! Machines and frameworks whose truth is known, because it is made here.

use model::Inventory;
use model::profile::{HostRates, PROFILE_SCHEMA, StepTime};
use seeded::SplitMix64;

use super::*;

/// Seconds of a FLOP, byte or call, by kind.
type Costs = [f64; 7];

const MACHINE: Costs = [1e-10, 2e-10, 1e-10, 1e-9, 2e-10, 2e-10, 1e-6];
/// Large layers take so much less of each unit than small ones.
const LARGE: f64 = 0.8;

fn seconds(work: &[LayerWork], costs: &Costs) -> f64 {
    let of = |layer: &LayerWork| {
        let place = WorkKind::ALL
            .iter()
            .position(|kind| *kind == layer.kind)
            .unwrap();
        let size = if layer.size > 1e8 { LARGE } else { 1.0 };
        layer.total() * costs[place] * size
    };
    work.iter().map(of).sum()
}

fn layer(kind: WorkKind, size: f64, times: u32) -> LayerWork {
    LayerWork { kind, size, times }
}

fn times(costs: &Costs, factors: &Costs) -> Costs {
    std::array::from_fn(|kind| costs[kind] * factors[kind])
}

struct Noise {
    random: SplitMix64,
    spread: f64,
}

impl Noise {
    fn new(seed: u64, spread: f64) -> Self {
        Noise {
            random: SplitMix64::new(seed),
            spread,
        }
    }

    fn unit(&mut self) -> f64 {
        self.random.below(1 << 30) as f64 / (1u64 << 30) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    fn measure(&mut self, truth: f64) -> Measured {
        let rounds: Vec<f64> = (0..5)
            .map(|_| truth * (self.spread * self.normal()).exp())
            .collect();
        Measured::of(&rounds).unwrap()
    }
}

/// The framework's networks of each kind, and some of the user's.
fn probe(
    name: &str,
    costs: &Costs,
    networks: &[Vec<LayerWork>],
    noise: &mut Noise,
) -> FrameworkProbe {
    let mut steps = Vec::new();
    let mut add = |network: String, kind: Option<WorkKind>, work: Vec<LayerWork>| {
        steps.push(StepTime {
            network,
            kind,
            batch: 1,
            seconds: noise.measure(seconds(&work, costs)),
            cpu_seconds: noise.measure(1.0),
            work,
        });
    };
    for kind in WorkKind::ALL {
        let sizes: &[f64] = match kind {
            WorkKind::Call => &[1.0],
            WorkKind::Update => &[1e8],
            _ => &[1e7, 1e9],
        };
        for size in sizes {
            let work = vec![layer(kind, *size, 3), layer(WorkKind::Call, 1.0, 3)];
            add(format!("{kind:?}-{size}"), Some(kind), work);
        }
    }
    for (place, work) in networks.iter().enumerate() {
        add(format!("own-{place}"), None, work.clone());
    }
    FrameworkProbe {
        framework: name.to_owned(),
        version: "1".to_owned(),
        threads: None,
        steps,
    }
}

fn machine(name: &str, frameworks: Vec<FrameworkProbe>) -> MachineProfile {
    MachineProfile {
        schema: PROFILE_SCHEMA,
        name: name.to_owned(),
        measured: "2026-11-18T00:00:00Z".parse().unwrap(),
        machine: Inventory {
            memory_bytes: 8_000_000_000,
            ..Inventory::default()
        },
        cores: 2.0,
        frameworks,
        one_core: None,
        host: HostRates::default(),
        seconds: 20.0,
    }
}

fn mixed(noise: &mut Noise) -> Vec<LayerWork> {
    let amount = |noise: &mut Noise, from: f64| from * (3.0 * noise.unit()).exp();
    vec![
        layer(WorkKind::Convolution, amount(noise, 5e7), 10),
        layer(WorkKind::MatrixProduct, amount(noise, 2e7), 3),
        layer(WorkKind::Memory, amount(noise, 1e7), 20),
        layer(WorkKind::Update, amount(noise, 2e7), 1),
        layer(WorkKind::Call, 1.0, 33),
    ]
}

fn measured(framework: &str, work: &[LayerWork], seconds: Measured) -> Workload<'static> {
    // Leaked: a few hundred bytes of a test.
    Workload {
        framework: framework.to_owned().leak(),
        work: work.to_vec().leak(),
        seconds,
        memory_bytes: Some(1_000_000_000),
    }
}

#[test]
fn times_of_unlike_machines_are_found_and_intervals_hold() {
    let mut covered = 0;
    let mut errors = Vec::new();
    for seed in 0..200 {
        let mut noise = Noise::new(seed, 0.02);
        let factors: Costs = std::array::from_fn(|_| (1.4 * (noise.unit() - 0.3)).exp());
        let other = times(&MACHINE, &factors);
        let own = probe("torch", &MACHINE, &[], &mut noise);
        let here = machine("here", vec![own]);
        let there = machine("there", vec![probe("torch", &other, &[], &mut noise)]);
        let work = mixed(&mut noise);
        let step = noise.measure(seconds(&work, &MACHINE));
        let truth = seconds(&work, &other);
        let found = transfer(&measured("torch", &work, step), &[], &here, &there).unwrap();
        assert_eq!(found.basis, Basis::Framework);
        covered += usize::from((found.low..=found.high).contains(&truth));
        errors.push((found.seconds / truth - 1.0).abs());
    }
    errors.sort_by(f64::total_cmp);
    assert!(errors[100] < 0.03, "median {}", errors[100]);
    assert!(errors[180] < 0.08, "90th percentile {}", errors[180]);
    assert!(covered >= 186, "{covered} of 200");
}

#[test]
fn a_machine_that_is_alike_takes_the_same_time() {
    let mut noise = Noise::new(1, 0.0);
    let here = machine("here", vec![probe("engine", &MACHINE, &[], &mut noise)]);
    let work = mixed(&mut noise);
    // However little the probe says about a framework's own time.
    let step = Measured::of(&[7.0; 5]).unwrap();
    let found = transfer(&measured("torch", &work, step), &[], &here, &here).unwrap();
    assert!((found.seconds / 7.0 - 1.0).abs() < 1e-9);
    assert_eq!(found.basis, Basis::Engine);
    let sum: f64 = found.shares.iter().map(|share| share.share).sum();
    assert!((sum - 1.0).abs() < 1e-9);
}

/// A framework that is good at convolutions and bad at everything else, on machines that differ in
/// convolutions: only measured steps can tell what its shares are.
#[test]
fn efficiencies_are_learnt_from_measured_steps() {
    let mut noise = Noise::new(3, 0.0);
    let efficiency = [1.0, 0.3, 1.0, 1.0, 3.0, 2.0, 5.0];
    let other = times(&MACHINE, &[1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let here = machine("here", vec![probe("engine", &MACHINE, &[], &mut noise)]);
    let there = machine("there", vec![probe("engine", &other, &[], &mut noise)]);
    let on = |costs: &Costs, work: &[LayerWork]| seconds(work, &times(costs, &efficiency));
    let works: Vec<Vec<LayerWork>> = (0..30).map(|_| mixed(&mut noise)).collect();
    let observations: Vec<Observation> = works
        .iter()
        .map(|work| Observation {
            work,
            seconds: on(&MACHINE, work),
        })
        .collect();
    let work = mixed(&mut noise);
    let step = Measured::of(&[on(&MACHINE, &work); 5]).unwrap();
    let workload = measured("torch", &work, step);
    let truth = on(&other, &work);
    let error = |others: &[Observation<'_>]| {
        let found = transfer(&workload, others, &here, &there).unwrap();
        assert!(
            (found.low..=found.high).contains(&truth),
            "{found:?} {truth}"
        );
        (found.seconds / truth - 1.0).abs()
    };
    let (alone, learnt) = (error(&[]), error(&observations));
    assert!(learnt < 0.1 && learnt < alone / 2.0, "{learnt} {alone}");
}

#[test]
fn networks_measured_on_both_machines_decide_the_interval() {
    let mut noise = Noise::new(5, 0.0);
    let networks: Vec<Vec<LayerWork>> = (0..6).map(|_| mixed(&mut noise)).collect();
    let own = probe("torch", &MACHINE, &networks, &mut noise);
    let width = |surprise: f64| {
        let mut other = own.clone();
        let of_user = other.steps.iter_mut().filter(|step| step.kind.is_none());
        for (place, step) in of_user.enumerate() {
            let sign = if place % 2 == 0 { 1.0 } else { -1.0 };
            step.seconds.median *= (sign * surprise).exp();
        }
        let here = machine("here", vec![own.clone()]);
        let there = machine("there", vec![other]);
        let step = own.steps.last().unwrap();
        let found = transfer(
            &measured("torch", &step.work, step.seconds),
            &[],
            &here,
            &there,
        );
        let found = found.unwrap();
        (found.high / found.low).ln()
    };
    // Five others: 2 · t(5) · deviation.
    assert!(
        (width(0.1) - 2.0 * 2.571 * 0.1).abs() < 0.01,
        "{}",
        width(0.1)
    );
    assert!(width(0.0) < 0.01);
}

#[test]
fn noise_of_the_probe_widens_the_interval() {
    let width = |spread: f64| {
        let mut noise = Noise::new(7, spread);
        let here = machine("here", vec![probe("torch", &MACHINE, &[], &mut noise)]);
        let work = mixed(&mut noise);
        let step = Measured::of(&[1.0; 5]).unwrap();
        let found = transfer(&measured("torch", &work, step), &[], &here, &here).unwrap();
        found.high / found.low
    };
    assert!(width(0.3) > 1.2 * width(0.0));
}

#[test]
fn what_cannot_be_carried_over_is_refused() {
    let mut noise = Noise::new(9, 0.0);
    let engine = probe("engine", &MACHINE, &[], &mut noise);
    let here = machine("here", vec![engine.clone()]);
    let there = machine("there", vec![engine.clone()]);
    let work = mixed(&mut noise);
    let step = Measured::of(&[1.0; 5]).unwrap();
    let workload = measured("torch", &work, step);
    let check = |workload: &Workload<'_>, there: &MachineProfile, expected: Option<&str>| {
        let refusal = transfer(workload, &[], &here, there).err();
        let refusal = refusal.map(|refusal| refusal.to_string());
        match expected {
            Some(words) => assert!(
                refusal.as_ref().is_some_and(|said| said.contains(words)),
                "{refusal:?}"
            ),
            None => assert_eq!(refusal, None),
        }
    };
    check(&workload, &there, None);
    let large = Workload {
        memory_bytes: Some(9_000_000_000),
        ..workload
    };
    check(
        &large,
        &there,
        Some("needs 9000 MB of memory, but there has 8000 MB"),
    );
    let mut unknown = there.clone();
    unknown.machine.memory_bytes = 0;
    check(&large, &unknown, None);
    let empty = machine("there", Vec::new());
    check(
        &workload,
        &empty,
        Some("neither torch nor the embedded engine was probed"),
    );
    let mut lacking = there.clone();
    lacking.frameworks[0]
        .steps
        .retain(|step| step.kind != Some(WorkKind::Convolution));
    check(&workload, &lacking, Some("no measurement of convolution"));
    lacking = there.clone();
    lacking.frameworks[0]
        .steps
        .retain(|step| step.kind != Some(WorkKind::Depthwise));
    // Which the workload has none of.
    check(&workload, &lacking, None);
    let nothing = Workload {
        work: &[],
        ..workload
    };
    check(&nothing, &there, Some("missing"));
}
