//! Goals as people write them.

use model::Goal;

fn read(text: &str) -> Result<Goal, String> {
    let training = "[study]\nname = \"s\"\ncurrency = \"USD\"\n[workload]\nnetwork = \"rede1\"\n";
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
    assert_eq!(
        read("min cost per answer").unwrap().metric,
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
            "`good` is not a number at `good`",
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
