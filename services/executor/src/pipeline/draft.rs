//! The transaction of a burst: the difference between the instance before and after, and the messages
//! that are published once it is committed. Pure: time and ids come with the burst.

use std::collections::BTreeMap;

use engine::{Effect, Program};
use model::{Bookmark, BookmarkId, Entry, Instance, PayloadHash, SubStatus, Token, limits};
use protocol::{Body, BurstJournal, HttpAnswer, Message, subject};
use serde_json::json;
use store::{Burst, PayloadChanges, StoredBookmark, shard_of};

use super::messages::{Messages, message};
use crate::accept::{Unfit, pending};
use crate::burst::{Known, Ran};
use crate::record::json_size;

/// One transaction, and the messages that follow from it.
pub(crate) struct Draft {
    pub(crate) burst: Burst,
    pub(crate) known: Known,
    /// The instance has another status, or it has ended a second time.
    pub(crate) is_change: bool,
    /// Plain messages, best effort.
    pub(crate) notices: Vec<Message>,
    pub(crate) journal: Option<Message>,
    pub(crate) answer: Option<HttpAnswer>,
}

/// Drafts the transaction of a burst. `children` are the programs of its dispatches, in order.
pub(crate) fn draft(ran: &mut Ran, children: &[Option<&Program>]) -> Result<Draft, Unfit> {
    let mut row = row(ran)?;
    let is_change = ran.has_changed_to(row.status);
    let mut messages = Messages {
        ran,
        row: &row,
        starts: Vec::new(),
        commands: Vec::new(),
        outbox: Vec::new(),
        notices: Vec::new(),
    };
    let mut tokens: Vec<Token> = Vec::new();
    let mut answer = None;
    let mut children = children.iter();
    for effect in &ran.effects {
        match effect {
            Effect::Publish(publish) => messages.event(publish)?,
            Effect::Task(task) => messages.task(task)?,
            Effect::CancelTask(task) => messages.cancel_task(task)?,
            Effect::Dispatch(dispatch) => {
                messages.child(dispatch, children.next().copied().flatten())?;
            }
            Effect::Respond(response) => answer = Some(answer_of(response)),
            Effect::Grant(token) => tokens.push(token.clone()),
            // Written once the burst is committed.
            Effect::Log(_) => {}
        }
    }
    if ran.has_moved {
        messages.lifecycle()?;
        messages.parent()?;
    }
    let Messages { starts, commands, outbox, notices, .. } = messages;
    if let Some((answer, size)) = &answer {
        ran.record.keep_answer(ran.work.responders.clone(), answer, *size);
    }
    let answer = answer.map(|(answer, _)| answer);
    let is_new = ran.before.row.as_ref().is_none_or(|row| row.version == 0);
    let values = ran.values.take().map(|after| ran.record.index(after, is_new));
    let kept = row.clone();
    let encoded = ran.record.encode_about(ran.before.state_bytes);
    row.state = encoded.map_err(|error| Unfit(format!("the state: {error}")))?;
    if row.state.len() > limits::STATE_BYTES_MAX {
        return Err(Unfit(format!(
            "the state of the instance has {} bytes, more than the {} that are kept: rest its \
             values in payloads (a lower payload-above does that by itself), or keep them elsewhere",
            row.state.len(),
            limits::STATE_BYTES_MAX
        )));
    }
    let (burned, created) = bookmarks(ran, &row);
    let journal = journal(ran, &row);
    let named = PayloadHash::named_in(&row.state);
    let before = &ran.before.payloads;
    let sent = starts.iter().map(|start| &start.command);
    let sent = sent.chain(commands.iter().map(|kept| &kept.command));
    let sent = sent.chain(outbox.iter().map(|row| &row.message));
    let payloads = PayloadChanges {
        used: named.difference(before).cloned().collect(),
        unused: before.difference(&named).cloned().collect(),
        sent: sent.flat_map(|message| PayloadHash::named_in(&message.payload)).collect(),
    };
    let state_bytes = row.state.len();
    let own = ran.work.has_row().then(|| ran.work.id.clone());
    let settles = own.into_iter().chain(ran.work.event().cloned()).collect();
    let burst = Burst {
        expected: ran.before.expected,
        activation_key: ran.record.activation_key.clone(),
        burned,
        created,
        journal: std::mem::take(&mut ran.journal),
        values: values.unwrap_or_default(),
        starts,
        commands,
        outbox,
        tokens,
        settles,
        payloads,
        instance: row,
    };
    let record = std::mem::take(&mut ran.record);
    let known = Known { row: Some(kept), record, payloads: named, state_bytes, ..Known::default() };
    Ok(Draft { burst, known, is_change, notices, journal, answer })
}

/// The row after the burst, without its state.
fn row(ran: &Ran) -> Result<Instance, Unfit> {
    let state = &ran.record.state;
    let status = match state.status {
        // Work in progress: if this node dies, the sweep has another node finish it.
        status if status.is_final() => status,
        _ if ran.record.has_turn_to_go_on() || !state.calls.is_empty() => SubStatus::Executing,
        _ if state.is_paused => SubStatus::Suspended,
        status => status,
    };
    let mut row = match (&ran.before.row, ran.work.body()) {
        (Some(row), _) => row.clone(),
        (None, Some(Body::Start(start))) => pending(start, &ran.work, ran.now),
        (None, _) => return Err(Unfit("only a start makes an instance".to_owned())),
    };
    if let Some(program) = &ran.program {
        row.version_id = program.version_id().clone();
        row.definition_version = program.version();
    }
    row.version += 1;
    row.updated_at = ran.now;
    if ran.has_moved {
        row.status = status;
        row.correlation_id = state.correlation_id.clone();
        row.name = state.name.clone();
        row.parent = state.parent.clone();
        row.incidents = state.incident_count;
        let before = row.finished_at.filter(|_| !ran.has_changed_to(status));
        row.finished_at = status.is_final().then(|| before.unwrap_or(ran.now));
    }
    Ok(row)
}

/// The bookmarks that were removed, and those that are new. One whose activity has another id since a
/// migration is both: its row names the activity. Bookmarks of calls are not stored: only the tenure
/// resumes them.
fn bookmarks(ran: &Ran, row: &Instance) -> (Vec<BookmarkId>, Vec<StoredBookmark>) {
    let (before, after) = (&ran.before.open, &ran.record);
    let open: BTreeMap<_, _> = after.open().map(|open| (&open.id, open)).collect();
    let is_of = |open: &Bookmark, node: &String| open.activity_node_id == *node;
    let is_kept =
        |(id, node): &(&BookmarkId, &String)| open.get(id).is_some_and(|open| is_of(open, node));
    let burned = before.iter().filter(|was| !is_kept(was)).map(|(id, _)| id.clone()).collect();
    let is_new = |open: &&Bookmark| before.get(&open.id).is_none_or(|node| !is_of(open, node));
    let created = after.open().filter(is_new);
    let created = created.map(|open| StoredBookmark {
        instance_id: row.id.clone(),
        definition_id: row.definition_id.clone(),
        correlation_id: row.correlation_id.clone(),
        shard: shard_of(row.id.as_str()),
        bookmark: open.clone(),
    });
    (burned, created.collect())
}

/// The answer for an HTTP client, and its size as JSON in bytes.
fn answer_of(response: &engine::Response) -> (HttpAnswer, usize) {
    let answer = HttpAnswer {
        status_code: response.status_code,
        headers: response.headers.clone(),
        content_type: response.content_type.clone(),
        content: response.content.clone(),
        is_base64: response.is_base64,
        payload: response.payload.clone(),
    };
    let (size, max) = (json_size(&answer), limits::RESPONSE_BYTES_MAX);
    if size <= max {
        return (answer, size);
    }
    let error = HttpAnswer {
        status_code: 500,
        content_type: Some("application/problem+json".to_owned()),
        content: json!({
            "type": "about:blank", "title": "Response too large", "status": 500,
            "detail": format!(
                "the response of the workflow has {size} bytes, more than the {max} that are \
                 allowed: answer with a reference to large data"
            ),
        }),
        ..HttpAnswer::default()
    };
    let size = json_size(&error);
    (error, size)
}

/// The journal of the burst, for live listeners. Best effort: a journal that is too large is left out,
/// and the gap in the versions shows it.
fn journal(ran: &Ran, row: &Instance) -> Option<Message> {
    if ran.journal.is_empty() {
        return None;
    }
    let body = BurstJournal {
        workflow_instance_id: row.id.clone(),
        version: row.version,
        entries: ran.journal.iter().map(Entry::bare).collect(),
    };
    let subject = subject::journal(&row.definition_id, &row.id);
    message(ran, &row.id, subject, None, &body).ok()
}
