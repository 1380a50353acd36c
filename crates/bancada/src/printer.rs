//! Data on stdout, talk on stderr, colour only where a person sees it.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static DATA_LOST: AtomicBool = AtomicBool::new(false);

/// Whether something asked for on stdout could not be written there.
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

    /// A closed pipe (`| head`) is no reason to complain; a full disk is.
    pub(crate) fn data(&self, text: &str) {
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

    pub(crate) fn talk(&self, text: &str) {
        _ = writeln!(std::io::stderr(), "{text}");
    }

    pub(crate) fn complain(&self, message: &str) {
        let head = if self.talk_coloured {
            "\x1b[1;31merror\x1b[0m:"
        } else {
            "error:"
        };
        match message.strip_prefix("error:") {
            Some(rest) => self.talk(&format!("{head}{rest}")),
            None => self.talk(message),
        }
    }

    pub(crate) fn style(&self) -> source::Style {
        if self.talk_coloured {
            source::Style::Coloured
        } else {
            source::Style::Plain
        }
    }

    /// Columns of the terminal that shows the data; 100 where nobody looks.
    pub(crate) fn data_width(&self) -> usize {
        terminal_width(libc::STDOUT_FILENO).unwrap_or(100)
    }
}

fn terminal_width(descriptor: libc::c_int) -> Option<usize> {
    // SAFETY: `winsize` is plain numbers, so all zeros is a value of it.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: TIOCGWINSZ writes one `winsize` to the address given.
    let answered = unsafe { libc::ioctl(descriptor, libc::TIOCGWINSZ, &mut size) } == 0;
    (answered && size.ws_col > 0).then_some(usize::from(size.ws_col))
}
