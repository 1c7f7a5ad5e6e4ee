//! The terminal on which people follow a run: that of standard error or, for a rank of a job, that
//! of the launcher, which forwards standard error.

use std::fs::File;
use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressDrawTarget, TermLike};

use crate::launcher;
use node::Mutex;

/// The most updates per second.
const RATE_HZ: u8 = 10;

/// The size of a terminal that does not report it.
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;

/// A terminal to draw on.
#[derive(Debug)]
pub enum Terminal {
    /// The terminal of standard error.
    Own,
    /// The terminal of a launcher, to which standard error leads.
    Launcher(File),
}

impl Terminal {
    /// Finds the terminal, if any; `is_launched` says whether a launcher may have it.
    pub fn find(is_launched: bool) -> Option<Terminal> {
        if io::stderr().is_terminal() {
            Some(Terminal::Own)
        } else {
            is_launched
                .then(launcher::terminal)
                .flatten()
                .map(Terminal::Launcher)
        }
    }

    /// The width in columns, if known.
    pub fn columns(&self) -> Option<u16> {
        let size = match self {
            Terminal::Own => rustix::termios::tcgetwinsize(io::stderr()),
            Terminal::Launcher(file) => rustix::termios::tcgetwinsize(file),
        };
        size.ok()
            .map(|size| size.ws_col)
            .filter(|&columns| columns > 0)
    }

    /// The target for a progress bar.
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

/// A terminal behind a launcher. Each update is one write, so that lines of the launcher cannot
/// come between.
#[derive(Debug)]
struct Carried {
    terminal: Terminal,
    drawn: Mutex<String>,
}

impl Carried {
    fn add(&self, text: &str) -> io::Result<()> {
        *self.drawn.lock() += text;
        Ok(())
    }

    /// Moves the cursor; 0 would mean 1 (ECMA-48).
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
        let drawn = std::mem::take(&mut *self.drawn.lock());
        let mut stderr = io::stderr().lock();
        stderr.write_all(drawn.as_bytes())?;
        stderr.flush()
    }
}
