//! Runs shares of work on threads that end with the call.

/// Runs `work` on all shares at the same time, the first one on the calling thread. Returns when
/// all have ended.
///
/// # Panics
/// If `work` panics, after all shares have ended.
pub(crate) fn on_threads<T: Send, R: Send>(
    shares: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let mut shares = shares.into_iter();
    let Some(first) = shares.next() else {
        return Vec::new();
    };
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = shares
            .map(|share| scope.spawn(move || work(share)))
            .collect();
        let mut results = vec![work(first)];
        for other in others {
            let result = other.join();
            results.push(result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}
