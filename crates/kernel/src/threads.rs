//! Shares of a piece of work on several threads, gone when the call returns.

/// Runs `work` on every share at once, the first on the calling thread, and returns when all ended.
///
/// # Panics
/// If `work` does, after all have ended.
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
        results.extend(others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }));
        results
    })
}
