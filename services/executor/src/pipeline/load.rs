//! load: reads the instance, decides the meaning of the work for it, and gets the program. After
//! this, no step waits for the outside world until the commit.

use std::sync::Arc;
use std::time::Duration;

use chassis::Point;
use engine::{Activation, Input, Program};
use model::{InstanceId, PayloadHash, Timestamp};
use protocol::{Body, Refusal, Start};
use store::{Loaded, LoadedWithin, Room};
use tracing::Instrument as _;

use super::alter::alter;
use super::decide::{Meaning, decide};
use crate::burst::{Ending, Known, Ran, ReadAt};
use crate::cx::Cx;
use crate::record::Record;
use crate::stop::Stop;
use crate::work::{Work, id_of};

/// The longest wait for room for a state. Then the command is for another node, or for later.
const ROOM_PATIENCE: Duration = Duration::from_secs(10);

/// The next step after load.
pub(crate) enum Found {
    /// The next step is `run`.
    Ready(Box<Ready>),
    /// The next step is `commit`: there is nothing to run.
    Ended(Box<Ran>),
    /// It was applied before.
    Applied,
    /// There is nothing to do.
    Nothing,
    /// It changes nothing.
    Refused(Refusal, String),
    /// It comes before its bookmark.
    TooEarly,
    /// The instance was not read, and has to be read before the meaning is clear.
    Unseen,
}

/// The arguments of a turn. Only `load` can make it.
pub(crate) struct Ready {
    pub(super) before: Known,
    pub(super) program: Arc<Program>,
    pub(super) input: Input,
    pub(super) work: Work,
}

/// Reads the instance, unless the tenure knows it, and decides the meaning of the work for it.
pub(crate) async fn load(
    cx: &Cx,
    id: &InstanceId,
    known: &mut Option<Known>,
    room: &mut Room,
    work: &Work,
) -> Result<Found, Stop> {
    let current = match known {
        Some(known) => known,
        None => known.insert(read(cx, id, room).await?),
    };
    let mut meaning = decide(current, work);
    if current.read_at == ReadAt::BeforeLease
        && !matches!(meaning, Meaning::Turn(_) | Meaning::Start)
    {
        *current = read(cx, id, room).await?;
        meaning = decide(current, work);
    }
    match meaning {
        Meaning::Tail => Ok(Found::Applied),
        Meaning::Nothing => Ok(Found::Nothing),
        Meaning::Refuse(refusal, reason) => Ok(Found::Refused(refusal, reason)),
        Meaning::Wait => Ok(Found::TooEarly),
        Meaning::Early { due } => Err(early(cx.now(), work, due)),
        Meaning::Unknown => {
            *known = None;
            Err(unknown(cx, id, work))
        }
        Meaning::CancelPending => {
            let before = known.take().unwrap_or_default();
            Ok(Found::Ended(Box::new(Ran::ended(cx.now(), before, work, Ending::cancelled()))))
        }
        Meaning::Start => start(cx, id, known, work).await,
        Meaning::Turn(input) => turn(cx, known, work, input).await,
    }
}

/// What one look into the database finds.
enum Look {
    /// The instance, or that there is none.
    Known(Box<Known>),
    /// A state of this size, which was not read: there is no room for it yet.
    Large(usize),
}

/// Reads the instance from the database, and waits for room if its state is large. The caller has no other
/// room, and none of the permits for which those with room may wait.
pub(crate) async fn read_in_turn(cx: &Cx, id: &InstanceId, room: &mut Room) -> Result<Known, Stop> {
    loop {
        match look(cx, id, room).await? {
            Look::Known(known) => return Ok(*known),
            Look::Large(bytes) => cx.rooms.wait(room, bytes, ROOM_PATIENCE).await?,
        }
    }
}

/// Reads the instance within a burst, in the room that is there: what the tenure has, or what it can get
/// without a wait.
pub(super) async fn read(cx: &Cx, id: &InstanceId, room: &mut Room) -> Result<Known, Stop> {
    loop {
        match look(cx, id, room).await? {
            Look::Known(known) => return Ok(*known),
            Look::Large(bytes) if cx.rooms.resize(room, bytes) => {}
            Look::Large(bytes) => {
                let reason = format!("there is no room for the {bytes} bytes of its state now");
                return Err(Stop::soon(reason));
            }
        }
    }
}

/// Reads an instance with one query; none if its state is large, or if it cannot be read now.
pub(super) async fn read_at_once(cx: &Cx, id: &InstanceId, room: &Room) -> Option<Known> {
    match look(cx, id, room).await {
        Ok(Look::Known(known)) => Some(*known),
        Ok(Look::Large(_)) | Err(_) => None,
    }
}

async fn look(cx: &Cx, id: &InstanceId, room: &Room) -> Result<Look, Stop> {
    cx.at(Point::BeforeLoad).await;
    let span = tracing::debug_span!(target: "spans", "load", otel.kind = "client");
    let loaded = cx.store.load_within(id, room.bytes_max()).instrument(span).await?;
    cx.at(Point::Loaded).await;
    Ok(match loaded {
        None => Look::Known(Box::default()),
        Some(LoadedWithin::Whole(loaded)) => Look::Known(Box::new(decoded(id, *loaded)?)),
        Some(LoadedWithin::TooLarge { state_bytes }) => Look::Large(state_bytes),
    })
}

fn decoded(id: &InstanceId, loaded: Loaded) -> Result<Known, Stop> {
    let Loaded { instance: mut row, command } = loaded;
    let state = std::mem::take(&mut row.state);
    let payloads = PayloadHash::named_in(&state);
    let record = Record::decode(&state)
        .map_err(|error| Stop::unreadable(format!("the state of instance {id}: {error}")))?;
    Ok(Known {
        row: Some(row),
        accepted: command.as_ref().and_then(id_of),
        record,
        payloads,
        state_bytes: state.len(),
        read_at: ReadAt::UnderLease,
    })
}

async fn turn(
    cx: &Cx,
    known: &mut Option<Known>,
    work: &Work,
    input: Input,
) -> Result<Found, Stop> {
    let before = known.take().unwrap_or_default();
    let Some(row) = &before.row else { return Ok(Found::Nothing) };
    let program = match cx.catalog.program(&row.version_id).await {
        Ok(Some(program)) => Ok(program),
        Ok(None) => Err(format!("definition version {} does not exist any more", row.version_id)),
        Err(error) => Err(broken(error)?),
    };
    match (program, input) {
        (Ok(program), Input::Alter(asked)) => alter(cx, known, before, program, asked, work).await,
        (Ok(program), input) => {
            let work = work.clone();
            Ok(Found::Ready(Box::new(Ready { before, program, input, work })))
        }
        // An instance that cannot run can still be cancelled.
        (Err(_), Input::Cancel { .. }) => {
            Ok(Found::Ended(Box::new(Ran::ended(cx.now(), before, work, Ending::cancelled()))))
        }
        (Err(reason), _) => Err(Stop::dead(Refusal::NotFound, reason)),
    }
}

async fn start(
    cx: &Cx,
    id: &InstanceId,
    known: &mut Option<Known>,
    work: &Work,
) -> Result<Found, Stop> {
    let Some(Body::Start(start)) = work.body() else { return Ok(Found::Nothing) };
    // The other nodes count this node as gone, so it may have missed a publication.
    if cx.presence.is_cut_off() {
        return Err(Stop::later("this node is cut off and starts nothing new".to_owned()));
    }
    let before = known.take().unwrap_or_default();
    let program = match program(cx, &before, start).await {
        Ok(Some(program)) => match (unfit(&program, start), uncorrelated(&program, start)) {
            (None, None) => Ok(program),
            (Some(reason), _) => Err((Refusal::Garbled, reason)),
            (None, Some(reason)) => Err((Refusal::NotAllowed, reason)),
        },
        Ok(None) => Err((Refusal::NotFound, absent(start))),
        Err(error) => Err((Refusal::NotFound, broken(error)?)),
    };
    match program {
        Ok(program) => {
            let input = Input::Start(Box::new(engine::Start {
                instance_id: id.clone(),
                trigger: start.trigger_activity_id.clone(),
                restart: start.restart.as_ref().map(|restart| engine::Restart {
                    activity: restart.activity_id.clone(),
                    variables: restart.variables.clone(),
                }),
                input: start.input.clone(),
                properties: start.properties.clone(),
                correlation_id: start.correlation_id.clone(),
                name: start.name.clone(),
                parent: start.parent.clone(),
                responds: !work.responders.is_empty(),
            }));
            let work = work.clone();
            Ok(Found::Ready(Box::new(Ready { before, program, input, work })))
        }
        // An accepted start is kept: it ends with the reason, and its parent goes on.
        Err((refusal, reason)) if before.row.is_some() => {
            let end = match refusal {
                Refusal::Garbled => Ending::invalid_input(reason),
                Refusal::NotAllowed => Ending::not_allowed(reason),
                _ => Ending::not_runnable(reason),
            };
            Ok(Found::Ended(Box::new(Ran::ended(cx.now(), before, work, end))))
        }
        Err(_) if before.read_at == ReadAt::Never => Ok(Found::Unseen),
        Err((refusal, reason)) => Err(Stop::dead(refusal, reason)),
    }
}

/// The version that the start names, else the one for which its row was accepted, else the
/// published one.
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

/// The reason why the input of a start does not fit its workflow. A trigger gets its own input, not
/// the workflow's.
fn unfit(program: &Program, start: &Start) -> Option<String> {
    if start.trigger_activity_id.is_some() {
        return None;
    }
    let flaws = program.input_flaws(&start.input);
    let named: Vec<_> = flaws.iter().map(|(name, flaw)| format!("{name}: {flaw}")).collect();
    (!named.is_empty())
        .then(|| format!("the input does not fit the workflow: {}", named.join("; ")))
}

/// The reason why a start lacks the correlation id that its activation strategy asks for. A child is
/// not held back.
fn uncorrelated(program: &Program, start: &Start) -> Option<String> {
    let is_blank = start.correlation_id.as_ref().is_none_or(|id| id.trim().is_empty());
    let is_meant =
        start.parent.is_none() && program.activation() == Activation::CorrelatedSingleton;
    (is_meant && is_blank).then(|| {
        format!(
            "the activation strategy of {} is CorrelatedSingleton: give the start a correlation id",
            start.definition_id
        )
    })
}

fn absent(start: &Start) -> String {
    match &start.version_id {
        Some(version_id) => {
            format!("definition {} has no version {version_id}", start.definition_id)
        }
        None => format!("definition {} does not exist or is not published", start.definition_id),
    }
}

/// The reason why a definition does not compile. Any other error stops the burst.
pub(super) fn broken(error: catalog::Error) -> Result<String, Stop> {
    match error {
        catalog::Error::Store(error) => Err(error.into()),
        catalog::Error::Bus(error) => Err(error.into()),
        error @ catalog::Error::Broken { .. } => Ok(error.to_string()),
    }
}

/// Commands of one sender may overtake each other on the way. The missing ones are waited for, for
/// a limited time.
fn early(now: Timestamp, work: &Work, due: u64) -> Stop {
    let number = work.sequence.as_ref().map_or(0, |sequence| sequence.number);
    let reason = format!("number {due} of this sender is due, and this is number {number}");
    if !work.is_woken && now.since(work.stored_at) > model::limits::SEQUENCE_WAIT_MAX {
        return Stop::dead(Refusal::Dead, format!("{reason}: it did not come in time"));
    }
    Stop::soon(reason)
}

/// A command may overtake the start of its instance. The start is waited for, for a limited time.
fn unknown(cx: &Cx, id: &InstanceId, work: &Work) -> Stop {
    let reason = format!("instance {id} does not exist");
    if cx.now().since(work.stored_at) < cx.config.unknown_grace {
        return Stop::soon(reason);
    }
    Stop::dead(Refusal::NotFound, reason)
}
