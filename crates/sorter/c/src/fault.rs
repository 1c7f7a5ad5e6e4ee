//! Results of calls: a status, and a text for people.

use std::any::Any;

use gristmill::Error;

/// The result of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// There are no more records.
    End = 1,
    /// A format, a key or another option has a mistake.
    Options = 2,
    /// The limit on memory is too low, or a record is longer than it allows.
    Memory = 3,
    /// An input file is wrong: it ends within a record, is out of order, or changed meanwhile.
    Input = 4,
    /// A record that was pushed is none of the format. It was left out; the sort goes on.
    Record = 5,
    /// A file could not be opened, read or written.
    File = 6,
    /// `gristmill_stop` was called.
    Stopped = 7,
    /// This process is a fork of the one that began the sort, which goes on there.
    Forked = 8,
    /// Records were lost or changed, on a disk or in memory. The check of the output found it.
    Damaged = 9,
    /// The key function returned another value than 0. The record was left out; a sort of pushed
    /// records goes on.
    Key = 10,
    /// An argument is NULL that must not be, or out of its range.
    Argument = 11,
    /// The call is not allowed now: an option of a sort that has begun, a record after the end.
    Order = 12,
    /// Another thread, or the key function that runs now, uses this sorter.
    Busy = 13,
    /// Another failure of the system.
    Other = 14,
    /// A mistake in Gristmill itself. Please report it.
    Bug = 15,
}

impl Status {
    /// All of them, by number.
    const ALL: [(Status, &str); 16] = [
        (Status::Ok, "done\0"),
        (Status::End, "there are no more records\0"),
        (Status::Options, "an option has a mistake\0"),
        (Status::Memory, "the limit on memory is too low\0"),
        (Status::Input, "an input file is wrong\0"),
        (Status::Record, "a record is none of the format\0"),
        (Status::File, "a file could not be read or written\0"),
        (Status::Stopped, "the sort was stopped\0"),
        (Status::Forked, "the sort belongs to the parent process\0"),
        (Status::Damaged, "records were lost or changed\0"),
        (Status::Key, "the key function failed\0"),
        (
            Status::Argument,
            "an argument is NULL or out of its range\0",
        ),
        (Status::Order, "the call is not allowed now\0"),
        (Status::Busy, "another call uses this sorter\0"),
        (Status::Other, "the system failed\0"),
        (Status::Bug, "a mistake in Gristmill; please report it\0"),
    ];

    /// The text of a status, with a 0 at its end.
    pub fn text(number: i32) -> &'static str {
        let known = usize::try_from(number)
            .ok()
            .and_then(|at| Status::ALL.get(at));
        known.map_or("no status of Gristmill\0", |(_, text)| text)
    }
}

/// A call that has failed.
#[derive(Clone, Debug)]
pub struct Fault {
    pub status: Status,
    pub text: String,
}

impl Fault {
    pub fn new(status: Status, text: impl Into<String>) -> Fault {
        let text = text.into();
        Fault { status, text }
    }

    pub fn argument(text: &str) -> Fault {
        Fault::new(Status::Argument, text)
    }

    /// The fault that a panic stands for.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Fault {
        if let Some(failed) = panic.downcast_ref::<KeyFailed>() {
            let text = format!("the key function returned {}", failed.0);
            return Fault::new(Status::Key, text);
        }
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Fault::new(Status::Bug, text.unwrap_or_default())
    }
}

/// A key function of C has failed. It unwinds from the function through the library to the border,
/// as a panic of a key function of Rust does, without its message.
pub struct KeyFailed(pub i32);

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        let status = match &error {
            Error::Options(_) => Status::Options,
            Error::Memory(_) => Status::Memory,
            Error::Input { .. } => Status::Input,
            Error::Record { .. } => Status::Record,
            Error::File { .. } => Status::File,
            Error::Stopped => Status::Stopped,
            Error::Forked => Status::Forked,
            Error::Damaged(_) => Status::Damaged,
            Error::Bug(_) => Status::Bug,
            _ => Status::Other,
        };
        Fault::new(status, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_its_text() {
        for (number, (status, text)) in Status::ALL.into_iter().enumerate() {
            assert_eq!(status as usize, number);
            assert_eq!(Status::text(number as i32), text);
        }
        assert_eq!(Status::text(-1), Status::text(16));
    }

    #[test]
    fn panics_have_their_words() {
        let of = |panic: Box<dyn Any + Send>| Fault::of_panic(&*panic);
        assert_eq!(of(Box::new("a bug")).text, "a bug");
        assert_eq!(of(Box::new("a bug".to_owned())).status, Status::Bug);
        assert_eq!(
            of(Box::new(KeyFailed(3))).text,
            "the key function returned 3"
        );
    }
}
