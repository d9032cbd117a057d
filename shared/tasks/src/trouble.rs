//! A failure that comes again with each try of a loop.

use std::fmt::Display;
use std::time::Duration;

use tokio::time::Instant;

/// A failure that lasts is logged again after this time.
const AGAIN_AFTER: Duration = Duration::from_secs(600);

/// Decides which failures of a loop that tries again and again are logged: the first one, one with another
/// reason, and while it lasts one in ten minutes. The log keeps room for the lines of others.
#[derive(Debug, Default)]
pub struct Trouble {
    /// The reason that was logged last, and when.
    logged: Option<(String, Instant)>,
}

impl Trouble {
    /// A try has failed: whether to log it.
    pub fn is_news(&mut self, reason: impl Display) -> bool {
        let (reason, now) = (reason.to_string(), Instant::now());
        let is_known = self
            .logged
            .as_ref()
            .is_some_and(|(logged, at)| *logged == reason && now - *at < AGAIN_AFTER);
        if !is_known {
            self.logged = Some((reason, now));
        }
        !is_known
    }

    /// A try has succeeded: whether a failure before it was logged, and its end is to be logged.
    pub fn ends(&mut self) -> bool {
        self.logged.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_news_when_it_begins_and_rarely_afterwards() {
        let mut trouble = Trouble::default();
        assert!(!trouble.ends(), "nothing has failed");
        assert!(trouble.is_news("no stream"));
        for _ in 0..59 {
            tokio::time::advance(Duration::from_secs(10)).await;
            assert!(!trouble.is_news("no stream"));
        }
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(trouble.is_news("no stream"), "ten minutes later");
        assert!(!trouble.is_news("no stream"));
        assert!(trouble.is_news("no broker"), "another reason");
        assert!(trouble.ends());
        assert!(!trouble.ends(), "the end is logged once");
        assert!(trouble.is_news("no broker"), "it begins again");
    }
}
