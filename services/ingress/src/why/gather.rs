//! Gathers the facts. The row must be there; of everything else, what cannot be asked is named. NATS is asked
//! everything at once, within one bound: it may be away.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bus::{Bucket, Scope, Stream};
use chassis::Auth;
use futures::future::{join, join_all, join3, join4};
use model::{Bookmark, BookmarkId, Instance, InstanceId, MessageSource, Stimulus};
use protocol::{Body, Command, Letter, subject};
use store::{CommandFilter, InstanceFilter, Page, VersionOption};
use tokio::time::Instant;

use super::facts::{CallFact, Cluster, CommandFact, Facts, LetterFact, Relative, Server, Version};
use crate::record::Seen;
use crate::{App, Problem, runtime, streams};

mod tasks;

/// How long the questions to the bus may take together.
const ASKED_MAX: Duration = Duration::from_secs(3);
const COMMANDS_MAX: u64 = 20;
const CALLS_MAX: usize = 20;
const CHILDREN_MAX: usize = 20;
const INCIDENTS_MAX: usize = 10;
const LETTERS_MAX: usize = 10;
const LINES_MAX: u64 = 10;
/// Tasks whose dead letters and messages are looked for.
const TASKS_MAX: usize = 10;
/// Streams that are looked for.
const STREAMS_MAX: usize = 10;
/// Letters that one read looks at.
const LETTERS_READ: usize = 256;
/// Children of one activity that are looked up.
const BULK_MAX: u64 = 1_000;

/// The facts about an instance.
pub(super) async fn facts(app: &App, seen: &Seen) -> Result<Facts, Problem> {
    let store = &app.cx.store;
    let instance = Instance { state: Vec::new(), ..seen.instance.clone() };
    let state = seen.state();
    let filter = CommandFilter { instance_id: Some(instance.id.clone()), waiting: None };
    let lines = state.journal_sequence.saturating_sub(LINES_MAX);
    let (now, commands, journal) = join3(
        store.clock(),
        store.accepted(&filter, COMMANDS_MAX),
        store.journal(&instance.id, Page::new(lines, LINES_MAX)),
    )
    .await;
    let mut waits: Vec<_> = state.bookmarks.values().cloned().collect();
    let paused: BTreeMap<&BookmarkId, _> = state.paused_calls().collect();
    waits.retain(|open| !state.calls.contains_key(&open.id) && !paused.contains_key(&open.id));
    waits.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    let commands = commands?.into_iter().map(|kept| CommandFact {
        kind: kind(&kept.command.subject),
        id: kept.id,
        accepted_at: kept.accepted_at,
        is_waiting: kept.waiting,
        expires_at: kept.expires_at,
    });
    let (parent, children) = relatives(app, seen, &waits).await?;
    let until = Instant::now() + ASKED_MAX;
    let asking = join4(
        cluster(app, &instance.id, until),
        letters(app, seen, until),
        missing_streams(app, &waits, until),
        tasks::tasks(app, seen, &waits, until),
    );
    let (cluster, letters, missing_streams, tasks) = Box::pin(asking).await;
    let (mut cluster, mut unknown) = cluster;
    cluster.is_cut_off = app.cx.presence.is_cut_off();
    let (letters, unread) = letters;
    let (missing_streams, unseen) = missing_streams;
    let (tasks, unasked) = tasks?;
    for reason in [unread, unseen, unasked].concat() {
        if !unknown.contains(&reason) {
            unknown.push(reason);
        }
    }
    let first = state.incidents.len().saturating_sub(INCIDENTS_MAX);
    Ok(Facts {
        now: now?,
        definition: definition(app, seen).await?,
        is_paused: state.is_paused,
        can_be_retried: state.can_be_retried(),
        calls: calls(seen),
        incidents: state.incidents.iter().skip(first).cloned().collect(),
        commands: commands.collect(),
        journal: journal?.items,
        letters,
        parent,
        children,
        cluster,
        unknown,
        missing_streams,
        tasks,
        server: Server { url: app.config.base_url(), wants_key: app.config.auth != Auth::NONE },
        waits,
        nats: app.config.nats.clone(),
        instance,
    })
}

/// The kind of a command: the third token of its subject.
fn kind(subject: &str) -> String {
    subject.split('.').nth(2).unwrap_or(subject).to_owned()
}

fn calls(seen: &Seen) -> Vec<CallFact> {
    let state = seen.state();
    let fact = |id: &BookmarkId, call: &engine::Call, is_paused: bool| {
        let bookmark = state.bookmarks.get(id);
        let tries = call.tries.as_deref();
        CallFact {
            bookmark_id: id.clone(),
            activity_id: call.activity_id.clone(),
            activity_instance_id: bookmark
                .map(|bookmark| bookmark.activity_instance_id.clone())
                .unwrap_or_default(),
            what: call.operation.summary(),
            attempt: tries.map_or(1, |tries| tries.attempt),
            attempts_max: tries.map_or(1, |tries| tries.retry.attempts),
            since: bookmark.map_or(seen.instance.updated_at, |bookmark| bookmark.created_at),
            not_before: tries.and_then(|tries| tries.not_before),
            again_at: bookmark.filter(|_| is_paused).and_then(|bookmark| bookmark.due_at),
        }
    };
    let made = state.calls.iter().map(|(id, call)| fact(id, call, false));
    let paused = state.paused_calls().map(|(id, call)| fact(id, call, true));
    made.chain(paused).take(CALLS_MAX).collect()
}

async fn definition(app: &App, seen: &Seen) -> Result<Version, Problem> {
    let row = &seen.instance;
    let published = app.cx.store.definition(&row.definition_id, VersionOption::Published).await?;
    let published = published.map(|definition| definition.version);
    if app.cx.store.version(&row.version_id).await?.is_none() {
        return Ok(Version::Gone(published));
    }
    Ok(match app.cx.catalog.program(&row.version_id).await {
        Err(error @ catalog::Error::Broken { .. }) => Version::Broken(error.to_string()),
        Ok(_) | Err(_) => Version::There(published),
    })
}

/// The parent, and the children whose end the instance waits for.
async fn relatives(
    app: &App,
    seen: &Seen,
    waits: &[Bookmark],
) -> Result<(Option<Relative>, Vec<Relative>), Problem> {
    let parent = seen.instance.parent.as_ref();
    let mut wanted: Vec<(InstanceId, Option<BookmarkId>)> = Vec::new();
    wanted.extend(parent.map(|parent| (parent.instance_id.clone(), parent.bookmark_id.clone())));
    let mut some = Vec::new();
    for bookmark in waits {
        if let Some(child) = bookmark.payload.get("ChildInstanceId").and_then(|id| id.as_str()) {
            wanted.push((InstanceId::new(child), Some(bookmark.id.clone())));
        } else if bookmark.payload.get("ScheduledInstanceIdsCount").is_some() {
            some.extend(open_children(app, seen, bookmark).await?);
        }
        if wanted.len() + some.len() > CHILDREN_MAX {
            break;
        }
    }
    let ids: Vec<_> = wanted.iter().map(|(id, _)| id.clone()).collect();
    let mut rows = BTreeMap::new();
    if !ids.is_empty() {
        let filter = InstanceFilter { ids, ..InstanceFilter::default() };
        let found = app.cx.store.list(&filter, Page::first()).await?.items;
        rows.extend(found.into_iter().map(|row| (row.id.clone(), row)));
    }
    let mut found = wanted.into_iter().map(|(id, bookmark_id)| Relative {
        status: rows.get(&id).map(|row| row.status),
        finished_at: rows.get(&id).and_then(|row| row.finished_at),
        id,
        bookmark_id,
    });
    let parent = parent.and_then(|_| found.next());
    Ok((parent, found.chain(some).take(CHILDREN_MAX).collect()))
}

/// Children of one activity that are not over. Their ids have the beginning that it remembers.
async fn open_children(
    app: &App,
    seen: &Seen,
    bookmark: &Bookmark,
) -> Result<Vec<Relative>, Problem> {
    let Some(memory) = seen.state().memory_of(&bookmark.activity_instance_id) else {
        return Ok(Vec::new());
    };
    let (Some(base), Some(asked)) = (
        memory.get("base").and_then(|base| base.as_str()),
        memory.get("asked").and_then(|asked| asked.as_u64()),
    ) else {
        return Ok(Vec::new());
    };
    let ids = (0..asked.min(BULK_MAX)).map(|number| InstanceId::new(format!("{base}-{number}")));
    let filter = InstanceFilter {
        ids: ids.collect(),
        sub_statuses: crate::present::running(),
        ..InstanceFilter::default()
    };
    if filter.ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = app.cx.store.list(&filter, Page::new(0, CHILDREN_MAX as u64)).await?.items;
    let open = found.into_iter().map(|row| Relative {
        id: row.id,
        status: Some(row.status),
        finished_at: row.finished_at,
        bookmark_id: Some(bookmark.id.clone()),
    });
    Ok(open.collect())
}

async fn cluster(app: &App, id: &InstanceId, until: Instant) -> (Cluster, Vec<String>) {
    let mut unknown = Vec::new();
    let leases = app.cx.bus.kv(Bucket::Leases);
    let questions = join3(
        asked("the lease", until, bus::look(&*leases, id.as_str())),
        asked("the executors", until, async {
            let status = runtime::status(app, &Scope::Cluster).await;
            status.map_err(|problem| bus::Error::Unavailable(problem.detail().to_owned()))
        }),
        asked("the queue", until, app.cx.bus.backlog()),
    );
    let figures = asked("the consumer of the executors", until, app.cx.bus.figures());
    let ((lease, status, backlog), figures) = Box::pin(join(questions, figures)).await;
    let mut cluster = Cluster { nodes: app.cx.presence.live(), ..Cluster::default() };
    match lease {
        Ok(lease) => cluster.lease = lease,
        Err(reason) => unknown.push(reason),
    }
    match status {
        Ok(status) => {
            let pauses = status.pauses.into_iter();
            cluster.pauses = pauses.map(|(scope, (pause, _))| (scope, pause)).collect();
            let executors = status.nodes.into_iter();
            cluster.executors = executors.map(|seen| (seen.member.node, seen.runtime)).collect();
        }
        Err(reason) => unknown.push(reason),
    }
    if let Some(lease) = &mut cluster.lease {
        let holder = cluster.executors.iter().find(|(node, _)| *node == lease.owner);
        let wanted = holder.and_then(|(_, answer)| answer.as_ref()?.wanted.get(id.as_str()));
        lease.joined_by(wanted.map(Vec::as_slice).unwrap_or_default());
    }
    match backlog {
        Ok(backlog) => cluster.backlog = Some(backlog),
        Err(reason) => unknown.push(reason),
    }
    match figures {
        Ok(figures) => cluster.has_no_consumer = figures.consumers.iter().any(|it| it.is_missing),
        Err(reason) => unknown.push(reason),
    }
    (cluster, unknown)
}

/// The answer, or what is not known for want of one.
async fn asked<T>(
    what: &str,
    until: Instant,
    asking: impl Future<Output = Result<T, bus::Error>>,
) -> Result<T, String> {
    match tokio::time::timeout_at(until, asking).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(format!("{what}: {error}")),
        Err(_) => Err(format!("{what}: no answer within {} s", ASKED_MAX.as_secs())),
    }
}

/// The streams for whose messages the instance waits and which do not exist.
async fn missing_streams(
    app: &App,
    waits: &[Bookmark],
    until: Instant,
) -> (BTreeSet<String>, Vec<String>) {
    let messages = waits.iter().filter(|open| open.name == Stimulus::MESSAGE);
    let wanted = messages.filter_map(|open| MessageSource::of(&open.payload)?.stream);
    let wanted: BTreeSet<_> = wanted.take(STREAMS_MAX).collect();
    let looks = wanted.into_iter().map(async |stream| {
        let found = tokio::time::timeout_at(until, streams::missing(app, &stream)).await;
        (stream, found)
    });
    let (mut missing, mut unknown) = (BTreeSet::new(), Vec::new());
    for (stream, found) in join_all(looks).await {
        match found {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(_))) => _ = missing.insert(stream),
            Ok(Err(error)) => unknown.push(error.to_string()),
            Err(_) => unknown
                .push(format!("the stream {stream}: no answer within {} s", ASKED_MAX.as_secs())),
        }
    }
    (missing, unknown)
}

/// The newest dead letters whose commands are for the instance, or for a task that it waits for.
async fn letters(app: &App, seen: &Seen, until: Instant) -> (Vec<LetterFact>, Vec<String>) {
    let mut unknown = Vec::new();
    let id = &seen.instance.id;
    let mut filters = vec![subject::dead_of(id)];
    if seen.instance.version == 0 {
        filters.push(subject::dead(&subject::start(&seen.instance.definition_id)));
    }
    let state = seen.state();
    let tasks = state.bookmarks.keys().filter_map(|id| state.open_task(id));
    let mut tasks: Vec<_> = tasks.map(|(_, task, _)| task.task_id).collect();
    if tasks.len() > TASKS_MAX {
        unknown.push(format!("the dead letters of {} tasks", tasks.len() - TASKS_MAX));
        tasks.truncate(TASKS_MAX);
    }
    for task in &tasks {
        let any_type = format!("{}.task.*.*.{}", subject::COMMANDS, subject::token(task));
        filters.push(subject::dead(&any_type));
        filters.push(subject::dead(&subject::task_completed(task)));
    }
    let reads = filters.iter().map(async |filter| {
        let read = app.cx.bus.select(Stream::Dead, filter, 1, LETTERS_READ);
        asked("the dead letters", until, read).await
    });
    let mut found = Vec::new();
    for read in join_all(reads).await {
        match read {
            Ok(read) => found.extend(read),
            Err(reason) => unknown.push(reason),
        }
    }
    let letters = found.into_iter().map(|(number, at, message)| Letter { number, at, message });
    let mut letters: Vec<_> =
        letters.filter(|letter| is_for(letter, &seen.instance, &tasks)).collect();
    letters.sort_by_key(|letter| std::cmp::Reverse(letter.number));
    letters.truncate(LETTERS_MAX);
    let facts = letters.into_iter().map(|letter| LetterFact {
        number: letter.number,
        at: letter.at,
        subject: letter.origin(),
        reason: letter.reason().to_owned(),
        can_be_replayed: letter.is_command(),
    });
    (facts.collect(), unknown)
}

/// Starts of one definition share a subject; every other command names its instance or its task in it.
fn is_for(letter: &Letter, instance: &Instance, tasks: &[String]) -> bool {
    match Command::decode(&letter.again(), letter.command_id()) {
        Ok(Command { body: Body::Task(task), .. }) => tasks.contains(&task.task_id),
        Ok(command) => command.instance_id().as_ref() == Some(&instance.id),
        Err(_) => letter.origin() != subject::start(&instance.definition_id),
    }
}
