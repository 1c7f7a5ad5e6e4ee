//! The terminal on which people follow a run: standard error, or, of a job's rank, the one of the
//! launcher, to which our standard error is carried.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressDrawTarget, TermLike};

use crate::launcher;

/// How often it is drawn at most, in a second.
const RATE_HZ: u8 = 10;

/// Columns and rows of a terminal that does not say.
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;

/// Where to draw.
#[derive(Debug)]
pub enum Terminal {
    /// Standard error.
    Own,
    /// Standard error, too, at whose other end a launcher has this one.
    Launcher(File),
}

impl Terminal {
    /// The one that people look at, if there is any.
    pub fn find(is_launched: bool) -> Option<Terminal> {
        match io::stderr().is_terminal() {
            true => Some(Terminal::Own),
            false => is_launched
                .then(launcher::terminal)
                .flatten()
                .map(Terminal::Launcher),
        }
    }

    /// Its width.
    pub fn columns(&self) -> Option<u16> {
        let size = match self {
            Terminal::Own => rustix::termios::tcgetwinsize(io::stderr()),
            Terminal::Launcher(file) => rustix::termios::tcgetwinsize(file),
        };
        size.ok()
            .map(|size| size.ws_col)
            .filter(|&columns| columns > 0)
    }

    /// The target that a bar is drawn on.
    pub fn target(self) -> ProgressDrawTarget {
        match self {
            Terminal::Own => ProgressDrawTarget::stderr(),
            carried => {
                let carried = Carried {
                    terminal: carried,
                    drawn: Mutex::default(),
                };
                ProgressDrawTarget::term_like_with_hz(Box::new(carried), RATE_HZ)
            }
        }
    }
}

/// A terminal behind a launcher: what is drawn goes there at once, or the launcher's own lines
/// might come between.
#[derive(Debug)]
struct Carried {
    terminal: Terminal,
    drawn: Mutex<String>,
}

impl Carried {
    fn add(&self, text: &str) -> io::Result<()> {
        *self.drawn.lock().unwrap_or_else(PoisonError::into_inner) += text;
        Ok(())
    }

    /// Moves the cursor; by nothing would be by one (ECMA-48).
    fn go(&self, by: usize, direction: char) -> io::Result<()> {
        if by > 0 {
            self.add(&format!("\x1b[{by}{direction}"))
        } else {
            Ok(())
        }
    }
}

impl TermLike for Carried {
    fn width(&self) -> u16 {
        self.terminal.columns().unwrap_or(COLUMNS)
    }

    fn height(&self) -> u16 {
        ROWS
    }

    fn move_cursor_up(&self, by: usize) -> io::Result<()> {
        self.go(by, 'A')
    }

    fn move_cursor_down(&self, by: usize) -> io::Result<()> {
        self.go(by, 'B')
    }

    fn move_cursor_right(&self, by: usize) -> io::Result<()> {
        self.go(by, 'C')
    }

    fn move_cursor_left(&self, by: usize) -> io::Result<()> {
        self.go(by, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(text)?;
        self.add("\r\n")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.add(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.add("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let drawn = std::mem::take(&mut *self.drawn.lock().unwrap_or_else(PoisonError::into_inner));
        let mut stderr = io::stderr().lock();
        stderr.write_all(drawn.as_bytes())?;
        stderr.flush()
    }
}
