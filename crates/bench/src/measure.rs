//! Taking turns: every contender once a round, each round beginning with another one.

use std::time::Instant;

use kernel::Slab;

use cli::failure::CliFailure;

/// Somebody who takes part.
pub struct Subject<K> {
    /// Its name.
    pub name: String,
    /// What it runs: a command line, or a call.
    pub command: String,
    /// How to run it.
    pub what: K,
}

impl<K> Subject<K> {
    /// A subject.
    pub fn new(name: impl Into<String>, command: impl Into<String>, what: K) -> Subject<K> {
        Subject {
            name: name.into(),
            command: command.into(),
            what,
        }
    }
}

/// What was measured of one subject.
#[derive(Clone, Debug)]
pub struct Row {
    /// Whose.
    pub name: String,
    /// What it ran.
    pub command: String,
    /// Seconds of each run, in order.
    pub seconds: Vec<f64>,
    /// Somebody else's figure, from another machine: it has no ratio.
    pub published: bool,
    /// More about it.
    pub more: serde_json::Map<String, serde_json::Value>,
}

impl Row {
    /// A figure that others published.
    pub fn published(name: &str, command: &str, seconds: f64) -> Row {
        Row {
            name: name.to_owned(),
            command: command.to_owned(),
            seconds: vec![seconds],
            published: true,
            more: serde_json::Map::new(),
        }
    }

    /// The middle of its runs; of an even number, the mean of the two.
    pub fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() % 2 {
            1 => sorted[middle],
            _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
        }
    }

    /// The least of its runs.
    pub fn least(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The most of its runs.
    pub fn most(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max)
    }
}

/// Runs every subject `runs` times, in turns.
pub fn measure<K: Copy>(
    runs: u16,
    subjects: Vec<Subject<K>>,
    mut run: impl FnMut(K) -> Result<f64, CliFailure>,
) -> Result<Vec<Row>, CliFailure> {
    let mut seconds = vec![Vec::new(); subjects.len()];
    for round in 0..usize::from(runs) {
        for turn in 0..subjects.len() {
            let number = (round + turn) % subjects.len();
            seconds[number].push(run(subjects[number].what)?);
        }
    }
    let row = |(subject, seconds): (Subject<K>, Vec<f64>)| Row {
        name: subject.name,
        command: subject.command,
        seconds,
        published: false,
        more: serde_json::Map::new(),
    };
    Ok(subjects.into_iter().zip(seconds).map(row).collect())
}

/// The seconds that some work takes.
pub fn timed(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

/// Runs `work` on all shares at once, the first on the calling thread.
pub fn on_threads<T: Send>(shares: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
    let (mut shares, work) = (shares, &work);
    let first = shares.next();
    std::thread::scope(|scope| {
        for share in shares {
            scope.spawn(move || work(share));
        }
        first.map(work);
    });
}

/// Copies on so many threads: the floor of whatever moves these bytes.
pub fn copy<T: Copy + Send + Sync>(from: &[T], to: &mut [T], threads: usize) {
    let share = from.len().div_ceil(threads).max(1);
    let shares = from.chunks(share).zip(to.chunks_mut(share));
    on_threads(shares, |(from, to)| to.copy_from_slice(from));
}

/// The failure of memory that the system refuses.
fn no_memory(cause: &std::io::Error) -> CliFailure {
    let message = format!("cannot have memory to measure in: {cause}; give a smaller size");
    CliFailure::new("no_memory", message)
}

/// Memory on huge pages that has been written to: what is measured later is not the system's
/// zeroing.
pub fn touch<T: Copy + Default>(slab: std::io::Result<Slab<T>>) -> Result<Slab<T>, CliFailure> {
    let mut slab = slab.map_err(|cause| no_memory(&cause))?;
    slab.fill(T::default());
    Ok(slab)
}

/// A result that is not what it should be.
pub fn wrong(name: &str) -> CliFailure {
    let message = format!("{name} did not sort: please report it and test this machine's memory");
    CliFailure::new("bug", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_begins_a_round_and_runs_as_often() {
        let mut order = Vec::new();
        let subjects = (0..3).map(|what| Subject::new("a", "b", what)).collect();
        let rows = measure(3, subjects, |what| {
            order.push(what);
            Ok(f64::from(what))
        });
        assert_eq!(order, [0, 1, 2, 1, 2, 0, 2, 0, 1]);
        let rows = rows.unwrap();
        assert_eq!(rows[2].seconds, [2.0; 3]);
    }

    #[test]
    fn the_median_is_the_middle() {
        let mut row = Row::published("a", "b", 3.0);
        row.seconds.extend([1.0, 9.0]);
        assert_eq!((row.median(), row.least(), row.most()), (3.0, 1.0, 9.0));
        row.seconds.push(5.0);
        assert_eq!(row.median(), 4.0);
    }
}
