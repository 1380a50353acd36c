//! Tables of measurements made elsewhere, from the command line.

use std::fs;

use crate::common::{Bench, Ran};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn text(bench: &Bench, name: &str) -> String {
    fs::read_to_string(bench.path().join(name)).unwrap()
}

const RUNS: &str = "tool,size,time\na,32,3600\na,64,7200\nb,32,1800\nb,64,5400\n";
const MAPPED: &str =
    "--name old --factor tool --factor size --metric time=train_seconds:s --out results/old";

fn imported(bench: &Bench, price: &str) -> Ran {
    bench.write("runs.csv", RUNS);
    let mut arguments = words("import runs.csv");
    arguments.extend(words(MAPPED));
    arguments.extend(["--price", price]);
    bench.bancada(&arguments)
}

/// What the message on an unknown price recommends is taken.
#[test]
fn a_price_may_be_an_amount() {
    let bench = Bench::new();
    imported(&bench, "my/machine")
        .ends_with(3)
        .says("\"0.169 USD/h\"");
    imported(&bench, "0.526 EUR/h")
        .ends_with(0)
        .says("4 runs added");
    bench
        .bancada(&words(
            "export results/old -f csv --table runs --to runs-out.csv",
        ))
        .ends_with(0);
    let runs = text(&bench, "runs-out.csv");
    assert!(
        runs.contains("cost_eur") && runs.contains("0.526"),
        "{runs}"
    );
}

/// A study that was made of rows is a file, which takes more rows.
#[test]
fn a_study_made_of_rows_takes_more_of_them() {
    let bench = Bench::new();
    imported(&bench, "0.526 USD/h").ends_with(0);
    bench.write("more.csv", "tool,size,time\na,32,3700\nb,64,5500\n");
    bench
        .bancada(&words("check results/old/study.toml"))
        .ends_with(0);
    bench
        .bancada(&words(
            "import --study results/old/study.toml --out results/old more.csv",
        ))
        .ends_with(0)
        .says("2 runs added");
    // Other columns: all that the study says of metrics is left aside.
    bench.write("other.csv", "tool,size,hours\na,32,2\n");
    let other = "import --study results/old/study.toml --out results/old other.csv --metric hours=train_seconds:hours";
    bench
        .bancada(&words(other))
        .ends_with(0)
        .says("Read 1 row, skipped 0; 1 run added");
    bench
        .bancada(&words("import --study results/old/study.toml --out results/old other.csv --metric hours=train_seconds:fortnights"))
        .ends_with(2)
        .says("is not a unit of `train_seconds`");
    bench
        .bancada(&words("import --study results/old/study.toml --out results/old other.csv --metric hours=lag:hours --no-study-metrics"))
        .ends_with(0)
        .says("No run has a time");
}

const SERVED: &str = r#"
[study]
name = "answers"
[factors]
environment = ["m1", "m2"]
model = ["tinybert", "bigbert"]
load = ["cold", "warm"]
[environments.m1]
price = "aws/sagemaker-serverless-1024@us-east-1"
serverless = { memory = 1024 }
[environments.m2]
price = "aws/sagemaker-serverless-2048@us-east-1"
serverless = { memory = 2048 }
[import]
row = "request"
factors = { mem = "environment", model = "model", load = "load" }
metrics = { lat = "latency_seconds:ms" }
repetition = "rep"
"#;

/// Answers of models that Bancada does not know, measured elsewhere: the whole analysis of a serving study.
#[test]
fn answers_of_any_model_are_analysed_as_serving() {
    let bench = Bench::new();
    let mut rows = "mem,model,load,rep,lat\n".to_owned();
    let mut place = 0;
    for (memory, small, large) in [("m1", 100.0, 900.0), ("m2", 90.0, 300.0)] {
        for (model, warm) in [("tinybert", small), ("bigbert", large)] {
            for (load, times) in [("cold", 4.0), ("warm", 1.0)] {
                for request in 0..60 {
                    place += 1;
                    let noise = f64::from(place * 37 % 101) / 1000.0;
                    let latency = warm * times * (1.0 + noise);
                    rows += &format!("{memory},{model},{load},{},{latency:.3}\n", request % 3 + 1);
                }
            }
        }
    }
    bench.write("answers.csv", &rows);
    for (name, workload) in [("without", ""), ("with", "[workload]\nkind = \"serve\"\n")] {
        let study = SERVED.replace("[import]", &format!("{workload}[import]"));
        bench.write("serving.toml", &study);
        let import = format!("import --study serving.toml --out {name} answers.csv");
        bench
            .bancada(&words(&import))
            .ends_with(0)
            .says("24 runs added");
        let show = format!("show serving.toml --out {name}");
        let shown = bench.bancada(&words(&show)).ends_with(0);
        shown
            .says("per million responses")
            .says("m1 · tinybert: a cold response takes 4.0")
            .says("1024 MB for tinybert")
            .says("2048 MB for bigbert");
        bench
            .bancada(&words(&format!("report serving.toml --out {name}")))
            .ends_with(0);
        let report = text(&bench, &format!("{name}/report.html"));
        assert!(report.contains("measured elsewhere"));
    }
}

/// NIST's SmLs08 and SmLs09 (itl.nist.gov/div898/strd): nine treatments of 201 and 2001 values like
/// 1000000000000.4, whose F is 201 and 2001 by certificate.
#[test]
fn large_values_keep_their_digits_through_an_import() {
    [201, 2001].into_iter().for_each(simon_lesage);
}

fn simon_lesage(replicates: usize) {
    let bench = Bench::new();
    let tenths = |index: usize| match index {
        1 => 2,
        even if even % 2 == 0 => 1,
        _ => 3,
    };
    let mut csv = String::from("treatment,value\n");
    for treatment in 1..=9 {
        for replicate in 1..=replicates {
            let tenths = tenths(treatment) + tenths(replicate);
            csv += &format!("t{treatment},1000000000000.{tenths}\n");
        }
    }
    bench.write("smls.csv", &csv);
    bench
        .bancada(&words(
            "import smls.csv --name smls --factor treatment --metric value=",
        ))
        .ends_with(0)
        .says(match replicates {
            201 => "1809 runs added",
            _ => "18,009 runs added",
        });
    bench
        .bancada(&words(
            "export results/smls -f csv --table variation --to variation.csv",
        ))
        .ends_with(0);
    let variation = text(&bench, "variation.csv");
    let mut lines = variation.lines();
    let place = |name: &str, header: &str| header.split(',').position(|cell| cell == name).unwrap();
    let header = lines.next().unwrap();
    let row = lines
        .find(|line| line.contains(",value,") && line.contains(",treatment,"))
        .unwrap_or_else(|| panic!("{variation}"));
    let cell = |name: &str| row.split(',').nth(place(name, header)).unwrap();
    assert_eq!(cell("scale"), "linear");
    let f: f64 = cell("f").parse().unwrap();
    assert!((f / replicates as f64 - 1.0).abs() < 1e-12, "F is {f}");
}

/// The tables of a database that MLflow 3.17 wrote: three runs, one of them failed, and a deleted one.
const DATABASE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../store/tests/fixtures/mlflow-3.17.db"
);

#[test]
fn the_database_of_mlflow_is_a_table_of_its_runs() {
    let bench = Bench::new();
    fs::copy(DATABASE, bench.path().join("mlflow.db")).unwrap();
    bench
        .bancada(&["import", "mlflow.db", "--name", "tracked"])
        .ends_with(0)
        .says("Read 3 rows, skipped 0; 3 runs added");
    let table = bench.bancada(&["export", "results/tracked", "--format", "csv"]);
    let table = table.ends_with(0).out;
    let mut lines = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let wanted = ["run", "status", "factor_batch", "total_seconds"].map(place);
    let runs: Vec<[&str; 4]> = lines
        .map(|cells| wanted.map(|place| cells[place]))
        .collect();
    let expected = [
        ["C1-r1", "ok", "16", "4"],
        ["C1-r2", "failed", "16", "1"],
        ["C2-r1", "ok", "32", "8"],
    ];
    assert_eq!(runs, expected);
    // Any other database is not read as text.
    let bytes = fs::read(DATABASE).unwrap();
    let mut cut = bytes[..16].to_vec();
    cut.extend([0; 4096]);
    fs::write(bench.path().join("other.db"), cut).unwrap();
    bench
        .bancada(&["import", "other.db", "--metric", "x=train_seconds:s"])
        .ends_with(1)
        .says("cannot read other.db: ");
}
