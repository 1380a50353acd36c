//! A study that is being carried out, as far as its file of progress says.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

use model::{Event, EventKind, Money, RunId, RunRecord, Sample, Status};
use report::format;
use runner::{Count, Progress};
use workbench::{LiveReader, scenario_words};

use crate::html::Html;
use crate::series::Series;

/// Several pages of one study share a look.
const LOOK_EVERY: Duration = Duration::from_millis(700);
const MOST_ENDED: usize = 12;

pub(crate) struct Live {
    reader: LiveReader,
    looked: Option<Instant>,
    runs: BTreeMap<RunId, RunNow>,
    /// The last first.
    ended: VecDeque<EndedRun>,
    totals: Option<Totals>,
    set_aside: Vec<String>,
}

#[derive(Clone, Copy)]
struct Totals {
    count: Count,
    spent: Option<Money>,
    allowed: Option<Money>,
    projected: Option<Money>,
    seconds_left: f64,
}

/// A run in progress.
pub(crate) struct RunNow {
    pub(crate) place: String,
    pub(crate) levels: String,
    phase: String,
    epoch: Option<u32>,
    step: Option<u64>,
    loss: Option<f64>,
    accuracy: Option<f64>,
    seconds: f64,
    sample: Option<Box<Sample>>,
    losses: Series,
    cpu: Series,
    memory: Series,
}

struct EndedRun {
    run: RunId,
    levels: String,
    status: Status,
    seconds: f64,
    detail: Option<String>,
}

impl Live {
    pub(crate) fn new(results: &Path) -> Self {
        Live {
            reader: LiveReader::new(results),
            looked: None,
            runs: BTreeMap::new(),
            ended: VecDeque::new(),
            totals: None,
            set_aside: Vec::new(),
        }
    }

    pub(crate) fn look(&mut self) {
        if self
            .looked
            .is_some_and(|looked| looked.elapsed() < LOOK_EVERY)
        {
            return;
        }
        let news = self.reader.read();
        if news.is_new {
            self.runs.clear();
            self.ended.clear();
            self.set_aside.clear();
            self.totals = None;
        }
        for progress in news.progress {
            self.on(progress);
        }
        self.looked = Some(Instant::now());
    }

    /// How many runs have ended, as far as that was seen: other parts of the page change with it.
    pub(crate) fn done(&self) -> Option<usize> {
        self.totals.map(|totals| totals.count.done)
    }

    pub(crate) fn run(&self, run: RunId) -> Option<&RunNow> {
        self.runs.get(&run)
    }

    fn on(&mut self, progress: Progress) {
        match progress {
            Progress::RunBegins {
                run,
                place,
                scenario,
                count,
                projected,
            } => {
                let totals = self.totals_or(count);
                totals.count = count;
                totals.projected = projected;
                let levels = scenario_words(&scenario);
                // One that is told again goes on.
                self.runs
                    .entry(run)
                    .or_insert_with(|| RunNow::new(place, levels));
            }
            Progress::Event { run, event } => {
                if let Some(run) = self.runs.get_mut(&run) {
                    run.event(event);
                }
            }
            Progress::Sample { run, sample } => {
                if let Some(run) = self.runs.get_mut(&run) {
                    run.sample(sample);
                }
            }
            Progress::Tick {
                run,
                seconds,
                seconds_left,
                spent,
            } => {
                if let Some(run) = self.runs.get_mut(&run) {
                    run.seconds = run.seconds.max(seconds);
                }
                if let Some(totals) = &mut self.totals {
                    totals.spent = Some(spent);
                    totals.seconds_left = seconds_left;
                }
            }
            Progress::RunEnds {
                record,
                count,
                seconds_left,
                spent,
                allowed,
                projected,
            } => {
                *self.totals_or(count) = Totals {
                    count,
                    spent: Some(spent),
                    allowed,
                    projected,
                    seconds_left,
                };
                self.ends(&record);
            }
            Progress::PlaceSetAside { place, why } => {
                self.set_aside.push(format!(
                    "{place} is set aside, its runs are not made: {why}"
                ));
            }
        }
    }

    fn totals_or(&mut self, count: Count) -> &mut Totals {
        self.totals.get_or_insert(Totals {
            count,
            spent: None,
            allowed: None,
            projected: None,
            seconds_left: 0.0,
        })
    }

    fn ends(&mut self, record: &RunRecord) {
        self.runs.remove(&record.run);
        self.ended.push_front(EndedRun {
            run: record.run,
            levels: scenario_words(&record.scenario),
            status: record.outcome.status,
            seconds: record.seconds,
            detail: record.outcome.in_a_line(),
        });
        self.ended.truncate(MOST_ENDED);
    }

    /// `study` is the address of the study's page.
    pub(crate) fn html(&self, study: &str, is_running: bool) -> Html {
        let mut html = Html::new();
        if !is_running {
            return html;
        }
        let Some(totals) = self.totals else {
            html.paragraph("note", "Preparing: the first run has not begun yet.");
            return html;
        };
        totals.add_to(&mut html);
        html.list("cautions", &self.set_aside);
        self.add_runs(&mut html, study);
        self.add_ended(&mut html, study);
        html
    }

    fn add_runs(&self, html: &mut Html, study: &str) {
        if self.runs.is_empty() {
            return;
        }
        html.table(
            "Runs in progress",
            &[
                ("run", false),
                ("scenario", false),
                ("where", false),
                ("phase", false),
                ("time", true),
                ("loss", true),
                ("", false),
                ("CPU", true),
                ("memory", true),
            ],
        );
        for (run, now) in &self.runs {
            html.raw("<tr><th scope=\"row\">");
            html.link(format!("{study}/run/{run}"), run).raw("</th>");
            html.cell(&now.levels)
                .cell(&now.place)
                .cell(now.where_it_is());
            html.number(format::duration(now.seconds));
            html.number(number(now.loss)).raw("<td>");
            html.add(&now.losses.draw("loss over time", false))
                .raw("</td>");
            html.number(now.cpu_words()).number(now.memory_words());
            html.raw("</tr>\n");
        }
        html.end_table();
    }

    fn add_ended(&self, html: &mut Html, study: &str) {
        if self.ended.is_empty() {
            return;
        }
        html.table(
            "Runs that have just ended",
            &[
                ("run", false),
                ("scenario", false),
                ("ended as", false),
                ("time", true),
            ],
        );
        for ended in &self.ended {
            html.raw("<tr><th scope=\"row\">");
            html.link(format!("{study}/run/{}", ended.run), ended.run)
                .raw("</th>");
            html.cell(&ended.levels);
            match (ended.status, &ended.detail) {
                (Status::Ok, _) => html.cell("ok"),
                (status, None) => html.cell(status.word()),
                (status, Some(detail)) => html.cell(format!("{}: {detail}", status.word())),
            };
            html.number(format::duration(ended.seconds)).raw("</tr>\n");
        }
        html.end_table();
    }
}

impl Totals {
    fn add_to(&self, html: &mut Html) {
        let Count { done, total } = self.count;
        html.raw("<p class=\"progress\"><progress aria-label=\"runs that have ended\"");
        html.attribute("max", total)
            .attribute("value", done)
            .raw("></progress> <strong>");
        html.text(format!("{done} of {total} runs"))
            .raw("</strong>");
        if done < total && self.seconds_left > 0.0 {
            html.text(format!(" · {} left", format::duration(self.seconds_left)));
        }
        if let Some(spent) = self.spent.filter(|spent| !spent.amount.is_zero()) {
            html.text(format!(" · {spent} spent"));
            if let Some(allowed) = self.allowed {
                html.text(format!(" of {allowed}"));
            }
            if let Some(projected) = self.projected.filter(|_| done < total) {
                html.text(format!(", about {projected} in total"));
            }
        }
        html.raw("</p>\n");
    }
}

impl RunNow {
    fn new(place: String, levels: String) -> Self {
        RunNow {
            place,
            levels,
            phase: String::new(),
            epoch: None,
            step: None,
            loss: None,
            accuracy: None,
            seconds: 0.0,
            sample: None,
            losses: Series::default(),
            cpu: Series::default(),
            memory: Series::default(),
        }
    }

    fn event(&mut self, event: Event) {
        match event.kind {
            EventKind::Phase { phase } => self.phase = phase,
            EventKind::Step {
                step, epoch, loss, ..
            } => {
                self.step = Some(step);
                self.epoch = epoch.or(self.epoch);
                self.set_loss(loss);
            }
            EventKind::Epoch {
                epoch,
                loss,
                accuracy,
                ..
            } => {
                self.epoch = Some(epoch);
                self.accuracy = accuracy.or(self.accuracy);
                self.set_loss(loss);
            }
            EventKind::Accuracy { value } => self.accuracy = Some(value),
            _ => {}
        }
    }

    fn set_loss(&mut self, loss: Option<f64>) {
        if let Some(loss) = loss {
            self.loss = Some(loss);
            self.losses.add(loss);
        }
    }

    fn sample(&mut self, sample: Box<Sample>) {
        self.seconds = self.seconds.max(sample.seconds);
        if let Some(cpu) = sample.run.cpu_percent {
            self.cpu.add(cpu);
        }
        self.memory.add(sample.run.memory_bytes as f64);
        self.sample = Some(sample);
    }

    fn where_it_is(&self) -> String {
        let mut words = self.phase.clone();
        if let Some(epoch) = self.epoch {
            words += &format!(" · epoch {epoch}");
        }
        if let Some(step) = self.step {
            words += &format!(" · step {step}");
        }
        words.trim_start_matches(" · ").to_owned()
    }

    fn cpu_words(&self) -> String {
        let cpu = self
            .sample
            .as_ref()
            .and_then(|sample| sample.run.cpu_percent);
        cpu.map_or_else(none, |cpu| format!("{cpu:.0} %"))
    }

    fn memory_words(&self) -> String {
        let sample = self.sample.as_ref();
        sample.map_or_else(none, |sample| format::bytes(sample.run.memory_bytes as f64))
    }

    /// On a page of its own.
    pub(crate) fn html(&self) -> Html {
        let mut html = Html::new();
        html.raw("<dl class=\"numbers\">\n");
        let mut fact = |name: &'static str, value: String| {
            html.raw("<div><dt>")
                .raw(name)
                .raw("</dt><dd>")
                .text(value)
                .raw("</dd></div>\n");
        };
        fact("time so far", format::duration(self.seconds));
        fact("phase", self.where_it_is());
        fact("loss", number(self.loss));
        let accuracy = self.accuracy.map_or_else(none, format::percent);
        fact("accuracy", accuracy);
        fact("CPU (100 % is one core)", self.cpu_words());
        fact("memory", self.memory_words());
        for gpu in self.sample.iter().flat_map(|sample| &sample.gpus) {
            fact("GPU", format!("{:.0} %", gpu.used_percent));
            fact("GPU memory", format::bytes(gpu.memory_used_bytes as f64));
        }
        html.raw("</dl>\n");
        let mut figure = |title: &'static str, series: &Series| {
            let drawn = series.draw(title, true);
            if drawn != Html::new() {
                html.raw("<figure><figcaption>")
                    .raw(title)
                    .raw("</figcaption>");
                html.add(&drawn).raw("</figure>\n");
            }
        };
        figure("loss, since this page looks", &self.losses);
        figure("CPU of the run", &self.cpu);
        figure("memory of the run", &self.memory);
        html
    }
}

fn none() -> String {
    "–".to_owned()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(none, |value| format::significant(value, 3))
}
