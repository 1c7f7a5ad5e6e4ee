//! Caveats about a run, for people.

use std::path::Path;

use lab::{DRIVER, Job, Place, RANKS, THREADS, is_built_in};

/// The file of the machine, if it was named by a file.
pub(super) fn machine_file(name: &str) -> Option<&str> {
    (![THREADS, RANKS, DRIVER].contains(&name) && !is_built_in(name)).then_some(name)
}

/// A machine for people: its name and its file.
pub(super) fn machine(job: &Job, asked: &str) -> String {
    let name = job.place().name();
    machine_file(asked).map_or(name.to_owned(), |file| format!("{name} ({file})"))
}

/// All notes in one line.
pub(super) fn all(job: &Job, asked: &str, known: Option<String>) -> Option<String> {
    let mut notes: Vec<String> = known.into_iter().collect();
    notes.extend(real(job.place()));
    notes.extend(hidden_file(asked));
    notes.extend(rounded(job.place()));
    notes.extend(job.parameters().note());
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn real(place: &Place) -> Option<String> {
    let core = match place {
        Place::Threads => "a thread of this computer",
        Place::Ranks(_) => "a process with a clock of its own",
        Place::Machine(..) | Place::Driver => return None,
    };
    Some(format!(
        "each core is {core}: times are real, not simulated, and there are no stages and no counts of \
         messages or events"
    ))
}

/// A file here with the name of a built-in machine, which may have been meant.
fn hidden_file(asked: &str) -> Option<String> {
    (machine_file(asked).is_none() && Path::new(asked).is_file()).then(|| {
        format!("{asked} is the machine of that name; for the file here write --machine ./{asked}")
    })
}

fn rounded(place: &Place) -> Option<String> {
    let rounded: Vec<_> = place.rounded().into_iter().collect();
    let used = rounded
        .iter()
        .map(|(name, asked, used)| format!("--{name} {asked} as {used}"));
    let used = used.collect::<Vec<_>>().join(", ");
    (!used.is_empty()).then(|| format!("latencies are whole ticks of the machine: {used}"))
}
