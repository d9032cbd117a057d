//! Panics that crash tests plant. In production none is planted, and a task pays one load of an
//! atomic number for each poll.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::table;

/// Greater than 0 where a poll has to look at the plan.
static REASONS_TO_LOOK: AtomicUsize = AtomicUsize::new(0);
static PLAN: Mutex<Plan> = Mutex::new(Plan { polls_left: BTreeMap::new(), enters_all: false });

struct Plan {
    /// The polls that are left before the panic, by task.
    polls_left: BTreeMap<String, u32>,
    /// Every task is entered in the figures.
    enters_all: bool,
}

/// Makes the task of this name panic once, at its `nth` poll from now. For tests.
pub fn plant(task: &str, nth: u32) {
    change(|plan| plan.polls_left.insert(task.to_owned(), nth.max(1)));
}

/// Enters each task in [`crate::figures`] at its next poll, also one that is short and has never
/// panicked. For tests that need the names of all tasks.
pub fn enter_all() {
    change(|plan| plan.enters_all = true);
}

/// Panics if a test has planted a panic at this poll of the task.
pub(crate) fn strike(task: &'static str) {
    if REASONS_TO_LOOK.load(Ordering::Relaxed) > 0 && change(|plan| plan.is_due(task)) {
        resume_unwind(Box::new(format!("a test planted this panic in {task}")));
    }
}

fn change<T>(change: impl FnOnce(&mut Plan) -> T) -> T {
    let mut plan = PLAN.lock().unwrap_or_else(PoisonError::into_inner);
    let result = change(&mut plan);
    let reasons = plan.polls_left.len() + usize::from(plan.enters_all);
    REASONS_TO_LOOK.store(reasons, Ordering::Relaxed);
    result
}

impl Plan {
    fn is_due(&mut self, task: &'static str) -> bool {
        if self.enters_all {
            table::started(task);
        }
        let Some(left) = self.polls_left.get_mut(task) else { return false };
        *left = left.saturating_sub(1);
        let is_due = *left == 0;
        if is_due {
            self.polls_left.remove(task);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

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

    #[tokio::test]
    async fn every_task_is_in_the_figures_after_a_test_has_asked_for_all() {
        enter_all();
        assert!(caught("planted: short", async {}).await.is_ok());
        let figures = crate::figures();
        let figure = figures.iter().find(|figure| figure.task == "planted: short").unwrap();
        assert_eq!((figure.panics, figure.restarts), (0, 0));
    }

    /// Plants one more panic while the first one is logged.
    struct PlantsAgain {
        task: &'static str,
        has_planted: AtomicBool,
    }

    impl Subscriber for PlantsAgain {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
        fn event(&self, _: &Event<'_>) {
            if !self.has_planted.swap(true, Ordering::Relaxed) {
                plant(self.task, 1);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_that_is_planted_while_the_inner_task_panics_is_not_the_outer_ones() {
        let name = "planted: twice";
        let planting = PlantsAgain { task: name, has_planted: AtomicBool::new(false) };
        let _logging = tracing::subscriber::set_default(planting);
        plant(name, 1);
        let never = tokio_util::sync::CancellationToken::new();
        let task = crate::supervised(name, never, || async {});
        assert_eq!(crate::spawn(name, task).await.unwrap(), Ok(()));
        let figures = crate::figures();
        let figure = figures.iter().find(|figure| figure.task == name).unwrap();
        assert_eq!((figure.panics, figure.restarts), (2, 2));
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
