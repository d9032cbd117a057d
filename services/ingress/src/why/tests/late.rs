//! Timers that are due and not fired yet.

use super::*;

fn said(facts: &Facts, cause: &str) -> (Weight, String) {
    let found = findings(facts);
    let one = found.iter().find(|one| one.cause == cause);
    let one = one.unwrap_or_else(|| panic!("no {cause}: {found:?}"));
    (one.weight, one.says.clone())
}

#[test]
fn a_timer_that_is_due_says_for_how_long_and_never_that_it_waits_another_0_s() {
    let mut facts = Facts { waits: vec![delay(ago(2))], ..base() };
    let (weight, says) = said(&facts, "timer");
    let expected = format!(
        "The timer of activity a1 was due at {}, 2 s ago, and the node t1, which owns its shard, \
         fires it now.",
        ago(2)
    );
    assert_eq!((weight, says), (Waits, expected));
    facts.waits = vec![delay(ago(0))];
    let (weight, says) = said(&facts, "timer");
    assert!(weight == Waits && says.contains(", 0 s ago, and the node t1"), "{says}");
    without(&mut facts, "timer");
    let (weight, says) = said(&facts, "timer-no-role");
    assert!(weight == Blocks && says.contains("0 s ago, and no node"), "{says}");
}

#[test]
fn a_call_that_is_due_again_is_begun_now() {
    let again = CallFact { attempt: 3, again_at: Some(ago(2)), ..call() };
    let mut facts = Facts { calls: vec![again], ..base() };
    let (weight, says) = said(&facts, "call-retry");
    assert!(weight == Waits && says.ends_with("which was 2 s ago: it is begun now."), "{says}");
    without(&mut facts, "timer");
    let (weight, says) = said(&facts, "call-retry-overdue");
    assert!(weight == Blocks && says.contains("no node with the role timer lives"), "{says}");
}
