//! The invariants that hold at the end of every turn. A violation is a bug of the engine or of an
//! activity: it panics, and nothing of the turn is committed.

use crate::Rest;
use crate::outline::Outline;
use crate::state::State;

/// Panics with the invariant's number when one does not hold.
pub(crate) fn check(outline: &Outline, state: &State, rest: Rest) {
    final_states_hold_nothing(state);
    resting_states_wait_for_something(state, rest);
    calls_have_bookmarks(state);
    bookmarks_have_executions(state);
    executions_have_owners(outline, state);
}

fn final_states_hold_nothing(state: &State) {
    let empty = state.bookmarks.is_empty()
        && state.calls.is_empty()
        && state.paused_calls.is_empty()
        && state.work.is_empty()
        && state.executions.is_empty();
    assert!(!state.status.is_final() || empty, "INV-5: an instance that is over holds nothing");
}

fn resting_states_wait_for_something(state: &State, rest: Rest) {
    let waits = !state.bookmarks.is_empty();
    assert!(rest != Rest::Suspended || waits, "INV-4: a suspended instance waits for something");
    let works = !state.work.is_empty();
    assert!(rest != Rest::OutOfBudget || works, "INV-6: out of budget means work is left");
    let over = state.status.is_final();
    assert!((rest == Rest::Finished) == over, "INV-7: finished means a final status");
}

fn calls_have_bookmarks(state: &State) {
    let mut calls = state.calls.keys().chain(state.paused_calls.keys());
    let good = calls.all(|id| state.bookmarks.contains_key(id));
    assert!(good, "INV-8: every call has its bookmark");
}

fn bookmarks_have_executions(state: &State) {
    let counted: u64 = state.executions.values().map(|execution| execution.bookmarks).sum();
    assert!(counted == state.bookmarks.len() as u64, "INV-3: every bookmark has its execution");
}

fn executions_have_owners(outline: &Outline, state: &State) {
    for (number, execution) in &state.executions {
        let owned = execution
            .owner
            .is_none_or(|owner| owner < *number && state.executions.contains_key(&owner));
        assert!(owned, "INV-9: the owner of execution {number} is not over");
        assert!(
            outline.find(&execution.node).is_some(),
            "INV-2: node {:?} of the state is in the program",
            execution.node
        );
    }
}
