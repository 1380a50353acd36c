//! Scripts that are watched: what passes through, what is predicted, how they end.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host::terminal::{PseudoTerminal, Window, wait_readable};
use serde_json::Value;

use crate::common::{Bench, Ran};

/// Epochs of 10 steps, as tutorials print them; an end of an epoch takes time too.
const TRAINING: &str = r#"
epochs=$1
trap 'echo interrupted > ended; exit 130' INT
for epoch in $(seq $epochs); do
  for step in $(seq 10); do
    sleep 0.02
    echo "Epoch [$epoch/$epochs], Step [$step/10], Loss: 0.5"
  done
  sleep 0.05
done
"#;

fn training() -> Bench {
    let bench = Bench::new();
    bench.write("train.sh", TRAINING);
    bench
}

#[test]
fn output_input_and_exit_code_are_the_scripts() {
    let bench = Bench::new();
    let mut command = bench.command(&["watch", "--", "sh", "-c", "cat; echo error >&2; exit 7"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"typed \xff\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"typed \xff\n");
    let errors = String::from_utf8(output.stderr).unwrap();
    let said = errors.strip_prefix("error\n").unwrap();
    assert!(said.starts_with("bancada: exit code 7 after "), "{errors}");
    assert_eq!(output.status.code(), Some(7));
    let ran = bench.bancada(&["watch", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(ran.code, 137);
    let ran = bench.bancada(&["watch", "--", "/"]);
    assert_eq!(ran.code, 126);
    let ran = bench.bancada(&["watch", "--", "no-such-program"]);
    assert_eq!(ran.code, 127);
    assert!(
        ran.err.starts_with("error: cannot start no-such-program: "),
        "{}",
        ran.err
    );
}

#[test]
fn order_is_kept_where_output_and_errors_go_to_one_place() {
    let bench = Bench::new();
    let log = bench.path().join("log");
    let file = File::create(&log).unwrap();
    let script = "for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done";
    let mut command = bench.command(&["watch", "--", "sh", "-c", script]);
    command.stdout(file.try_clone().unwrap()).stderr(file);
    assert!(command.status().unwrap().success());
    let text = std::fs::read_to_string(log).unwrap();
    assert!(
        text.starts_with("o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\nbancada: done in "),
        "{text}"
    );
}

/// Of several runs the shortest: the machine may be busy.
#[test]
fn the_end_of_the_script_is_the_end() {
    let bench = Bench::new();
    let ran_seconds = |script: &str| {
        let ran = bench.bancada(&["watch", "--json", "--", "sh", "-c", script]);
        let end: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
        end["ran_seconds"].as_f64().unwrap()
    };
    let shortest = |script: &str| {
        let runs = (0..4).map(|_| ran_seconds(script));
        runs.fold(f64::INFINITY, f64::min)
    };
    // Closed streams, and one that somebody else holds open.
    for script in ["exec >&- 2>&-; sleep 0.3", "setsid sleep 5 & sleep 0.3"] {
        let seconds = shortest(script);
        assert!((0.3..0.9).contains(&seconds), "{script}: {seconds}");
    }
}

#[test]
fn a_line_of_ours_does_not_begin_in_one_of_the_scripts() {
    let bench = Bench::new();
    let check = |script: &str, expected: &str| {
        let ran = bench.bancada(&["watch", "--", "sh", "-c", script]);
        assert!(ran.err.starts_with(expected), "{:?}", ran.err);
    };
    check("printf 'no end' >&2", "no end\nbancada: done in ");
    check("echo an end >&2", "an end\nbancada: done in ");
    // Elsewhere it is no concern of this line.
    check("printf 'no end'", "bancada: done in ");
}

#[test]
fn events_are_progress() {
    let bench = Bench::new();
    let script = "for e in $(seq 6); do sleep 0.05; \
        echo \"{\\\"event\\\": \\\"epoch\\\", \\\"epoch\\\": $e}\" >> $BANCADA_EVENTS; done";
    let end = |given: &[&str]| -> Value {
        let command = ["--", "sh", "-c", script];
        let ran = bench.bancada(&[&["watch", "--json"], given, &command].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str(ran.out.lines().last().unwrap()).unwrap()
    };
    let position = &end(&["--epochs", "6"])["position"];
    assert_eq!(
        (&position["scope"], &position["done"]),
        (&"run".into(), &6.0.into())
    );
    // Events do not say how many there will be.
    let position = &end(&[])["position"];
    assert_eq!(
        (&position["scope"], &position["total"]),
        (&"counter".into(), &Value::Null)
    );
}

#[test]
fn own_patterns_are_progress() {
    let bench = Bench::new();
    let watch = |pattern: &str| {
        let script = "for i in $(seq 40); do echo sample $i out of 40; sleep 0.01; done";
        let pattern = format!("--progress-pattern={pattern}");
        bench.bancada(&["watch", "--json", &pattern, "--", "sh", "-c", script])
    };
    let ran = watch("sample (?<step>[0-9]+) out of (?<steps>[0-9]+)");
    let end: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    let position = &end["position"];
    assert_eq!(
        (&position["scope"], &position["done"]),
        (&"run".into(), &40.0.into())
    );
    let ran = watch("sample (?<done>[0-9]+)");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("groups are step, steps, epoch"),
        "{}",
        ran.err
    );
}

#[test]
fn what_was_not_recognised_is_reported() {
    let bench = training();
    let none = "No progress bar or counter was recognised in the output.";
    let ran = bench.bancada(&["watch", "--", "echo", "done 5"]);
    assert!(ran.err.contains(none), "{}", ran.err);
    let ran = bench.bancada(&["watch", "--", "sh", "train.sh", "2"]);
    assert!(
        ran.err.contains("bancada: done in ") && !ran.err.contains(none),
        "{}",
        ran.err
    );
    assert_eq!(ran.out.lines().count(), 20);
}

#[test]
fn a_script_is_stopped_when_enough_is_known() {
    let bench = training();
    // 30 minutes, if it were not stopped.
    let stop = [
        "watch",
        "--stop-when-known",
        "--precision",
        "20%",
        "--price",
        "1 USD/h",
        "--",
    ];
    let ran = bench.bancada(&[stop.as_slice(), &["sh", "train.sh", "7000"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let said = ran.err.lines().last().unwrap();
    assert!(
        said.starts_with("bancada: stopped after ") && said.contains(": the whole run takes "),
        "{said}"
    );
    assert!(said.contains("US$ "), "{said}");
    let ended = std::fs::read_to_string(bench.path().join("ended")).unwrap();
    assert_eq!(ended, "interrupted\n");
}

/// However narrow the interval is after a moment: speed varies over seconds.
#[test]
fn a_short_script_is_not_stopped() {
    let bench = training();
    let words = ["watch", "--stop-when-known", "--precision", "50%", "--"];
    let ran = bench.bancada(&[words.as_slice(), &["sh", "train.sh", "12"]].concat());
    assert!(
        ran.err.contains("done in") && !ran.err.contains("stopped"),
        "{}",
        ran.err
    );
}

#[test]
fn a_script_watched_in_the_background_is_stopped_too() {
    let bench = training();
    // As of a shell's background jobs; see also nohup.
    let ignoring =
        "trap '' INT QUIT; exec \"$0\" watch --stop-when-known --precision 20% -- sh train.sh 7000";
    let watch = bench.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", ignoring]).arg(watch.get_program());
    let ran = Ran::new(shell.current_dir(bench.path()).output().unwrap());
    assert!(ran.err.contains("bancada: stopped after "), "{}", ran.err);
    let ended = std::fs::read_to_string(bench.path().join("ended")).unwrap();
    assert_eq!(ended, "interrupted\n");
}

#[test]
fn a_counter_that_may_start_again_does_not_stop_the_script() {
    let bench = Bench::new();
    let stop = |passes: u32, given: &[&str]| {
        let script = format!(
            "for e in $(seq {passes}); do for i in $(seq 20); do sleep 0.02; echo step $i/20; done; done"
        );
        let command = ["--", "sh", "-c", &script];
        bench.bancada(
            &[
                &["watch", "--stop-when-known", "--precision", "50%"],
                given,
                &command,
            ]
            .concat(),
        )
    };
    let ran = stop(30, &[]);
    assert_eq!(ran.out.lines().count(), 600);
    assert!(
        ran.err.contains("done in") && !ran.err.contains("stopped"),
        "{}",
        ran.err
    );
    let ran = stop(1000, &["--epochs", "1000"]);
    assert!(ran.err.contains("stopped after"), "{}", ran.err);
}

#[test]
fn a_script_that_does_not_end_is_asked_harder() {
    let bench = Bench::new();
    let script = "trap '' INT; i=0; while :; do i=$((i+1)); sleep 0.01; echo step $i; done";
    let stop = [
        "watch",
        "--stop-when-known",
        "--steps",
        "1000000",
        "--precision",
        "90%",
        "--",
    ];
    let ran = bench.bancada(&[stop.as_slice(), &["sh", "-c", script]].concat());
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("stopped after"), "{}", ran.err);
}

/// What is billed for a minute at least costs the same for any part of it.
#[test]
fn the_minimum_of_a_price_is_billed() {
    let bench = Bench::new();
    let cost = |seconds: &str| {
        let words = ["watch", "--price", "aws/c7i.xlarge", "--", "sleep", seconds];
        let ran = bench.bancada(&words).ends_with(0);
        let text = format!("{}{}", ran.out, ran.err);
        let amount = text.split("US$ ").nth(1).unwrap_or_default();
        let end = amount.find(|c: char| !c.is_ascii_digit() && c != '.');
        let end = end.unwrap_or(amount.len());
        amount[..end].trim_end_matches('.').to_owned()
    };
    let (short, long) = (cost("0.1"), cost("0.6"));
    assert_eq!(short, long);
    assert!(short.parse::<f64>().unwrap() > 0.001, "{short}");
}

#[test]
fn json_has_time_and_cost_with_intervals() {
    let bench = training();
    let ran = bench.bancada(&[
        "watch",
        "--json",
        "--price",
        "azure/Standard_F4s_v2",
        "--",
        "sh",
        "train.sh",
        "6",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.starts_with("Epoch [1/6], Step [1/10]"),
        "{}",
        ran.err
    );
    let lines: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let end = lines.last().unwrap();
    assert_eq!(
        (&end["event"], &end["exit_code"], &end["stopped"]),
        (&"end".into(), &0.into(), &false.into())
    );
    assert_eq!(end["position"]["done"], 6.0);
    let known = lines
        .iter()
        .find(|line| line["total_seconds"]["interval"]["low"].is_number());
    let known = known.unwrap_or(end);
    assert!(
        known["cost"]["total"]["interval"][1]["amount"].is_string(),
        "{known}"
    );
    // Without a price there is no cost.
    let ran = bench.bancada(&["watch", "--json", "--", "sh", "train.sh", "1"]);
    assert!(
        ran.out.lines().all(|line| line.contains(r#""cost":null"#)),
        "{}",
        ran.out
    );
}

#[test]
fn wrong_arguments_are_explained() {
    let bench = Bench::new();
    let check = |arguments: &[&str], code: i32, said: &str| {
        let ran: Ran = bench.bancada(&[&["watch"], arguments, &["--", "true"]].concat());
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(said), "{}", ran.err);
    };
    check(
        &["--precision", "0"],
        2,
        "`0` is not a percentage above 0 and below 100, such as 5%",
    );
    check(&["--price", "2 apples/h"], 3, "is not a price such as");
    check(&["--price", "azure/no-such"], 3, "bancada price find");
    check(&["--epochs", "0"], 2, "--epochs");
    check(
        &["--precision", "0.05"],
        2,
        "`0.05` is 0.05 %, to which no run is known: did you mean 5%?",
    );
    check(&["--precision", "0.05%"], 2, "did you mean 5%?");
    check(&["--precision", "0.5%"], 0, "done in");
    let ran = bench.bancada(&["watch", "--lines", "echo", "x", "--lines"]);
    assert_eq!(ran.code, 2);
    let tip = "type the command after `--`: bancada watch --lines -- echo x --lines";
    assert!(ran.err.contains(tip), "{}", ran.err);
}

/// The program in a terminal of 20 rows, and what it draws.
struct Terminal {
    group: host::Group,
    ours: File,
    drawn: String,
}

impl Terminal {
    fn start(bench: &Bench, script: &str) -> Terminal {
        let window = Window {
            rows: 20,
            columns: 180,
        };
        let terminal =
            PseudoTerminal::open(Some(window), File::open("/dev/null").unwrap()).unwrap();
        let mut command: Command = bench.command(&["watch", "--", "sh", "-c", script]);
        command.env("TERM", "xterm");
        command.stdin(terminal.stream().unwrap());
        command.stdout(terminal.stream().unwrap());
        command.stderr(terminal.stream().unwrap());
        let (group, ours) = terminal.spawn(command).unwrap();
        Terminal {
            group,
            ours,
            drawn: String::new(),
        }
    }

    fn read_until(&mut self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.drawn.contains(text) {
            assert!(Instant::now() < deadline, "no {text:?} in {:?}", self.drawn);
            if wait_readable(&[self.ours.as_fd()], Duration::from_millis(100)) == [true] {
                let mut chunk = [0; 4096];
                let bytes = self.ours.read(&mut chunk).unwrap();
                self.drawn += &String::from_utf8_lossy(&chunk[..bytes]);
            }
        }
    }

    fn code(&mut self) -> Option<i32> {
        let deadline = Instant::now() + Duration::from_secs(60);
        self.group.wait_until(deadline).unwrap().unwrap().code()
    }
}

#[test]
fn the_last_line_of_a_terminal_is_reserved_and_given_back() {
    let bench = Bench::new();
    let script = "stty size; test -t 0 && test -t 1 && test -t 2 && echo all; \
                  for i in $(seq 30); do sleep 0.03; printf '\\rEpoch 1/4 step %s/40' $i; done; echo; read word; echo got $word";
    let mut terminal = Terminal::start(&bench, script);
    terminal.read_until("19 180\r\n");
    terminal.read_until("all\r\n");
    terminal.read_until("\x1b[20;1H\x1b[2K\x1b[2m");
    terminal.read_until(" left · total ");
    terminal.ours.write_all(b"hello\n").unwrap();
    terminal.read_until("got hello\r\n");
    terminal.read_until("\x1b[r\x1b[20;1H");
    terminal.read_until("bancada: done in ");
    assert!(
        terminal.drawn.contains("without the ends of epochs"),
        "{:?}",
        terminal.drawn
    );
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn keys_reach_the_script() {
    let bench = Bench::new();
    let script = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done";
    let mut terminal = Terminal::start(&bench, script);
    terminal.read_until("ready");
    terminal.ours.write_all(b"\x03").unwrap();
    terminal.read_until("caught\r\n");
    terminal.read_until("bancada: exit code 9 after ");
    assert_eq!(terminal.code(), Some(9));
}

#[test]
fn a_signal_is_passed_on() {
    let bench = Bench::new();
    let script = "trap 'echo asked; exit 4' TERM; echo ready; while :; do sleep 0.05; done";
    let mut terminal = Terminal::start(&bench, script);
    terminal.read_until("ready");
    terminal.group.send(libc::SIGTERM);
    terminal.read_until("asked\r\n");
    assert_eq!(terminal.code(), Some(4));
}
