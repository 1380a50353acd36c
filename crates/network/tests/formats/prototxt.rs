//! The text format of Protocol Buffers, read and held against Caffe's schema: what
//! src/caffe/proto/caffe.proto of Caffe 1.0 has (`round_mode` came after it).

use std::collections::BTreeMap;

/// A message by its fields, in the order of the text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Message(pub(crate) Vec<(String, Value)>);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    /// A number, `true` or `false`, or a word of an enumeration.
    Word(String),
    Message(Message),
}

impl Message {
    pub(crate) fn all(&self, field: &str) -> Vec<&Value> {
        let named = self.0.iter().filter(|(name, _)| name == field);
        named.map(|(_, value)| value).collect()
    }

    pub(crate) fn messages(&self, field: &str) -> Vec<&Message> {
        let mut found = Vec::new();
        for value in self.all(field) {
            match value {
                Value::Message(message) => found.push(message),
                other => panic!("`{field}` is {other:?}"),
            }
        }
        found
    }

    pub(crate) fn message(&self, field: &str) -> &Message {
        let messages = self.messages(field);
        assert_eq!(messages.len(), 1, "`{field}` of {self:?}");
        messages[0]
    }

    pub(crate) fn texts(&self, field: &str) -> Vec<&str> {
        let mut found = Vec::new();
        for value in self.all(field) {
            match value {
                Value::Text(text) => found.push(text.as_str()),
                other => panic!("`{field}` is {other:?}"),
            }
        }
        found
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        let texts = self.texts(field);
        assert_eq!(texts.len(), 1, "`{field}` of {self:?}");
        texts[0]
    }

    pub(crate) fn word(&self, field: &str) -> &str {
        match self.all(field)[..] {
            [Value::Word(word)] => word,
            ref other => panic!("`{field}` is {other:?}"),
        }
    }

    pub(crate) fn number(&self, field: &str) -> f64 {
        self.word(field).parse().unwrap()
    }
}

/// Reads the text and checks it as a message of this kind.
pub(crate) fn read(text: &str, kind: &str) -> Message {
    let mut tokens = tokens(text);
    tokens.reverse();
    let message = message(&mut tokens, false);
    check(&message, kind);
    message
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Colon,
    Open,
    Close,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '#' => while rest.next_if(|&c| c != '\n').is_some() {},
            ':' => found.push(Token::Colon),
            '{' => found.push(Token::Open),
            '}' => found.push(Token::Close),
            '"' => found.push(Token::Text(quoted(&mut rest))),
            space if space.is_ascii_whitespace() => {}
            first if first.is_ascii_alphanumeric() || "+-._".contains(first) => {
                let mut word = String::from(first);
                while let Some(c) =
                    rest.next_if(|c| c.is_ascii_alphanumeric() || "+-._".contains(*c))
                {
                    word.push(c);
                }
                found.push(Token::Word(word));
            }
            other => panic!("`{other}` stands where a field should"),
        }
    }
    found
}

fn quoted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    loop {
        match rest.next().expect("a text without end") {
            '"' => return text,
            '\n' => panic!("a text over two lines"),
            '\\' => match rest.next().expect("a text without end") {
                'n' => text.push('\n'),
                digit @ '0'..='3' => {
                    let digits = [Some(digit), rest.next(), rest.next()];
                    let digits: String = digits.into_iter().flatten().collect();
                    text.push(char::from(u8::from_str_radix(&digits, 8).unwrap()));
                }
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}

/// Tokens are taken from the end.
fn message(tokens: &mut Vec<Token>, inner: bool) -> Message {
    let mut fields = Vec::new();
    loop {
        let name = match tokens.pop() {
            Some(Token::Word(name)) => name,
            Some(Token::Close) if inner => return Message(fields),
            None if !inner => return Message(fields),
            other => panic!("{other:?} where a field should begin"),
        };
        let value = match (tokens.pop(), tokens.last().cloned()) {
            (Some(Token::Open), _) => Value::Message(message(tokens, true)),
            (Some(Token::Colon), Some(Token::Text(text))) => {
                tokens.pop();
                Value::Text(text)
            }
            (Some(Token::Colon), Some(Token::Word(word))) => {
                tokens.pop();
                Value::Word(word)
            }
            other => panic!("{other:?} after `{name}`"),
        };
        fields.push((name, value));
    }
}

/// Each line: a message, then its fields with what they hold; `*` for those that may stand more
/// than once, `|` between the words of an enumeration.
const SCHEMA: &str = "
NetParameter name=text layer*=LayerParameter
LayerParameter name=text type=text bottom*=text top*=text param*=ParamSpec include*=NetStateRule \
    transform_param=TransformationParameter image_data_param=ImageDataParameter \
    convolution_param=ConvolutionParameter pooling_param=PoolingParameter \
    inner_product_param=InnerProductParameter lrn_param=LRNParameter \
    dropout_param=DropoutParameter eltwise_param=EltwiseParameter \
    batch_norm_param=BatchNormParameter scale_param=ScaleParameter \
    slice_param=SliceParameter
NetStateRule phase=TRAIN|TEST
ParamSpec lr_mult=real decay_mult=real
TransformationParameter scale=real mean_value*=real
ImageDataParameter source=text batch_size=whole shuffle=truth is_color=truth root_folder=text
ConvolutionParameter num_output=whole bias_term=truth pad_h=whole pad_w=whole kernel_h=whole \
    kernel_w=whole stride_h=whole stride_w=whole group=whole
PoolingParameter pool=MAX|AVE pad_h=whole pad_w=whole kernel_h=whole kernel_w=whole \
    stride_h=whole stride_w=whole global_pooling=truth
InnerProductParameter num_output=whole bias_term=truth
LRNParameter local_size=whole alpha=real beta=real k=real norm_region=ACROSS_CHANNELS|WITHIN_CHANNEL
DropoutParameter dropout_ratio=real
EltwiseParameter operation=PROD|SUM|MAX
BatchNormParameter moving_average_fraction=real eps=real
ScaleParameter bias_term=truth
SliceParameter axis=whole slice_point*=whole
SolverParameter net=text test_iter*=whole test_interval=whole test_initialization=truth type=text \
    base_lr=real lr_policy=text momentum=real momentum2=real delta=real weight_decay=real \
    display=whole average_loss=whole max_iter=whole snapshot=whole snapshot_prefix=text \
    random_seed=whole solver_mode=CPU|GPU device_id=whole debug_info=truth
";

fn check(message: &Message, kind: &str) {
    let fields = fields(kind);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, value) in &message.0 {
        let known = fields
            .iter()
            .find(|(known, _)| known.trim_end_matches('*') == name);
        let (declared, holds) = known.unwrap_or_else(|| panic!("{kind} has no `{name}`"));
        let count = counts.entry(name).or_default();
        *count += 1;
        assert!(
            *count == 1 || declared.ends_with('*'),
            "{kind}: `{name}` twice"
        );
        let fits = match (holds.as_str(), value) {
            ("text", Value::Text(_)) => true,
            ("whole", Value::Word(word)) => word.parse::<u32>().is_ok(),
            ("real", Value::Word(word)) => word.parse::<f32>().is_ok_and(f32::is_finite),
            ("truth", Value::Word(word)) => word == "true" || word == "false",
            (words, Value::Word(word)) => words.split('|').any(|known| known == word),
            (kind, Value::Message(message)) => {
                check(message, kind);
                true
            }
            _ => false,
        };
        assert!(fits, "{kind}: `{name}` is {value:?}, not {holds}");
    }
}

fn fields(kind: &str) -> Vec<(String, String)> {
    let line = SCHEMA
        .lines()
        .find(|line| line.split(' ').next() == Some(kind));
    let line = line.unwrap_or_else(|| panic!("no message {kind}"));
    let pair = |word: &str| {
        let (name, holds) = word.split_once('=').unwrap();
        (name.to_owned(), holds.to_owned())
    };
    line.split_ascii_whitespace().skip(1).map(pair).collect()
}

#[test]
fn the_reader_refuses_what_caffe_refuses() {
    let refuses = |text: &str| {
        let text = text.to_owned();
        std::panic::catch_unwind(move || read(&text, "NetParameter")).is_err()
    };
    assert!(!refuses("name: \"a\" layer { name: \"b\" } # end"));
    assert!(refuses("nme: \"a\""));
    assert!(refuses("name: a\""));
    assert!(refuses("name: \"a\" name: \"b\""));
    assert!(refuses("layer { name: \"b\""));
    assert!(refuses("layer { name: \"b\" } }"));
    assert!(refuses("layer { pooling_param { pool: MEAN } }"));
    assert!(refuses("layer { pooling_param { kernel_h: 2.5 } }"));
}
