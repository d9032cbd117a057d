//! Runs a future or a closure, and turns its panic into a value.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::FutureExt as _;
use pin_project_lite::pin_project;
use tokio::task::JoinHandle;

use crate::{planted, table};

/// A task panicked. The panic is logged and counted already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task {task} panicked: {message}")]
pub struct Panicked {
    /// The name of the task.
    pub task: &'static str,
    /// The text of the panic.
    pub message: String,
}

/// Runs a task once, in the background. Dropping the handle leaves the task running; a panic is
/// logged and counted all the same.
#[expect(clippy::disallowed_methods, reason = "this is the means that others spawn with")]
pub fn spawn<F>(task: &'static str, future: F) -> JoinHandle<Result<F::Output, Panicked>>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(caught(task, future))
}

/// Runs a closure on a thread for blocking work. If the caller stops waiting, the closure still
/// runs to its end, and a panic of it is logged and counted.
///
/// # Errors
/// When the closure panics, or the runtime ends before the closure begins.
#[expect(clippy::disallowed_methods, reason = "this is the means that others spawn with")]
pub async fn blocking<T, F>(task: &'static str, work: F) -> Result<T, Panicked>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let work = move || {
        let work = || {
            planted::strike(task);
            work()
        };
        catch_unwind(AssertUnwindSafe(work)).map_err(|panic| seen(task, &*panic))
    };
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(Panicked { task, message: error.to_string() }))
}

/// A future that never panics: the panic of the inner future is its error. The inner future is
/// dropped before the result is ready.
///
/// # Errors
/// When the inner future panics.
pub fn caught<F: Future>(
    task: &'static str,
    future: F,
) -> impl Future<Output = Result<F::Output, Panicked>> {
    let strikable = Strikable { task, future };
    AssertUnwindSafe(strikable)
        .catch_unwind()
        .map(move |end| end.map_err(|panic| seen(task, &*panic)))
}

thread_local! {
    /// The task that was polled last on this thread.
    static LAST: Cell<&'static str> = const { Cell::new("") };
}

pin_project! {
    /// A future at which a test can plant a panic.
    struct Strikable<F> {
        task: &'static str,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Strikable<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        LAST.set("");
        let polled = this.future.poll(cx);
        // Of two tasks with the same name the inner one panics: a supervised task may be spawned under
        // its own name.
        if LAST.replace(this.task) != *this.task {
            planted::strike(this.task);
        }
        polled
    }
}

/// Logs and counts a panic.
fn seen(task: &'static str, panic: &(dyn Any + Send)) -> Panicked {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let message = text.unwrap_or_else(|| "no text".to_owned());
    tracing::error!(task, panic = message, "a task panicked");
    table::panicked(task);
    Panicked { task, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panics(task: &str) -> u64 {
        crate::figures().iter().find(|figure| figure.task == task).map_or(0, |figure| figure.panics)
    }

    #[tokio::test]
    async fn a_panic_is_the_handles_result_and_is_counted() {
        let end = spawn("caught: bad", async { panic!("bug {}", 7) });
        let end: Result<(), Panicked> = end.await.unwrap();
        assert_eq!(end.unwrap_err().to_string(), "the task caught: bad panicked: bug 7");
        assert_eq!(panics("caught: bad"), 1);
        assert_eq!(spawn("caught: good", async { 3 }).await.unwrap(), Ok(3));
        assert_eq!(panics("caught: good"), 0);
    }

    #[tokio::test]
    async fn a_blocking_closure_that_panics_says_so() {
        let end = blocking("caught: blocking", || -> u8 { panic!("bug") }).await;
        assert_eq!(end.unwrap_err().message, "bug");
        assert_eq!(panics("caught: blocking"), 1);
        assert_eq!(blocking("caught: blocking", || 5).await, Ok(5));
    }

    #[tokio::test]
    async fn what_the_future_owned_is_gone_when_its_panic_is_known() {
        let (held, mut watched) = tokio::sync::mpsc::channel::<()>(1);
        let end = caught("caught: owner", async move {
            let _held = held;
            tokio::task::yield_now().await;
            panic!("bug");
        });
        let end: Result<(), _> = end.await;
        assert!(end.is_err());
        assert_eq!(watched.recv().await, None);
    }
}
