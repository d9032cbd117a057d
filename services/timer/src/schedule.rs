//! Fires an occurrence of a schedule. One transaction accepts the starts and advances the schedule,
//! so each occurrence starts once, however many replicas try. Then the starts are published; the
//! sweep publishes those that a crash leaves behind.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use chassis::Point;
use model::{
    CommandId, Instance, InstanceId, InvalidCalendar, Schedule, Timestamp, VersionId, derived,
};
use protocol::{Body, Command, Start};
use store::{Firing, NewInstance};

use crate::recurrence::{self, Plan};
use crate::{Context, Error};

/// The largest number of versions whose numbers are remembered.
const VERSIONS_MAX: usize = 10_000;

/// The numbers of definition versions, which never change.
#[derive(Default)]
pub(crate) struct Versions(Mutex<BTreeMap<VersionId, u32>>);

/// The result of firing a schedule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fired {
    /// This replica fired it; contains the new state of the schedule.
    Done { schedule: Schedule, started: Vec<Timestamp>, missed: u32 },
    /// Another replica fired it, or the schedule is paused or gone.
    Elsewhere,
    /// Its times cannot be computed.
    Invalid(InvalidCalendar),
}

impl Versions {
    async fn number(&self, cx: &Context, id: &VersionId) -> Result<Option<u32>, store::Error> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied();
        if known.is_some() {
            return Ok(known);
        }
        let number = cx.store.version(id).await?.map(|definition| definition.version);
        if let Some(number) = number {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= VERSIONS_MAX {
                known.pop_first();
            }
            known.insert(id.clone(), number);
        }
        Ok(number)
    }
}

/// Fires the occurrences of a schedule that are due at `now`, a time of the database's clock.
pub(crate) async fn fire(cx: &Context, schedule: Schedule, now: Timestamp) -> Result<Fired, Error> {
    let Some(next_at) = schedule.next_at else { return Ok(Fired::Elsewhere) };
    let Schedule { recurrence, misfire, .. } = &schedule;
    let grace = cx.config.misfire_after;
    let plan = match recurrence::plan(recurrence, *misfire, next_at, now, grace) {
        Ok(plan) => plan,
        Err(invalid) => return Ok(Fired::Invalid(invalid)),
    };
    let Some(number) = cx.versions.number(cx, &schedule.version_id).await? else {
        return Ok(Fired::Elsewhere);
    };
    let Plan { fire: times, missed, next_at } = plan;
    let mut starts = Vec::with_capacity(times.len());
    for occurrence in (schedule.occurrence..).take(times.len()) {
        starts.push(start(&schedule, number, occurrence, now)?);
    }
    let fired = i64::try_from(starts.len()).unwrap_or(i64::MAX);
    let firing = Firing {
        schedule_id: schedule.id.clone(),
        occurrence: schedule.occurrence,
        occurrence_next: schedule.occurrence.saturating_add(fired.max(1)),
        next_at,
        starts: starts.clone(),
        fired_at: times.last().copied(),
        missed,
    };
    let occurrence = firing.occurrence_next;
    cx.trail.at(Point::BeforeOccurrence).await;
    if !cx.store.fire(firing).await? {
        return Ok(Fired::Elsewhere);
    }
    cx.trail.at(Point::Occurred).await;
    for start in starts {
        if let Err(error) = cx.bus.publish(start.command).await {
            tracing::warn!(%error, instance = %start.instance.id,
                "a scheduled start could not be published; the sweep publishes it");
        }
    }
    let schedule = Schedule { next_at, occurrence, ..schedule };
    Ok(Fired::Done { schedule, started: times, missed })
}

/// The instance that an occurrence starts, and its command. The same occurrence gives the same ids.
fn start(
    schedule: &Schedule,
    number: u32,
    occurrence: i64,
    now: Timestamp,
) -> Result<NewInstance, Error> {
    let id = derived(&["schedule", schedule.id.as_str(), &occurrence.to_string()]);
    let instance_id = InstanceId::new(id.clone());
    let body = Start {
        definition_id: schedule.definition_id.clone(),
        instance_id: Some(instance_id.clone()),
        version_id: Some(schedule.version_id.clone()),
        trigger_activity_id: Some(schedule.activity_id.clone()),
        ..Start::default()
    };
    let mut command = Command::new(CommandId::new(id), Body::Start(body));
    command.traceparent = chassis::inject();
    let command = command.encode()?;
    let (definition_id, version_id) = (schedule.definition_id.clone(), schedule.version_id.clone());
    let instance = Instance::new(instance_id, definition_id, version_id, number, now);
    // The first burst checks the activation strategy.
    Ok(NewInstance { instance, command, activation_key: None })
}
