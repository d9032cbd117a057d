//! What the server has refused to this connection. It says so in a message of its own, and does not
//! answer the request: only this shows why no answer comes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The last refusals that are kept.
const KEPT: usize = 64;
/// Longer than the wait for an answer. After it, a request without an answer has another reason: the
/// permissions may have changed.
const RECENT: Duration = Duration::from_secs(10);
/// The beginning of the server's text.
const MARK: &str = "permissions violation";

/// The last refusals of one connection. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Refusals(Arc<Mutex<VecDeque<(Instant, String)>>>);

impl Refusals {
    /// The server's text is about a permission.
    pub(crate) fn is_one(text: &str) -> bool {
        text.get(..MARK.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(MARK))
    }

    pub(crate) fn add(&self, text: &str) {
        let mut kept = self.lock();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((Instant::now(), text.to_owned()));
    }

    /// The last refusal of an operation on this subject, or on one below it, if it was just now.
    pub(crate) fn about(&self, subject: &str) -> Option<String> {
        let quoted = [format!("\"{subject}\""), format!("\"{subject}.")];
        let kept = self.lock();
        let mut recent = kept.iter().rev().take_while(|(at, _)| at.elapsed() < RECENT);
        let found = recent.find(|(_, text)| quoted.iter().any(|one| text.contains(one)));
        found.map(|(_, text)| text.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Instant, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
            refusals.add(&text);
        }
        assert!(refusals.about("staunch.x.99").unwrap().contains("Publish"));
        assert!(refusals.about("staunch.x").unwrap().contains("x.99"));
        assert_eq!(refusals.about("staunch.x.9"), None);
        assert_eq!(refusals.about("staunch.x.0"), None, "the oldest are forgotten");
        assert!(!Refusals::is_one("maximum payload exceeded"));
        tokio::time::advance(RECENT).await;
        assert_eq!(refusals.about("staunch.x.99"), None);
    }
}
