//! What a person reads when a network file is wrong.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail by panicking"
)]

use diagnostics::{Source, Style};
use network::InputSpec;

/// All mistakes of a file, as shown.
fn check(text: &str, expected: &str) {
    let problems = network::parse(text).expect_err("the file has mistakes");
    let source = Source {
        name: "net.toml",
        text,
    };
    assert_eq!(source.render_all(&problems, Style::Plain), expected);
}

#[test]
fn all_mistakes_come_together() {
    check(
        r#"name = "n"
layers = [
  { conv = { k = 3, o = 0, stride = 2 } },
  { conw = { k = 3 } },
  { max-pool = { k = [2, 2, 2] }, name = "a.b" },
  { dense = { o = "clases" } },
  "dropout",
  { relu = {}, softmax = {} },
  { relu = 1 },
  7,
]
colour = 1
"#,
        r#"error: `o` of `conv` must be a whole number from 1 to 16777216
  ┌ net.toml:3
  │   { conv = { k = 3, o = 0, stride = 2 } },
  │                         ^

error: unknown setting of `conv`: `stride`
  ┌ net.toml:3
  │   { conv = { k = 3, o = 0, stride = 2 } },
  │                            ^^^^^^
  = known: k, s, p, o, groups, bias

error: unknown layer kind `conw`
  ┌ net.toml:4
  │   { conw = { k = 3 } },
  │     ^^^^ did you mean `conv`?
  = known: conv, batch-norm, relu, max-pool, avg-pool, global-avg-pool, dense, dropout, flatten, add, concat, lrn, softmax

error: `k` of `max-pool` must be a whole number or [height, width]
  ┌ net.toml:5
  │   { max-pool = { k = [2, 2, 2] }, name = "a.b" },
  │                      ^^^^^^^^^

error: `a.b` is not a valid name for a layer
  ┌ net.toml:5
  │   { max-pool = { k = [2, 2, 2] }, name = "a.b" },
  │                                          ^^^^^ use letters, digits, `-` and `_`, at most 64

error: unknown value of `o`: `clases`
  ┌ net.toml:6
  │   { dense = { o = "clases" } },
  │                   ^^^^^^^^ did you mean `classes`?
  = known: classes, channels

error: `rate` is missing in `dropout`
  ┌ net.toml:7
  │   "dropout",
  │   ^^^^^^^^^ add `rate = …`

error: a layer has one kind, but this one is `relu` and `softmax`
  ┌ net.toml:8
  │   { relu = {}, softmax = {} },
  │                ^^^^^^^ put it in its own braces, or among the settings

error: the settings of `relu` must be in braces: `relu = { … }`
  ┌ net.toml:9
  │   { relu = 1 },
  │            ^

error: a layer is `{ conv = { … } }`, or a name in quotes if it has no settings
  ┌ net.toml:10
  │   7,
  │   ^ such as "relu"

error: unknown key `colour`
  ┌ net.toml:12
  │ colour = 1
  │ ^^^^^^ 
  = known: name, about, input, layers, block
"#
        .replace("^^^^^^ \n", "^^^^^^\n")
        .as_str(),
    );
}

#[test]
fn mistakes_between_layers() {
    check(
        r#"name = "n"
layers = [
  { name = "first", conv = { k = 3, o = 8 } },
  { add = {}, from = ["previous", "frist"] },
  { concat = {}, from = ["first", "last"] },
  "add",
  { relu = {}, from = ["first", "input"] },
  { name = "last", relu = {} },
  { name = "last", relu = {} },
  { name = "input", relu = {} },
  { name = "many", relu = {}, times = 2 },
]
"#,
        r#"error: unknown layer `frist`
  ┌ net.toml:4
  │   { add = {}, from = ["previous", "frist"] },
  │                                   ^^^^^^^ did you mean `first`?
  = known: input, previous, first, last, many

error: `last` is defined below
  ┌ net.toml:5
  │   { concat = {}, from = ["first", "last"] },
  │                                   ^^^^^^ a layer can only take input from layers above it
  ┌ net.toml:9
  │   { name = "last", relu = {} },
  │            ^^^^^^ here

error: `add` needs at least two inputs
  ┌ net.toml:6
  │   "add",
  │   ^^^^^ add `from = ["previous", …]`

error: `relu` takes a single input
  ┌ net.toml:7
  │   { relu = {}, from = ["first", "input"] },
  │     ^^^^ add or concat them first

error: two layers are named `last`
  ┌ net.toml:9
  │   { name = "last", relu = {} },
  │   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^

error: `input` is reserved
  ┌ net.toml:10
  │   { name = "input", relu = {} },
  │            ^^^^^^^ choose a different name

error: a repeated layer cannot have a name
  ┌ net.toml:11
  │   { name = "many", relu = {}, times = 2 },
  │            ^^^^^^ leave it out
"#,
    );
}

#[test]
fn mistakes_in_blocks() {
    check(
        r#"name = "n"
layers = [
  { wide = { o = 8, q = 1 } },
  { wide = { k = "o" } },
  { round = {} },
]

[block.wide]
needs = ["o"]
default = { k = 3 }
layers = [{ conv = { k = "k", o = "oo" } }]

[block.round]
layers = ["relu", "round"]

[block.relu]
layers = ["softmax"]
"#,
        r#"error: unknown parameter of block `wide`: `q`
  ┌ net.toml:3
  │   { wide = { o = 8, q = 1 } },
  │                     ^ did you mean `o`?
  = known: o, k

error: `o` is missing in `wide`
  ┌ net.toml:4
  │   { wide = { k = "o" } },
  │     ^^^^ add `o = …`

error: unknown value of `k`: `o`
  ┌ net.toml:4
  │   { wide = { k = "o" } },
  │                  ^^^
  = known: classes, channels, same

error: unknown value of `o`: `oo`
  ┌ net.toml:11
  │ layers = [{ conv = { k = "k", o = "oo" } }]
  │                                   ^^^^ did you mean `o`?
  = known: classes, channels, o, k

error: block `round` contains itself
  ┌ net.toml:14
  │ layers = ["relu", "round"]
  │                   ^^^^^^^ round → round

error: `relu` is already the name of a layer
  ┌ net.toml:16
  │ [block.relu]
  │        ^^^^ choose a different name
"#,
    );
}

#[test]
fn a_forgotten_branch_is_told() {
    check(
        r#"name = "n"
layers = [
  { name = "left", conv = { k = 1, o = 8 } },
  { name = "right", conv = { k = 1, o = 8 }, from = "input" },
  "relu",
]
"#,
        r#"error: the output of `left` is not used
  ┌ net.toml:3
  │   { name = "left", conv = { k = 1, o = 8 } },
  │   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ use it in the `from` of a different layer, or remove it
"#,
    );
}

#[test]
fn files_that_are_hardly_networks() {
    check(
        "",
        "error: `name` is missing in the file\n  ┌ net.toml\n\n\
         error: `layers` is missing in the file\n  ┌ net.toml\n",
    );
    check(
        "name = \"n\"\nlayers = []\n",
        "error: the network has no layers\n  ┌ net.toml:2\n  │ layers = []\n  \
         │          ^^ add at least one\n",
    );
}

#[test]
fn too_many_layers_are_told_and_not_made() {
    let mut text = String::from("name = \"n\"\nlayers = [{ b0 = {}, times = 9 }]\n");
    for level in 0..12 {
        let next = if level == 11 {
            "relu".to_owned()
        } else {
            format!("b{}", level + 1)
        };
        text += &format!("[block.b{level}]\nlayers = [{{ {next} = {{}}, times = 9 }}]\n");
    }
    let problems = network::parse(&text).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].message,
        "the network has more than 10000 layers after expanding all blocks"
    );
}

/// What does not fit, as sentences.
fn check_shapes(layers: &str, input: InputSpec, expected: &[&str]) {
    let network = network::parse(&format!("name = \"n\"\nlayers = [{layers}]")).unwrap();
    let problems = network.instantiate(input).unwrap_err();
    let sentences: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(sentences, expected);
}

#[test]
fn shapes_that_do_not_fit() {
    let input = InputSpec::square(3, 6, 10);
    check_shapes(
        r#"{ max-pool = { k = 2 }, times = 3 }, "flatten", { dense = { o = "classes" } }"#,
        input,
        &["`max-pool3` gets 1×1 but needs at least 2×2: use an image of at least 8 px"],
    );
    check_shapes(
        r#"{ dense = { o = "classes" } }"#,
        input,
        &["`dense1` gets an image of 3×6×6 but needs a vector: \
           put \"flatten\" or \"global-avg-pool\" before it"],
    );
    check_shapes(
        r#""flatten", { conv = { k = 1, o = 1 } }"#,
        input,
        &["`conv1` gets a vector of 108 but needs an image: \
           put it before flatten, dense or global-avg-pool, which produce a vector"],
    );
    check_shapes(
        r#"{ conv = { k = 1, o = 4 } }, { add = {}, from = ["previous", "input"] },
           { concat = {}, from = ["input", "conv1"] }, { conv = { k = 1, o = 7, groups = 7 } },
           { add = {}, from = ["previous", "add1"] }"#,
        input,
        &["`add1` gets 4×6×6 and 3×6×6 but needs equal shapes: \
             make the shapes equal, for example with a 1×1 convolution"],
    );
    check_shapes(
        r#"{ conv = { k = 3, o = 4 } }, { concat = {}, from = ["previous", "input"] }"#,
        input,
        &[
            "`concat1` gets 4×4×4 and 3×6×6 but needs images of equal height and width: \
           use the same strides in all branches, and padding where they shrink",
        ],
    );
    check_shapes(
        r#"{ conv = { k = 1, o = 4, groups = 2 } }"#,
        input,
        &[
            "`conv1` gets 3 channels, which are not divisible by 2 groups: \
           choose a number of groups that divides both input and output channels",
        ],
    );
    check_shapes(
        r#""flatten", { dense = { o = 12 } }, "softmax""#,
        input,
        &[
            "`dense1` is the last layer and produces a vector of 12, but must produce a vector of 10, one number per class: \
           end with `{ dense = { o = \"classes\" } }`",
        ],
    );
    check_shapes(
        r#"{ max-pool = { k = 2, p = 2 } }"#,
        input,
        &["`max-pool1` has a padding of 2×2, as large as its window: \
           use a padding smaller than k, so that every window contains a pixel"],
    );
}

#[test]
fn inputs_beyond_reason() {
    let layers = r#""flatten", { dense = { o = "classes" } }"#;
    check_shapes(
        layers,
        InputSpec::square(0, 28, u32::MAX),
        &[
            "`input` has channels = 0: give a number from 1 to 16777216",
            "`input` has classes = 4294967295: give a number from 1 to 16777216",
        ],
    );
    check_shapes(
        layers,
        InputSpec::square(3, 1 << 24, 10),
        &["`flatten1` would not fit on any machine: use a smaller image, or fewer outputs"],
    );
}
