//! load: the instance as it stands, what the work means for it, and the program it runs. After
//! this nothing waits until the commit.

use std::sync::Arc;

use chassis::Point;
use engine::{Input, Program};
use model::{InstanceId, Timestamp};
use protocol::{Body, Refusal, Start};

use super::run::{End, Ran};
use super::settle::Stop;
use crate::decide::{Decision, Known, Sight, decide, id_of};
use crate::executor::Cx;
use crate::record::Record;
use crate::work::Work;

/// Where a burst goes from here.
pub(crate) enum Loaded {
    /// To `run`.
    Ready(Box<Ready>),
    /// To `commit`: there is nothing to run.
    Ran(Box<Ran>),
    /// It was applied before.
    Tail,
    /// There is nothing to do.
    Nothing,
    /// It changes nothing.
    Refused(Refusal, String),
    /// It comes too early.
    Wait,
    /// What it means depends on an instance that was not looked for.
    Unseen,
}

/// All that a turn needs. Made here only.
pub(crate) struct Ready {
    pub(super) before: Known,
    pub(super) program: Arc<Program>,
    pub(super) input: Input,
    pub(super) work: Work,
}

/// Reads the instance, unless its holder knows it, and finds out what the work means for it.
pub(crate) async fn load(
    cx: &Cx,
    id: &InstanceId,
    known: &mut Option<Known>,
    work: &Work,
) -> Result<Loaded, Stop> {
    let current = match known {
        Some(known) => known,
        None => known.insert(read(cx, id).await?),
    };
    let mut decision = decide(current, work);
    if current.sight == Sight::Early && !matches!(decision, Decision::Turn(_) | Decision::Start) {
        *current = read(cx, id).await?;
        decision = decide(current, work);
    }
    match decision {
        Decision::Tail => Ok(Loaded::Tail),
        Decision::Nothing => Ok(Loaded::Nothing),
        Decision::Refuse(refusal, reason) => Ok(Loaded::Refused(refusal, reason)),
        Decision::Wait => Ok(Loaded::Wait),
        Decision::Early { due } => Err(early(cx.now(), work, due)),
        Decision::Unknown => {
            *known = None;
            Err(unknown(cx, id, work))
        }
        Decision::CancelPending => {
            let before = known.take().unwrap_or_default();
            Ok(Loaded::Ran(Box::new(Ran::ended(cx, before, work, End::cancelled()))))
        }
        Decision::Start => start(cx, id, known, work).await,
        Decision::Turn(input) => turn(cx, known, work, input).await,
    }
}

/// Reads the instance from the database.
pub(crate) async fn read(cx: &Cx, id: &InstanceId) -> Result<Known, Stop> {
    cx.at(Point::BeforeLoad).await;
    let loaded = cx.store.load(id).await?;
    cx.at(Point::Loaded).await;
    let Some(mut loaded) = loaded else { return Ok(Known::default()) };
    let state = std::mem::take(&mut loaded.instance.state);
    let record = Record::decode(&state)
        .map_err(|error| Stop::unreadable(format!("the state of instance {id}: {error}")))?;
    let accepted = loaded.command.as_ref().and_then(id_of);
    Ok(Known { row: Some(loaded.instance), accepted, record, sight: Sight::Sure })
}

async fn turn(
    cx: &Cx,
    known: &mut Option<Known>,
    work: &Work,
    input: Input,
) -> Result<Loaded, Stop> {
    let before = known.take().unwrap_or_default();
    let Some(row) = &before.row else { return Ok(Loaded::Nothing) };
    let program = match cx.catalog.program(&row.version_id).await {
        Ok(Some(program)) => Ok(program),
        Ok(None) => Err(format!("definition version {} does not exist any more", row.version_id)),
        Err(error) => Err(broken(error)?),
    };
    match (program, input) {
        (Ok(program), input) => {
            let work = work.clone();
            Ok(Loaded::Ready(Box::new(Ready { before, program, input, work })))
        }
        // What cannot run can still be ended.
        (Err(_), Input::Cancel { .. }) => {
            Ok(Loaded::Ran(Box::new(Ran::ended(cx, before, work, End::cancelled()))))
        }
        (Err(reason), _) => Err(Stop::dead(Refusal::NotFound, reason)),
    }
}

async fn start(
    cx: &Cx,
    id: &InstanceId,
    known: &mut Option<Known>,
    work: &Work,
) -> Result<Loaded, Stop> {
    let Some(Body::Start(start)) = work.body() else { return Ok(Loaded::Nothing) };
    // A node that the others count as gone may have missed a publication.
    if cx.presence.is_cut_off() {
        return Err(Stop::later("this node is cut off and starts nothing new".to_owned()));
    }
    let before = known.take().unwrap_or_default();
    let program = match program(cx, &before, start).await {
        Ok(Some(program)) => Ok(program),
        Ok(None) => Err(absent(start)),
        Err(error) => Err(broken(error)?),
    };
    match program {
        Ok(program) => {
            let input = Input::Start(engine::Start {
                instance_id: id.clone(),
                trigger: start.trigger_activity_id.clone(),
                input: start.input.clone(),
                correlation_id: start.correlation_id.clone(),
                name: start.name.clone(),
                parent: start.parent.clone(),
                responds: !work.responders.is_empty(),
            });
            let work = work.clone();
            Ok(Loaded::Ready(Box::new(Ready { before, program, input, work })))
        }
        // Accepted is kept: what cannot run ends with the reason, and its parent goes on.
        Err(reason) if before.row.is_some() => {
            Ok(Loaded::Ran(Box::new(Ran::ended(cx, before, work, End::not_runnable(reason)))))
        }
        Err(_) if before.sight == Sight::None => Ok(Loaded::Unseen),
        Err(reason) => Err(Stop::dead(Refusal::NotFound, reason)),
    }
}

/// The version the start names, or the one its row was accepted for, or the published one.
async fn program(
    cx: &Cx,
    before: &Known,
    start: &Start,
) -> Result<Option<Arc<Program>>, catalog::Error> {
    let accepted = before.row.as_ref().map(|row| &row.version_id);
    let accepted = accepted.filter(|version_id| !version_id.as_str().is_empty());
    let program = match start.version_id.as_ref().or(accepted) {
        Some(version_id) => cx.catalog.program(version_id).await?,
        None => cx.catalog.published(&start.definition_id, start.pointer_revision).await?,
    };
    Ok(program.filter(|program| *program.definition_id() == start.definition_id))
}

fn absent(start: &Start) -> String {
    match &start.version_id {
        Some(version_id) => {
            format!("definition {} has no version {version_id}", start.definition_id)
        }
        None => format!("definition {} does not exist or is not published", start.definition_id),
    }
}

/// The text of a definition that does not compile; anything else passes.
fn broken(error: catalog::Error) -> Result<String, Stop> {
    match error {
        catalog::Error::Store(error) => Err(error.into()),
        catalog::Error::Bus(error) => Err(error.into()),
        error @ catalog::Error::Broken { .. } => Ok(error.to_string()),
    }
}

/// Commands of one sender may overtake each other on the way; not for ever.
fn early(now: Timestamp, work: &Work, due: u64) -> Stop {
    let number = work.sequence.as_ref().map_or(0, |sequence| sequence.number);
    let reason = format!("number {due} of this sender is due, and this is number {number}");
    if !work.is_woken && now.since(work.stored_at) > model::limits::SEQUENCE_WAIT_MAX {
        return Stop::dead(Refusal::Dead, format!("{reason}: it did not come in time"));
    }
    Stop::soon(reason)
}

/// A start that is on its way may be overtaken too.
fn unknown(cx: &Cx, id: &InstanceId, work: &Work) -> Stop {
    let reason = format!("instance {id} does not exist");
    if cx.now().since(work.stored_at) < cx.config.unknown_grace {
        return Stop::soon(reason);
    }
    Stop::dead(Refusal::NotFound, reason)
}
