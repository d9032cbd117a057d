//! Panics that crash tests plant. In production none is planted, and a task pays one load of an
//! atomic number for each poll.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of panics that are planted and have not happened.
static PLANTED: AtomicUsize = AtomicUsize::new(0);
/// The polls that are left before the panic, by task.
static POLLS_LEFT: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Makes the task of this name panic once, at its `nth` poll from now. For tests.
pub fn plant(task: &str, nth: u32) {
    let mut polls_left = POLLS_LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    polls_left.insert(task.to_owned(), nth.max(1));
    PLANTED.store(polls_left.len(), Ordering::Relaxed);
}

/// Panics if a test has planted a panic at this poll of the task.
pub(crate) fn strike(task: &str) {
    if PLANTED.load(Ordering::Relaxed) > 0 && is_due(task) {
        resume_unwind(Box::new(format!("a test planted this panic in {task}")));
    }
}

fn is_due(task: &str) -> bool {
    let mut polls_left = POLLS_LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(left) = polls_left.get_mut(task) else { return false };
    *left = left.saturating_sub(1);
    if *left > 0 {
        return false;
    }
    polls_left.remove(task);
    PLANTED.store(polls_left.len(), Ordering::Relaxed);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caught;

    #[tokio::test]
    async fn a_planted_panic_strikes_once_at_the_poll_that_was_named() {
        plant("planted", 2);
        for expected in [true, false, true] {
            assert_eq!(caught("planted", async {}).await.is_ok(), expected);
        }
        assert!(caught("planted: other", async {}).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_supervised_task_that_is_spawned_under_its_own_name_runs_again() {
        let name = "planted: nested";
        plant(name, 1);
        let mut runs = 0;
        let (ran, mut all) = tokio::sync::mpsc::unbounded_channel();
        let never = tokio_util::sync::CancellationToken::new();
        let task = crate::supervised(name, never, move || {
            runs += 1;
            let (ran, run) = (ran.clone(), runs);
            async move { ran.send(run).unwrap_or_default() }
        });
        assert_eq!(crate::spawn(name, task).await.unwrap(), Ok(()));
        assert_eq!(
            (all.recv().await, all.recv().await, all.recv().await),
            (Some(1), Some(2), None)
        );
    }
}
