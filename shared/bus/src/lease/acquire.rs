//! Taking a lease: look at the node's view of the key, try to swap, and wait for the watch while
//! another holds it. An acquisition that ends with an unknown outcome is disowned: if its nonce
//! shows up in the key later, the key is released.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::handle::Lease;
use super::held::{Held, Times};
use super::holder::{Holder, parse};
use super::inner::Inner;
use super::queue::Front;
use super::terms::Busy;
use crate::lock::lock;
use crate::retry::Pace;
use crate::{Error, Put, Revision};

/// How often a waiter reads the key itself, in case the watch has missed a change.
const RECHECK: Duration = Duration::from_secs(5);
/// How long the watch may be behind the server's last answer before the key is read.
const LAG: Duration = Duration::from_millis(250);
/// How long a holder that presence has never shown may take to appear there.
const STRANGER_GRACE: Duration = Duration::from_secs(3);

pub(super) async fn acquire(inner: &Arc<Inner>, key: &str) -> Result<Lease, Busy> {
    let started = Instant::now();
    let give_up = started + inner.terms.wait_max;
    let ticket = inner.queue.join(key);
    let queued = !ticket.is_free();
    let Ok(turn) = tokio::time::timeout_at(give_up, ticket.turn()).await else {
        return Err(Busy::Held { by: inner.owner.clone() });
    };
    let mut contest = Contest::new(inner, key, give_up);
    let won = contest.run(&turn).await?;
    let nonce = contest.trying.keep();
    let held = Arc::new(Held {
        key: key.to_owned(),
        nonce: nonce.clone(),
        token: won.revision,
        revision: Arc::new(tokio::sync::Mutex::new(won.revision)),
        times: Mutex::new(won.times),
        lost: CancellationToken::new(),
    });
    lock(&inner.held).insert(key.to_owned(), Arc::clone(&held));
    lock(&inner.trying).remove(&nonce);
    Ok(Lease {
        inner: Arc::clone(inner),
        held,
        waited: started.elapsed(),
        contended: queued || contest.contended,
        released: false,
        _front: turn,
    })
}

struct Won {
    revision: Revision,
    times: Times,
}

/// The contest of one acquisition with other nodes.
struct Contest<'a> {
    inner: &'a Arc<Inner>,
    key: &'a str,
    give_up: Instant,
    trying: Trying,
    contended: bool,
    /// When this nonce was first written without a known refusal.
    sent: Option<Instant>,
    /// The last refusal, until the view has caught up with it.
    refused: Option<Refused>,
    stranger: Option<(String, Instant)>,
    /// The nonce of the holder to which this node has sent that it waits.
    told: Option<String>,
    /// When a holder was first sent that message: an entry that is handed on was written after it.
    told_at: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Refused {
    tried: Revision,
    said: Revision,
}

enum Step {
    Swap(Revision),
    Ours(Revision),
    Wait { holder: Holder, until: Instant },
    Read,
}

impl<'a> Contest<'a> {
    fn new(inner: &'a Arc<Inner>, key: &'a str, give_up: Instant) -> Self {
        let trying = Trying::new(inner, key);
        Self {
            inner,
            key,
            give_up,
            trying,
            contended: false,
            sent: None,
            refused: None,
            stranger: None,
            told: None,
            told_at: None,
        }
    }

    async fn run(&mut self, turn: &Front) -> Result<Won, Busy> {
        let value = self.inner.value(&self.trying.nonce);
        // The retries on the bus have their own time limit: an election may take longer than a
        // short wait for the holder.
        let patience = Instant::now() + crate::retry::BUDGET;
        let mut pace = Pace::until(patience.max(self.give_up), &self.trying.nonce);
        loop {
            let changed = turn.changed().notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let expected = match self.step() {
                Step::Swap(expected) => expected,
                Step::Ours(revision) => return self.won(revision),
                Step::Read => {
                    if tokio::time::timeout(LAG, changed).await.is_err() {
                        self.read().await;
                        self.check_time()?;
                    }
                    continue;
                }
                Step::Wait { holder, until } => {
                    self.contended = true;
                    if Instant::now() >= self.give_up {
                        return Err(Busy::Held { by: holder.owner });
                    }
                    self.tell(&holder).await;
                    let recheck = Instant::now() + RECHECK;
                    let wake = until.min(recheck).min(self.give_up);
                    if tokio::time::timeout_at(wake, changed).await.is_err() && wake == recheck {
                        self.told = None;
                        self.read().await;
                    }
                    continue;
                }
            };
            let sent = Instant::now();
            self.sent.get_or_insert(sent);
            let ttl = Some(self.inner.terms.ttl);
            let nonce = &self.trying.nonce;
            let put = self.inner.kv.put_if(self.key, value.clone(), expected, ttl, nonce).await;
            match put {
                Ok(Put::Won(revision)) => return self.won(revision),
                Ok(Put::Lost(Some(revision))) => {
                    self.sent = None;
                    self.refused = Some(Refused { tried: expected, said: revision });
                }
                Ok(Put::Lost(None)) => {
                    self.contended = true;
                    if !pace.wait().await {
                        return Err(Busy::Held { by: "(contended)".to_owned() });
                    }
                }
                Err(error) => {
                    if !error.is_passing() || !pace.wait().await {
                        return Err(Busy::Unavailable(error));
                    }
                }
            }
        }
    }

    /// The next step, from the view and the last refusal.
    fn step(&mut self) -> Step {
        let seen = lock(&self.inner.view).get(self.key);
        let known = seen.as_ref().map_or(0, |seen| seen.revision);
        if let Some(Refused { tried, said }) = self.refused {
            // The view is behind the server, or the bucket was created anew since.
            let is_behind = known == tried || known < said;
            if is_behind && said > 0 {
                return Step::Read;
            }
            self.refused = None;
            if is_behind {
                lock(&self.inner.view).forget(self.key);
                return Step::Swap(0);
            }
        }
        let Some((holder, since)) = seen.and_then(|seen| Some((seen.holder?, seen.since))) else {
            return Step::Swap(known);
        };
        if holder.nonce == self.trying.nonce {
            return self.ours(&holder, known);
        }
        if holder.owner == self.inner.owner && !self.inner.is_active(self.key, &holder.nonce) {
            return Step::Swap(known);
        }
        // The server expires an entry that is not renewed. The wait for an entry without an expiry,
        // which Staunch never writes, ends here.
        let ends = since + self.inner.terms.ttl + self.inner.terms.ttl / 5;
        match self.foreign(holder, known) {
            Step::Wait { .. } if Instant::now() >= ends => Step::Swap(known),
            Step::Wait { holder, until } => Step::Wait { holder, until: until.min(ends) },
            step => step,
        }
    }

    /// The key shows this acquisition. If it was handed on a while ago, it is written again,
    /// because this node does not know when the lease began.
    fn ours(&mut self, holder: &Holder, known: Revision) -> Step {
        if !holder.handed {
            return Step::Ours(known);
        }
        self.contended = true;
        self.inner.inherit(&self.trying.nonce, &holder.next);
        match self.told_at {
            Some(told) if told.elapsed() < self.inner.terms.ttl / 5 => {
                self.sent = Some(self.sent.map_or(told, |sent| sent.min(told)));
                Step::Ours(known)
            }
            _ => Step::Swap(known),
        }
    }

    /// Sends the holder, once, that this node waits.
    async fn tell(&mut self, holder: &Holder) {
        if self.told.as_ref() == Some(&holder.nonce) {
            return;
        }
        self.told = Some(holder.nonce.clone());
        if holder.next.iter().any(|waiter| waiter.nonce == self.trying.nonce) {
            return;
        }
        self.told_at.get_or_insert_with(Instant::now);
        self.inner.tell(self.key, holder, &self.trying.nonce).await;
    }

    /// Another holds it: wait, unless it has gone.
    fn foreign(&mut self, holder: Holder, known: Revision) -> Step {
        let now = Instant::now();
        let presence = lock(&self.inner.presence);
        let wait = |until| Step::Wait { holder: holder.clone(), until };
        let Some(live) = &presence.now else { return wait(self.give_up) };
        if live.contains(&holder.owner) {
            self.stranger = None;
            return wait(self.give_up);
        }
        if presence.departed.contains(&holder.owner) {
            return Step::Swap(known);
        }
        match &self.stranger {
            Some((owner, since)) if *owner == holder.owner => {
                let until = *since + STRANGER_GRACE;
                if now >= until { Step::Swap(known) } else { wait(until) }
            }
            _ => {
                self.stranger = Some((holder.owner.clone(), now));
                wait(now + STRANGER_GRACE)
            }
        }
    }

    /// Reads the key into the view, which stays a hint.
    async fn read(&mut self) {
        match self.inner.kv.get(self.key).await {
            Ok(Some(entry)) => {
                let holder = parse(entry.value.as_ref());
                let mut view = lock(&self.inner.view);
                if self.refused.is_some_and(|refused| refused.said == entry.revision) {
                    view.force(self.key, entry.revision, holder, Instant::now());
                } else {
                    view.note(self.key, entry.revision, holder, Instant::now());
                }
            }
            // The key is not there: swap from revision 0. If that is wrong, the server refuses and
            // names the revision.
            Ok(None) => {
                lock(&self.inner.view).forget(self.key);
                self.refused = None;
            }
            Err(error) => tracing::debug!(%error, key = self.key, "cannot read a lease"),
        }
    }

    fn check_time(&self) -> Result<(), Busy> {
        if Instant::now() < self.give_up {
            return Ok(());
        }
        Err(Busy::Unavailable(Error::Unknown(format!(
            "the lease {} is at a revision that cannot be read",
            self.key
        ))))
    }

    fn won(&self, revision: Revision) -> Result<Won, Busy> {
        let terms = &self.inner.terms;
        let written = self.sent.unwrap_or_else(Instant::now);
        let deadline = written + terms.ttl.saturating_sub(terms.guard);
        if Instant::now() >= deadline {
            return Err(Busy::Unavailable(Error::Unknown(
                "the lease took longer to get than it lasts".to_owned(),
            )));
        }
        let holder = self.inner.holder(&self.trying.nonce);
        self.inner.note(self.key, revision, Some(holder));
        Ok(Won { revision, times: Times { written, deadline } })
    }
}

/// A nonce that is being tried; disowned when dropped before it was kept.
struct Trying {
    inner: Arc<Inner>,
    key: String,
    nonce: String,
    kept: bool,
}

impl Trying {
    fn new(inner: &Arc<Inner>, key: &str) -> Self {
        let nonce = (inner.nonces)();
        lock(&inner.trying).insert(nonce.clone());
        Self { inner: Arc::clone(inner), key: key.to_owned(), nonce, kept: false }
    }

    fn keep(&mut self) -> String {
        self.kept = true;
        self.nonce.clone()
    }
}

impl Drop for Trying {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        lock(&self.inner.trying).remove(&self.nonce);
        drop(self.inner.heirs(&self.nonce));
        self.inner.disown(&self.key, &self.nonce);
    }
}
