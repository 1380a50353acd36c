//! Designs and alias tables as books have them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{correlation, signs, table};
use design::{Column, fraction, minimum_aberration, plackett_burman, with_resolution};
use model::AliasTable;
use model::design::{Effect, Estimable};

/// `D=AB`, by letters.
fn generated(factors: usize, generators: &[&str]) -> Vec<Vec<usize>> {
    let place = |letter: char| (letter as u8 - b'A') as usize;
    let column = |text: &&str| {
        let (factor, product) = text.split_once('=').unwrap();
        Column {
            factor: place(factor.chars().next().unwrap()),
            product: product.trim_start_matches('-').chars().map(place).collect(),
            negative: product.starts_with('-'),
        }
    };
    let columns: Vec<Column> = generators.iter().map(column).collect();
    fraction(&vec![2; factors], &columns)
}

fn words(table: &AliasTable) -> Vec<String> {
    let word = |word: &model::design::Word| {
        let sign = if word.negative { "-" } else { "" };
        format!("{sign}{}", word.effect.0.concat())
    };
    table.defining_words.iter().map(word).collect()
}

/// `A: BD CE FG`: what cannot be distinguished from it.
fn aliased(table: &AliasTable, effect: &str) -> String {
    let effect = Effect(effect.chars().map(String::from).collect());
    let row = table.of(&effect).unwrap();
    let mut names: Vec<String> = row.inseparable().map(|e| e.0.concat()).collect();
    names.sort();
    names.join(" ")
}

/// Box, Hunter and Hunter, the saturated 2^(7−4).
#[test]
fn seven_factors_in_eight_runs() {
    let rows = generated(7, &["D=AB", "E=AC", "F=BC", "G=ABC"]);
    let table = table(&rows, 7, 2);
    assert_eq!(rows.len(), 8);
    assert_eq!(table.resolution, Some(3));
    assert_eq!(
        table.d_efficiency.map(|d| (d * 1e9).round() / 1e9),
        Some(1.0)
    );
    assert_eq!(table.defining_words.len(), 15);
    assert_eq!(
        words(&table)[..7],
        ["ABD", "ACE", "AFG", "BCF", "BEG", "CDG", "DEF"]
    );
    assert_eq!(aliased(&table, "A"), "BD CE FG");
    assert_eq!(aliased(&table, "B"), "AD CF EG");
    assert_eq!(aliased(&table, "C"), "AE BF DG");
    assert_eq!(aliased(&table, "D"), "AB CG EF");
    assert_eq!(aliased(&table, "E"), "AC BG DF");
    assert_eq!(aliased(&table, "F"), "AG BC DE");
    assert_eq!(aliased(&table, "G"), "AF BE CD");
    let a = table.of(&Effect(vec!["A".to_owned()])).unwrap();
    assert_eq!(a.estimable, Estimable::WithMainEffects);
}

/// The half fraction of 2^5 with E = ABCD: main effects and two-factor interactions are clear.
#[test]
fn five_factors_in_sixteen_runs() {
    let table = table(&generated(5, &["E=ABCD"]), 5, 2);
    assert_eq!(table.resolution, Some(5));
    assert_eq!(words(&table), ["ABCDE"]);
    assert_eq!(table.effects.len(), 15);
    for row in &table.effects {
        assert_eq!(row.estimable, Estimable::WithAll, "{}", row.effect);
        assert_eq!(row.aliases, [], "{}", row.effect);
    }
}

/// Montgomery's 2^(8−4) of resolution IV: E=BCD, F=ACD, G=ABC, H=ABD.
#[test]
fn eight_factors_in_sixteen_runs() {
    let table = table(&generated(8, &["E=BCD", "F=ACD", "G=ABC", "H=ABD"]), 8, 2);
    assert_eq!(table.resolution, Some(4));
    let fours = words(&table).iter().filter(|w| w.len() == 4).count();
    assert_eq!((fours, table.defining_words.len()), (14, 15));
    for letter in ["A", "B", "C", "D", "E", "F", "G", "H"] {
        assert_eq!(aliased(&table, letter), "");
    }
    assert_eq!(aliased(&table, "AB"), "CG DH EF");
    let ab = table
        .of(&Effect(vec!["A".to_owned(), "B".to_owned()]))
        .unwrap();
    assert_eq!(ab.estimable, Estimable::WithMainEffects);
}

#[test]
fn the_other_half_has_the_other_sign() {
    let rows = generated(3, &["C=-AB"]);
    assert_eq!(words(&table(&rows, 3, 2)), ["-ABC"]);
    let product = |row: &Vec<usize>| signs(row).iter().product::<f64>();
    assert!(rows.iter().all(|row| product(row) < 0.0));
}

/// Word-length patterns (from length 3) of the minimum-aberration designs of Chen, Sun and Wu
/// (1993). All but those of 15 factors in 16 runs, 16 in 32, and 11 and 12 in 64 were also found by
/// trying every set of generators.
#[test]
fn minimum_aberration_is_the_published_one() {
    let check = |factors: usize, base: usize, resolution: usize, pattern: &[u64]| {
        let chosen = minimum_aberration(factors, base).unwrap();
        assert_eq!(chosen.resolution, Some(resolution), "{factors} in 2^{base}");
        assert_eq!(
            &chosen.pattern[..pattern.len()],
            pattern,
            "{factors} in 2^{base}"
        );
    };
    check(3, 2, 3, &[1]);
    check(5, 3, 3, &[2, 1]);
    check(6, 3, 3, &[4, 3]);
    check(7, 3, 3, &[7, 7]);
    check(5, 4, 5, &[0, 0, 1]);
    check(6, 4, 4, &[0, 3]);
    check(7, 4, 4, &[0, 7]);
    check(8, 4, 4, &[0, 14]);
    check(9, 4, 3, &[4, 14, 8]);
    check(15, 4, 3, &[35, 105]);
    check(6, 5, 6, &[0, 0, 0, 1]);
    check(7, 5, 4, &[0, 1, 2]);
    check(8, 5, 4, &[0, 3, 4]);
    check(9, 5, 4, &[0, 6, 8]);
    check(10, 5, 4, &[0, 10, 16]);
    check(11, 5, 4, &[0, 25, 0, 27]);
    check(12, 5, 4, &[0, 38, 0, 52]);
    check(16, 5, 4, &[0, 140]);
    check(8, 6, 5, &[0, 0, 2, 1]);
    check(9, 6, 4, &[0, 1, 4, 2]);
    check(10, 6, 4, &[0, 2, 8, 4]);
    check(11, 6, 4, &[0, 4, 14, 8]);
    check(12, 6, 4, &[0, 6, 24, 16]);
}

#[test]
fn generators_are_the_usual_ones() {
    let chosen = minimum_aberration(7, 3).unwrap();
    assert_eq!(
        chosen.products,
        [vec![0, 1], vec![0, 2], vec![1, 2], vec![0, 1, 2]]
    );
}

#[test]
fn the_smallest_fraction_of_a_resolution() {
    let check = |factors: usize, resolution: usize, runs: usize| {
        let chosen = with_resolution(factors, resolution).unwrap();
        assert_eq!(
            1 << chosen.base,
            runs,
            "{factors} factors, resolution {resolution}"
        );
    };
    check(7, 3, 8);
    check(7, 4, 16);
    check(8, 4, 16);
    check(9, 4, 32);
    check(5, 5, 16);
    check(6, 5, 32);
    check(8, 5, 64);
    check(11, 5, 128);
    check(17, 5, 256);
    check(3, 4, 8); // no fraction: every combination
}

/// Plackett and Burman (1946), first rows.
#[test]
fn plackett_burman_is_the_published_one() {
    let check = |runs: usize, first: &str| {
        let rows = plackett_burman(&vec![2; runs - 1], runs).unwrap();
        let row: Vec<usize> = first.chars().map(|c| usize::from(c == '+')).collect();
        assert!(rows.contains(&row), "{runs}");
        assert_eq!(rows.len(), runs);
        for a in 0..runs - 1 {
            for b in 0..a {
                assert_eq!(correlation(&rows, a, b), 0.0, "{runs}: {a} {b}");
            }
        }
    };
    check(12, "++-+++---+-");
    check(20, "++--++++-+-+----++-");
    check(24, "+++++-+-++--++--+-+----");
}

/// In twelve runs every main effect is correlated by 1/3 with the interactions of the others.
#[test]
fn plackett_burman_is_partly_aliased() {
    let rows = plackett_burman(&[2; 11], 12).unwrap();
    let table = table(&rows, 11, 2);
    assert_eq!(table.resolution, Some(3));
    // No product of fewer than all eleven is constant.
    assert_eq!(words(&table), ["-ABCDEFGHIJK"]);
    let a = table.of(&Effect(vec!["A".to_owned()])).unwrap();
    assert_eq!(a.aliases.len(), 45);
    assert_eq!(a.estimable, Estimable::WithMainEffects);
    for alias in &a.aliases {
        assert!((alias.correlation - 1.0 / 3.0).abs() < 1e-9);
        assert!(!alias.is_complete());
    }
}

#[test]
fn too_few_factors_would_repeat_rows() {
    assert_eq!(plackett_burman(&[2; 4], 12), None);
    assert_eq!(plackett_burman(&[2; 5], 12).unwrap().len(), 12);
    assert_eq!(plackett_burman(&[2; 12], 12), None);
    assert_eq!(plackett_burman(&[2; 5], 16), None);
}

/// A list that nobody designed: two factors that always change together.
#[test]
fn what_changes_together_cannot_be_told_apart() {
    let rows = [vec![0, 0, 0], vec![0, 0, 1], vec![1, 1, 0], vec![1, 1, 1]];
    let table = table(&rows, 3, 2);
    assert_eq!(aliased(&table, "A"), "B");
    assert_eq!(aliased(&table, "AC"), "BC");
    assert_eq!(words(&table), ["AB"]);
    assert_eq!(table.d_efficiency, None);
    let row = |name: &str| table.of(&Effect(vec![name.to_owned()])).unwrap().estimable;
    assert_eq!(row("A"), Estimable::No);
    assert_eq!(row("C"), Estimable::WithAll);
}

/// A full factorial of mixed levels: everything is orthogonal; with a hole it is only correlated.
#[test]
fn mixed_levels_and_holes() {
    let all: Vec<Vec<usize>> = design::full(vec![2, 3, 4]).collect();
    let full = common::table_of(&all, &[2, 3, 4]);
    assert!((full.d_efficiency.unwrap() - 1.0).abs() < 1e-9);
    assert!(full.effects.iter().all(|row| row.aliases.is_empty()));
    assert_eq!(full.effects.last().unwrap().contrasts, 6);
    let holes: Vec<Vec<usize>> = all.into_iter().filter(|r| r[1] != 2 || r[2] != 3).collect();
    let table = common::table_of(&holes, &[2, 3, 4]);
    assert!(table.d_efficiency.unwrap() < 1.0);
    let main = &table.effects[0];
    assert_eq!(main.estimable, Estimable::WithAll);
    assert!(main.aliases.iter().all(|alias| !alias.is_complete()));
    // One of its six contrasts needs the cells that are not there.
    assert_eq!(table.effects.last().unwrap().estimable, Estimable::No);
}

/// SciPy 1.17.1: `cos(min(scipy.linalg.subspace_angles(A, B)))` of centred columns in sum-to-zero coding
/// (NumPy 2.4.6), and `(det(X'X / n) / det(of the full design))^(1/p)`.
#[test]
fn correlations_and_efficiency_are_those_of_scipy() {
    let holes: Vec<Vec<usize>> = design::full(vec![2, 3, 4])
        .filter(|row| row[1] != 2 || row[2] != 3)
        .collect();
    let table = common::table_of(&holes, &[2, 3, 4]);
    let check = |effect: &str, other: &str, expected: f64| {
        let name = |text: &str| Effect(text.chars().map(String::from).collect());
        let row = table.of(&name(effect)).unwrap();
        let alias = row.aliases.iter().find(|a| a.effect == name(other));
        let found = alias.unwrap().correlation;
        assert!((found - expected).abs() < 1e-9, "{effect} {other}: {found}");
    };
    check("B", "C", 0.288_675_134_594_812_75);
    check("A", "AB", 0.134_839_972_492_648_34);
    check("A", "AC", 0.174_077_655_955_697_77);
    check("B", "BC", 0.516_397_779_494_322_4);
    check("AB", "AC", 0.258_198_889_747_161_2);
    check("C", "BC", 0.670_820_393_249_937_3);
    let efficiency = table.d_efficiency.unwrap();
    assert!((efficiency - 0.975_856_389_288_982_8).abs() < 1e-9);
}

/// The best of all 134,596 sets of six scenarios has this efficiency (tried one by one with NumPy).
#[test]
fn the_optimal_design_is_the_best_of_all() {
    let counts = [3, 2, 2, 2];
    let rows = design::d_optimal(&design::Wanted {
        counts: &counts,
        scenarios: 6,
        interactions: &[],
        is_excluded: &|_| false,
        seed: 1,
    });
    let efficiency = common::table_of(&rows, &counts).d_efficiency.unwrap();
    assert!((efficiency - 0.916_486_424_665_735).abs() < 1e-9);
}
