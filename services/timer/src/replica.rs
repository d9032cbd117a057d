//! One timer replica. One task owns the window of the next timers and decides; firings and scans of
//! the database run beside it, so that a slow answer delays nothing else.

use std::collections::BTreeSet;
use std::time::Duration;

use bus::Incoming;
use chassis::Point;
use futures::StreamExt as _;
use model::{Backoff, Schedule, Timestamp};
use protocol::{TimerArmed, subject};
use store::DueTimer;
use tasks::{Panicked, Trouble};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::clock::{DatabaseClock, Reading};
use crate::memory::{Memory, Try};
use crate::pipeline::due::{Due, Key, Window};
use crate::pipeline::{Ending, fire_schedule, fire_timer};
use crate::schedule::Fired;
use crate::{Context, Error, shards, unreadable};

/// After a failure of the bus or the database nothing is fired for this long, because all firings
/// need both. Each failure in a row doubles the pause.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// The pause between two scans, even if the window is empty.
const SCAN_GAP: Duration = Duration::from_millis(250);

/// One timer replica.
pub struct Timer {
    cx: Context,
    clock: DatabaseClock,
    shards: Vec<i32>,
    window: Window,
    /// Keys that were fired and whose bookmark may still be open: if it stays open long enough,
    /// they are fired again.
    fired: Memory<Key>,
    in_flight: BTreeSet<Key>,
    work: JoinSet<Result<Done, Panicked>>,
    scan_at: Instant,
    is_scanning: bool,
    /// The last scan did not reach the end of the window.
    is_cut_short: bool,
    paused_until: Instant,
    backoff: Backoff,
    /// Failures of scans, of firings, and of the removal of rows that cannot be read.
    scan_trouble: Trouble,
    fire_trouble: Trouble,
    bury_trouble: Trouble,
}

/// The result of work that ran beside the deciding task.
enum Done {
    Scan(Result<Found, store::Error>),
    Timer(DueTimer, Result<Ending, bus::Error>),
    Schedule(Box<(Schedule, Result<Fired, Error>)>),
}

/// The result of a scan.
struct Found {
    began: Instant,
    /// The database's clock.
    reading: Reading,
    shards: Vec<i32>,
    timers: Vec<DueTimer>,
    schedules: Vec<Schedule>,
    is_cut_short: bool,
    /// Why rows that cannot be read were not moved to the dead letters.
    unburied: Option<Error>,
}

impl Timer {
    /// A replica that has not read anything yet.
    #[must_use]
    pub fn new(cx: Context) -> Self {
        Self {
            clock: DatabaseClock::new(cx.store.clone()),
            shards: shards::owned(&cx.presence, &cx.node),
            window: Window::new(cx.config.window_max),
            fired: Memory::new(cx.config.refire_after),
            in_flight: BTreeSet::new(),
            work: JoinSet::new(),
            scan_at: Instant::now(),
            is_scanning: false,
            is_cut_short: false,
            paused_until: Instant::now(),
            backoff: Backoff::new(PAUSE, PAUSE_MAX),
            scan_trouble: Trouble::default(),
            fire_trouble: Trouble::default(),
            bury_trouble: Trouble::default(),
            cx,
        }
    }

    /// Fires due timers and schedules until `stop`, then finishes the work in progress.
    ///
    /// # Errors
    /// When announcements cannot be subscribed to.
    pub async fn serve(mut self, stop: &CancellationToken) -> Result<(), Error> {
        let mut armed = self.cx.bus.subscribe(subject::TIMER_ARMED).await?;
        let mut members = self.cx.presence.changed();
        // The subscription does not report changes that happened before it.
        self.share_out();
        loop {
            self.fire_due().await;
            self.scan_if_time();
            let wake = self.wake_at();
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(Ok(done)) = self.work.join_next() => match done {
                    Ok(done) => self.finish(done),
                    Err(panicked) => self.recover(&panicked),
                },
                Some(incoming) = armed.next() => self.arm(&incoming),
                Ok(()) = members.changed() => self.share_out(),
                () = tokio::time::sleep_until(wake) => {}
            }
        }
        let drained = tokio::time::timeout(self.cx.config.drain, self.drain()).await;
        if drained.is_err() {
            tracing::warn!("stopped with firings in progress; another replica takes them over");
        }
        Ok(())
    }

    /// Scans once and fires the timers and schedules that are due now; returns the number of
    /// firings.
    pub async fn run_once(&mut self) -> u64 {
        self.share_out();
        self.scan_at = Instant::now();
        self.scan_if_time();
        let mut fired = 0;
        loop {
            while let Some(Ok(done)) = self.work.join_next().await {
                let done = match done {
                    Ok(done) => done,
                    Err(panicked) => {
                        self.recover(&panicked);
                        continue;
                    }
                };
                fired += u64::from(matches!(done, Done::Timer(_, Ok(Ending::Fired))));
                fired += match &done {
                    Done::Schedule(done) => match &done.1 {
                        Ok(Fired::Done { started, .. }) => started.len() as u64,
                        _ => 0,
                    },
                    _ => 0,
                };
                self.finish(done);
            }
            self.fire_due().await;
            if self.work.is_empty() {
                return fired;
            }
        }
    }

    /// The members have changed, and so may the node's own shards.
    fn share_out(&mut self) {
        let shards = shards::owned(&self.cx.presence, &self.cx.node);
        if shards == self.shards {
            return;
        }
        tracing::info!(count = shards.len(), "the timer shards of this node have changed");
        self.shards = shards;
        self.window.keep(&self.shards);
        self.scan_at = Instant::now();
    }

    /// Keeps an announced timer that is due soon in a shard of this node. A scan finds all others.
    fn arm(&mut self, incoming: &Incoming) {
        let message = &incoming.message;
        let armed: TimerArmed =
            match protocol::decode_body(message.content_type(), &message.payload) {
                Ok(armed) => armed,
                Err(error) => {
                    tracing::debug!(%error, "an announced timer cannot be read");
                    return;
                }
            };
        let TimerArmed { instance_id, bookmark_id, due_at, shard } = armed;
        let end = self.clock.now().map(|now| now.after(self.cx.config.window));
        if self.shards.contains(&shard) && end.is_some_and(|end| due_at < end) {
            self.offer(Due::Timer(DueTimer { due_at, instance_id, bookmark_id, shard }));
        }
    }

    fn offer(&mut self, due: Due) {
        let key = due.key();
        if self.in_flight.contains(&key) || self.fired.try_of(&key) == Try::TooSoon {
            return;
        }
        if self.window.offer(due) {
            self.cx.metrics.scheduled();
        }
    }

    fn scan_if_time(&mut self) {
        if self.is_scanning || self.scan_at > Instant::now() || self.shards.is_empty() {
            return;
        }
        self.is_scanning = true;
        let known = self.fired.len() + self.in_flight.len();
        let limit = self.cx.config.scan_rows + u64::try_from(known).unwrap_or(u64::MAX);
        let (cx, shards) = (self.cx.clone(), self.shards.clone());
        let scanning = async move { Done::Scan(scan(&cx, shards, limit).await) };
        self.work.spawn(tasks::caught("timer scan", scanning));
    }

    fn finish(&mut self, done: Done) {
        match done {
            Done::Scan(scanned) => self.finish_scan(scanned),
            Done::Timer(timer, ending) => {
                let key = Key::Timer(timer.bookmark_id.clone(), timer.due_at);
                self.in_flight.remove(&key);
                match ending {
                    Ok(Ending::Fired | Ending::FiredBefore) => {
                        self.backoff.reset();
                        self.fires_again();
                        self.fired.done(key);
                    }
                    Ok(Ending::Elsewhere) => {}
                    Err(error) if error.is_passing() => {
                        self.pause(&error);
                        self.window.offer(Due::Timer(timer));
                    }
                    Err(error) => {
                        tracing::error!(%error, bookmark = %timer.bookmark_id,
                            instance = %timer.instance_id, "this timer cannot be fired");
                        self.fired.done(key);
                    }
                }
            }
            Done::Schedule(done) => {
                let (schedule, fired) = *done;
                self.in_flight.remove(&Key::Schedule(schedule.id.clone(), schedule.occurrence));
                self.finish_schedule(schedule, fired);
            }
        }
    }

    fn finish_scan(&mut self, scanned: Result<Found, store::Error>) {
        self.is_scanning = false;
        self.scan_at = Instant::now() + self.cx.config.scan_every;
        let found = match scanned {
            Ok(found) => found,
            Err(error) => {
                if self.scan_trouble.is_news(&error) {
                    tracing::warn!(%error, "due timers could not be read, trying again");
                }
                return;
            }
        };
        if self.scan_trouble.ends() {
            tracing::info!("due timers are read again");
        }
        match found.unburied {
            Some(error) if self.bury_trouble.is_news(&error) => {
                tracing::warn!(
                    %error,
                    "rows that cannot be read are not moved to the dead letters yet"
                );
            }
            Some(_) => {}
            None if self.bury_trouble.ends() => {
                tracing::info!("rows that cannot be read are moved to the dead letters again");
            }
            None => {}
        }
        self.clock.note(found.reading);
        if found.shards != self.shards {
            // The shards changed during the scan.
            self.scan_at = Instant::now();
        }
        self.is_cut_short = found.is_cut_short;
        let timers = found.timers.into_iter().map(Due::Timer);
        let found_due: Vec<_> =
            timers.chain(found.schedules.into_iter().map(Due::Schedule)).collect();
        if !self.is_cut_short {
            let open: BTreeSet<_> = found_due.iter().map(Due::key).collect();
            self.fired.forget(found.began, |key| open.contains(key));
        }
        for due in found_due {
            if self.shards.contains(&due.shard()) {
                self.offer(due);
            }
        }
        self.cx.metrics.near(self.window.timers());
    }

    fn finish_schedule(&mut self, schedule: Schedule, fired: Result<Fired, Error>) {
        match fired {
            Ok(Fired::Done { schedule, missed, .. }) => {
                self.fires_again();
                if missed > 0 {
                    tracing::warn!(schedule = %schedule.id, missed, "occurrences were missed");
                    self.cx.metrics.misfired(missed);
                }
                let end = self.clock.now().map(|now| now.after(self.cx.config.window));
                if schedule.next_at.is_some_and(|next_at| end.is_some_and(|end| next_at < end)) {
                    self.offer(Due::Schedule(schedule));
                }
            }
            Ok(Fired::Elsewhere) => {}
            Ok(Fired::Invalid(invalid)) => {
                tracing::error!(schedule = %schedule.id, definition = %schedule.definition_id,
                    %invalid, "a schedule cannot fire; publish its definition anew");
                self.fired.done(Key::Schedule(schedule.id, schedule.occurrence));
            }
            Err(error) if error.is_passing() => {
                self.pause(&error);
                self.window.offer(Due::Schedule(schedule));
            }
            Err(error) => {
                tracing::error!(%error, schedule = %schedule.id,
                    definition = %schedule.definition_id, "this schedule cannot be fired");
                self.fired.done(Key::Schedule(schedule.id, schedule.occurrence));
            }
        }
    }

    fn pause(&mut self, error: &dyn std::error::Error) {
        if self.paused_until > Instant::now() {
            return;
        }
        // The texts of such errors differ, because they name the timer.
        if self.fire_trouble.is_news("a timer could not be fired") {
            tracing::warn!(%error, "a timer could not be fired, trying again");
        }
        self.paused_until = Instant::now() + self.backoff.next();
    }

    fn fires_again(&mut self) {
        if self.fire_trouble.ends() {
            tracing::info!("timers are fired again");
        }
    }

    /// A firing or a scan panicked: the next scan finds its timers again.
    fn recover(&mut self, panicked: &Panicked) {
        tracing::error!(%panicked, "a firing broke off; the next scan finds it again");
        self.in_flight.clear();
        self.is_scanning = false;
    }

    /// Starts firings of due timers, up to the limit of firings at the same time.
    async fn fire_due(&mut self) {
        let Some(first) = self.window.first_at() else { return };
        if self.paused_until > Instant::now() || !self.has_room() {
            return;
        }
        if self.clock.now().is_some_and(|now| now < first) {
            return;
        }
        if let Err(error) = self.clock.measure(self.cx.config.clock_every).await {
            self.pause(&error);
            return;
        }
        let Some(now) = self.clock.now() else { return };
        while self.has_room() {
            let Some(due) = self.window.pop_due(now) else { break };
            self.fire(due, now);
        }
        let low = usize::try_from(self.cx.config.scan_rows / 2).unwrap_or(usize::MAX);
        if self.is_cut_short && self.window.timers() < low {
            self.scan_at = self.scan_at.min(Instant::now() + SCAN_GAP);
        }
    }

    fn has_room(&self) -> bool {
        self.in_flight.len() < self.cx.config.in_flight_max
    }

    fn fire(&mut self, due: Due, now: Timestamp) {
        let key = due.key();
        let tried = self.fired.try_of(&key);
        if tried == Try::TooSoon || !self.in_flight.insert(key) {
            return;
        }
        let cx = self.cx.clone();
        match due {
            Due::Timer(timer) => self.work.spawn(tasks::caught("fire timer", async move {
                let ending = fire_timer(&cx, &timer, now, tried).await;
                Done::Timer(timer, ending)
            })),
            Due::Schedule(schedule) => {
                self.work.spawn(tasks::caught("fire schedule", async move {
                    let fired = fire_schedule(&cx, schedule.clone(), now).await;
                    Done::Schedule(Box::new((schedule, fired)))
                }))
            }
        };
    }

    /// The time of the next thing to do, unless an event comes before.
    fn wake_at(&self) -> Instant {
        let may_scan = !self.is_scanning && !self.shards.is_empty();
        let scan = Some(self.scan_at).filter(|_| may_scan);
        let first = self.window.first_at().filter(|_| self.has_room());
        let due = first.map(|first| {
            let due = self.clock.instant_of(first).unwrap_or_else(Instant::now);
            due.max(self.paused_until)
        });
        let never = Instant::now() + self.cx.config.scan_every;
        [scan, due].into_iter().flatten().fold(never, Instant::min)
    }

    async fn drain(&mut self) {
        while !self.in_flight.is_empty() {
            match self.work.join_next().await {
                Some(Ok(Ok(done))) => self.finish(done),
                Some(Ok(Err(panicked))) => self.recover(&panicked),
                Some(Err(_)) | None => return,
            }
        }
    }
}

async fn scan(cx: &Context, shards: Vec<i32>, limit: u64) -> Result<Found, store::Error> {
    let began = Instant::now();
    let reading = Reading::take(&*cx.store).await?;
    let before = reading.time().after(cx.config.window);
    let timers = cx.store.due_timers(&shards, before, limit).await?;
    let schedules = cx.store.due_schedules(&shards, before, limit).await?;
    let unburied = unreadable::bury(cx, reading.time()).await.err();
    cx.trail.at(Point::Scanned).await;
    let full = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_cut_short = timers.len() >= full || schedules.len() >= full;
    Ok(Found { began, reading, shards, timers, schedules, is_cut_short, unburied })
}

#[cfg(test)]
mod tests;
