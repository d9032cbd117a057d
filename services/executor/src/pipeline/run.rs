//! run: the pure engine. It cannot fail; only a bug stops it, and then nothing is committed.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use chassis::Point;
use engine::{Bounds, Contents, Env, Input, Program, Rest, State, Turn};
use model::{PayloadHash, limits};
use protocol::Body;

use super::load::Ready;
use crate::burst::{Ran, remember, split};
use crate::cx::Cx;
use crate::record::Record;
use crate::stop::Stop;
use crate::work::{Cause, Work};

/// The end of a turn.
pub(crate) enum End {
    /// It is to be committed.
    Ran(Box<Ran>),
    /// It needs the contents of these payloads, and is to be run again with them.
    Wants(BTreeSet<PayloadHash>),
    /// A secret that it did not find is there now: it is to be run again.
    Again,
}

/// The part of a turn that is run at once.
struct Slice {
    program: Arc<Program>,
    state: State,
    input: Input,
    env: Env,
    bounds: Bounds,
}

/// Whether a timer has sent the command.
fn is_of_timer(work: &Work) -> bool {
    matches!(work.body(), Some(Body::Resume(resume)) if resume.due_at.is_some())
}

/// Runs the turn of one burst.
///
/// A short turn runs where it is. A long one leaves the event loop: a definition with scripts from
/// the start, any other one after [`limits::STEPS_INLINE_MAX`] steps, if there is a free permit for
/// long turns; without one the burst ends there, and its rest waits for such a permit.
pub(crate) async fn run(cx: &Cx, ready: Box<Ready>, contents: &Contents) -> Result<End, Stop> {
    cx.at(Point::BeforeRun).await;
    let Ready { before, program, input, mut work } = *ready;
    let input = if cx.keeper.is_some() { from_outside(input) } else { input };
    let has_scripts = program.has_scripts();
    // Waits before the clock is read, because time goes on during the wait.
    let core =
        if cx.config.offload_turns && has_scripts { Some(cx.script_permit().await?) } else { None };
    let (installation, secrets) = match has_scripts {
        true => cx.installation().await?,
        false => (Arc::clone(&cx.config.installation), None),
    };
    let env = Env {
        now: cx.now(),
        seed: cx.seed(),
        command_id: work.id.clone(),
        installation,
        contents: contents.clone(),
    };
    let (before, mut record) = split(before);
    if matches!(input, Input::Start(_)) {
        record.state.traceparent.clone_from(&work.traceparent);
    } else {
        if is_of_timer(&work) {
            // The row of a timer has no room for the trace of the start; the state has it.
            chassis::link(&tracing::Span::current(), record.state.traceparent.as_deref());
        }
        if work.traceparent.is_none() {
            work.traceparent.clone_from(&record.state.traceparent);
        }
    }
    take(&mut record, &work, &input);
    if let Input::Start(start) = &input {
        record.lineage = work.lineage;
        if start.parent.is_none() {
            record.activation_key = program.activation_key(start.correlation_id.as_deref());
        }
    }
    let state = std::mem::take(&mut record.state);
    let now = env.now;
    let bounds =
        Bounds { steps_without_wait: cx.config.steps_without_wait_max, ..Bounds::default() };
    // Most definitions have no searchable variables; an instance that has come from one that has
    // loses its values.
    let searched = (program.is_searchable() || record.indexed.is_some()).then(|| program.clone());
    let running = Arc::clone(&program);
    let slice = Slice { program, state, input, env, bounds };
    let turn = match (core, &work.cause) {
        (Some(core), _) => {
            Box::pin(elsewhere(cx, slice.of(limits::SCRIPT_STEPS_PER_TURN_MAX), core)).await?
        }
        // The burst of a continued turn has a permit for long turns already.
        (None, Cause::Continue) => Box::pin(elsewhere(cx, slice, ())).await?,
        (None, _) => short_then_long(cx, slice).await?,
    };
    cx.at(Point::Ran).await;
    if !turn.wanted.is_empty() {
        return Ok(End::Wants(turn.wanted));
    }
    if let Some(secrets) = secrets
        && cx.has_come(&secrets).await?
    {
        return Ok(End::Again);
    }
    let Turn { mut state, mut effects, journal, rest, bytes, .. } = turn;
    let above = cx.payloads.inline_max();
    // A value that has become large was written in this turn.
    if bytes > above {
        let bytes_max = cx.payloads.value_max();
        let large = state.take_large(&running, &mut effects, above, bytes_max);
        cx.payloads.keep_large(large).await.map_err(not_kept)?;
    }
    record.state = state;
    record.unfinished = rest == Rest::OutOfBudget;
    let values = searched.map(|program| program.search_keys(&record.state));
    let program = Some(running);
    let ran = Ran { before, record, effects, journal, values, program, work, has_moved: true, now };
    Ok(End::Ran(Box::new(ran)))
}

/// A large value could not be kept.
fn not_kept(error: payloads::Error) -> Stop {
    match error {
        payloads::Error::Store(error) => error.into(),
        other => Stop::later(other.to_string()),
    }
}

/// The input, in which nothing is opened that looks sealed.
fn from_outside(input: Input) -> Input {
    match input {
        Input::Start(mut start) => {
            start.input = engine::foreign(std::mem::take(&mut start.input));
            Input::Start(start)
        }
        Input::Resume(mut resume) => {
            resume.input = engine::foreign(std::mem::take(&mut resume.input));
            Input::Resume(resume)
        }
        plain => plain,
    }
}

/// Runs the first steps here, and the rest, if there is any, on another thread.
async fn short_then_long(cx: &Cx, slice: Slice) -> Result<Turn, Stop> {
    let Slice { program, state, input, env, bounds } = slice;
    let short = Bounds { steps: bounds.steps.min(limits::STEPS_INLINE_MAX), ..bounds };
    let first = turn(cx, &program, state, input, &env, short)?;
    let is_long = first.rest == Rest::OutOfBudget && first.steps >= short.steps;
    if !is_long || first.bytes >= bounds.bytes || !first.wanted.is_empty() {
        return Ok(first);
    }
    let Ok(permit) = Arc::clone(&cx.long_turns).try_acquire_owned() else { return Ok(first) };
    let left = Bounds {
        steps: bounds.steps.saturating_sub(first.steps),
        bytes: bounds.bytes.saturating_sub(first.bytes),
        ..bounds
    };
    let Turn { state, mut effects, mut journal, bytes, .. } = first;
    let slice = Slice { program, state, input: Input::Continue, env, bounds: left };
    let second = Box::pin(elsewhere(cx, slice, permit)).await?;
    effects.extend(second.effects);
    journal.extend(second.journal);
    Ok(Turn { effects, journal, bytes: bytes.saturating_add(second.bytes), ..second })
}

/// Runs a slice off the event loop. `held` is released when it ends, even if the caller has stopped
/// waiting for the slice.
async fn elsewhere(cx: &Cx, slice: Slice, held: impl Send + 'static) -> Result<Turn, Stop> {
    if !cx.config.offload_turns {
        return slice.turn(cx);
    }
    let cx = Cx::clone(cx);
    let running = tasks::blocking("executor: turn", move || {
        let turn = slice.turn(&cx);
        drop(held);
        turn
    });
    // A panic of the engine is caught inside, and is a bug. What panics here is not the instance's
    // doing, or the runtime ends: a later try may succeed.
    running.await.map_err(|panicked| Stop::later(panicked.to_string()))?
}

impl Slice {
    /// The same slice with at most this many steps.
    fn of(self, steps: usize) -> Self {
        let bounds = Bounds { steps: self.bounds.steps.min(steps), ..self.bounds };
        Self { bounds, ..self }
    }

    fn turn(self, cx: &Cx) -> Result<Turn, Stop> {
        let Self { program, state, input, env, bounds } = self;
        turn(cx, &program, state, input, &env, bounds)
    }
}

fn turn(
    cx: &Cx,
    program: &Program,
    state: State,
    input: Input,
    env: &Env,
    bounds: Bounds,
) -> Result<Turn, Stop> {
    let turn = || cx.engine.turn_within(program, state, input, env, bounds);
    // The state after a panic is thrown away, and the engine itself has no state.
    catch_unwind(AssertUnwindSafe(turn)).map_err(|panic| Stop::Bug(text_of(&*panic)))
}

fn take(record: &mut Record, work: &Work, input: &Input) {
    remember(record, work);
    if let Some(Body::Resume(resume)) = work.body()
        && let (Some(event), Input::Resume(resumed)) = (&resume.event_id, input)
    {
        record.take(event, &resumed.bookmark_id);
    }
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "the engine panicked without a text".to_owned())
}
