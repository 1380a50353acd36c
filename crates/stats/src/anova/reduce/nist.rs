//! NIST/ITL Statistical Reference Datasets (StRD), linear regression: Norris, Longley, Wampler1 and Filip. Data and
//! certified values: itl.nist.gov/div898/strd/lls.

use super::{Reduced, reduce};

/// Response, then predictors.
const LONGLEY: [[f64; 7]; 16] = [
    [60_323.0, 83.0, 234_289.0, 2356.0, 1590.0, 107_608.0, 1947.0],
    [61_122.0, 88.5, 259_426.0, 2325.0, 1456.0, 108_632.0, 1948.0],
    [60_171.0, 88.2, 258_054.0, 3682.0, 1616.0, 109_773.0, 1949.0],
    [61_187.0, 89.5, 284_599.0, 3351.0, 1650.0, 110_929.0, 1950.0],
    [63_221.0, 96.2, 328_975.0, 2099.0, 3099.0, 112_075.0, 1951.0],
    [63_639.0, 98.1, 346_999.0, 1932.0, 3594.0, 113_270.0, 1952.0],
    [64_989.0, 99.0, 365_385.0, 1870.0, 3547.0, 115_094.0, 1953.0],
    [
        63_761.0, 100.0, 363_112.0, 3578.0, 3350.0, 116_219.0, 1954.0,
    ],
    [
        66_019.0, 101.2, 397_469.0, 2904.0, 3048.0, 117_388.0, 1955.0,
    ],
    [
        67_857.0, 104.6, 419_180.0, 2822.0, 2857.0, 118_734.0, 1956.0,
    ],
    [
        68_169.0, 108.4, 442_769.0, 2936.0, 2798.0, 120_445.0, 1957.0,
    ],
    [
        66_513.0, 110.8, 444_546.0, 4681.0, 2637.0, 121_950.0, 1958.0,
    ],
    [
        68_655.0, 112.6, 482_704.0, 3813.0, 2552.0, 123_366.0, 1959.0,
    ],
    [
        69_564.0, 114.2, 502_601.0, 3931.0, 2514.0, 125_368.0, 1960.0,
    ],
    [
        69_331.0, 115.7, 518_173.0, 4806.0, 2572.0, 127_852.0, 1961.0,
    ],
    [
        70_551.0, 116.9, 554_894.0, 4007.0, 2827.0, 130_081.0, 1962.0,
    ],
];

const NORRIS: [[f64; 2]; 36] = [
    [0.1, 0.2],
    [338.8, 337.4],
    [118.1, 118.2],
    [888.0, 884.6],
    [9.2, 10.1],
    [228.1, 226.5],
    [668.5, 666.3],
    [998.5, 996.3],
    [449.1, 448.6],
    [778.9, 777.0],
    [559.2, 558.2],
    [0.3, 0.4],
    [0.1, 0.6],
    [778.1, 775.5],
    [668.8, 666.9],
    [339.3, 338.0],
    [448.9, 447.5],
    [10.8, 11.6],
    [557.7, 556.0],
    [228.3, 228.1],
    [998.0, 995.8],
    [888.8, 887.6],
    [119.6, 120.2],
    [0.3, 0.3],
    [0.6, 0.3],
    [557.6, 556.8],
    [339.3, 339.1],
    [888.0, 887.2],
    [998.5, 999.0],
    [778.9, 779.0],
    [10.2, 11.1],
    [117.6, 118.3],
    [228.9, 229.2],
    [668.4, 669.1],
    [449.2, 448.9],
    [0.2, 0.5],
];

const FILIP: [[f64; 2]; 82] = [
    [0.8116, -6.860_120_914],
    [0.9072, -4.324_130_045],
    [0.9052, -4.358_625_055],
    [0.9039, -4.358_426_747],
    [0.8053, -6.955_852_379],
    [0.8377, -6.661_145_254],
    [0.8667, -6.355_462_942],
    [0.8809, -6.118_102_026],
    [0.7975, -7.115_148_017],
    [0.8162, -6.815_308_569],
    [0.8515, -6.519_993_057],
    [0.8766, -6.204_119_983],
    [0.8885, -5.853_871_964],
    [0.8859, -6.109_523_091],
    [0.8959, -5.798_329_82],
    [0.8913, -5.482_672_118],
    [0.8959, -5.171_791_386],
    [0.8971, -4.851_705_903],
    [0.9021, -4.517_126_416],
    [0.909, -4.143_573_228],
    [0.9139, -3.709_075_441],
    [0.9199, -3.499_489_089],
    [0.8692, -6.300_769_497],
    [0.8872, -5.953_504_836],
    [0.89, -5.642_065_153],
    [0.891, -5.031_376_979],
    [0.8977, -4.680_685_696],
    [0.9035, -4.329_846_955],
    [0.9078, -3.928_486_195],
    [0.7675, -8.567_351_34],
    [0.7705, -8.363_211_311],
    [0.7713, -8.107_682_739],
    [0.7736, -7.823_908_741],
    [0.7775, -7.522_878_745],
    [0.7841, -7.218_819_279],
    [0.7971, -6.920_818_754],
    [0.8329, -6.628_932_138],
    [0.8641, -6.323_946_875],
    [0.8804, -5.991_399_828],
    [0.7668, -8.781_464_495],
    [0.7633, -8.663_140_179],
    [0.7678, -8.473_531_488],
    [0.7697, -8.247_337_057],
    [0.77, -7.971_428_747],
    [0.7749, -7.676_129_393],
    [0.7796, -7.352_812_702],
    [0.7897, -7.072_065_318],
    [0.8131, -6.774_174_009],
    [0.8498, -6.478_861_916],
    [0.8741, -6.159_517_513],
    [0.8061, -6.835_647_144],
    [0.846, -6.531_652_67],
    [0.8751, -6.224_098_421],
    [0.8856, -5.910_094_889],
    [0.8919, -5.598_599_459],
    [0.8934, -5.290_645_224],
    [0.894, -4.974_284_616],
    [0.8957, -4.644_548_48],
    [0.9047, -4.290_560_426],
    [0.9129, -3.885_055_584],
    [0.9209, -3.408_378_962],
    [0.9219, -3.132_002_49],
    [0.7739, -8.726_767_166],
    [0.7681, -8.666_955_97],
    [0.7665, -8.511_026_475],
    [0.7703, -8.165_388_579],
    [0.7702, -7.886_056_648],
    [0.7761, -7.588_043_762],
    [0.7809, -7.283_412_422],
    [0.7961, -6.995_678_626],
    [0.8253, -6.691_862_621],
    [0.8602, -6.392_544_977],
    [0.8809, -6.067_374_056],
    [0.8301, -6.684_029_655],
    [0.8664, -6.378_719_832],
    [0.8834, -6.065_855_188],
    [0.8898, -5.752_272_167],
    [0.8964, -5.132_414_673],
    [0.8963, -4.811_352_704],
    [0.9074, -4.098_269_308],
    [0.9119, -3.661_742_77],
    [0.9228, -3.264_401_1],
];

struct Fitted {
    coefficients: Vec<f64>,
    errors: Vec<f64>,
    residual_sd: f64,
    rank: usize,
}

fn fitted(columns: Vec<Vec<f64>>, right: &[f64]) -> Fitted {
    let reduced = reduce(columns, right.to_vec());
    let free = right.len() - reduced.rank();
    let residual_sd = (reduced.residual_squares() / free as f64).sqrt();
    Fitted {
        coefficients: reduced.coefficients(),
        errors: lengths_of_inverse(&reduced)
            .iter()
            .map(|length| residual_sd * length)
            .collect(),
        residual_sd,
        rank: reduced.rank(),
    }
}

/// Of the rows of the triangle's inverse.
fn lengths_of_inverse(reduced: &Reduced) -> Vec<f64> {
    let rank = reduced.rank();
    let mut squares = vec![0.0; rank];
    for unit in 0..rank {
        let mut right = vec![0.0; rank];
        right[unit] = 1.0;
        let solved = Reduced {
            right,
            ..reduced.clone()
        };
        let column = solved.coefficients();
        for (sum, kept) in squares.iter_mut().zip(&reduced.kept) {
            *sum += column[*kept] * column[*kept];
        }
    }
    squares.into_iter().map(f64::sqrt).collect()
}

/// Correct digits: −log10 of the relative error, at most 15 (McCullough 1998).
fn digits(computed: &[f64], certified: &[f64]) -> f64 {
    assert_eq!(computed.len(), certified.len());
    let pairs = computed.iter().zip(certified);
    let each = pairs.map(|(computed, certified)| match computed == certified {
        true => 15.0,
        false => (-((computed - certified) / certified).abs().log10()).min(15.0),
    });
    each.fold(15.0, f64::min)
}

/// Powers from the first on.
fn powers(x: &[f64], degree: i32) -> Vec<Vec<f64>> {
    let column = |power| x.iter().map(|x| x.powi(power)).collect();
    (0..=degree).map(column).collect()
}

#[track_caller]
fn at_least(what: &str, reached: f64, wanted: f64) {
    assert!(
        reached >= wanted,
        "{what}: {reached:.1} digits instead of {wanted}"
    );
}

#[test]
fn norris() {
    let [y, x] = [0, 1].map(|place| NORRIS.map(|row| row[place]));
    let found = fitted(powers(&x, 1), &y);
    let certified = [-0.262_323_073_774_029, 1.002_116_818_020_45];
    at_least(
        "Norris, coefficients",
        digits(&found.coefficients, &certified),
        11.0,
    );
    let errors = [0.232_818_234_301_152, 0.429_796_848_199_937e-3];
    at_least("Norris, errors", digits(&found.errors, &errors), 12.0);
    at_least(
        "Norris, sd",
        digits(&[found.residual_sd], &[0.884_796_396_144_373]),
        12.0,
    );
    // What is used for lines.
    let slope = crate::slope(&x, &y, 0.95).unwrap();
    let reached = digits(
        &[slope.value, slope.standard_error.unwrap()],
        &[certified[1], errors[1]],
    );
    at_least("Norris, slope()", reached, 12.0);
}

#[test]
fn longley() {
    let y = LONGLEY.map(|row| row[0]);
    let ones = std::iter::once(vec![1.0; y.len()]);
    let columns = ones.chain((1..7).map(|place| LONGLEY.map(|row| row[place]).to_vec()));
    let found = fitted(columns.collect(), &y);
    let certified = [
        -3_482_258.634_595_82,
        15.061_872_271_373_3,
        -0.358_191_792_925_910e-1,
        -2.020_229_803_816_83,
        -1.033_226_867_173_59,
        -0.511_041_056_535_807e-1,
        1_829.151_464_613_55,
    ];
    at_least(
        "Longley, coefficients",
        digits(&found.coefficients, &certified),
        12.0,
    );
    let errors = [
        890_420.383_607_373,
        84.914_925_774_766_9,
        0.334_910_077_722_432e-1,
        0.488_399_681_651_699,
        0.214_274_163_161_675,
        0.226_073_200_069_370,
        455.478_499_142_212,
    ];
    at_least("Longley, errors", digits(&found.errors, &errors), 12.0);
    at_least(
        "Longley, sd",
        digits(&[found.residual_sd], &[304.854_073_561_965]),
        12.0,
    );
}

/// Its residual is zero by certificate: what is left is the error of the numbers.
#[test]
fn wampler1() {
    let x: Vec<f64> = (0..=20).map(f64::from).collect();
    let y: Vec<f64> = x
        .iter()
        .map(|x| (0..=5).map(|power| x.powi(power)).sum())
        .collect();
    let found = fitted(powers(&x, 5), &y);
    at_least(
        "Wampler1, coefficients",
        digits(&found.coefficients, &[1.0; 6]),
        9.0,
    );
    assert!(found.residual_sd < 1e-7, "{}", found.residual_sd);
}

/// A polynomial of (x − centre) / width in powers of x.
fn in_powers_of_x(coefficients: &[f64], centre: f64, width: f64) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for coefficient in coefficients.iter().rev() {
        let mut next = vec![0.0; found.len() + 1];
        for (power, own) in found.iter().enumerate() {
            next[power + 1] += own / width;
            next[power] -= own * centre / width;
        }
        next[0] += coefficient;
        found = next;
    }
    found
}

/// A polynomial of degree ten whose powers are nearly one another (condition number 2 · 10¹⁵). Taken as they are, seven
/// digits are all that sixteen leave; powers of x less its middle say the same and keep fourteen. Bancada fits no
/// polynomials of this kind.
#[test]
fn filip() {
    let [y, x] = [0, 1].map(|place| FILIP.map(|row| row[place]));
    let certified = [
        -1_467.489_614_229_80,
        -2_772.179_591_933_42,
        -2_316.371_081_608_93,
        -1_127.973_940_983_72,
        -354.478_233_703_349,
        -75.124_201_739_375_7,
        -10.875_318_035_534_3,
        -1.062_214_985_889_47,
        -0.670_191_154_593_408e-1,
        -0.246_781_078_275_479e-2,
        -0.402_962_525_080_404e-4,
    ];
    let errors = [
        298.084_530_995_537,
        559.779_865_474_950,
        466.477_572_127_796,
        227.204_274_477_751,
        71.647_866_087_592_7,
        15.289_717_874_740_0,
        2.236_911_598_160_33,
        0.221_624_321_934_227,
        0.142_363_763_154_724e-1,
        0.535_617_408_889_821e-3,
        0.896_632_837_373_868e-5,
    ];
    let sd = [0.334_801_051_324_544e-2];
    let found = fitted(powers(&x, 10), &y);
    assert_eq!(found.rank, 11);
    at_least(
        "Filip, coefficients",
        digits(&found.coefficients, &certified),
        7.0,
    );
    at_least("Filip, errors", digits(&found.errors, &errors), 7.0);
    at_least("Filip, sd", digits(&[found.residual_sd], &sd), 9.0);
    let (centre, width) = (-6.0, 3.0);
    let middle: Vec<f64> = x.iter().map(|x| (x - centre) / width).collect();
    let found = fitted(powers(&middle, 10), &y);
    let coefficients = in_powers_of_x(&found.coefficients, centre, width);
    at_least(
        "Filip from the middle, coefficients",
        digits(&coefficients, &certified),
        12.0,
    );
    at_least(
        "Filip from the middle, sd",
        digits(&[found.residual_sd], &sd),
        12.0,
    );
}
