//! NIST/ITL Statistical Reference Datasets (StRD): certified one-way analyses of variance and univariate
//! summaries. Data and certified values: itl.nist.gov/div898/strd.
//!
//! SmLs07 to SmLs09 (values like 1000000000000.4) have no more than 3 or 4 digits when their `f64` values are taken
//! literally; here the decimals they were written as are recovered, so they reach as many digits as the others.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use stats::{Anova, Design, Observation, Scale, choose_scale, one_way, summary};

struct Certified {
    between: [f64; 2],
    within: [f64; 2],
    f: f64,
    r_squared: f64,
}

/// Correct digits: −log10 of the relative error, at most 15 (McCullough 1998).
fn digits(computed: f64, certified: f64) -> f64 {
    let error = ((computed - certified) / certified).abs();
    if error == 0.0 {
        15.0
    } else {
        (-error.log10()).min(15.0)
    }
}

#[track_caller]
fn check(name: &str, groups: &[Vec<f64>], certified: &Certified) {
    let anova: Anova = one_way(groups).unwrap();
    let term = &anova.terms[0];
    let reached = [
        digits(term.sum_of_squares, certified.between[0]),
        digits(term.mean_square, certified.between[1]),
        digits(anova.residual.sum_of_squares, certified.within[0]),
        digits(anova.residual.mean_square, certified.within[1]),
        digits(term.f.unwrap(), certified.f),
        digits(anova.r_squared, certified.r_squared),
        digits(
            anova.residual.mean_square.sqrt(),
            certified.within[1].sqrt(),
        ),
    ];
    let fewest = reached.into_iter().fold(15.0, f64::min);
    println!(
        "{name}: {fewest:.1} digits, F {:.1}",
        digits(term.f.unwrap(), certified.f)
    );
    assert!(fewest >= 12.0, "{name}: {reached:?}");
}

#[test]
fn si_rstv() {
    let groups = [
        [196.3052, 196.1240, 196.1890, 196.2569, 196.3403],
        [196.3042, 196.3825, 196.1669, 196.3257, 196.0422],
        [196.1303, 196.2005, 196.2889, 196.0343, 196.1811],
        [196.2795, 196.1748, 196.1494, 196.1485, 195.9885],
        [196.2119, 196.1051, 196.1850, 196.0052, 196.2090],
    ];
    check(
        "SiRstv",
        &groups.map(|group| group.to_vec()),
        &Certified {
            between: [5.114_626_160_000_00e-2, 1.278_656_540_000_00e-2],
            within: [2.166_365_600_000_00e-1, 1.083_182_800_000_00e-2],
            f: 1.180_462_374_402_55,
            r_squared: 1.909_990_390_511_29e-1,
        },
    );
}

#[test]
fn atm_wt_ag() {
    // The last four of the digits after 107.868.
    let first = [
        1568, 1465, 1572, 1785, 1446, 1903, 1526, 1494, 1616, 1587, 1519, 1486, 1419, 1569, 1508,
        1672, 1385, 1518, 1662, 1424, 1360, 1333, 1610, 1477,
    ];
    let second = [
        1079, 1344, 1513, 1197, 1604, 1385, 1642, 1365, 1151, 1082, 1517, 1448, 1198, 1482, 1334,
        1609, 1101, 1512, 1469, 1360, 1254, 1261, 1450, 1368,
    ];
    let weights = |digits: [u32; 24]| -> Vec<f64> {
        digits
            .iter()
            .map(|digits| format!("107.868{digits}").parse().unwrap())
            .collect()
    };
    check(
        "AtmWtAg",
        &[weights(first), weights(second)],
        &Certified {
            between: [3.638_341_875_000_00e-9, 3.638_341_875_000_00e-9],
            within: [1.049_517_291_666_67e-8, 2.281_559_329_710_14e-10],
            f: 1.594_673_356_779_30e1,
            r_squared: 2.574_265_445_383_21e-1,
        },
    );
}

/// SmLs01 to SmLs09, Simon and Lesage (1989): value = offset + tenths of the treatment + tenths of the replicate.
fn simon_lesage_groups(number: usize) -> Vec<Vec<f64>> {
    let tenths = |index: usize| match index {
        1 => 2,
        even if even % 2 == 0 => 1,
        _ => 3,
    };
    let whole = ["1", "1000000", "1000000000000"][(number - 1) / 3];
    let value = |treatment: usize, replicate: usize| -> f64 {
        format!("{whole}.{}", tenths(treatment) + tenths(replicate))
            .parse()
            .unwrap()
    };
    let group = |treatment: usize| {
        let replicates = 1..=simon_lesage_size(number);
        replicates.map(move |replicate| value(treatment, replicate))
    };
    (1..=9)
        .map(|treatment| group(treatment).collect())
        .collect()
}

fn simon_lesage_size(number: usize) -> usize {
    [21, 201, 2001][(number - 1) % 3]
}

#[test]
fn simon_lesage() {
    let r_squared = [
        4.827_586_206_896_55e-1,
        4.718_309_859_154_93e-1,
        4.707_127_734_650_67e-1,
    ];
    for number in 1..=9 {
        let size = simon_lesage_size(number);
        let between = 0.08 * size as f64;
        check(
            &format!("SmLs0{number}"),
            &simon_lesage_groups(number),
            &Certified {
                between: [between, between / 8.0],
                within: [0.09 * (size - 1) as f64, 0.01],
                f: size as f64,
                r_squared: r_squared[(number - 1) % 3],
            },
        );
    }
}

/// The logarithms of 1000000000000.4 and its neighbours differ in their last bits alone: taking them would leave
/// three digits, and rounding noise would be what chooses the scale.
#[test]
fn narrow_ranges_stay_linear() {
    let check = |number: usize| {
        let groups = simon_lesage_groups(number);
        let observation = |(level, value): (usize, f64)| Observation {
            levels: vec![level],
            value,
        };
        let groups = groups.into_iter().enumerate();
        let observations: Vec<Observation> = groups
            .flat_map(|(level, values)| values.into_iter().map(move |value| (level, value)))
            .map(observation)
            .collect();
        let design = Design { levels: vec![9] };
        let choice = choose_scale(&design, &observations).unwrap();
        assert_eq!(
            choice.scale,
            Scale::Linear,
            "SmLs0{number}: {:?}",
            choice.reason
        );
    };
    (4..=9).for_each(check);
}

#[test]
fn univariate() {
    let alternating = |whole: &str| -> Vec<f64> {
        let tenth = |digit: u32| -> f64 { format!("{whole}.{digit}").parse().unwrap() };
        std::iter::once(tenth(2))
            .chain((0..1000).map(|n| tenth(if n % 2 == 0 { 1 } else { 3 })))
            .collect()
    };
    let cases = [
        (
            "NumAcc1",
            vec![10_000_001.0, 10_000_003.0, 10_000_002.0],
            10_000_002.0,
            1.0,
        ),
        ("NumAcc2", alternating("1"), 1.2, 0.1),
        ("NumAcc3", alternating("1000000"), 1_000_000.2, 0.1),
        ("NumAcc4", alternating("10000000"), 10_000_000.2, 0.1),
    ];
    for (name, values, mean, sd) in cases {
        let summary = summary(&values, 0.95).unwrap();
        let reached = [digits(summary.mean.value, mean), digits(summary.sd, sd)];
        println!("{name}: {reached:.1?} digits of mean and sd");
        assert!(
            reached.iter().all(|digits| *digits >= 14.0),
            "{name}: {reached:?}"
        );
    }
}
