//! One instance in this process: its commands queue here, one behind the other, and share one
//! lease, which is given back only when nothing more waits.
//!
//! An actor lives from the first command to the last; a tenure is the time it holds the lease.
//! While outgoing calls run, it goes on taking commands, so that a cancel reaches them.

mod desk;
mod queue;
mod tail;

use std::time::Duration;

use chassis::Point;
use futures::future::join_all;
use model::InstanceId;
use protocol::{Body, Command, Outcome, Refusal};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::Instrument as _;

use desk::{Desk, Own};
use queue::Job;
pub(crate) use queue::{Actors, apply};
use tail::Tail;

use crate::decide::{Known, Sight};
use crate::executor::Cx;
use crate::metrics::METRICS;
use crate::pipeline::commit::Done;
use crate::pipeline::lock::Hold;
use crate::pipeline::perform::perform;
use crate::pipeline::settle::{Stop, Verdict};
use crate::pipeline::{self, Advance, load, publish};
use crate::reply;
use crate::route;
use crate::work::Work;

/// When a command comes again whose calls vanished.
const STUCK_PAUSE: Duration = Duration::from_secs(5);

struct Actor {
    cx: Cx,
    id: InstanceId,
    mailbox: mpsc::Receiver<Box<Job>>,
    tenure: Option<Tenure>,
}

/// The time in which an actor works on its instance, from taking the lease to giving it back.
struct Tenure {
    hold: Hold,
    since: Instant,
}

/// What is done next.
enum Next {
    Job(Box<Job>),
    Woken(Box<Command>),
    Own(Own),
    End(End),
}

/// Why a tenure ends.
enum End {
    /// Nothing is left to do.
    Idle,
    /// The lease is lost.
    Lost,
    /// The process stops.
    Stopped,
    /// Own work can never be done.
    Failed(Refusal, String),
    /// Calls have vanished without an answer.
    Stuck,
}

impl Actor {
    async fn live(mut self) {
        while let Some(job) = self.retire() {
            let (mut hold, mut desk) = (Hold::default(), Desk::default());
            if !job.is_unheard_of() {
                match self.take_over(&mut hold).await {
                    Ok(known) => desk.known = known,
                    Err(stop) => {
                        self.turn_away(job, &stop);
                        continue;
                    }
                }
            }
            self.tenure = Some(Tenure { hold, since: Instant::now() });
            let mut end = self.command(&mut desk, job).await;
            let end = loop {
                if let Some(end) = end {
                    break end;
                }
                end = match self.next(&mut desk).await {
                    Next::Job(job) => self.command(&mut desk, job).await,
                    Next::Woken(command) => self.wake(&mut desk, *command).await,
                    Next::Own(own) => self.owe(&mut desk, own).await,
                    Next::End(end) => Some(end),
                };
            };
            self.close(desk, end).await;
        }
    }

    /// Takes the lease, and reads the instance meanwhile: where nobody else had the lease, hardly
    /// anybody has changed it since, and if somebody has after all, the commit says so.
    async fn take_over(&self, hold: &mut Hold) -> Result<Option<Known>, Stop> {
        // What cannot be read now is read again by the burst, which says why.
        let reading = Box::pin(async { Ok(load::read(&self.cx, &self.id).await.ok()) });
        // Who is refused does not wait for what was read.
        let ((), known) = tokio::try_join!(hold.take(&self.cx, &self.id), reading)?;
        let known = known.filter(|_| !hold.was_contended());
        Ok(known.map(|known| Known { sight: Sight::Early, ..known }))
    }

    /// Nobody gets in while another has the lease: all that wait here come again later.
    fn turn_away(&mut self, first: Box<Job>, stop: &Stop) {
        first.stop(stop);
        while let Ok(job) = self.mailbox.try_recv() {
            job.stop(stop);
        }
    }

    /// Commands and own work take turns, so that neither keeps the other waiting for long.
    async fn next(&mut self, desk: &mut Desk) -> Next {
        loop {
            desk.collect();
            let Some(tenure) = &mut self.tenure else { return Next::End(End::Idle) };
            let is_wanted = !(desk.is_idle() && self.mailbox.is_empty());
            if is_wanted && let Err(stop) = tenure.hold.take(&self.cx, &self.id).await {
                tracing::info!(%stop, instance = %self.id, "others go on with it");
                return Next::End(End::Lost);
            }
            if !tenure.hold.is_good() {
                return Next::End(End::Lost);
            }
            if let Some(command) = desk.woken.pop_front() {
                return Next::Woken(Box::new(command));
            }
            if desk.own_turn
                && let Some(own) = desk.owed()
            {
                return Next::Own(own);
            }
            if let Ok(job) = self.mailbox.try_recv() {
                desk.own_turn = true;
                return Next::Job(job);
            }
            if let Some(own) = desk.owed() {
                return Next::Own(own);
            }
            if desk.is_idle() {
                let end = if desk.tails.is_empty() { End::Idle } else { End::Stuck };
                return Next::End(end);
            }
            let wake_at = desk.pause.map(|(until, _)| until);
            tokio::select! {
                biased;
                () = tenure.hold.lost() => return Next::End(End::Lost),
                () = self.cx.given_up() => return Next::End(End::Stopped),
                Some(job) = self.mailbox.recv() => return Next::Job(job),
                Some(answer) = desk.calls.join_next() => desk.answered(answer),
                () = sleep_until(wake_at), if wake_at.is_some() => {}
            }
        }
    }

    /// One burst for a command.
    async fn command(&mut self, desk: &mut Desk, job: Box<Job>) -> Option<End> {
        let mut work = Work::command(&job.command, job.stored_at);
        work.responders = desk.responders(Some(&job.command));
        desk.traceparent.clone_from(&job.command.traceparent);
        match self.burst(desk, &work).await {
            Ok(Advance::Done(done)) => {
                desk.tails.push(Tail::new(job));
                self.finish(desk, done).await;
                None
            }
            Ok(Advance::Tail) => {
                desk.tails.push(Tail::new(job));
                self.perform(desk);
                self.reply(desk).await;
                None
            }
            Ok(Advance::Nothing) => {
                job.end(Verdict::Ack);
                None
            }
            Ok(Advance::Refused(refusal, reason)) => {
                let outcome = reply::outcome(&self.id, desk.known.as_ref());
                let (refusal, message) = (Some(refusal), Some(reason));
                let outcome = Outcome { refusal, message, ..outcome };
                reply::reply(&self.cx, &job.command, &outcome).await;
                job.end(Verdict::Ack);
                None
            }
            Err(Stop::Fenced) => {
                job.end(Verdict::Drop);
                Some(End::Lost)
            }
            Err(stop) => {
                job.stop(&stop);
                None
            }
        }
    }

    /// One burst for a command that waited: it stays where it is kept until it is applied.
    async fn wake(&mut self, desk: &mut Desk, command: Command) -> Option<End> {
        if matches!(command.body, Body::Event(_) | Body::Task(_)) {
            match route::wake(&self.cx, &command, &self.id).await {
                // Before whatever else waited: the next event is for the bookmark after this one.
                Ok(mine) => mine.into_iter().rev().for_each(|own| desk.woken.push_front(own)),
                Err(stop) => tracing::debug!(%stop, command = %command.id, "left to the sweep"),
            }
            return None;
        }
        let mut work = Work::command(&command, self.cx.now());
        work.is_woken = true;
        work.responders = desk.responders(None);
        match self.burst(desk, &work).await {
            Ok(Advance::Done(done)) => {
                self.finish(desk, done).await;
                None
            }
            Ok(Advance::Tail | Advance::Nothing | Advance::Refused(..)) => None,
            Err(Stop::Fenced) => Some(End::Lost),
            Err(stop) => {
                tracing::debug!(%stop, command = %command.id, "left to the sweep");
                None
            }
        }
    }

    /// One burst for what the actor owes. Where the world fails it, it is tried again while the
    /// lease is held: a call that has its answer is not made a second time.
    async fn owe(&mut self, desk: &mut Desk, own: Own) -> Option<End> {
        desk.own_turn = false;
        let traceparent = desk.traceparent.clone();
        let mut work = match &own {
            Own::Continue => {
                let version = desk.known.as_ref().map_or(0, Known::version);
                Work::proceed(&self.id, version, traceparent)
            }
            Own::Result(bookmark_id, input) => {
                Work::result(&self.id, bookmark_id.clone(), input.clone(), traceparent)
            }
        };
        work.responders = desk.responders(None);
        match self.burst(desk, &work).await {
            Ok(Advance::Done(done)) => {
                desk.pause = None;
                self.finish(desk, done).await;
                None
            }
            Ok(Advance::Tail | Advance::Nothing | Advance::Refused(..)) => {
                desk.pause = None;
                self.perform(desk);
                self.reply(desk).await;
                None
            }
            Err(stop) if stop.is_passing() => {
                tracing::warn!(%stop, instance = %self.id, "own work fails, trying again");
                desk.put_back(own);
                None
            }
            Err(Stop::Fenced) => Some(End::Lost),
            Err(Stop::Dead(refusal, reason)) => Some(End::Failed(refusal, reason)),
            Err(stop) => Some(End::Failed(Refusal::Dead, stop.to_string())),
        }
    }

    async fn burst(&mut self, desk: &mut Desk, work: &Work) -> Result<Advance, Stop> {
        let Some(tenure) = &mut self.tenure else { return Err(Stop::Fenced) };
        let began = Instant::now();
        let span = tracing::info_span!("burst", instance = %self.id, command = %work.id);
        chassis::link(&span, work.traceparent.as_deref());
        let burst = async {
            let permit = self.cx.bursts.acquire().await;
            let permit = permit.map_err(|error| Stop::later(error.to_string()))?;
            let traced = chassis::inject();
            let work = Work { traceparent: traced.or(work.traceparent.clone()), ..work.clone() };
            let known = &mut desk.known;
            let advance = pipeline::burst(&self.cx, &self.id, &mut tenure.hold, known, &work).await;
            drop(permit);
            advance
        };
        let advance = burst.instrument(span).await;
        match &advance {
            Ok(Advance::Done(done)) => self.say(desk, done, work, began.elapsed()),
            Ok(_) => {}
            Err(Stop::Bug(reason)) => {
                tracing::error!(instance = %self.id, command = %work.id, reason, "bug");
                desk.known = None;
            }
            Err(_) => desk.known = None,
        }
        advance
    }

    /// One line per change in the life of an instance.
    fn say(&self, desk: &Desk, done: &Done, work: &Work, took: Duration) {
        METRICS.burst(took);
        let Some(Known { row: Some(row), record, .. }) = &desk.known else { return };
        let (turn, ms) = (record.state.turns, took.as_millis() as u64);
        let (definition, status, version) = (&row.definition_id, row.status, row.version);
        if done.was == Some(status) {
            tracing::debug!(
                instance = %self.id, %definition, %status, version, command = %work.id, turn, ms,
                "instance moved"
            );
            return;
        }
        METRICS.status(status);
        tracing::info!(
            instance = %self.id, %definition, %status, version, command = %work.id, turn, ms,
            "instance changed"
        );
    }

    /// What follows from a commit: calls are made, the lease is given back, what was committed is
    /// published, senders are told; then commands that are done with are acknowledged.
    ///
    /// The release goes out first, so that whoever is caused by what is published or told does not
    /// meet a busy lease; nobody waits for its answer, because nothing depends on it. Both come
    /// before the acknowledgement: a crash in between has the command delivered again, and the tail
    /// is done then. Only when nothing waits here is the lease given back at all.
    async fn finish(&mut self, desk: &mut Desk, done: Box<Done>) {
        let Done { outgoing, answer, woken, .. } = *done;
        for message in &woken {
            match Command::decode(message, "") {
                Ok(command) => desk.wake(command),
                Err(error) => tracing::error!(%error, "a kept command cannot be read"),
            }
        }
        self.perform(desk);
        let rests = desk.known.as_ref().is_some_and(Known::rests);
        let is_over = desk.is_idle() && self.mailbox.is_empty();
        let released = if is_over { self.tenure.take() } else { None };
        let replies = desk.replies(&self.id, answer);
        let cx = &self.cx;
        let tell =
            join_all(replies.iter().map(|(reply_to, outcome)| reply::send(cx, reply_to, outcome)));
        tokio::join!(release(cx, released), publish::publish(cx, outgoing), tell);
        if rests {
            desk.end_tails(|| Verdict::Ack);
        }
    }

    /// Tells those who may know how things stand, after nothing new was committed.
    async fn reply(&self, desk: &mut Desk) {
        for (reply_to, outcome) in desk.replies(&self.id, None) {
            reply::send(&self.cx, &reply_to, &outcome).await;
        }
        if desk.known.as_ref().is_some_and(Known::rests) {
            desk.end_tails(|| Verdict::Ack);
        }
    }

    /// Makes the calls that are committed and not under way; gives up those that are gone.
    fn perform(&self, desk: &mut Desk) {
        let Some(known) = &desk.known else { return };
        desk.unfinished = known.record.unfinished;
        let wanted = &known.record.state.calls;
        desk.in_flight.retain(|id, call| {
            let is_wanted = wanted.contains_key(id);
            if !is_wanted {
                call.abort();
            }
            is_wanted
        });
        desk.results.retain(|(id, _)| wanted.contains_key(id));
        for (id, call) in wanted {
            let is_answered = desk.results.iter().any(|(answered, _)| answered == id);
            if is_answered || desk.in_flight.contains_key(id) {
                continue;
            }
            let call = perform(Cx::clone(&self.cx), call.clone(), desk.traceparent.clone());
            desk.in_flight.insert(id.clone(), desk.calls.spawn(call));
        }
    }

    /// Ends a tenure. What is left of it goes to whoever comes next.
    async fn close(&mut self, mut desk: Desk, end: End) {
        desk.calls.abort_all();
        let tenure = self.tenure.take();
        match end {
            End::Idle => {}
            End::Lost => {
                METRICS.lease_lost();
                tracing::warn!(instance = %self.id, "lease lost, what is in hand is dropped");
                // A late acknowledgement would delete what its new holder still needs.
                desk.end_tails(|| Verdict::Drop);
            }
            End::Stopped => desk.end_tails(|| Verdict::Retry(Duration::ZERO)),
            End::Failed(refusal, reason) => {
                tracing::error!(instance = %self.id, reason, "own work cannot be done");
                desk.end_tails(|| Verdict::Park(refusal, reason.clone()));
            }
            End::Stuck => {
                tracing::error!(instance = %self.id, "calls ended without an answer");
                desk.end_tails(|| Verdict::Retry(STUCK_PAUSE));
            }
        }
        release(&self.cx, tenure).await;
    }
}

async fn release(cx: &Cx, tenure: Option<Tenure>) {
    let Some(Tenure { hold, since }) = tenure else { return };
    if !hold.is_taken() {
        return;
    }
    cx.at(Point::BeforeRelease).await;
    hold.release().await;
    METRICS.lease_held(since.elapsed());
    cx.at(Point::Released).await;
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
