//! Whatever stands in a file, reading it ends in a study or in mistakes that can be shown.

use plan::{TEMPLATES, digest, resolve};
use proptest::prelude::*;

use crate::support::{DESIGN, read, shown};

/// Goes all the way: read, show or plan, resolve.
fn survive(text: &str) {
    match read(text) {
        Ok(study) => {
            let plan = plan::plan(&study);
            plan.scenarios
                .iter()
                .take(50)
                .for_each(|scenario| _ = resolve(&study, scenario));
            digest(&study);
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            shown(text, &mistakes);
        }
    }
}

/// Pieces of study files, whole and broken.
const PIECES: &[&str] = &[
    "[study]\n",
    "name = \"s\"\n",
    "[factors]\n",
    "[workload]\n",
    "[environments.a]\n",
    "[prices]\n",
    "[[rates]]\n",
    "[measure]\n",
    "[[workload.log]]\n",
    "[import]\n",
    "factors = [\"n\", \"n\", 1]\n",
    "factors = { c = \"n\", \"\" = \"image\" }\n",
    "metrics = { t = \":\", u = \"é:s\" }\n",
    "levels = { n = 1, image = [] }\n",
    "file_pattern = \"{n}{é}}{*.csv\"\n",
    "delimiter = \"é\"\n",
    "keep_model = false\n",
    "command = [\"{n}\", \"{{n}}\", \"${x}\", \"{\"]\n",
    "network = [\"rede1\"]\n",
    "network = \"rede1\"\n",
    "image = [1, 2, 3]\n",
    "image = { from = -9223372036854775808, to = 9223372036854775807 }\n",
    "batch = { powers_of = 9223372036854775807, from = 1, to = 9223372036854775807 }\n",
    "n = [1.5, 2]\n",
    "n = [[1], {}]\n",
    "n = 99999999999999999999\n",
    "n = [1e400, -0.0]\n",
    "price = \"0.1 USD/h\"\n",
    "price = \"\"\n",
    "price = \"é/é@é\"\n",
    "own = { purchase = \"79228162514264337593543950335 USD\", years = 1e-28, watts = 1, electricity = \"1 USD/kWh\" }\n",
    "budget = \"1 USD\"\n",
    "budget = \"79228162514264337593543950335 USD\"\n",
    "repetitions = 10000\n",
    "seed = 0xff\n",
    "exclude = [{ n = 1 }, { n = [1, 2], image = [] }]\n",
    "from = \"USD\"\n",
    "to = \"EUR\"\n",
    "rate = 0.0000000000000000000000000001\n",
    "rate = 4e-400\n",
    "date = 2024-02-30\n",
    "date = 2024-02-29T00:00:00Z\n",
    "event = \"step\"\n",
    "pattern = '(((((('\n",
    "pattern = 'a{1000}{1000}{1000}'\n",
    "interval = \"99999999999999999999999999999h\"\n",
    "interval = \"10ms\"\n",
    "env = { A = \"{n}\", \"\" = 1 }\n",
    "directory = \"{n}/é\"\n",
    "\u{feff}",
    "\0",
    "\r\n",
    "\"é\" = \"\u{202e}\"\n",
    "# {\n",
    "= 1\n",
    "metrics = [\"cost\"]\n",
    "memory = [\"8 GB\"]\n",
    "cores = [1, 1e308]\n",
    "billing = { step = \"4294967296s\" }\n",
    "[design]\n",
    "kind = \"two-level\"\n",
    "kind = \"fractional\"\n",
    "kind = \"plackett-burman\"\n",
    "kind = \"d-optimal\"\n",
    "kind = \"latin-hypercube\"\n",
    "kind = \"one-at-a-time\"\n",
    "kind = \"list\"\n",
    "resolution = 8\n",
    "scenarios = 1024\n",
    "scenarios = 2\n",
    "generators = [\"B=-é\", \"A=AA\", \"=\", \"C=A*\", \"n=image*batch\"]\n",
    "interactions = [\"n*image\", \"*\"]\n",
    "list = [{ n = 1.5, image = 1, batch = 1 }, {}, { n = [] }]\n",
    "levels = { n = [1, 2], image = [], é = 3 }\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text(text in "\\PC*") {
        survive(&text);
    }

    #[test]
    fn any_heap_of_pieces(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..20)) {
        survive(&pieces.concat());
    }

    #[test]
    fn a_good_study_with_a_few_bytes_changed(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<char>(), any::<bool>()), 1..5),
        of_template in any::<bool>(),
    ) {
        let mut text: Vec<char> = if of_template { TEMPLATES[0].text } else { DESIGN }.chars().collect();
        for (index, character, insert) in changes {
            let at = index.index(text.len());
            if insert { text.insert(at, character) } else { text[at] = character }
        }
        survive(&text.into_iter().collect::<String>());
    }

    #[test]
    fn a_good_study_with_lines_lost_or_moved(
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let lines: Vec<&str> = DESIGN.lines().collect();
        let text: Vec<&str> = order.iter().map(|index| lines[index.index(lines.len())]).collect();
        survive(&text.join("\n"));
    }
}

fn mistakes_in(text: &str) -> String {
    shown(text, &read(text).expect_err("mistakes"))
}

#[test]
fn what_cannot_be_seen_is_refused_in_names_and_levels() {
    let check = |level: &str, expected: Option<&str>| {
        let text = format!(
            "[study]\nname = \"s\"\n[factors]\nx = [\"{level}\", \"b\"]\n[workload]\ncommand = [\"true\", \"{{x}}\"]\n"
        );
        let got = read(&text).err().map(|mistakes| shown(&text, &mistakes));
        match expected {
            Some(word) => assert!(
                got.as_ref().is_some_and(|got| got.contains(word)),
                "{got:?}"
            ),
            None => assert_eq!(got, None),
        }
    };
    check("a", None);
    check("网 – é", None);
    check("a\\u0000b", Some("control character (U+0000)"));
    check("a\\u001b[2Jb", Some("control character (U+001B)"));
    check("a\u{202e}b", Some("control character (U+202E)"));
    let name = "[study]\nname = \"s\"\n[factors]\n\"x\\u0000\" = [1, 2]\n[workload]\ncommand = [\"true\"]\n";
    assert!(mistakes_in(name).contains("visible characters"));
    let argument = "[study]\nname = \"s\"\n[workload]\ncommand = [\"true\", \"a\\u0000\"]\n";
    assert!(mistakes_in(argument).contains("NUL"));
}

#[test]
fn passwords_in_addresses_are_refused_and_not_shown() {
    let check = |lines: &str| {
        let text = format!("[study]\nname = \"s\"\n{lines}\n");
        let shown = mistakes_in(&text);
        assert!(shown.contains("this URL contains a password"), "{shown}");
        assert!(!shown.contains("geheim"), "{shown}");
    };
    check(
        "[workload]\nkind = \"serve\"\nmodel = \"rede1\"\n[environments.a]\nurl = \"https://me:geheim@example.org/x\"",
    );
    check("[workload]\ncommand = [\"curl\", \"https://me:geheim@example.org/x\"]");
    check("[workload]\ncommand = [\"x\"]\nenv = { PLACE = \"ftp://me:geheim@example.org\" }");
}

#[test]
fn secrets_in_headers_are_named_not_written() {
    let check = |headers: &str, is_fine: bool| {
        let text = format!(
            "[study]\nname = \"s\"\n[workload]\nkind = \"serve\"\nmodel = \"rede1\"\n[environments.a]\nurl = \"https://example.org/x\"\nheaders = {{ {headers} }}\n"
        );
        let shown = read(&text)
            .err()
            .map(|m| shown(&text, &m))
            .unwrap_or_default();
        assert_eq!(!shown.contains("contains a secret"), is_fine, "{shown}");
    };
    check("Authorization = \"Bearer abc\"", false);
    check("X-Api-Key = \"abc\"", false);
    check("Authorization = \"Bearer {TOKEN}\"", true);
    check("Accept = \"text/plain\"", true);
}

#[test]
fn scenarios_are_counted_exactly_or_not_at_all() {
    let check = |factors: usize, expected: &str| {
        let levels = "{ from = 1, to = 100 }";
        let lines: String = (0..factors).map(|i| format!("f{i} = {levels}\n")).collect();
        let names: String = (0..factors).map(|i| format!("{{f{i}}}")).collect();
        let text = format!(
            "[study]\nname = \"s\"\n[factors]\n{lines}[workload]\ncommand = [\"true\", \"{names}\"]\n"
        );
        let shown = mistakes_in(&text);
        assert!(shown.contains(expected), "{shown}");
    };
    check(
        10,
        "100,000,000,000,000,000,000 scenarios: a study can have at most 100,000",
    );
    check(
        30,
        "more than 10^38 scenarios: a study can have at most 100,000",
    );
}

#[test]
fn thousands_of_mistakes_make_a_short_answer() {
    let check = |text: &str, expected: &str| {
        let shown = mistakes_in(text);
        assert!(
            shown.contains(expected),
            "{}",
            &shown[..2000.min(shown.len())]
        );
        assert!(shown.len() < 60_000, "{}", shown.len());
    };
    let head = "[study]\nname = \"s\"\n";
    let rest = "[factors]\nx = [1, 2]\n[workload]\ncommand = [\"true\", \"{x}\"]\n";
    let rules = "{ x = 9 }, ".repeat(20_000);
    check(
        &format!("{head}exclude = [{rules}]\n{rest}"),
        "20000 exclusions: a study can have at most",
    );
    let rules = "{ x = 9 }, ".repeat(900);
    check(
        &format!("{head}exclude = [{rules}]\n{rest}"),
        "and 880 more errors",
    );
    let keys: String = (0..20_000).map(|i| format!("key{i} = 1\n")).collect();
    check(&format!("{head}{keys}{rest}"), "and 19980 more errors");
}
