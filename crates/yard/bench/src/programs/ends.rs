//! The ends of a measured program: files that it names, or a pipe at one of them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

/// How a program gets its input, and hands on its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It opens the files that its command line names.
    Files,
    /// Its input comes through a pipe.
    FromPipe,
    /// Its output goes into a pipe, where it is read and thrown away.
    ToPipe,
}

/// Bytes that are asked of a pipe, or given to it, at a time.
const STEP: usize = 1 << 20;

impl Ends {
    /// Gives a command its pipe.
    pub fn set(self, command: &mut Command) {
        let piped = |is_pipe| {
            if is_pipe {
                Stdio::piped()
            } else {
                Stdio::null()
            }
        };
        command.stdin(piped(self == Ends::FromPipe));
        command.stdout(piped(self == Ends::ToPipe));
    }

    /// Fills the pipe of a started program from `input`, or empties it, on a thread that ends with
    /// the program.
    ///
    /// # Errors
    /// An input that cannot be opened.
    pub fn serve(self, child: &mut Child, input: &Path) -> io::Result<()> {
        if let Some(pipe) = child.stdin.take() {
            let file = File::open(input)?;
            thread::spawn(move || carry(file, pipe));
        }
        if let Some(pipe) = child.stdout.take() {
            thread::spawn(move || carry(pipe, io::sink()));
        }
        Ok(())
    }

    /// A command with its pipe, as one would type it.
    pub fn shown(self, command: &str, input: &str) -> String {
        match self {
            Ends::Files => command.to_owned(),
            Ends::FromPipe => format!("cat {input} | {command}"),
            Ends::ToPipe => format!("{command} | cat >/dev/null"),
        }
    }
}

/// Carries bytes until one side closes. A program that fails closes its pipe, and says why itself.
fn carry(mut from: impl Read, mut to: impl Write) {
    let mut bytes = vec![0; STEP];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}
