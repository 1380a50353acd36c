//! Special functions and distributions against values computed with 40 digits, and against printed tables.
#![expect(clippy::excessive_precision, reason = "reference values as published")]

use stats::distribution::{
    f_sf, normal_cdf, normal_quantile, normal_sf, student_quantile, student_two_sided,
};
use stats::special::{Share, erfc, ln_beta, ln_beta_inc, ln_gamma};

#[track_caller]
fn check(computed: f64, expected: f64, relative: f64) {
    let error = ((computed - expected) / expected).abs();
    assert!(
        error <= relative,
        "{computed:e} is not {expected:e}: relative error {error:e}"
    );
}

#[test]
fn f_tail() {
    let cases = [
        (21.0, 8.0, 180.0, 2.583_264_337_268_971_4e-22),
        (201.0, 8.0, 1800.0, 4.037_141_885_753_982_6e-243),
        (1.180_462_374_402_55, 4.0, 20.0, 0.349_447_493_402_192_73),
        (15.946_733_567_793, 1.0, 46.0, 0.000_232_684_448_338_925_46),
        (0.5, 3.0, 7.0, 0.694_036_387_568_813_72),
        (4.96, 1.0, 10.0, 0.050_087_650_566_468_19),
        (50.0, 2.0, 5.0, 0.000_494_825_147_927_420_37),
        (1.0, 1000.0, 1000.0, 0.5),
        (1.3, 1000.0, 1000.0, 1.726_088_202_785_047_6e-5),
        (1e-3, 2.0, 9.0, 0.999_000_610_816_994_98),
    ];
    for (f, numerator, denominator, expected) in cases {
        check(f_sf(f, numerator, denominator), expected, 2e-13);
    }
}

#[test]
fn f_tail_beyond_the_range_of_floats_keeps_its_logarithm() {
    // F = 2001 with 8 and 18000 degrees of freedom: p = 2.1184332794401845e-2477.
    let share = Share::from_ratio(18_000.0, 8.0 * 2001.0);
    let expected = 2.118_433_279_440_184_5_f64.ln() - 2477.0 * std::f64::consts::LN_10;
    check(ln_beta_inc(9000.0, 4.0, share), expected, 1e-14);
    assert_eq!(f_sf(2001.0, 8.0, 18_000.0), 0.0);
}

#[test]
fn student_tail() {
    let cases = [
        (1.0, 1.0, 0.5),
        (2.228, 10.0, 0.050_011_771_817_111_365),
        (1e-3, 5.0, 0.999_240_786_772_197_65),
        (40.0, 3.0, 3.438_068_078_915_852_8e-5),
        (12.0, 100.0, 4.395_087_715_604_378_1e-21),
        (37.5, 30.0, 9.171_151_100_346_993_3e-27),
        (1e6, 2.0, 9.999_999_999_985e-13),
        (5.0, 2.5, 0.023_451_189_970_861_847),
        (2.0, 1e4, 0.045_527_260_661_435_443),
        (8.0, 1e6, 1.245_506_343_320_252e-15),
    ];
    for (t, degrees_of_freedom, expected) in cases {
        check(student_two_sided(t, degrees_of_freedom), expected, 2e-13);
        check(student_two_sided(-t, degrees_of_freedom), expected, 2e-13);
    }
}

#[test]
fn student_quantiles() {
    let cases = [
        (0.975, 1.0, 12.706_204_736_174_705),
        (0.975, 2.0, 4.302_652_729_749_463_9),
        (0.975, 4.0, 2.776_445_105_197_794_4),
        (0.975, 8.0, 2.306_004_135_204_166_7),
        (0.95, 8.0, 1.859_548_037_530_898_4),
        (0.995, 10.0, 3.169_272_672_616_951_2),
        (0.975, 30.0, 2.042_272_456_301_238_3),
        (0.9995, 5.0, 6.868_826_625_881_110_2),
        (0.975, 120.0, 1.979_930_405_082_440_8),
        (0.975, 9999.0, 1.960_201_263_621_357_7),
        (0.6, 7.0, 0.263_166_861_352_022_81),
        (0.5001, 3.0, 0.000_272_069_909_110_503_35),
    ];
    for (p, degrees_of_freedom, expected) in cases {
        check(student_quantile(p, degrees_of_freedom), expected, 2e-13);
        check(
            student_quantile(1.0 - p, degrees_of_freedom),
            -expected,
            2e-12,
        );
    }
    assert_eq!(student_quantile(0.5, 3.0), 0.0);
    check(
        student_quantile(0.975, f64::INFINITY),
        1.959_963_984_540_054_2,
        1e-14,
    );
}

#[test]
fn printed_tables() {
    // Jain 1991, table A.4, to the digits printed there.
    let round = |value: f64, digits: i32| (value * 10f64.powi(digits)).round() / 10f64.powi(digits);
    assert_eq!(round(student_quantile(0.95, 8.0), 3), 1.860);
    assert_eq!(round(student_quantile(0.975, 15.0), 3), 2.131);
    assert_eq!(round(student_quantile(0.90, 1.0), 3), 3.078);
}

#[test]
fn gamma_and_beta() {
    let gamma = [
        (0.1, 2.252_712_651_734_206),
        (0.5, 0.572_364_942_924_700_09),
        (1.5, -0.120_782_237_635_245_22),
        (3.7, 1.428_072_326_665_387_9),
        (10.0, 12.801_827_480_081_47),
        (50.5, 146.519_255_490_720_63),
        (1000.25, 5_906.947_268_271_117_2),
        (1e6, 12_815_504.569_147_612),
    ];
    for (x, expected) in gamma {
        check(ln_gamma(x), expected, 2e-14);
    }
    let beta = [
        (0.5, 0.5, 1.144_729_885_849_400_2),
        (2.5, 9000.0, -22.477_975_088_225_814),
        (9000.0, 4.0, -34.628_826_536_308_741),
        (500.0, 500.0, -694.988_722_485_713_43),
        (0.5, 1e6, -6.335_390_211_057_437),
        (12.0, 13.0, -17.295_207_056_576_547),
    ];
    for (a, b, expected) in beta {
        check(ln_beta(a, b), expected, 1e-14);
        check(ln_beta(b, a), expected, 1e-14);
    }
}

#[test]
fn normal() {
    let quantiles = [
        (0.5001, 0.000_250_662_830_088_035_1),
        (0.6, 0.253_347_103_135_799_8),
        (0.9, 1.281_551_565_544_600_5),
        (0.975, 1.959_963_984_540_054_2),
        (0.995, 2.575_829_303_548_900_8),
        (0.999_999, 4.753_424_308_822_898_9),
        (1e-10, -6.361_340_902_404_056_2),
        (1e-100, -21.273_453_560_965_324),
        (1e-300, -37.047_096_299_361_199),
    ];
    for (p, expected) in quantiles {
        check(normal_quantile(p), expected, 2e-12);
    }
    let tails = [
        (0.001, 0.998_871_621_209_030_76),
        (0.5, 0.479_500_122_186_953_46),
        (1.0, 0.157_299_207_050_285_13),
        (1.49, 0.035_102_135_156_795_788),
        (1.51, 0.032_723_251_871_288_364),
        (3.0, 2.209_049_699_858_544_1e-5),
        (10.0, 2.088_487_583_762_544_8e-45),
        (26.0, 5.663_192_408_856_142_8e-296),
        (-1.0, 1.842_700_792_949_714_9),
    ];
    for (x, expected) in tails {
        check(erfc(x), expected, 1e-15);
    }
    check(normal_cdf(1.0) + normal_sf(1.0), 1.0, 1e-15);
}

#[test]
fn ends_and_nonsense() {
    assert_eq!(f_sf(0.0, 1.0, 1.0), 1.0);
    assert_eq!(f_sf(f64::INFINITY, 1.0, 1.0), 0.0);
    assert_eq!(student_two_sided(f64::INFINITY, 4.0), 0.0);
    assert_eq!(student_two_sided(0.0, 4.0), 1.0);
    assert_eq!(student_quantile(1.0, 4.0), f64::INFINITY);
    assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(normal_quantile(0.5), 0.0);
    for nonsense in [
        student_quantile(1.5, 3.0),
        student_quantile(0.5, -1.0),
        f_sf(f64::NAN, 1.0, 1.0),
        normal_quantile(-0.1),
        ln_gamma(-1.0),
    ] {
        assert!(nonsense.is_nan(), "{nonsense}");
    }
}
