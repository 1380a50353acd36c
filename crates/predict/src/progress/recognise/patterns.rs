//! What programs print, as patterns.

use std::sync::LazyLock;

use regex::Regex;

/// Patterns of words are in lower case, and so is what they are held against: `regex` is built
/// without the tables that ignoring the case needs.
pub(super) type Pattern = LazyLock<Option<Regex>>;

/// tqdm: `Epoch 1/3:  45%|███  | 45/100 [00:01<00:02, 30.2it/s, loss=0.5]`.
pub(super) static BAR: Pattern = LazyLock::new(|| {
    Regex::new(
        r"(?P<percent>[0-9]{1,3})%(?:\|[^|]*\|)? *(?P<done>[0-9]+(?:\.[0-9]+)?[kMGTP]?)/(?P<total>[0-9]+(?:\.[0-9]+)?[kMGTP]?)[a-zA-Z]* \[[0-9:]+<(?P<rest>[^\]]*)\]",
    )
    .ok()
});
/// tqdm without a total: `45it [00:01, 30.2it/s]`.
pub(super) static OPEN_BAR: Pattern = LazyLock::new(|| {
    Regex::new(
        r"(?P<done>[0-9]+(?:\.[0-9]+)?[kMGTP]?) ?(?P<unit>[a-zA-Z]+) \[[0-9:]+, (?P<rest>[^\]]*)\]",
    )
    .ok()
});
/// Keras, the present form, the old one and `verbose=2`.
pub(super) static KERAS: Pattern = LazyLock::new(|| {
    Regex::new(r"^\s*(?P<done>[0-9]+)/(?P<total>[0-9]+|Unknown) +(?:━+|\[[=>.]+\]|-)(?P<rest>.*(?:/step|ETA: [0-9]|[0-9]m?s/epoch| [0-9]+s ).*)$").ok()
});
/// Rich, as Lightning draws it: `Epoch 0/2 ━━━╸━━━ 4/20 0:00:04 • 0:00:17 0.94it/s loss: 2.3`.
pub(super) static RICH: Pattern = LazyLock::new(|| {
    Regex::new(r"^(?P<label>[^━╸╺]*)[━╸╺]+ +(?P<done>[0-9]+)/(?P<total>[0-9]+) +[0-9:-]+ • [0-9:-]+ (?P<rest>.*it/s.*)$").ok()
});
pub(super) static EPOCH: Pattern = LazyLock::new(|| {
    Regex::new(r"\bepoch(?:\((?P<phase>[a-z]+)\))?[ \t]*[:#=\[(]*[ \t]*\[?(?P<number>[0-9]+)(?:[ \t]*(?:/|of|out of)[ \t]*(?P<total>[0-9]+))?").ok()
});
/// Ultralytics, in lower case: the epoch, then the memory of the GPU.
pub(super) static ULTRALYTICS: Pattern = LazyLock::new(|| {
    Regex::new(r"^[ \t]*(?P<number>[0-9]+)/(?P<total>[0-9]+)[ \t]+[0-9]+(?:\.[0-9]+)?g[ \t]").ok()
});
pub(super) static EPOCH_FRACTION: Pattern =
    LazyLock::new(|| Regex::new(r#"['"]epoch['"]: ?'?(?P<value>[0-9]+(?:\.[0-9]+)?)'?[,}]"#).ok());
pub(super) static STEP: Pattern = LazyLock::new(|| {
    Regex::new(r"\b(?:(?P<word>step|iter|iteration|update)|(?:mini-?)?batch|it)(?:\([a-z]+\))?[ \t]*[:#=\[(]*[ \t]*(?P<done>[0-9][0-9,]*)(?:[ \t]*(?:/|of|out of)[ \t]*(?P<total>[0-9][0-9,]*))?").ok()
});
pub(super) static BRACKETS: Pattern = LazyLock::new(|| {
    Regex::new(r"\[ *(?P<done>[0-9]+) */ *(?P<total>[0-9]+)(?: *\([^)]*\))? *\]").ok()
});
pub(super) static PERCENT: Pattern = LazyLock::new(|| {
    Regex::new(r"^[^a-z0-9]*(?:(?:progress|completed?|done|training)[^a-z0-9]*)?(?P<done>[0-9]{1,3}(?:\.[0-9]+)?) ?%[^a-z0-9]*(?:done|completed?|finished)?[^a-z0-9]*$").ok()
});
pub(super) static PLANNED: Pattern =
    LazyLock::new(|| Regex::new(r"Total optimization steps = (?P<value>[0-9][0-9,]*)").ok());
pub(super) static LOSS: Pattern = LazyLock::new(|| {
    Regex::new(r#"\b(?:train(?:ing)?[_ ]?)?loss\b['"]?[ \t]*[:=]?[ \t]*['"]?(?P<value>[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)"#).ok()
});
pub(super) static ACCURACY: Pattern = LazyLock::new(|| {
    Regex::new(r#"\b(?:train(?:ing)?[_ ]?)?acc(?:uracy)?\b['"]?[ \t]*[:=]?[ \t]*['"]?(?P<value>[0-9]+(?:\.[0-9]+)?)(?P<percent> ?%)?"#).ok()
});
/// Words of bars and lines that are not the training.
pub(super) static OTHER: Pattern = LazyLock::new(|| {
    Regex::new(r"(?:^|[^a-z])(?:val|valid\w*|eval\w*|test\w*|sanity|download\w*|extract\w*|unpack\w*|load(?:ing|ed)?|generat\w*|map|mapping|tokeniz\w*|filter\w*|predict\w*|infer\w*|fetch\w*|resolv\w*|upload\w*|sav(?:e|ed|ing)|writ(?:e|ing|ten)|restor\w*|resum\w*|read(?:ing)?|preprocess\w*|prepar\w*|cach\w*|collect\w*|install\w*|build\w*|compil\w*|casting|flatten\w*|scann?\w*|shards?|files?|best|max|num)(?:[^a-z]|$)").ok()
});
pub(super) static OVER: Pattern = LazyLock::new(|| {
    Regex::new(r"\b(?:done|complete|completed|finished|ended|took|elapsed|over)\b").ok()
});
