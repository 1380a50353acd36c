//! The last line of a terminal, kept for the status: the script draws in the lines above.

use std::fs::File;
use std::io::Write as _;

use host::terminal::Window;

use super::streams::Source;

/// A smaller terminal is left to the script.
const FEWEST_ROWS: u16 = 6;
/// A program that takes the whole screen (an editor, a debugger) gets it.
const WHOLE_SCREEN: &[u8] = b"\x1b[?1049h";

pub(super) struct Screen {
    terminal: File,
    window: Window,
    /// The script's last bytes may be a part of a sequence or a character.
    is_inside: bool,
    is_given_up: bool,
}

impl Screen {
    pub(super) fn reserve(terminal: File) -> Option<Screen> {
        let window = Window::of(&terminal).filter(|window| window.rows >= FEWEST_ROWS)?;
        let mut screen = Screen {
            terminal,
            window,
            is_inside: false,
            is_given_up: false,
        };
        screen.set_region();
        Some(screen)
    }

    /// What is the script's of a terminal whose last line is reserved.
    pub(super) fn inside(window: Window) -> Window {
        match window.rows >= FEWEST_ROWS {
            true => Window {
                rows: window.rows - 1,
                ..window
            },
            false => window,
        }
    }

    /// What is the script's of the terminal.
    pub(super) fn inner(&self) -> Option<Window> {
        let rows = self.window.rows - u16::from(!self.is_given_up);
        Some(Window {
            rows,
            columns: self.window.columns,
        })
    }

    /// Scrolls in the rows above the last one only. The cursor goes to the first row when this is
    /// set, so it is kept; in the last row it would be outside.
    fn set_region(&mut self) {
        let rows = self.window.rows - 1;
        self.write(&format!("\r\n\x1b[1A\x1b7\x1b[1;{rows}r\x1b8"));
    }

    pub(super) fn resized(&mut self) {
        if let Some(window) = Window::of(&self.terminal).filter(|window| window.rows >= FEWEST_ROWS)
        {
            self.window = window;
            if !self.is_given_up {
                self.set_region();
            }
        }
    }

    pub(super) fn passed(&mut self, source: Source, bytes: &[u8]) {
        if source != Source::Terminal {
            return;
        }
        self.is_inside = ends_inside(bytes);
        if !self.is_given_up
            && bytes
                .windows(WHOLE_SCREEN.len())
                .any(|part| part == WHOLE_SCREEN)
        {
            self.release();
            self.is_given_up = true;
        }
    }

    /// Characters of the status line.
    pub(super) fn room(&self) -> usize {
        usize::from(self.window.columns).saturating_sub(1)
    }

    /// False if it has to wait.
    pub(super) fn draw(&mut self, line: &str) -> bool {
        if self.is_inside {
            return false;
        }
        if !self.is_given_up {
            let line: String = line.chars().take(self.room()).collect();
            let row = self.window.rows;
            self.write(&format!(
                "\x1b7\x1b[{row};1H\x1b[2K\x1b[2m{line}\x1b[0m\x1b8"
            ));
        }
        true
    }

    /// All of the terminal is the script's again.
    pub(super) fn release(&mut self) {
        if !self.is_given_up {
            let row = self.window.rows;
            self.write(&format!("\x1b7\x1b[r\x1b[{row};1H\x1b[2K\x1b8"));
        }
    }

    fn write(&mut self, text: &str) {
        _ = self.terminal.write_all(text.as_bytes());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.release();
    }
}

/// Whether bytes end in the middle of an escape sequence or of a character.
fn ends_inside(bytes: &[u8]) -> bool {
    const LONGEST: usize = 64;
    let tail = &bytes[bytes.len().saturating_sub(LONGEST)..];
    if let Some(escape) = tail.iter().rposition(|byte| *byte == 0x1b) {
        let mut after = tail[escape + 1..].iter();
        let is_over = match after.next() {
            Some(b'[') => after.any(|byte| (0x40..=0x7e).contains(byte)),
            Some(b']') => after.any(|byte| *byte == 0x07),
            Some(_) => true,
            None => false,
        };
        if !is_over {
            return true;
        }
    }
    // The last character's first byte says how many there are.
    let last = tail
        .iter()
        .rev()
        .take(4)
        .position(|byte| byte & 0xc0 != 0x80);
    last.is_some_and(|following| {
        let first = tail[tail.len() - 1 - following];
        following < first.leading_ones().saturating_sub(1) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_drawn_inside_a_sequence_or_a_character() {
        let check =
            |bytes: &[u8], inside: bool| assert_eq!(ends_inside(bytes), inside, "{bytes:?}");
        check(b"", false);
        check(b"text", false);
        check(b"\x1b", true);
        check(b"\x1b[3", true);
        check(b"\x1b[31m", false);
        check(b"\x1b[31mtext", false);
        check(b"\x1b]0;title", true);
        check(b"\x1b]0;title\x07", false);
        check("█".as_bytes(), false);
        check(&"█".as_bytes()[..2], true);
        check(&"█".as_bytes()[..1], true);
        check("é".as_bytes(), false);
        check(&"é".as_bytes()[..1], true);
    }
}
