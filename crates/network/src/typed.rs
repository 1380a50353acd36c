//! A network file as typed, before interpretation.

use diagnostics::{Diagnostic, Located, Problems, Span, Table, Value};

use crate::description::InputSpec;

/// Longest side, kernel, channel count … that a file may name. Far above any network, far below
/// any overflow.
pub(crate) const LARGEST: i64 = 1 << 24;

#[derive(Default)]
pub(crate) struct TypedNetwork {
    pub(crate) name: Option<String>,
    pub(crate) about: Option<String>,
    pub(crate) input: Option<InputSpec>,
    pub(crate) layers: Vec<TypedLayer>,
    pub(crate) blocks: Vec<TypedBlock>,
    /// Not TOML: what could be read is too little to judge the rest by.
    pub(crate) broken: bool,
}

/// A template: a layer kind of the file's own.
pub(crate) struct TypedBlock {
    pub(crate) name: Located<String>,
    /// Parameters that every use gives.
    pub(crate) needs: Vec<Located<String>>,
    /// Parameters with a value for uses that do not give one.
    pub(crate) defaults: Vec<Entry>,
    pub(crate) layers: Vec<TypedLayer>,
}

impl TypedBlock {
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> + Clone {
        let needs = self.needs.iter().map(|name| name.value.as_str());
        needs.chain(self.defaults.iter().map(|entry| entry.key.value.as_str()))
    }
}

pub(crate) struct TypedLayer {
    pub(crate) span: Span,
    /// `None` if the layer could not be read; it then stands for any.
    pub(crate) kind: Option<Located<String>>,
    pub(crate) settings: Vec<Entry>,
    pub(crate) name: Option<Located<String>>,
    /// Empty: the layer before.
    pub(crate) from: Vec<Located<String>>,
    pub(crate) times: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: Located<String>,
    pub(crate) value: Located<Setting>,
}

#[derive(Debug, Clone)]
pub(crate) enum Setting {
    Whole(i64),
    Real(f64),
    Flag(bool),
    /// `"same"`, `"classes"`, or a parameter of the block.
    Word(String),
    List(Vec<Located<Setting>>),
    /// A parameter whose value is not known, while a block is checked by itself.
    Any,
}

pub(crate) fn read(text: &str, problems: &Problems) -> TypedNetwork {
    diagnostics::parse(text, problems, |top| {
        if !problems.is_empty() {
            return TypedNetwork {
                broken: true,
                ..TypedNetwork::default()
            };
        }
        let network = TypedNetwork {
            name: top.required_text("name").map(|name| name.value),
            about: top.text("about").map(|about| about.value),
            input: top.table("input").and_then(read_input),
            layers: read_layers(&top, "the network"),
            blocks: top
                .table("block")
                .map(|table| read_blocks(&table))
                .unwrap_or_default(),
            broken: false,
        };
        top.finish();
        network
    })
}

fn read_input(table: Table<'_>) -> Option<InputSpec> {
    let number = |key| -> Option<u32> {
        let value = table.required(key)?.integer(key)?;
        positive(key, &value, table.problems)
    };
    let channels = number("channels");
    let side = number("side");
    let classes = number("classes");
    table.finish();
    Some(InputSpec::square(channels?, side?, classes?))
}

fn positive(key: &str, value: &Located<i64>, problems: &Problems) -> Option<u32> {
    if !(1..=LARGEST).contains(&value.value) {
        let message = format!("`{key}` must be between 1 and {LARGEST}");
        problems.push(value.wrong(message));
        return None;
    }
    u32::try_from(value.value).ok()
}

fn read_blocks(table: &Table<'_>) -> Vec<TypedBlock> {
    let keys: Vec<Located<String>> = table
        .entries()
        .map(|(key, _)| key.clone().map(str::to_owned))
        .collect();
    let mut blocks = Vec::new();
    for name in keys {
        check_name("block", &name, table.problems);
        if crate::settings::is_builtin(&name.value) {
            let message = format!("`{}` is already the name of a layer", name.value);
            table.complain(name.wrong(message).label("choose a different name"));
        }
        let Some(block) = table.table(&name.value) else {
            continue;
        };
        blocks.push(read_block(name, block));
    }
    blocks
}

fn read_block(name: Located<String>, table: Table<'_>) -> TypedBlock {
    let needs = read_words(table.get("needs"), "needs");
    let defaults = table
        .table("default")
        .map(|defaults| read_entries(&defaults))
        .unwrap_or_default();
    let layers = read_layers(&table, &format!("block `{}`", name.value));
    table.finish();
    let block = TypedBlock {
        name,
        needs,
        defaults,
        layers,
    };
    let mut seen: Vec<&str> = Vec::new();
    let defaults = block.defaults.iter().map(|entry| &entry.key);
    for parameter in block.needs.iter().chain(defaults) {
        check_name("parameter", parameter, table.problems);
        if seen.contains(&parameter.value.as_str()) {
            let message = format!("parameter `{}` is listed twice", parameter.value);
            table.complain(parameter.wrong(message));
        }
        if crate::expand::WORDS.contains(&parameter.value.as_str()) {
            let message = format!("`{}` is reserved", parameter.value);
            table.complain(parameter.wrong(message).label("choose a different name"));
        }
        seen.push(&parameter.value);
    }
    block
}

fn read_layers(table: &Table<'_>, place: &str) -> Vec<TypedLayer> {
    let Some(value) = table.required("layers") else {
        return Vec::new();
    };
    let Some(items) = value.array("layers") else {
        return Vec::new();
    };
    if items.is_empty() {
        let message = format!("{place} has no layers");
        table.complain(value.wrong(message).label("add at least one"));
    }
    items.iter().map(|item| read_layer(item)).collect()
}

/// `"relu"`, or `{ conv = { … } }` with perhaps `name`, `from` and `times` next to it.
fn read_layer(item: &Value<'_>) -> TypedLayer {
    let mut layer = TypedLayer {
        span: item.span.clone(),
        kind: None,
        settings: Vec::new(),
        name: None,
        from: Vec::new(),
        times: 1,
    };
    if let Some(word) = item.as_text() {
        layer.kind = Some(Located::new(word.to_owned(), item.span.clone()));
        return layer;
    }
    if item.kind() != "table" {
        let message = "a layer is `{ conv = { … } }`, or a name in quotes if it has no settings";
        item.complain(item.wrong(message).label("such as \"relu\""));
        return layer;
    }
    let Some(table) = item.table("layers") else {
        return layer;
    };
    layer.name = table.text("name");
    layer.name = layer
        .name
        .filter(|name| check_layer_name(name, item.problems));
    layer.from = read_words(table.get("from"), "from");
    if let Some(times) = table.integer("times") {
        layer.times = positive("times", &times, item.problems).unwrap_or(1);
    }
    if let (Some(name), 2..) = (&layer.name, layer.times) {
        let message = "a repeated layer cannot have a name";
        item.complain(name.wrong(message).label("leave it out"));
        layer.times = 1;
    }
    read_kind(&table, &mut layer);
    layer
}

/// The one key that is not `name`, `from` or `times`.
fn read_kind(table: &Table<'_>, layer: &mut TypedLayer) {
    let mut kinds = table
        .entries()
        .filter(|(key, _)| !["name", "from", "times"].contains(&key.value));
    let Some((key, value)) = kinds.next() else {
        let message = "this layer has no kind";
        table.complain(Diagnostic::at(layer.span.clone(), message).label("add `relu = {}`, say"));
        return;
    };
    let mut one = true;
    for (second, _) in kinds {
        one = false;
        let message = format!(
            "a layer has one kind, but this one is `{}` and `{}`",
            key.value, second.value
        );
        table.complain(
            second
                .wrong(message)
                .label("put it in its own braces, or among the settings"),
        );
    }
    if value.kind() != "table" {
        let message = format!(
            "the settings of `{}` must be in braces: `{} = {{ … }}`",
            key.value, key.value
        );
        table.complain(value.wrong(message));
        return;
    }
    if let Some(settings) = value.table(key.value) {
        layer.settings = read_entries(&settings);
    }
    if one {
        layer.kind = Some(key.clone().map(str::to_owned));
    }
}

fn read_entries(table: &Table<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (key, value) in table.entries() {
        if let Some(setting) = read_setting(key.value, value) {
            entries.push(Entry {
                key: key.clone().map(str::to_owned),
                value: setting,
            });
        }
    }
    entries
}

fn read_setting(key: &str, value: &Value<'_>) -> Option<Located<Setting>> {
    let setting = match value.kind() {
        "string" => value.as_text().map(|word| Setting::Word(word.to_owned())),
        "integer" => value.as_integer().map(Setting::Whole),
        "float" => value.as_number().map(Setting::Real),
        "boolean" => value.as_boolean().map(Setting::Flag),
        "array" => {
            let items = value.array(key)?;
            let read: Vec<_> = items
                .iter()
                .filter(|item| !matches!(item.kind(), "array" | "table"))
                .filter_map(|item| read_setting(key, item))
                .collect();
            (read.len() == items.len()).then_some(Setting::List(read))
        }
        _ => None,
    };
    if setting.is_none() {
        let message = format!("`{key}` must be a number, a word in quotes, or a list of numbers");
        value.complain(value.wrong(message));
    }
    setting.map(|setting| Located::new(setting, value.span.clone()))
}

/// One word, or a list of them.
fn read_words(value: Option<Value<'_>>, key: &str) -> Vec<Located<String>> {
    let Some(value) = value else {
        return Vec::new();
    };
    if value.as_text().is_some() {
        return value.text(key).into_iter().collect();
    }
    let items = value.array(key).unwrap_or_default();
    items.iter().filter_map(|item| item.text(key)).collect()
}

/// Names become names of tensors and of files' columns: letters, digits, `-` and `_`.
fn check_name(kind: &str, name: &Located<String>, problems: &Problems) {
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.value.is_empty() || name.value.len() > 64 || !name.value.chars().all(fine) {
        let message = format!("`{}` is not a valid name for a {kind}", name.value);
        problems.push(
            name.wrong(message)
                .label("use letters, digits, `-` and `_`, at most 64"),
        );
    }
}

/// Whether the name can be used at all.
fn check_layer_name(name: &Located<String>, problems: &Problems) -> bool {
    check_name("layer", name, problems);
    let reserved = crate::expand::RESERVED.contains(&name.value.as_str());
    if reserved {
        let message = format!("`{}` is reserved", name.value);
        problems.push(name.wrong(message).label("choose a different name"));
    }
    !reserved
}
