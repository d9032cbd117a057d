//! Threads that evaluate, so that no caller waits longer than an evaluation may take.
//!
//! QuickJS checks the time between the steps of a script, but not inside a native function such as
//! `BigInt.prototype.toString`, and nothing can end a thread from outside. So a caller hands each
//! evaluation to a thread of this pool and waits until the deadline. After the deadline the caller
//! goes on without the thread. The thread returns to the pool when its work ends.
//!
//! At most [`GIVEN_UP_MAX`] threads are given up at the same time. When this number is reached, a
//! caller waits until its work ends, however long that takes. A thread may ask its caller
//! questions, because only the caller has the scope of the expression.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use engine::Flaw;

use crate::flaw::flaw;

/// The number of given-up threads, which work for no caller, at the same time.
pub(crate) const GIVEN_UP_MAX: usize = 16;
/// The number of threads that wait for work. A thread that finds this many waiting ends.
const IDLE_MAX: usize = 16;
/// The stack of a thread: QuickJS takes 256 KiB of it, conversions of deep values the rest.
const STACK_BYTES: usize = 2 * 1024 * 1024;
/// How long a caller waits after the deadline: an evaluation that notices the deadline itself ends
/// with a better message.
const GRACE: Duration = Duration::from_millis(100);
/// How often a caller looks for a free place among the given-up threads.
const RETRY: Duration = Duration::from_millis(50);

/// The number of threads of all pools of this process that were given up and still work.
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// The number of threads of this process that evaluate an expression whose caller has gone on.
#[must_use]
pub fn given_up() -> usize {
    GIVEN_UP.load(Ordering::SeqCst)
}

/// Does the work, and returns a function that sends its result to the caller.
type Job = Box<dyn FnOnce() -> Box<dyn FnOnce()> + Send>;

/// A job, and the channel through which the same thread gets its next one.
struct Task {
    job: Job,
    thread: SyncSender<Task>,
}

/// The pool.
pub(crate) struct Threads(Arc<Pool>);

struct Pool {
    idle: Mutex<Vec<SyncSender<Task>>>,
    given_up: AtomicUsize,
}

/// A message of an evaluation to its caller.
enum Report<Q, R> {
    Asks(Q),
    Ended(Result<R, Box<dyn Any + Send>>),
}

/// The channel from an evaluation to its caller, who answers questions.
pub(crate) struct Line<Q, A, R> {
    reports: SyncSender<Report<Q, R>>,
    answers: Receiver<A>,
}

impl<Q, A, R> Line<Q, A, R> {
    /// Asks the caller; None if the caller has gone on without this evaluation.
    pub(crate) fn ask(&self, question: Q) -> Option<A> {
        self.reports.send(Report::Asks(question)).ok()?;
        self.answers.recv().ok()
    }
}

impl Threads {
    /// A pool without threads; they start when they are needed.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Pool { idle: Mutex::default(), given_up: AtomicUsize::new(0) }))
    }

    /// The number of threads that were given up and still work.
    #[cfg(test)]
    pub(crate) fn given_up(&self) -> usize {
        self.0.given_up.load(Ordering::SeqCst)
    }

    /// Runs `work` on another thread and answers its questions meanwhile. None if it has not ended
    /// at the deadline; its thread is then given up and works on.
    ///
    /// # Errors
    /// [`Flaw`] when no thread can be started.
    ///
    /// # Panics
    /// With the panic of `work`.
    pub(crate) fn run<Q, A, R>(
        &self,
        deadline: Instant,
        work: impl FnOnce(Line<Q, A, R>) -> R + Send + 'static,
        mut answer: impl FnMut(Q) -> A,
    ) -> Result<Option<R>, Flaw>
    where
        Q: Send + 'static,
        A: Send + 'static,
        R: Send + 'static,
    {
        // An evaluation asks one question at a time, and ends once.
        let (reports, inbox) = sync_channel(1);
        let (replies, answers) = sync_channel(1);
        let is_over = Arc::new(AtomicBool::new(false));
        let line = Line { reports: reports.clone(), answers };
        let (pool, over) = (Arc::downgrade(&self.0), Arc::clone(&is_over));
        let job = move || -> Box<dyn FnOnce()> {
            let end = catch_unwind(AssertUnwindSafe(|| work(line)));
            // True if the caller has given this thread up.
            if over.swap(true, Ordering::SeqCst) {
                GIVEN_UP.fetch_sub(1, Ordering::SeqCst);
                if let Some(pool) = pool.upgrade() {
                    pool.given_up.fetch_sub(1, Ordering::SeqCst);
                }
            }
            // If the caller has gone on, nobody needs the result.
            Box::new(move || drop(reports.send(Report::Ended(end))))
        };
        self.start(Box::new(job))?;
        let mut wait_until = deadline + GRACE;
        loop {
            let left = wait_until.saturating_duration_since(Instant::now());
            match inbox.recv_timeout(left) {
                Ok(Report::Asks(question)) => drop(replies.send(answer(question))),
                Ok(Report::Ended(Ok(end))) => return Ok(Some(end)),
                Ok(Report::Ended(Err(panic))) => resume_unwind(panic),
                Err(RecvTimeoutError::Timeout) if self.0.give_up(&is_over) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => wait_until = Instant::now() + RETRY,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(flaw("the thread of the expression ended without a result"));
                }
            }
        }
    }

    /// Hands work to a waiting thread, or to a new one.
    fn start(&self, mut job: Job) -> Result<(), Flaw> {
        loop {
            let Some(thread) = self.0.idle().pop() else { break };
            match thread.send(Task { job, thread: thread.clone() }) {
                Ok(()) => return Ok(()),
                Err(returned) => job = returned.0.job,
            }
        }
        let (thread, tasks) = sync_channel(1);
        let pool = Arc::downgrade(&self.0);
        std::thread::Builder::new()
            .name("expression".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || serve(&tasks, &pool))
            .map_err(|error| {
                flaw(format!("the node cannot start a thread for the expression: {error}"))
            })?;
        let task = Task { job, thread: thread.clone() };
        thread.send(task).map_err(|error| flaw(format!("the expression has no thread: {error}")))
    }
}

impl Pool {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<SyncSender<Task>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up the thread of this work; false if the work has ended, or too many threads are
    /// given up.
    fn give_up(&self, is_over: &AtomicBool) -> bool {
        let one_more = |given_up| (given_up < GIVEN_UP_MAX).then_some(given_up + 1);
        let (set, fetched) = (Ordering::SeqCst, Ordering::SeqCst);
        if self.given_up.fetch_update(set, fetched, one_more).is_err() {
            return false;
        }
        GIVEN_UP.fetch_add(1, Ordering::SeqCst);
        if is_over.swap(true, Ordering::SeqCst) {
            GIVEN_UP.fetch_sub(1, Ordering::SeqCst);
            self.given_up.fetch_sub(1, Ordering::SeqCst);
            return false;
        }
        true
    }
}

/// Works until the pool is gone or has enough waiting threads. Only the pool holds the sender of a
/// waiting thread, so the wait ends with the pool.
fn serve(tasks: &Receiver<Task>, pool: &Weak<Pool>) {
    while let Ok(Task { job, thread }) = tasks.recv() {
        let tell = job();
        let waits = pool.upgrade().is_some_and(|pool| {
            let mut idle = pool.idle();
            let waits = idle.len() < IDLE_MAX;
            if waits {
                idle.push(thread);
            }
            waits
        });
        // Sent after the thread is back in the pool, so that the caller's next expression finds it
        // there.
        tell();
        if !waits {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(20)
    }

    #[test]
    fn questions_are_answered_on_the_callers_thread() {
        let threads = Threads::new();
        let late = Instant::now() + Duration::from_secs(60);
        let work = |line: Line<u8, u8, u8>| line.ask(3).unwrap() + line.ask(4).unwrap();
        let caller = std::thread::current().id();
        let end = threads.run(late, work, |asked| {
            assert_eq!(std::thread::current().id(), caller);
            asked * 10
        });
        assert_eq!(end.unwrap(), Some(70));
        assert_eq!(threads.0.idle().len(), 1);
    }

    #[test]
    fn a_thread_that_does_not_end_is_given_up_and_comes_back_when_it_ends() {
        let threads = Threads::new();
        let (open, gate) = sync_channel::<()>(1);
        let work = move |_: Line<(), (), ()>| assert!(gate.recv().is_err());
        let began = Instant::now();
        assert_eq!(threads.run(soon(), work, |()| ()).unwrap(), None);
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(threads.given_up(), 1);
        assert!(given_up() > 0);
        drop(open);
        while threads.given_up() > 0 || threads.0.idle().is_empty() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn beyond_the_bound_a_caller_waits_for_its_own_work() {
        let threads = Threads::new();
        let mut gates = Vec::new();
        for _ in 0..GIVEN_UP_MAX {
            let (open, gate) = sync_channel::<()>(1);
            gates.push(open);
            let work = move |_: Line<(), (), ()>| assert!(gate.recv().is_err());
            assert_eq!(threads.run(soon(), work, |()| ()).unwrap(), None);
        }
        let (open, gate) = sync_channel::<()>(1);
        let mut open = Some(open);
        let work = move |line: Line<(), (), u8>| {
            // The deadline passes before the answer.
            line.ask(()).unwrap();
            assert!(gate.recv().is_err());
            7
        };
        let end = threads.run(Instant::now(), work, |()| drop(open.take()));
        assert_eq!(end.unwrap(), Some(7));
        assert_eq!(threads.given_up(), GIVEN_UP_MAX);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_thread_lives_on() {
        let threads = Threads::new();
        let late = Instant::now() + Duration::from_secs(60);
        let work = |_: Line<(), (), ()>| panic!("planted");
        let caught = catch_unwind(AssertUnwindSafe(|| threads.run(late, work, |()| ())));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"planted"));
        assert_eq!(threads.run(late, |_: Line<(), (), u8>| 1, |()| ()).unwrap(), Some(1));
    }
}
