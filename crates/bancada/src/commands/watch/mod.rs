//! Any script, watched: its output passes through, its progress becomes time and cost.

mod events;
mod forecast;
mod screen;
mod streams;
mod view;

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use host::terminal::stop_here;
use predict::progress::{Given, OwnPatterns};

use self::events::Events;
use self::forecast::{Forecast, Forecaster};
use self::screen::Screen;
use self::streams::Streams;
use self::view::View;
use crate::args::WatchArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::signals;

/// Between two looks at what is known; a new count is shown after so long at most.
const LOOKED_EVERY: Duration = Duration::from_millis(100);
/// Between two drawings of the status line where nothing was counted.
const DRAWN_EVERY: Duration = Duration::from_secs(1);
/// Between two lines where there is no terminal.
const PRINTED_EVERY: Duration = Duration::from_secs(30);
/// Between two JSON lines.
const JSON_EVERY: Duration = Duration::from_secs(1);
/// A script that is asked to end has so long before it is asked harder.
const GRACE: Duration = Duration::from_secs(10);
/// SIGINT first: Python ends with its own clean-up.
const ENDINGS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGKILL];
/// After the end of the script its last output is waited for so long at most.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub(super) fn watch(args: &WatchArgs, printer: &Printer) -> CommandResult {
    let price = match &args.price {
        Some(text) => Some(workbench::price_as_typed(text, &printer.teller())?),
        None => None,
    };
    let patterns = args.progress_pattern.iter().map(String::as_str);
    let own = OwnPatterns::new(patterns).map_err(Failure::wrong_arguments)?;
    let events = Events::follow()
        .map_err(|error| Failure::trouble(format!("cannot make a file for events: {error}")))?;
    let shows_line = !args.json && !args.lines && printer.talk_is_terminal;
    let begun = Instant::now();
    let started = Streams::start(&args.command, events.path(), args.json, shows_line);
    let streams = started.map_err(|error| not_started(&args.command[0], &error))?;
    signals::collect();
    let given = Given {
        epochs: args.epochs,
        steps: args.steps,
    };
    let screen = streams
        .terminal()
        .filter(|_| shows_line)
        .and_then(Screen::reserve);
    if let Some(screen) = &screen {
        streams.resize(screen.inner());
    }
    let watch = Watch {
        forecaster: Forecaster::new(given, own, price),
        view: View::new(args.json, *printer),
        stop_at: args.stop_when_known.then_some(args.precision),
        begun,
        looked: Instant::now(),
        shown: None,
        events,
        screen,
        streams,
        stopping: None,
    };
    watch.finish()
}

struct Watch {
    forecaster: Forecaster,
    view: View,
    /// The precision at which the script is ended.
    stop_at: Option<f64>,
    begun: Instant,
    /// When what is known was looked at last.
    looked: Instant,
    /// When the status was shown last.
    shown: Option<Instant>,
    screen: Option<Screen>,
    streams: Streams,
    events: Events,
    stopping: Option<Stopping>,
}

/// The script is being ended because enough is known.
struct Stopping {
    known: Forecast,
    /// How many of [`ENDINGS`] were sent, and when the last one was.
    sent: usize,
    at: Instant,
}

impl Watch {
    fn finish(mut self) -> CommandResult {
        let ended = loop {
            self.pass_on(LOOKED_EVERY.saturating_sub(self.looked.elapsed()));
            self.take_signals();
            if self.looked.elapsed() >= LOOKED_EVERY {
                self.looked = Instant::now();
                self.look();
            }
            if let Some(ended) = self.streams.try_wait().map_err(Failure::trouble)? {
                break ended;
            }
        };
        let seconds = self.seconds();
        let deadline = Instant::now() + LAST_WORDS;
        while Instant::now() < deadline && self.pass_on(Duration::from_millis(20)) {}
        self.streams.give_back();
        // Before anything else is printed.
        drop(self.screen.take());
        self.read_events(seconds);
        let last = self.forecaster.forecast(seconds);
        self.streams.end_line();
        let known = self.stopping.map(|stopping| stopping.known);
        self.view.summary(seconds, ended, known.as_ref(), &last);
        Ok(match known {
            Some(_) => Exit::Ok,
            None => Exit::Script(exit_code(ended)),
        })
    }

    fn look(&mut self) {
        let now = self.seconds();
        self.read_events(now);
        if self.stopping.is_none() && self.is_known(now) {
            self.stop(now);
        }
        self.press_on();
        self.show(now);
    }

    fn read_events(&mut self, now: f64) {
        let forecaster = &mut self.forecaster;
        self.events.read(now, |event, seconds| {
            forecaster.emitted(&event.kind, seconds);
        });
    }

    /// Whether there is more to come.
    fn pass_on(&mut self, timeout: Duration) -> bool {
        let (forecaster, begun) = (&mut self.forecaster, self.begun);
        let screen = &mut self.screen;
        self.streams.pass_on(timeout, |source, bytes| {
            forecaster.read(source, bytes, begun.elapsed().as_secs_f64());
            if let Some(screen) = screen {
                screen.passed(source, bytes);
            }
        })
    }

    fn take_signals(&mut self) {
        for signal in signals::collected() {
            match signal {
                libc::SIGWINCH => {
                    if let Some(screen) = &mut self.screen {
                        screen.resized();
                        self.streams.resize(screen.inner());
                    } else {
                        self.streams.resize(None);
                    }
                }
                signal => self.streams.send(signal),
            }
        }
        if self.streams.has_stopped() {
            self.streams.leave_terminal();
            self.screen.iter_mut().for_each(Screen::release);
            stop_here();
            self.streams.enter_terminal();
            if let Some(screen) = &mut self.screen {
                screen.resized();
            }
            self.streams.send(libc::SIGCONT);
        }
    }

    fn is_known(&self, now: f64) -> bool {
        let Some(precision) = self.stop_at.filter(|_| self.forecaster.has_news()) else {
            return false;
        };
        self.forecaster.forecast(now).is_known_to(precision)
    }

    fn stop(&mut self, now: f64) {
        self.stopping = Some(Stopping {
            known: self.forecaster.forecast(now),
            sent: 0,
            at: Instant::now(),
        });
    }

    fn press_on(&mut self) {
        if let Some(stopping) = &mut self.stopping
            && (stopping.sent == 0 || stopping.at.elapsed() >= GRACE)
            && let Some(signal) = ENDINGS.get(stopping.sent)
        {
            self.streams.send(*signal);
            stopping.sent += 1;
            stopping.at = Instant::now();
        }
    }

    fn show(&mut self, now: f64) {
        let every = match (&self.screen, self.view.is_json()) {
            (_, true) => JSON_EVERY,
            (Some(_), _) if self.forecaster.has_news() => LOOKED_EVERY,
            (Some(_), _) => DRAWN_EVERY,
            (None, _) => PRINTED_EVERY,
        };
        if self.shown.is_some_and(|shown| shown.elapsed() < every) {
            return;
        }
        let forecast = self.forecaster.forecast(now);
        let is_shown = match &mut self.screen {
            Some(screen) => screen.draw(&self.view.line(&forecast, screen.room())),
            None if self.view.has_to_print(&forecast) => {
                self.streams.end_line();
                self.view.print(&forecast);
                true
            }
            None => false,
        };
        if is_shown {
            self.forecaster.shown();
            self.shown = Some(Instant::now());
        }
    }

    fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }
}

/// With the exit codes of a shell.
fn not_started(program: &str, error: &std::io::Error) -> Failure {
    let exit = match error.kind() {
        std::io::ErrorKind::NotFound => Exit::Script(127),
        std::io::ErrorKind::PermissionDenied => Exit::Script(126),
        _ => Exit::Trouble,
    };
    Failure::new(exit, format!("cannot start {program}: {error}"))
}

/// As a shell says it.
fn exit_code(ended: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let code = ended
        .code()
        .or_else(|| ended.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
