//! One instance in this process: its mailbox, its tenures, and the order of the work in each.
//!
//! An actor lives from the first command of the instance to the last. A tenure is the time in which
//! it works on the instance; the commands of a tenure share one lease, which is released when no
//! command is left. While outgoing calls run, the actor goes on taking commands, so that a cancel
//! reaches the instance.
//!
//! Resumes that find the mailbox full are put aside in the database. The writer of a row notes it at
//! the mailbox, and the actor looks before it ends: both under one lock, so that no row is missed.

use std::time::Duration;

use bus::Delivery;
use model::InstanceId;
use protocol::{Body, Command};
use store::CommandFilter;
use tokio::time::Instant;

use crate::cx::Cx;
use crate::job::Job;
use crate::mailbox::{Mailbox, Posted, Waiting};
use crate::metrics::METRICS;
use crate::pipeline;
use crate::route;
use crate::stop::{Stop, Verdict};
use crate::tenure::{Origin, Tenure, TenureEnd};
use crate::work::Work;

/// The pause before a command is delivered again whose calls were not made here.
const STUCK_PAUSE: Duration = Duration::from_secs(5);

/// The pause before the lease is asked for again on account of commands that are put aside.
const ASIDE_PAUSE: Duration = Duration::from_secs(1);

/// The name of the task of each actor.
const TASK: &str = "executor: actor";

struct Actor {
    cx: Cx,
    id: InstanceId,
    mailbox: Mailbox,
}

/// The next step of a tenure.
enum Next {
    /// Work on the instance.
    Work(Origin),
    /// A kept event or task: its receivers are looked up again.
    Route(Box<Command>),
    /// The tenure ends.
    End(TenureEnd),
}

/// Queues a command behind the others of its instance, and waits for its verdict.
pub(crate) async fn apply(
    cx: &Cx,
    id: InstanceId,
    command: Command,
    delivery: &Delivery,
) -> Verdict {
    if cx.is_gone() {
        return Verdict::Drop;
    }
    let (job, verdict) = Job::new(command, delivery);
    match cx.mailboxes.post(&id, job, cx.config.mailbox) {
        Posted::Queued => {}
        Posted::First(mailbox) => {
            let actor = Actor { cx: Cx::clone(cx), id: id.clone(), mailbox };
            cx.spawn(TASK, watched(Cx::clone(cx), id, actor));
        }
        Posted::Full(job) => {
            let stop = put_aside(cx, &id, &job).await.err();
            if let Some(stop) = &stop {
                cx.note(stop);
            }
            job.end_unless(stop.as_ref());
        }
    }
    match verdict.await {
        Ok(verdict) => verdict,
        Err(_) if cx.is_gone() => Verdict::Drop,
        Err(_) => {
            let reason = "the task of the instance ended without a verdict";
            Stop::Panicked(reason.to_owned()).verdict(delivery.attempt, delivery.sequence)
        }
    }
}

/// Keeps a command in the database whose instance has too many here already. It is sent back instead
/// if its sender waits for the outcome, if it has a place in an order, or if the actor has ended
/// meanwhile.
async fn put_aside(cx: &Cx, id: &InstanceId, job: &Job) -> Result<(), Stop> {
    let full = || Stop::soon(format!("too many commands of instance {id} wait here"));
    let Command { body, reply_to, sequence, .. } = &job.command;
    let is_resume = matches!(body, Body::Resume(resume) if resume.bookmark_id.is_some());
    if !is_resume || reply_to.is_some() || sequence.is_some() {
        return Err(full());
    }
    pipeline::keep::keep(cx, &Work::command(&job.command, job.stored_at)).await?;
    if cx.mailboxes.note_aside(id) { Ok(()) } else { Err(full()) }
}

/// Runs an actor. After a panic its commands are delivered again, its lease expires, and the next
/// command of the instance starts a new actor.
async fn watched(cx: Cx, id: InstanceId, actor: Actor) {
    // Boxed first, because each layer around a future copies it.
    if tasks::caught(TASK, Box::pin(actor.live())).await.is_err() {
        cx.mailboxes.forget_closed(&id);
    }
}

impl Actor {
    async fn live(mut self) {
        loop {
            let mut tenure = Tenure::new(self.id.clone());
            let mut next = match self.cx.mailboxes.next(&self.id, &mut self.mailbox) {
                Waiting::Job(job) => Next::Work(Origin::Delivered(job)),
                Waiting::Aside => {
                    self.look_aside(&mut tenure).await;
                    self.next(&mut tenure).await
                }
                Waiting::Nothing => return,
            };
            let end = loop {
                match next {
                    Next::Work(origin) => {
                        let (cx, mailbox) = (&self.cx, &self.mailbox);
                        if let Some(end) = pipeline::apply(cx, &mut tenure, mailbox, origin).await {
                            break end;
                        }
                    }
                    Next::Route(command) => self.route(&mut tenure, &command).await,
                    Next::End(end) => break end,
                }
                next = self.next(&mut tenure).await;
            };
            self.close(tenure, end).await;
        }
    }

    /// Commands and owed work take turns, so that neither waits long for the other.
    async fn next(&mut self, tenure: &mut Tenure) -> Next {
        loop {
            tenure.collect();
            if tenure.is_over {
                return Next::End(TenureEnd::Idle);
            }
            tenure.share(&self.cx.rooms);
            if !tenure.hold.is_good() {
                return Next::End(TenureEnd::Lost);
            }
            // Another node continues unfinished work: that work might never end here.
            if tenure.unfinished && self.cx.has_given_up() {
                return Next::End(TenureEnd::Stopped);
            }
            if let Some(command) = tenure.woken.pop_front() {
                let command = Box::new(command);
                return match command.body {
                    Body::Event(_) | Body::Task(_) => Next::Route(command),
                    _ => Next::Work(Origin::Kept(command)),
                };
            }
            if tenure.is_owed_first
                && let Some(owed) = tenure.owed()
            {
                return Next::Work(Origin::Owed(owed));
            }
            if let Ok(job) = self.mailbox.try_recv() {
                tenure.is_owed_first = true;
                return Next::Work(Origin::Delivered(job));
            }
            if let Some(owed) = tenure.owed() {
                return Next::Work(Origin::Owed(owed));
            }
            if tenure.is_idle() && self.cx.mailboxes.take_aside(&self.id) {
                self.look_aside(tenure).await;
                continue;
            }
            if tenure.is_idle() {
                let is_done = tenure.tails.is_empty();
                return Next::End(if is_done { TenureEnd::Idle } else { TenureEnd::Stuck });
            }
            if let Some(next) = self.wait(tenure).await {
                return next;
            }
        }
    }

    /// Waits until there is something to do. None if the caller should look again.
    async fn wait(&mut self, tenure: &mut Tenure) -> Option<Next> {
        tenure.rest();
        let wake_at = tenure.pause.map(|(until, _)| until);
        tokio::select! {
            biased;
            () = tenure.hold.lost() => Some(Next::End(TenureEnd::Lost)),
            () = self.cx.given_up() => Some(Next::End(TenureEnd::Stopped)),
            Some(job) = self.mailbox.recv() => Some(Next::Work(Origin::Delivered(job))),
            Some(answer) = tenure.calls.join_next() => {
                tenure.answered(answer);
                None
            }
            () = sleep_until(wake_at), if wake_at.is_some() => None,
        }
    }

    /// Looks up the receivers of a kept event or task. Resumes for this instance come before other
    /// waiting work: the next event is for the bookmark after this one.
    async fn route(&self, tenure: &mut Tenure, command: &Command) {
        // The receiver is read there, and may be this instance.
        tenure.rest();
        match route::wake(&self.cx, command, &self.id).await {
            Ok(mine) => mine.into_iter().rev().for_each(|own| tenure.woken.push_front(own)),
            Err(stop) => tracing::debug!(%stop, command = %command.id, "left to the sweep"),
        }
    }

    /// Takes the next commands that were put aside, each once in a tenure: those that cannot be
    /// applied now are left to the sweep.
    async fn look_aside(&self, tenure: &mut Tenure) {
        let limit = self.cx.config.mailbox as u64;
        let filter = CommandFilter { instance_id: Some(self.id.clone()), waiting: Some(true) };
        match self.cx.store.accepted(&filter, limit).await {
            Ok(kept) => {
                let is_all = (kept.len() as u64) < limit;
                let has_new = tenure.take_aside(kept);
                if has_new && !is_all {
                    self.cx.mailboxes.note_aside(&self.id);
                }
            }
            Err(error) => tracing::debug!(%error, instance = %self.id, "left to the sweep"),
        }
    }

    /// Ends a tenure. Work that is left goes to the actor that holds the instance next.
    async fn close(&mut self, mut tenure: Tenure, end: TenureEnd) {
        tenure.calls.abort_all();
        tenure.rest();
        let is_locked_out = matches!(end, TenureEnd::LockedOut(_) | TenureEnd::Lost);
        let left_aside = is_locked_out && !tenure.taken_aside.is_empty();
        match end {
            TenureEnd::Idle => {}
            TenureEnd::LockedOut(stop) => {
                tenure.end_tails(|| Verdict::Drop);
                self.send_back(&stop);
            }
            TenureEnd::Lost => {
                METRICS.lease_lost();
                tracing::warn!(instance = %self.id, "the lease was lost; the work in progress is dropped");
                // A late acknowledgement would delete messages that the new holder still needs.
                tenure.end_tails(|| Verdict::Drop);
            }
            TenureEnd::Stopped => tenure.end_tails(|| Verdict::Retry(Duration::ZERO)),
            TenureEnd::Failed(refusal, reason) => {
                tracing::error!(instance = %self.id, reason, "owed work cannot be done");
                tenure.end_tails(|| Verdict::Park(refusal, reason.clone()));
            }
            TenureEnd::Stuck => {
                tracing::warn!(instance = %self.id, "calls ended without an answer; they are made again");
                tenure.end_tails(|| Verdict::Retry(STUCK_PAUSE));
            }
        }
        tenure.hold.release(&self.cx, tenure.traceparent.as_deref()).await;
        if left_aside {
            self.cx.mailboxes.note_aside(&self.id);
            tokio::select! {
                () = self.cx.given_up() => {}
                () = tokio::time::sleep(ASIDE_PAUSE) => {}
            }
        }
    }

    /// Sends back all commands that wait here, because another node has the lease.
    fn send_back(&mut self, stop: &Stop) {
        while let Ok(job) = self.mailbox.try_recv() {
            job.stop(stop);
        }
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
