//! Data on stdout, messages on stderr, colour only on a terminal.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use diagnostics::screen;
use host::terminal::Window;

static DATA_LOST: AtomicBool = AtomicBool::new(false);

/// Whether something requested on stdout could not be written there.
pub(crate) fn data_was_lost() -> bool {
    DATA_LOST.load(Ordering::Relaxed)
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    pub(crate) talk_coloured: bool,
    pub(crate) data_coloured: bool,
    pub(crate) talk_is_terminal: bool,
}

impl Printer {
    pub(crate) fn from_environment() -> Self {
        // https://no-color.org: set and not empty means no colour.
        let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || dumb;
        let (talk, data) = (
            std::io::stderr().is_terminal(),
            std::io::stdout().is_terminal(),
        );
        Printer {
            talk_coloured: talk && !no_colour,
            data_coloured: data && !no_colour,
            talk_is_terminal: talk && !dumb,
        }
    }

    /// Text of any origin: what a terminal would obey or hide is made visible.
    pub(crate) fn data(&self, text: &str) {
        self.data_as_is(&shown(text));
    }

    /// Text whose parts were made safe before they were coloured. Passwords are hidden here: a
    /// workload may have logged them.
    ///
    /// A closed pipe (`| head`) is no reason to complain; a full disk is.
    pub(crate) fn data_as_is(&self, text: &str) {
        let text: &str = &screen::redacted(text);
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let mut out = std::io::stdout().lock();
        let written = out
            .write_all(text.as_bytes())
            .and_then(|()| out.write_all(end.as_bytes()))
            .and_then(|()| out.flush());
        if let Err(error) = written
            && error.kind() != ErrorKind::BrokenPipe
            && !DATA_LOST.swap(true, Ordering::Relaxed)
        {
            self.complain(&format!("error: cannot write to stdout: {error}"));
        }
    }

    /// As [`Printer::data`], for a person.
    pub(crate) fn talk(&self, text: &str) {
        self.talk_as_is(&shown(text));
    }

    /// For libraries, which do not print.
    pub(crate) fn teller(self) -> impl Fn(&str) {
        move |text| self.talk(text)
    }

    fn talk_as_is(&self, text: &str) {
        _ = writeln!(std::io::stderr(), "{text}");
    }

    /// Messages are made safe where they are made, before their places are coloured. Passwords are
    /// hidden here, whoever made the message.
    pub(crate) fn complain(&self, message: &str) {
        let message: &str = &screen::redacted(message);
        let head = if self.talk_coloured {
            "\x1b[1;31merror\x1b[0m:"
        } else {
            "error:"
        };
        match message.strip_prefix("error:") {
            Some(rest) => self.talk_as_is(&format!("{head}{rest}")),
            None => self.talk_as_is(message),
        }
    }

    pub(crate) fn style(&self) -> diagnostics::Style {
        if self.talk_coloured {
            diagnostics::Style::Coloured
        } else {
            diagnostics::Style::Plain
        }
    }

    /// Columns of the terminal that shows the data; `None` if it goes to a file or a pipe.
    pub(crate) fn data_width(&self) -> Option<usize> {
        Window::of(std::io::stdout()).map(|window| usize::from(window.columns))
    }
}

/// Safe to show, and without passwords of web addresses.
pub(crate) fn shown(text: &str) -> String {
    screen::escaped(&screen::redacted(text)).into_owned()
}
