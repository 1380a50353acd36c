//! A bill held against a study that was carried out here.

use crate::common::{Bench, shell_study};

const PRICED: &str = "currency = \"BRL\"\n\n[environments.cloud]\n\
    price = \"azure/Standard_F4s_v2@eastus\"\n\
    billing = { charges = [{ what = \"disk\", kind = \"disk\", price = \"0.02 USD/run\" }] }\n\n\
    [[rates]]\nfrom = \"USD\"\nto = \"BRL\"\n\
    rate = \"4.865\"\ndate = \"2024-03-01\"\nsource = \"central bank\"\n";

/// A study with runs of today, and a bill of the day.
fn bench() -> Bench {
    let bench = Bench::new();
    let study = shell_study("priced", "sleep 0.05", 1, PRICED);
    bench.write("study.toml", &study);
    bench
        .bancada(&["run", "study.toml", "--no-pilot", "--quiet"])
        .ends_with(0);
    let record = bench.record("priced", "C1-r1");
    let day = &record["started"].as_str().unwrap()[..10];
    let place = "/subscriptions/1/resourceGroups/lab/providers";
    let header =
        "Date,MeterName,MeterCategory,Quantity,UnitOfMeasure,Cost,Currency,ResourceId,Tags";
    bench.write(
        "bill.csv",
        &format!(
            "{header}\n\
             {day},F4s v2,Virtual Machines,1,1 Hour,0.85,BRL,{place}/vm,\n\
             {day},S4 LRS Disk,Storage,1,1/Month,0.25,BRL,{place}/disk,project=thesis\n\
             {day},S4 LRS Disk,Storage,1,1/Month,many,BRL,{place}/disk,\n"
        ),
    );
    bench
}

#[test]
fn a_bill_is_explained() {
    let bench = bench();
    bench
        .bancada(&["reconcile", "study.toml", "bill.csv"])
        .ends_with(0)
        .says("bill.csv: Azure cost export, 3 rows")
        .says("bill                                          R$ 1.10   2 rows")
        .says("  disks: R$ 0.19 estimated, R$ 0.25 billed")
        .says("disks                                        R$ 0.055")
        .says("unexplained                                   R$ 0.00")
        .says("! 1 row was skipped: the bill's total may be off by it")
        .says("bill.csv:4: `Cost` is `many`; expected an amount such as 12.34 (skipped)");
    let found = bench
        .bancada(&["reconcile", "results/priced", "bill.csv", "--json"])
        .ends_with(0);
    let found: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!(found["bill"]["amount"], "1.1");
    assert_eq!(found["unexplained"]["amount"]["amount"], "0");
    assert_eq!(found["files"][0]["left_out"], 1);
}

#[test]
fn a_tag_chooses_the_rows() {
    bench()
        .bancada(&[
            "reconcile",
            "study.toml",
            "bill.csv",
            "--tag",
            "project=thesis",
        ])
        .ends_with(0)
        .says("Rows with the tag project=thesis are counted for the study.")
        .says("bill                                          R$ 0.25   1 row")
        .says("machines not on the bill");
}

#[test]
fn what_is_no_bill_is_said() {
    let bench = bench();
    bench.write("notes.csv", "when,what\n1,2\n");
    bench
        .bancada(&["reconcile", "study.toml", "notes.csv"])
        .ends_with(1)
        .says(
            "the bill notes.csv: no known bill format has the columns `when`, `what`; expected FOCUS",
        );
    bench
        .bancada(&["reconcile", "study.toml", "bill.csv", "./bill.csv"])
        .ends_with(1)
        .says("it is listed twice and would count twice");
    bench
        .bancada(&["reconcile", "study.toml", "none.csv"])
        .ends_with(1)
        .says("the bill none.csv: No such file");
    bench
        .bancada(&["reconcile", "study.toml", "bill.csv", "--tag", "thesis"])
        .ends_with(2)
        .says("`thesis` is not a tag such as project=thesis");
}
