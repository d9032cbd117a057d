//! A call that has failed is made again after a pause, with the same key. The activity waits
//! meanwhile and gets the last result only.
//!
//! The pause is a timer, so it survives everything. If an HTTP client waits for an answer of the
//! instance and the pause is short, the call stays in the state and is made when its time has come:
//! the instance would not be able to answer once it had been suspended.

use std::time::Duration;

use model::{Bookmark, BookmarkId, Map, Stimulus, Timestamp, What, limits};
use serde_json::{Value, json};

use super::Run;
use crate::Call;

/// The name of the bookmark of a pause.
const PAUSE: &str = "Retry";

/// A call that is made again.
pub(super) struct Again {
    call: Call,
    pause: Duration,
}

impl Run<'_> {
    /// The call that follows this result of a call; none when the result is final.
    pub(super) fn again(&mut self, number: u64, call: Option<Call>, result: &Map) -> Option<Again> {
        let mut call = call?;
        let tries = call.tries.as_mut()?;
        let (attempt, attempts) = (tries.attempt, tries.retry.attempts);
        let reason = tries.retry.reason(result).filter(|_| attempt < attempts)?;
        let pause = tries.retry.pause(attempt, self.draft.chance(), asked(result));
        tries.attempt += 1;
        let message = format!(
            "attempt {attempt} of {attempts} failed: {reason}; the next follows in {}",
            model::span::text(pause)
        );
        let millis = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let details = json!({"attempt": attempt, "pauseMilliseconds": millis, "key": call.key});
        self.draft.write(number, What::Retrying, Some(message), Some(details));
        Some(Again { call, pause })
    }

    /// Pauses before the next attempt. It takes the place of the bookmark that was resumed.
    pub(super) fn pause(&mut self, number: u64, mut resumed: Bookmark, again: Again) {
        let Again { mut call, pause } = again;
        let until = self.draft.env.now.after(pause);
        // A call that is held keeps the time of its bookmark, so this counts from its first attempt.
        let held = until.since(resumed.created_at);
        if self.draft.state.responds && held <= limits::CALL_HELD_TIME_MAX {
            self.call(number, resumed, call, Some(until));
            return;
        }
        let attempt = call.tries.as_ref().map_or(0, |tries| tries.attempt);
        let stimulus = Stimulus {
            name: PAUSE.to_owned(),
            payload: json!({"Key": call.key, "Attempt": attempt}),
        };
        resumed.id = BookmarkId::new(self.draft.id());
        resumed.hash = stimulus.hash();
        resumed.name = stimulus.name;
        resumed.created_at = self.draft.env.now;
        resumed.due_at = Some(until);
        call.bookmark_id = resumed.id.clone();
        self.draft.state.paused_calls.insert(resumed.id.clone(), call);
        self.place(number, resumed);
    }

    /// Makes a call again, at once or at a time.
    pub(super) fn call(
        &mut self,
        number: u64,
        mut bookmark: Bookmark,
        mut call: Call,
        at: Option<Timestamp>,
    ) {
        bookmark.id = BookmarkId::new(self.draft.id());
        "Call".clone_into(&mut bookmark.name);
        bookmark.due_at = None;
        call.bookmark_id = bookmark.id.clone();
        if let Some(tries) = call.tries.as_mut() {
            tries.not_before = at;
        }
        self.draft.state.calls.insert(bookmark.id.clone(), call);
        self.place(number, bookmark);
    }

    fn place(&mut self, number: u64, bookmark: Bookmark) {
        if let Some(execution) = self.draft.state.executions.get_mut(&number) {
            execution.bookmarks += 1;
        }
        self.draft.state.bookmarks.insert(bookmark.id.clone(), bookmark);
        self.draft.write(number, What::Suspended, None, None);
    }
}

/// The pause that the other side asks for: `Retry-After` in seconds (RFC 9110, 10.2.3).
fn asked(result: &Map) -> Option<Duration> {
    let header = result.get("headers")?.get("retry-after").and_then(Value::as_str)?;
    header.trim().parse().ok().map(Duration::from_secs)
}
