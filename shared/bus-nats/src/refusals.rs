//! What the server has refused to this connection. It says so in a message of its own, and does not
//! answer the request: only this shows why no answer comes.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The last refusals that are kept.
const KEPT: usize = 64;
/// Longer than the wait for an answer. After it, a request without an answer has another reason: the
/// permissions may have changed.
const RECENT: Duration = Duration::from_secs(10);
/// The beginning of the server's text.
const MARK: &str = "permissions violation";
/// The same, where a subscription is refused.
const SUBSCRIPTION: &str = "permissions violation for subscription";

/// The last refusals of one connection. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Refusals(Arc<Inner>);

#[derive(Default)]
struct Inner {
    kept: Mutex<Kept>,
    added: Notify,
}

#[derive(Default)]
struct Kept {
    last: VecDeque<(Instant, String)>,
    /// The subscriptions that were refused since the connection was made.
    told: VecDeque<String>,
}

impl Refusals {
    /// The server's text is about a permission.
    pub(crate) fn is_one(text: &str) -> bool {
        begins(text, MARK)
    }

    /// Remembers a refusal. False if it is one of a subscription that is tried again and again, which the
    /// log has told since the connection was made.
    pub(crate) fn add(&self, text: &str) -> bool {
        let mut kept = self.lock();
        push(&mut kept.last, (Instant::now(), text.to_owned()));
        let is_told = begins(text, SUBSCRIPTION) && kept.told.iter().any(|told| told == text);
        if begins(text, SUBSCRIPTION) && !is_told {
            push(&mut kept.told, text.to_owned());
        }
        drop(kept);
        self.0.added.notify_waiters();
        !is_told
    }

    /// The connection is made anew: the log tells again what is refused to it.
    pub(crate) fn connected(&self) {
        self.lock().told.clear();
    }

    /// The last refusal of an operation on this subject, or on one below it, if it was just now.
    pub(crate) fn about(&self, subject: &str) -> Option<String> {
        let quoted = [format!("\"{subject}\""), format!("\"{subject}.")];
        let kept = self.lock();
        let mut recent = kept.last.iter().rev().take_while(|(at, _)| at.elapsed() < RECENT);
        let found = recent.find(|(_, text)| quoted.iter().any(|one| text.contains(one)));
        found.map(|(_, text)| text.clone())
    }

    /// Waits until the server refuses a subscription to this subject, at this time or later.
    pub(crate) async fn of_subscription(&self, subject: &str, since: Instant) -> String {
        let quoted = format!("\"{subject}\"");
        loop {
            let mut added = pin!(self.0.added.notified());
            added.as_mut().enable();
            let found = {
                let kept = self.lock();
                let mut late = kept.last.iter().rev().take_while(|(at, _)| *at >= since);
                let found =
                    late.find(|(_, text)| begins(text, SUBSCRIPTION) && text.contains(&quoted));
                found.map(|(_, text)| text.clone())
            };
            if let Some(text) = found {
                return text;
            }
            added.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn begins(text: &str, mark: &str) -> bool {
    text.get(..mark.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark))
}

fn push<T>(last: &mut VecDeque<T>, one: T) {
    if last.len() == KEPT {
        last.pop_front();
    }
    last.push_back(one);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_found_by_its_subject_for_a_while() {
        let refusals = Refusals::default();
        for number in 0..100 {
            let text = format!("Permissions Violation for Publish to \"staunch.x.{number}\"");
            assert!(Refusals::is_one(&text));
            assert!(refusals.add(&text));
        }
        assert!(refusals.about("staunch.x.99").unwrap().contains("Publish"));
        assert!(refusals.about("staunch.x").unwrap().contains("x.99"));
        assert_eq!(refusals.about("staunch.x.9"), None);
        assert_eq!(refusals.about("staunch.x.0"), None, "the oldest are forgotten");
        assert!(!Refusals::is_one("maximum payload exceeded"));
        tokio::time::advance(RECENT).await;
        assert_eq!(refusals.about("staunch.x.99"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscription_that_is_refused_again_is_found_and_told_once_for_each_connection() {
        let refusals = Refusals::default();
        let text = "Permissions Violation for Subscription to \"a.*\"";
        assert!(refusals.add(text));
        assert!(!refusals.add(text));
        assert!(refusals.add("Permissions Violation for Subscription to \"b.*\""));
        for _ in 0..2 {
            assert!(refusals.add("Permissions Violation for Publish to \"a.*\""), "each is told");
        }
        refusals.connected();
        assert!(refusals.add(text));

        tokio::time::advance(Duration::from_secs(3_600)).await;
        let since = Instant::now();
        let waits = refusals.of_subscription("a.*", since);
        let adds = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            refusals.add("Permissions Violation for Publish to \"a.*\"");
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert!(!refusals.add(text));
        };
        let (found, ()) = futures::join!(waits, adds);
        assert_eq!((found.as_str(), since.elapsed().as_secs()), (text, 2));
        assert_eq!(refusals.of_subscription("a.*", since).await, text);
    }
}
