//! Goals as people write them.

use model::Goal;

fn read(text: &str) -> Result<Goal, String> {
    let training = "[study]\nname = \"s\"\ncurrency = \"USD\"\n[workload]\nnetwork = \"rede1\"\n[environments.here]\nprice = \"1 USD/h\"\n";
    read_in(training, text)
}

fn read_in(study: &str, text: &str) -> Result<Goal, String> {
    let options = plan::ReadOptions {
        folder: None,
        read: &|_| Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
        requests_in: &|_| Ok(0),
        scale: None,
        catalog: cost::catalog(),
        today: None,
    };
    let study = plan::read_study(study, &options).unwrap();
    plan::read_goal(text, &study).map_err(|wrong| {
        let place = wrong.span.clone().map(|span| text[span].to_owned());
        format!("{} at `{}`", wrong.message, place.unwrap_or_default())
    })
}

#[test]
fn goals_are_read() {
    let goal = read("min cost where time < 2h and accuracy >= 95%").unwrap();
    assert_eq!((goal.is_max, goal.metric.as_str()), (false, "cost"));
    let limits: Vec<_> = goal
        .limits
        .iter()
        .map(|l| (l.metric.as_str(), l.is_upper, l.value))
        .collect();
    assert_eq!(
        limits,
        [("time", true, 7200.0), ("accuracy_percent", false, 95.0)]
    );
    let goal = read("max accuracy where cost < 5 USD").unwrap();
    assert!(goal.is_max);
    assert_eq!(goal.limits[0].value, 5.0);
    assert_eq!(read("min time").unwrap().metric, "time");
    let serving = "[study]\nname = \"s\"\n[workload]\nkind = \"serve\"\nmodel = \"mobilenet\"\n\
                   [environments.here]\nprice = \"1 USD/h\"\n";
    assert_eq!(
        read_in(serving, "min cost per answer").unwrap().metric,
        "cost_per_inference"
    );
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let cases = [
        ("cheapest", "begins with `min` or `max` at `cheapest`"),
        ("min", "what is to be best is missing"),
        ("min cots", "unknown metric `cots` at `cots`"),
        ("max time", "the highest time is not a goal at `time`"),
        ("min accuracy", "the lowest accuracy is not a goal"),
        ("min cost where time", "a limit needs `<` or `>` at `time`"),
        ("min cost where time < soon", "is not a duration such as"),
        ("min time where cost < 5 EUR", "cannot be converted to USD"),
        (
            "min time where accuracy > good",
            "`good` is not a percentage such as \"95%\" at `good`",
        ),
        ("min time where cost < 0 USD", "a limit must be above zero"),
    ];
    for (text, expected) in cases {
        let found = read(text).unwrap_err();
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn a_command_has_the_metrics_that_its_study_names() {
    let study = "[study]\nname = \"s\"\nmetrics = [\"score\"]\n[workload]\ncommand = [\"true\"]\n\
                 [[workload.log]]\nevent = \"metric\"\nname = \"perplexity\"\npattern = 'p (?<value>.*)'\n";
    assert_eq!(read_in(study, "max score").unwrap().metric, "score");
    assert_eq!(
        read_in(study, "min perplexity").unwrap().metric,
        "perplexity"
    );
    let typed = read_in(study, "min cots").unwrap_err();
    assert!(typed.contains("unknown metric `cots`"), "{typed}");
}

/// Percent are written as such: a share would be a limit that everything keeps.
#[test]
fn shares_are_no_percentages() {
    let wrong = |text: &str| read(text).unwrap_err();
    let share = wrong("min time where accuracy > 0.95");
    assert!(share.contains("write 95 for 95 %"), "{share}");
    assert!(wrong("min time where accuracy > 150%").contains("at most 100"));
    let half = read("min time where accuracy > 0.5%").unwrap();
    assert_eq!(half.limits[0].value, 0.5);
}

#[test]
fn a_metric_that_no_run_has_is_refused() {
    let unpriced = "[study]\nname = \"s\"\n[workload]\nnetwork = \"rede1\"\n";
    let check = |study: &str, goal: &str, expected: &str| {
        let wrong = read_in(study, goal).unwrap_err();
        assert!(wrong.contains(expected), "{goal}: {wrong}");
    };
    check(
        unpriced,
        "min cost where time < 2h",
        "no environment of this study has a price",
    );
    check(
        unpriced,
        "min time where cost < 2 USD",
        "no environment of this study has a price",
    );
    check(unpriced, "min cost per answer", "only runs that serve");
    let command = "[study]\nname = \"s\"\n[workload]\ncommand = [\"true\"]\n[environments.here]\nprice = \"1 USD/h\"\n";
    check(command, "min cost per answer", "only runs that serve");
    assert!(read_in(command, "min cost").is_ok());
    assert!(read_in(command, "max accuracy").is_ok());
}
