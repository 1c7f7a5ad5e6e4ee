//! Memory to measure in: touched before the clock runs, copied and worked on by several threads.

use std::time::Instant;

use kernel::Slab;
use terminal::ending::failure::CliFailure;

/// The seconds that some work takes.
pub fn timed(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

/// Runs `work` on all shares at once, the first on the calling thread.
pub fn on_threads<T: Send>(mut shares: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
    let work = &work;
    let first = shares.next();
    std::thread::scope(|scope| {
        for share in shares {
            scope.spawn(move || work(share));
        }
        first.map(work);
    });
}

/// Copies on some threads, and gives the seconds: the floor of all work that moves these bytes.
pub fn copy<T: Copy + Send + Sync>(from: &[T], to: &mut [T], threads: usize) -> f64 {
    let share = from.len().div_ceil(threads).max(1);
    let shares = from.chunks(share).zip(to.chunks_mut(share));
    timed(|| on_threads(shares, |(from, to)| to.copy_from_slice(from)))
}

/// Memory on huge pages that has been written to, so that no measurement includes the system's
/// zeroing.
///
/// # Errors
/// Memory that the system refuses.
pub fn touch<T: Copy + Default>(slab: std::io::Result<Slab<T>>) -> Result<Slab<T>, CliFailure> {
    let mut slab = slab.map_err(|cause| {
        let message = format!("cannot have memory to measure in: {cause}; give a smaller size");
        CliFailure::new("no_memory", message)
    })?;
    slab.fill(T::default());
    Ok(slab)
}

/// The time of a sort whose result was checked.
///
/// # Errors
/// A result that is not in order.
pub fn checked(seconds: f64, is_sorted: bool, name: &str) -> Result<f64, CliFailure> {
    if is_sorted {
        return Ok(seconds);
    }
    let message = format!("{name} did not sort: please report it and test this machine's memory");
    Err(CliFailure::new("bug", message))
}
