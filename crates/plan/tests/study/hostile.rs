//! Whatever stands in a file, reading it ends in a study or in mistakes that can be shown.

use plan::{digest, resolve, template};
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
        let mut text: Vec<char> = if of_template { template() } else { DESIGN.to_owned() }.chars().collect();
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
