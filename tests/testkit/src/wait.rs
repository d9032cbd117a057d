//! Waiting for conditions, never for time.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Waits until the condition holds, and looks every few milliseconds.
///
/// # Panics
/// When it does not hold within `bound`.
pub async fn eventually(what: &str, bound: Duration, mut condition: impl AsyncFnMut() -> bool) {
    let give_up = Instant::now() + bound;
    while !condition().await {
        assert!(Instant::now() < give_up, "not within {bound:?}: {what}");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Waits for a future.
///
/// # Panics
/// When it does not complete within `bound`.
pub async fn within<T>(what: &str, bound: Duration, future: impl Future<Output = T>) -> T {
    let result = tokio::time::timeout(bound, future).await;
    assert!(result.is_ok(), "not within {bound:?}: {what}");
    let Ok(value) = result else { unreachable!("asserted") };
    value
}

/// Prints that a suite is skipped because a tool is missing.
///
/// # Panics
/// When `STAUNCH_TEST_REQUIRE` (a list such as `pg,browser`) names it.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
#[expect(clippy::disallowed_methods, reason = "a switch for continuous integration")]
pub fn skip(name: &str, suite: &str, why: &str) {
    let required = std::env::var("STAUNCH_TEST_REQUIRE").unwrap_or_default();
    let is_required = required.split(',').any(|part| part.trim() == name);
    assert!(!is_required, "{suite} is required and cannot run: {why}");
    eprintln!("SKIPPED: {suite} ({why})");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_condition_is_looked_at_until_it_holds() {
        let mut looks = 0;
        eventually("three looks", Duration::from_secs(5), async || {
            looks += 1;
            looks == 3
        })
        .await;
        assert_eq!(within("a value", Duration::from_secs(1), async { 7 }).await, 7);
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "not within 1s: never")]
    async fn a_condition_that_never_holds_ends_the_test() {
        eventually("never", Duration::from_secs(1), async || false).await;
    }
}
