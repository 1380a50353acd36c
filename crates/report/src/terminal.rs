//! The result on a terminal: the scenario table, what decides, what to do next.

mod cautions;
mod layout;

use analyse::{Analysis, Scale, SpeedUpKind, Variation, VariationTerm, format};
use messages::{message, word};
use model::run::metric;

use crate::text::{pad_left, pad_right, safe, shortened, width, wrapped};
use crate::view::{ScenarioTable, largest_shares, noise_text, scenario_table, share_text};
use layout::Layout;

#[derive(Debug, Clone)]
pub struct TerminalOptions {
    /// Columns of the screen; `None` if nobody looks, such as in a pipe: nothing is cut there.
    pub width: Option<usize>,
    pub colour: bool,
    /// With more scenarios than this only the fastest are shown, and how many there are besides.
    pub most_scenarios: usize,
    /// Of a study with nothing to compare: the scenarios and what must be known with them.
    pub only_table: bool,
}

impl Default for TerminalOptions {
    fn default() -> Self {
        TerminalOptions {
            width: Some(UNSEEN_WIDTH),
            colour: false,
            most_scenarios: 24,
            only_table: false,
        }
    }
}

/// What sentences are wrapped to where there is no screen.
const UNSEEN_WIDTH: usize = 100;
/// Sentences; the report has them all.
const MOST_ABOUT_MONEY: usize = 6;

/// Ends with a newline. No line is wider than asked unless a single word is.
pub fn terminal(analysis: &Analysis, options: &TerminalOptions) -> String {
    let mut screen = Screen {
        options,
        lines: Vec::new(),
    };
    screen.header(analysis);
    screen.scenarios(analysis);
    if options.only_table {
        screen.cautions(analysis);
        return screen.lines.join("\n") + "\n";
    }
    for variation in shown_in_full(analysis) {
        screen.variation(analysis, variation);
    }
    screen.other_metrics(analysis);
    screen.blank();
    screen.paragraphs("", Style::Bold, &analysis.best.sentences);
    let serving = analysis.serving.iter().flat_map(|s| &s.sentences);
    screen.paragraphs("", Style::Plain, serving);
    screen.money(analysis);
    let speed_ups = analysis.speed_ups.iter();
    let counted = speed_ups.filter(|s| s.kind == SpeedUpKind::Count);
    screen.paragraphs("", Style::Plain, counted.flat_map(|s| &s.sentences));
    let growths = analysis.growths.iter();
    screen.paragraphs("", Style::Plain, growths.flat_map(|g| &g.sentences));
    screen.paragraphs("→ ", Style::Accent, &analysis.advice);
    screen.cautions(analysis);
    let mut text = screen.lines.join("\n");
    text.push('\n');
    text
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Plain,
    Bold,
    Dim,
    Accent,
    Warn,
}

struct Screen<'a> {
    options: &'a TerminalOptions,
    lines: Vec<String>,
}

impl Screen<'_> {
    fn styled(&self, style: Style, text: &str) -> String {
        let code = match style {
            _ if !self.options.colour || text.trim().is_empty() => return text.to_owned(),
            Style::Plain => return text.to_owned(),
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Accent => "36",
            Style::Warn => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Never two in a row, never the first line.
    fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    fn push(&mut self, line: String) {
        self.lines.push(line.trim_end().to_owned());
    }

    fn width(&self) -> usize {
        self.options.width.unwrap_or(UNSEEN_WIDTH)
    }

    fn room(&self, indent: usize) -> usize {
        self.width().saturating_sub(indent).max(16)
    }

    /// Two columns in, with a mark that later lines stay clear of.
    fn paragraph(&mut self, mark: &str, style: Style, text: &str) {
        let indent = 2 + width(mark);
        let bold_text = style == Style::Bold;
        for (place, line) in wrapped(&safe(text), self.room(indent)).iter().enumerate() {
            let lead = match place {
                0 => self.styled(style, mark),
                _ => " ".repeat(width(mark)),
            };
            let line = match bold_text {
                true => self.styled(Style::Bold, line),
                false => line.clone(),
            };
            self.push(format!("  {lead}{line}"));
        }
    }

    fn paragraphs<'t>(
        &mut self,
        mark: &str,
        style: Style,
        texts: impl IntoIterator<Item = &'t String>,
    ) {
        for text in texts {
            self.paragraph(mark, style, text);
        }
    }

    fn header(&mut self, analysis: &Analysis) {
        let name = safe(&analysis.study.name);
        let indent = width(&name) + 3;
        let mut text = vec![crate::markdown::totals(analysis)];
        text.extend(analysis.study.objective.clone());
        let hanging = if indent > self.width() / 3 { 2 } else { indent };
        let mut lines = text
            .iter()
            .flat_map(|t| wrapped(&safe(t), self.room(hanging)))
            .collect::<Vec<_>>();
        if hanging == indent && !lines.is_empty() {
            let first = lines.remove(0);
            let name = self.styled(Style::Bold, &name);
            self.push(format!("{name}   {first}"));
        } else {
            let name = self.styled(Style::Bold, &name);
            self.push(name);
        }
        for line in lines {
            let line = self.styled(Style::Dim, &line);
            self.push(format!("{}{line}", " ".repeat(hanging)));
        }
        let scale = analysis.study.scale.as_ref().map(|scale| &scale.sentence);
        let first = scale.into_iter().chain(&analysis.study.repriced);
        self.paragraphs("! ", Style::Warn, first);
        let stopping = analysis.stopping.iter().flat_map(|found| &found.sentences);
        self.paragraphs("", Style::Plain, stopping.chain(&analysis.searched));
        self.blank();
    }

    fn money(&mut self, analysis: &Analysis) {
        let sentences = &analysis.money.sentences;
        let first = sentences.iter().take(MOST_ABOUT_MONEY);
        self.paragraphs("", Style::Plain, first);
        if sentences.len() > MOST_ABOUT_MONEY {
            let more = message!(
                "screen-more-money",
                more = sentences.len() - MOST_ABOUT_MONEY
            );
            self.paragraph("", Style::Plain, &more);
        }
    }

    fn scenarios(&mut self, analysis: &Analysis) {
        let mut table = scenario_table(analysis, false);
        let left_out = self.keep_the_fastest(analysis, &mut table);
        let laid_out = Layout::new(&mut table, self.options.width);
        for block in &laid_out.blocks {
            let header = laid_out.line(block, |place| laid_out.header(place, &table.columns));
            let header = self.styled(Style::Dim, &header);
            self.push(format!("  {header}"));
            for row in &table.rows {
                let cell = |place: usize| match row.get(place) {
                    Some(cell) => laid_out.cell(place, cell),
                    None => String::new(),
                };
                self.push(format!("  {}", laid_out.line(block, cell)));
            }
        }
        if left_out > 0 {
            let text = message!("screen-fastest", all = left_out + table.rows.len());
            self.paragraph("", Style::Plain, &text);
        }
        if !laid_out.dropped.is_empty() {
            let names = format::listed(&laid_out.dropped, 4);
            let text = message!("screen-no-space", names);
            for line in wrapped(&text, self.room(2)) {
                let line = self.styled(Style::Dim, &line);
                self.push(format!("  {line}"));
            }
        }
        self.blank();
    }

    fn keep_the_fastest(&self, analysis: &Analysis, table: &mut ScenarioTable) -> usize {
        let most = self.options.most_scenarios.max(1);
        if table.rows.len() <= most {
            return 0;
        }
        let time = |place: usize| {
            let mean = analysis.time_of(&analysis.scenarios[place]);
            mean.map_or(f64::INFINITY, |e| e.value)
        };
        let mut order: Vec<usize> = (0..table.rows.len()).collect();
        order.sort_by(|a, b| time(*a).total_cmp(&time(*b)));
        let left_out = order.len() - most;
        table.rows = order[..most]
            .iter()
            .map(|place| std::mem::take(&mut table.rows[*place]))
            .collect();
        left_out
    }

    fn variation(&mut self, analysis: &Analysis, variation: &Variation) {
        let noun = analysis.noun(variation);
        if let Some(problem) = &variation.problem {
            self.paragraph("", Style::Plain, problem);
            self.blank();
            return;
        }
        let facts = message!(
            "screen-model",
            scenarios = variation.scenarios,
            runs = variation.runs,
            logarithmic = variation.scale == Scale::Logarithmic,
            residuals = match variation.residuals_fine {
                Some(true) => "fine",
                Some(false) => "not-fine",
                None => "unknown",
            }
        );
        let title = message!("screen-decides", noun);
        if width(&title) + width(&facts) + 3 <= self.width() {
            let line = format!("  {} {facts}", self.styled(Style::Bold, &title));
            self.push(line);
        } else {
            let line = format!("  {}", self.styled(Style::Bold, &title));
            self.push(line);
            self.paragraph("  ", Style::Plain, &facts);
        }
        self.shares(analysis, variation);
        if variation.residuals_fine == Some(false) {
            self.paragraph("  ! ", Style::Warn, &variation.residuals);
        }
        self.paragraphs("  ! ", Style::Warn, &variation.assumptions);
        self.blank();
    }

    fn shares(&mut self, analysis: &Analysis, variation: &Variation) {
        // A share is of the whole spread, which a task may make large: what differs is said however small its share.
        let (shown, rest): (Vec<&VariationTerm>, Vec<&VariationTerm>) = variation
            .terms
            .iter()
            .partition(|t| t.factors.len() == 1 || t.verdict.is_different());
        let mut rows: Vec<(String, String, String)> = Vec::new();
        for term in shown {
            let sentence = term
                .sentence
                .clone()
                .unwrap_or_else(|| term.verdict.words().to_owned());
            rows.push((
                safe(&term.name()),
                share_text(term.share()),
                safe(&sentence),
            ));
        }
        let together: f64 = rest.iter().map(|t| t.share).sum();
        if !rest.is_empty() && together >= 0.001 {
            let text = rest[0].verdict.words().to_owned();
            let share = format::percent(together);
            rows.push((word!("screen-interactions").to_owned(), share, text));
        }
        if let Some(noise) = &variation.noise {
            rows.push((
                word!("screen-noise").to_owned(),
                format::percent(noise.share),
                noise_text(analysis, variation),
            ));
        }
        let most = self.room(4) / 3;
        let first = rows
            .iter()
            .map(|r| width(&r.0))
            .max()
            .unwrap_or(0)
            .min(most);
        let second = rows.iter().map(|r| width(&r.1)).max().unwrap_or(0);
        let indent = 4 + first + 3 + second + 4;
        for (name, share, sentence) in rows {
            let name = pad_right(&shortened(&name, first), first);
            let share = self.styled(Style::Bold, &pad_left(&share, second));
            let mut lines = wrapped(&sentence, self.room(indent)).into_iter();
            self.push(format!(
                "    {name}   {share}    {}",
                lines.next().unwrap_or_default()
            ));
            for line in lines {
                self.push(format!("{}{line}", " ".repeat(indent)));
            }
        }
    }

    /// One line each: the whole table is in the report.
    fn other_metrics(&mut self, analysis: &Analysis) {
        let full: Vec<&str> = shown_in_full(analysis)
            .iter()
            .map(|v| v.metric.as_str())
            .collect();
        let others = analysis
            .variations
            .iter()
            .filter(|v| !full.contains(&v.metric.as_str()));
        let (same, others): (Vec<&Variation>, Vec<&Variation>) = others
            .filter(|v| v.problem.is_none())
            .partition(|v| v.follows_time);
        if !same.is_empty() {
            let names: Vec<String> = same.iter().map(|v| v.label.clone()).collect();
            let text = message!("screen-like-time", names = names.join(", "));
            self.paragraph("", Style::Plain, &text);
        }
        for variation in others {
            let shares = largest_shares(variation, 4);
            let text = format!("{}: {shares}", variation.label);
            self.paragraph("", Style::Plain, &text);
        }
    }
}

/// Time, what the study requested, and the cost where it is not just time in other words.
fn shown_in_full(analysis: &Analysis) -> Vec<&Variation> {
    let environments = analysis.environments().len();
    let shown = |v: &&Variation| {
        analysis.is_time(&v.metric)
            || analysis.study.metrics.contains(&v.metric)
            || ([metric::COST, metric::COST_PER_INFERENCE].contains(&v.metric.as_str())
                && environments > 1)
    };
    analysis.variations.iter().filter(shown).collect()
}
