use super::*;

#[test]
fn the_embedded_file_is_well_formed_and_in_order() {
    let listed: Vec<String> = parse(TEXT).unwrap().into_iter().map(|f| f.name).collect();
    assert_eq!(
        listed.join(" "),
        "engine pytorch tensorflow keras-tensorflow keras-jax keras-torch mxnet jax paddle \
         chainer tinygrad onnxruntime-training theano caffe onnxruntime onnx-tools \
         fastapi-tensorflow fastapi-onnxruntime"
    );
}

#[test]
fn every_python_framework_is_whole() {
    for framework in all().filter(|f| f.kind.is_installed()) {
        let name = &framework.name;
        assert!(framework.version.is_some(), "{name}: version");
        assert!(framework.module.is_some(), "{name}: module");
        assert_eq!(
            framework.adapter.is_some(),
            matches!(framework.kind, Kind::Python | Kind::Stack),
            "{name}: adapter"
        );
        assert!(!framework.platforms.is_empty(), "{name}: platforms");
        let recipe = framework.recipe(None, false);
        assert!(!recipe.python.is_empty(), "{name}: python");
        assert!(!recipe.stages.is_empty(), "{name}: packages");
        for base in framework.environment.iter().chain(&framework.extends) {
            let base = find(base).unwrap();
            assert_eq!(base.kind, Kind::Python, "{name}");
            assert!(
                base.environment.is_none() && base.extends.is_none(),
                "{name}"
            );
        }
        let pinned = recipe.stages.iter().flat_map(|s| &s.packages);
        assert!(pinned.clone().any(|p| p.contains("==")), "{name}: no pin");
        assert!(
            pinned.clone().all(|p| !p.contains('{')),
            "{name}: {recipe:?}"
        );
    }
}

#[test]
fn a_custom_way_to_compile() {
    let check = |name: &str, compiles: bool, eager: bool| {
        let framework = find(name).unwrap();
        let found = [true, false].map(|way| framework.compiles_by_custom(way));
        assert_eq!(found, [compiles, eager], "{name}");
    };
    check("pytorch", false, true);
    check("jax", true, false);
    check("keras-jax", true, false);
    check("chainer", false, true);
    // `tf.function`, which is neither XLA nor operator by operator.
    check("tensorflow", false, false);
}

#[test]
fn versions_change_the_pin() {
    let check = |name: &str, version, gpu, expected: &str| {
        let recipe = find(name).unwrap().recipe(version, gpu);
        let stages: Vec<String> = recipe.stages.iter().map(|s| s.packages.join(" ")).collect();
        assert_eq!(stages.join(" | "), expected);
    };
    check("pytorch", None, false, "torch==2.15.0 numpy");
    check(
        "pytorch",
        Some("2.2.0"),
        false,
        "torch==2.2.0 numpy<2 setuptools<80",
    );
    check("pytorch", Some("2.10.0"), false, "torch==2.10.0 numpy");
    check("jax", None, true, "jax[cuda12]==0.10.2 optax");
    check(
        "theano",
        None,
        true,
        "numpy==1.19.5 scipy==1.5.4 setuptools<60 wheel six | theano==1.0.5",
    );
}

#[test]
fn the_page_for_people_says_the_same() {
    let page = include_str!("../../../docs/frameworks.md");
    for framework in all() {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{}` |", framework.name)))
            .unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if let Some(version) = &framework.version {
            assert_eq!(cells[3], version, "{row}");
            let mut python = framework.recipe(None, false).python;
            python.sort_by(|a, b| compare_versions(a, b));
            let (first, last) = (python.first().unwrap(), python.last().unwrap());
            let range = match first == last {
                true => first.clone(),
                false => format!("{first}–{last}"),
            };
            assert_eq!(cells[4], range, "{row}");
        }
        for need in &framework.needs {
            let what = need.program.as_deref().unwrap_or("OpenBLAS");
            assert!(cells[2].contains(what), "{row}");
        }
    }
}

#[test]
fn the_page_says_what_each_cannot_do() {
    let page = include_str!("../../../docs/frameworks.md");
    for framework in all().filter(|f| f.kind.trains()) {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| {} |", framework.name)))
            .unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let wishes = [
            (2, Capability::Workers),
            (3, Capability::Mixed),
            (4, Capability::Compile),
            (5, Capability::Eager),
            (6, Capability::OwnLoader),
        ];
        for (cell, wish) in wishes {
            let cannot = framework.cannot.contains_key(&wish);
            assert_eq!(cells[cell] == "–", cannot, "{wish:?} in {row}");
        }
    }
}
