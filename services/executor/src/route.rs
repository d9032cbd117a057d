//! Events and tasks: finds the bookmarks and triggers that wait for them, by hash. Each receiver
//! gets its own command. One transaction accepts these commands and ends the event; they are
//! published afterwards.

use chassis::Point;
use model::{CommandId, DefinitionId, InstanceId, Map, Stimulus, Trigger, limits};
use protocol::{Body, Command, EventRaised, Message, Outcome, Refusal, Resume, Start};
use serde_json::json;
use store::{BookmarkFilter, NewInstance, PendingCommand, Room, StoredBookmark};

use crate::accept::{Descent, accepted, accepted_command};
use crate::cx::Cx;
use crate::pipeline::decide::over;
use crate::pipeline::{load, publish};
use crate::reply;
use crate::stop::Stop;

/// The input under which an event's payload arrives.
const EVENT_KEY: &str = "__EventPayloadWorkflowInput";
/// The number of receivers accepted in one transaction.
const CHUNK: usize = 1_000;

/// An event or a task: the hashes to look up, and the input of the receivers.
struct Stimulated<'a> {
    command: &'a Command,
    kind: &'static str,
    hash: String,
    correlation_id: Option<String>,
    instance_id: Option<InstanceId>,
    input: Map,
    starts_new: bool,
    wait_max: std::time::Duration,
}

impl Stimulated<'_> {
    /// One instance waits for a task, and may refuse the report: its attempt may be over. So the
    /// instance answers the worker. The receivers of an event are many, and are counted.
    fn is_answered_by_its_receiver(&self) -> bool {
        matches!(self.command.body, Body::Task(_))
    }
}

/// The accepted commands of the receivers, to be published.
pub(crate) struct Fanned {
    resumes: Vec<(InstanceId, Command, Message)>,
    starts: Vec<(InstanceId, Message)>,
}

/// The result of routing an event or a task.
enum Routed {
    /// Its receivers have their commands.
    Fanned(Fanned),
    /// Nothing waits for it yet: it is kept.
    Kept,
    /// It was handed out before.
    Before,
    /// Its instance is over and did not take it.
    Over(String),
}

/// Sends an event or a task to its receivers, and their number to its sender.
pub(crate) async fn apply(cx: &Cx, command: &Command) -> Result<(), Stop> {
    let outcome = match fan_out(cx, command).await? {
        Routed::Fanned(fanned) => {
            let affected = fanned.resumes.len() + fanned.starts.len();
            let resumes = fanned.resumes.into_iter().map(|(_, _, message)| message);
            let starts = fanned.starts.into_iter().map(|(_, message)| message);
            publish::send_all(cx, resumes.chain(starts).collect()).await;
            if matches!(command.body, Body::Task(_)) {
                // The instance that waits for the task answers.
                return Ok(());
            }
            Outcome { affected: Some(affected as u64), ..Outcome::default() }
        }
        Routed::Kept => {
            // The id of a task does not say whether the task is still to come or over.
            let reason = match command.body {
                Body::Task(_) => {
                    "no instance waits for it, not yet or not any more: it is kept for 7 days"
                }
                _ => "nobody waits for it yet: it is kept",
            };
            nobody(Refusal::Waiting, reason)
        }
        Routed::Before => nobody(Refusal::AlreadyDone, "it was handed out before"),
        Routed::Over(reason) => return Err(Stop::Refused(Refusal::AlreadyDone, reason)),
    };
    reply::reply(cx, command, &outcome).await;
    Ok(())
}

fn nobody(refusal: Refusal, reason: &str) -> Outcome {
    Outcome { affected: Some(0), ..Outcome::refused(refusal, reason) }
}

/// Hands an event to its receivers, and returns them with their commands. When it was handed out before,
/// they are those that it starts: what it has resumed then is not known any more.
pub(crate) async fn hand_over(
    cx: &Cx,
    command: &Command,
) -> Result<Vec<(InstanceId, CommandId)>, Stop> {
    let none = CommandId::default;
    match fan_out(cx, command).await? {
        Routed::Fanned(Fanned { resumes, starts }) => {
            let resumed = resumes.iter().map(|(id, command, _)| (id.clone(), command.id.clone()));
            let started = starts.iter().map(|(id, _)| (id.clone(), none()));
            let receivers = resumed.chain(started).collect();
            let resumes = resumes.into_iter().map(|(_, _, message)| message);
            let starts = starts.into_iter().map(|(_, message)| message);
            publish::send_all(cx, resumes.chain(starts).collect()).await;
            Ok(receivers)
        }
        Routed::Before => {
            let Some(stimulated) = stimulated(cx, command) else { return Ok(Vec::new()) };
            let (_, triggers) = receivers(cx, &stimulated).await?;
            let mut started = Vec::new();
            for trigger in triggers {
                started.push((start(cx, &stimulated, trigger).await?.instance.id, none()));
            }
            Ok(started)
        }
        Routed::Kept | Routed::Over(_) => Ok(Vec::new()),
    }
}

/// Looks up the receivers of an event or task that was kept until this instance had a bookmark for it.
/// Returns the resumes for this instance, to be applied while it is held; publishes the others.
pub(crate) async fn wake(
    cx: &Cx,
    command: &Command,
    own: &InstanceId,
) -> Result<Vec<Command>, Stop> {
    let Routed::Fanned(fanned) = fan_out(cx, command).await? else { return Ok(Vec::new()) };
    let (mine, others): (Vec<_>, Vec<_>) =
        fanned.resumes.into_iter().partition(|(instance_id, ..)| instance_id == own);
    let others = others.into_iter().map(|(_, _, message)| message);
    let starts = fanned.starts.into_iter().map(|(_, message)| message);
    publish::send_all(cx, others.chain(starts).collect()).await;
    Ok(mine.into_iter().map(|(_, command, _)| command).collect())
}

/// Finds the receivers and accepts their commands; keeps the event or task when nothing waits for it.
/// An event without a named instance is handed out once: a second delivery does not reach bookmarks
/// that were made since.
async fn fan_out(cx: &Cx, command: &Command) -> Result<Routed, Stop> {
    let Some(stimulated) = stimulated(cx, command) else { return Ok(Routed::Kept) };
    cx.at(Point::BeforeRoute).await;
    // An event for one instance is kept until a burst has taken it: another event may burn the
    // bookmark that is found now, and the instance may wait for this event again.
    let mut is_kept = stimulated.instance_id.is_some();
    if is_kept {
        keep(cx, &stimulated).await?;
    }
    let (bookmarks, triggers) = loop {
        let (bookmarks, triggers) = receivers(cx, &stimulated).await?;
        if !bookmarks.is_empty() || !triggers.is_empty() {
            break (bookmarks, triggers);
        }
        if is_kept {
            return unwanted(cx, &stimulated).await;
        }
        // Write first, look second. Bursts that create bookmarks do the same, so one of the two sides
        // always sees the other.
        keep(cx, &stimulated).await?;
        is_kept = true;
    };
    cx.at(Point::Routed).await;
    let fanned = accept(cx, &stimulated, bookmarks, triggers).await?;
    cx.at(Point::FannedOut).await;
    match fanned {
        Some(fanned) => Ok(Routed::Fanned(fanned)),
        None => forget(cx, &stimulated).await,
    }
}

/// The result for a kept event or task that has no receiver now. It stays kept unless it was taken
/// or handed out before, or its instance is over.
async fn unwanted(cx: &Cx, stimulated: &Stimulated<'_>) -> Result<Routed, Stop> {
    let event = &stimulated.command.id;
    let Some(instance_id) = &stimulated.instance_id else {
        let is_over = cx.store.is_routed(event).await?;
        return if is_over { forget(cx, stimulated).await } else { Ok(Routed::Kept) };
    };
    let mut room = Room::default();
    let known = load::read_in_turn(cx, instance_id, &mut room).await?;
    if known.record.has_taken(event) {
        return forget(cx, stimulated).await;
    }
    match known.row.filter(|row| row.status.is_final()) {
        Some(row) => Ok(Routed::Over(over(&row))),
        None => Ok(Routed::Kept),
    }
}

async fn forget(cx: &Cx, stimulated: &Stimulated<'_>) -> Result<Routed, Stop> {
    cx.store.settle(&stimulated.command.id, Vec::new(), Vec::new()).await?;
    Ok(Routed::Before)
}

fn stimulated<'c>(cx: &Cx, command: &'c Command) -> Option<Stimulated<'c>> {
    match &command.body {
        Body::Event(event) => Some(Stimulated {
            command,
            kind: "event",
            hash: match &event.listened {
                Some(source) => Stimulus::message(source).hash(),
                None => Stimulus::event(&event.event_name).hash(),
            },
            correlation_id: event.correlation_id.clone(),
            instance_id: event.instance_id.clone(),
            input: Map::from_iter([(EVENT_KEY.to_owned(), json!({ "payload": event.payload }))]),
            starts_new: event.instance_id.is_none(),
            wait_max: cx.config.event_wait,
        }),
        Body::Task(task) => Some(Stimulated {
            command,
            kind: "task",
            hash: Stimulus::task(&task.task_id).hash(),
            correlation_id: None,
            instance_id: None,
            input: task.input(),
            starts_new: false,
            wait_max: limits::RESUME_WAIT_MAX,
        }),
        Body::Start(_) | Body::Resume(_) | Body::Cancel(_) | Body::Alter(_) | Body::Perform(_) => {
            None
        }
    }
}

async fn receivers(
    cx: &Cx,
    stimulated: &Stimulated<'_>,
) -> Result<(Vec<StoredBookmark>, Vec<Trigger>), Stop> {
    let filter = BookmarkFilter {
        hash: Some(stimulated.hash.clone()),
        instance_id: stimulated.instance_id.clone(),
        correlation_id: stimulated.correlation_id.clone(),
        ..BookmarkFilter::default()
    };
    let bookmarks = cx.store.find(&filter, limits::EVENT_RECEIVERS_MAX).await?;
    if bookmarks.len() as u64 >= limits::EVENT_RECEIVERS_MAX {
        let max = limits::EVENT_RECEIVERS_MAX;
        tracing::error!(command = %stimulated.command.id, max, "an event has too many receivers; the rest of them is left out");
    }
    let triggers =
        if stimulated.starts_new { cx.store.triggers(&stimulated.hash).await? } else { Vec::new() };
    let Body::Event(EventRaised { listened: Some(source), .. }) = &stimulated.command.body else {
        return Ok((bookmarks, triggers));
    };
    // A source is listened to if one definition may: the others that name it get nothing.
    let nats = &cx.config.connectors.nats;
    let may = |definition: &DefinitionId| nats.allow_source(definition, source).is_ok();
    let bookmarks = bookmarks.into_iter().filter(|found| may(&found.definition_id)).collect();
    Ok((bookmarks, triggers.into_iter().filter(|found| may(&found.definition_id)).collect()))
}

async fn keep(cx: &Cx, stimulated: &Stimulated<'_>) -> Result<(), Stop> {
    let Stimulated { command, .. } = stimulated;
    let mut kept = Command::new(command.id.clone(), command.body.clone());
    kept.traceparent = command.traceparent.clone();
    kept.lineage = command.lineage;
    let now = cx.now();
    let encoded = kept.encode().map_err(Stop::garbled)?;
    let pending = PendingCommand {
        instance_id: stimulated.instance_id.clone(),
        hash: Some(stimulated.hash.clone()),
        correlation_id: stimulated.correlation_id.clone(),
        expires_at: Some(now.after(stimulated.wait_max)),
        waiting: true,
        ..accepted_command(command.id.clone(), encoded, now)
    };
    cx.at(Point::BeforeWait).await;
    cx.store.wait(pending).await?;
    cx.at(Point::Waiting).await;
    Ok(())
}

/// Accepts one command per receiver, and ends the event with the last of them. An event for one
/// instance is ended by the burst that takes it. None when the event was handed out before.
async fn accept(
    cx: &Cx,
    stimulated: &Stimulated<'_>,
    bookmarks: Vec<StoredBookmark>,
    triggers: Vec<Trigger>,
) -> Result<Option<Fanned>, Stop> {
    let mut fanned = Fanned { resumes: Vec::new(), starts: Vec::new() };
    let mut commands = Vec::new();
    for bookmark in bookmarks {
        let (command, kept) = resume(cx, stimulated, bookmark)?;
        fanned.resumes.push((
            command.instance_id().unwrap_or_default(),
            command,
            kept.command.clone(),
        ));
        commands.push(kept);
    }
    let mut starts = Vec::new();
    for trigger in triggers {
        let start = start(cx, stimulated, trigger).await?;
        fanned.starts.push((start.instance.id.clone(), start.command.clone()));
        starts.push(start);
    }
    let id = &stimulated.command.id;
    // No command has this id, so the transaction ends none.
    let part = CommandId::new(format!("{id}.part"));
    if commands.len() > CHUNK && cx.store.is_routed(id).await? {
        return Ok(None);
    }
    while commands.len() > CHUNK {
        let rest = commands.split_off(CHUNK);
        let chunk = std::mem::replace(&mut commands, rest);
        cx.store.settle(&part, Vec::new(), chunk).await?;
    }
    if stimulated.instance_id.is_some() {
        cx.store.settle(&part, starts, commands).await?;
    } else if !cx.store.route(id, cx.now(), starts, commands).await? {
        return Ok(None);
    }
    Ok(Some(fanned))
}

fn resume(
    cx: &Cx,
    stimulated: &Stimulated<'_>,
    found: StoredBookmark,
) -> Result<(Command, PendingCommand), Stop> {
    let event = stimulated.command;
    let bookmark_id = found.bookmark.id;
    let parts = [stimulated.kind, event.id.as_str(), bookmark_id.as_str()];
    let id = CommandId::new(model::derived(&parts));
    let body = Resume {
        instance_id: found.instance_id.clone(),
        bookmark_id: Some(bookmark_id.clone()),
        input: stimulated.input.clone(),
        event_id: Some(event.id.clone()),
        ..Resume::default()
    };
    let mut command = Command::new(id.clone(), Body::Resume(body));
    command.traceparent = event.traceparent.clone();
    if stimulated.is_answered_by_its_receiver() {
        command.reply_to = event.reply_to.clone();
        command.reply_when = event.reply_when;
    }
    let encoded = command.encode().map_err(Stop::garbled)?;
    let kept = PendingCommand {
        instance_id: Some(found.instance_id),
        bookmark_id: Some(bookmark_id),
        ..accepted_command(id, encoded, cx.now())
    };
    Ok((command, kept))
}

async fn start(
    cx: &Cx,
    stimulated: &Stimulated<'_>,
    trigger: Trigger,
) -> Result<NewInstance, Stop> {
    let event = stimulated.command;
    let (definition_id, activity_id) = (trigger.definition_id, trigger.activity_id);
    let parts = [stimulated.kind, event.id.as_str(), definition_id.as_str(), activity_id.as_str()];
    let id = CommandId::new(model::derived(&parts));
    // A version that no longer compiles is accepted too: the instance ends with the reason.
    let program = match cx.catalog.program(&trigger.version_id).await {
        Ok(program) => program,
        Err(catalog::Error::Broken { .. }) => None,
        Err(catalog::Error::Store(error)) => return Err(error.into()),
        Err(catalog::Error::Bus(error)) => return Err(error.into()),
    };
    let start = Start {
        definition_id,
        version_id: Some(trigger.version_id),
        input: stimulated.input.clone(),
        correlation_id: stimulated.correlation_id.clone(),
        trigger_activity_id: Some(activity_id),
        ..Start::default()
    };
    let descent = Descent { traceparent: event.traceparent.as_deref(), lineage: event.lineage };
    accepted(start, id, program.as_deref(), &descent, cx.now())
        .map_err(|unfit| Stop::dead(Refusal::Garbled, unfit.to_string()))
}
