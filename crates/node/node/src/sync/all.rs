//! Several waits of one task at the same time.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Waits for all futures; their results are in their order. Each wakes the task, which then looks at all that
/// are left: meant for a few.
pub async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<Wait<F>> = futures.into_iter().map(Wait::new).collect();
    poll_fn(|context| {
        let mut is_ready = true;
        for wait in waiting.iter_mut().filter(|wait| wait.result.is_none()) {
            match wait.future.as_mut().poll(context) {
                Poll::Ready(result) => wait.result = Some(result),
                Poll::Pending => is_ready = false,
            }
        }
        if is_ready {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    let results = waiting.into_iter().filter_map(|wait| wait.result);
    results.collect()
}

struct Wait<F: Future> {
    future: Pin<Box<F>>,
    result: Option<F::Output>,
}

impl<F: Future> Wait<F> {
    fn new(future: F) -> Wait<F> {
        Wait {
            future: Box::pin(future),
            result: None,
        }
    }
}
