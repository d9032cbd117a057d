//! One batch as statements: the heads decide who is in, then one statement per table for those.

use std::collections::{BTreeMap, BTreeSet};

use model::{CommandId, InstanceId, Timestamp};
use protocol::Message;
use store::{Commit, Error, PendingCommand, StoredBookmark};

use super::job::{Answer, Head, Start, Work};
use crate::failure::Failure;
use crate::row;
use crate::sql::{Cell, Fetched, Row, Sql, Tx};
use crate::statements as sql;

/// Writes the batch within the transaction; each work's answer, in order.
pub(crate) async fn apply(
    tx: &mut Tx,
    works: &[&Work],
    published: &[Row],
) -> Result<Vec<Answer>, Failure> {
    let mut answers = decide(tx, works).await?;
    let winners: Vec<&Work> = works
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| {
            matches!(answer, Answer::Done | Answer::Committed(Commit::Done { .. }))
        })
        .map(|(work, _)| *work)
        .collect();

    tx.run(&sql::DELETE_BOOKMARKS, &all(&winners, |work| &work.burned)).await?;
    tx.run(&sql::INSERT_BOOKMARKS, &all(&winners, |work| &work.created)).await?;
    let journal: Vec<&Row> = winners.iter().filter_map(|work| work.journal.as_ref()).collect();
    tx.run(&sql::INSERT_JOURNAL, &journal).await?;
    insert_starts(tx, &winners).await?;
    keep(tx, works, &winners, &mut answers).await?;
    tx.run(&sql::UPSERT_WAITING, &all(&winners, |work| &work.waits)).await?;
    tx.run(&sql::DELETE_PENDING, &all(&winners, |work| &work.settles)).await?;
    tx.run(&sql::INSERT_TOKENS, &all(&winners, |work| &work.tokens)).await?;
    tx.run(&sql::INSERT_OUTBOX, &all(&winners, |work| &work.outbox)).await?;
    tx.run(&sql::DELETE_OUTBOX, &published.iter().collect::<Vec<_>>()).await?;
    Ok(answers)
}

/// Waiting commands that these new bookmarks answer, oldest first, for each list of bookmarks.
pub(crate) async fn answered(
    tx: &mut Tx,
    bookmarks: &[Vec<StoredBookmark>],
) -> Result<Vec<Vec<Message>>, Failure> {
    let keys: Vec<Row> = bookmarks
        .iter()
        .flatten()
        .map(|stored| {
            vec![
                Cell::text(stored.bookmark.id.as_str()),
                Cell::text(stored.instance_id.as_str()),
                Cell::text(&stored.bookmark.hash),
                Cell::Text(stored.correlation_id.clone()),
            ]
        })
        .collect();
    let found = tx.fetch(&sql::SELECT_ANSWERED, &keys.iter().collect::<Vec<_>>()).await?;
    let candidates: Vec<PendingCommand> = found.iter().map(candidate).collect::<Result<_, _>>()?;
    let answered = |bookmarks: &Vec<StoredBookmark>| {
        candidates
            .iter()
            .filter(|command| bookmarks.iter().any(|stored| command.is_answered_by(stored)))
            .map(|command| command.command.clone())
            .collect()
    };
    Ok(bookmarks.iter().map(answered).collect())
}

fn candidate(found: &Fetched) -> Result<PendingCommand, Failure> {
    let millis = found.number(5)?.unwrap_or_default();
    Ok(PendingCommand {
        id: CommandId::new(found.text(0)?.unwrap_or_default()),
        instance_id: found.text(1)?.map(InstanceId::new),
        bookmark_id: found.text(2)?.map(Into::into),
        hash: found.text(3)?,
        correlation_id: found.text(4)?,
        accepted_at: Timestamp::from_millis(millis),
        expires_at: None,
        waiting: true,
        command: row::unpack("a waiting command", &found.bytes(6)?.unwrap_or_default())?,
    })
}

/// Runs the heads. Those that lose have their final answer, the others a preliminary `Done`.
async fn decide(tx: &mut Tx, works: &[&Work]) -> Result<Vec<Answer>, Failure> {
    let holders =
        holders(tx, works.iter().filter_map(|work| work.activation_key.as_deref())).await?;
    let holder = |work: &Work| holders.get(work.activation_key.as_ref()?).cloned();
    let blocked = |work: &Work| match (&work.head, holder(work)) {
        (_, None) => false,
        // The row itself holds the key: it is there already.
        (Head::Update { .. } | Head::Start(_), Some(holder)) => holder != work.id,
        (_, Some(_)) => true,
    };

    let mut inserts = Vec::new();
    let mut begins = Vec::new();
    let mut updates = Vec::new();
    let mut stopped = Vec::new();
    for work in works {
        match &work.head {
            Head::Keep(_) | Head::Always => {}
            Head::Gate { .. } => {}
            _ if blocked(work) => stopped.push(vec![Cell::text(work.id.as_str())]),
            Head::Accept(row) | Head::Insert(row) => inserts.push(row),
            Head::Start(row) => begins.push(row),
            Head::Update { row, .. } => updates.push(row),
        }
    }
    let mut won = ids(tx, &sql::INSERT_INSTANCES, &inserts).await?;
    won.extend(ids(tx, &sql::START_INSTANCES, &begins).await?);
    won.extend(ids(tx, &sql::UPDATE_INSTANCES, &updates).await?);
    let passed = gates(tx, works).await?;
    let stopped = tx.fetch(&sql::SELECT_VERSIONS, &stopped.iter().collect::<Vec<_>>()).await?;
    let mut versions = BTreeMap::new();
    for found in &stopped {
        versions.insert(found.text(0)?.unwrap_or_default(), found.number(1)?.unwrap_or_default());
    }

    let answer = |work: &&Work| {
        let has_won = won.contains(work.id.as_str());
        let version = versions.get(work.id.as_str()).copied();
        match (&work.head, holder(work).filter(|_| blocked(work))) {
            (Head::Keep(_) | Head::Always, _) => Answer::Done,
            (Head::Gate { key, .. }, _) if passed.contains(key) => Answer::Done,
            (Head::Gate { .. }, _) => Answer::Known,
            (Head::Accept(_), None) if has_won => Answer::Done,
            (_, None) if has_won => Answer::Committed(Commit::Done { waiting: Vec::new() }),
            (Head::Accept(_), Some(holder)) if version.is_none() => Answer::NotAllowed(holder),
            (Head::Accept(_), _) => Answer::Known,
            (Head::Insert(_), Some(holder)) if version.is_none() => {
                Answer::Committed(Commit::NotAllowed(holder))
            }
            (Head::Start(_), Some(holder)) if version.is_none_or(|version| version == 0) => {
                Answer::Committed(Commit::NotAllowed(holder))
            }
            (Head::Update { expected, .. }, Some(holder)) if version == Some(*expected) => {
                Answer::Committed(Commit::NotAllowed(holder))
            }
            _ => Answer::Committed(Commit::Conflict),
        }
    };
    Ok(works.iter().map(answer).collect())
}

/// The keys of those who pass their gates; each kind of gate is one statement.
async fn gates(tx: &mut Tx, works: &[&Work]) -> Result<BTreeSet<String>, Failure> {
    let mut passed = BTreeSet::new();
    let kinds =
        [&*sql::TAKE_TOKENS, &*sql::ADVANCE_SCHEDULES, &*sql::TAKE_EVENTS, &*sql::TAKE_OVERDUE];
    for gate in kinds {
        let rows: Vec<&Row> = works
            .iter()
            .filter_map(|work| match &work.head {
                Head::Gate { sql, row, .. } if std::ptr::eq(*sql, gate) => Some(row),
                _ => None,
            })
            .collect();
        passed.extend(ids(tx, gate, &rows).await?);
    }
    Ok(passed)
}

/// Keeps commands. Who asked about one is told whether it was new.
async fn keep(
    tx: &mut Tx,
    works: &[&Work],
    winners: &[&Work],
    answers: &mut [Answer],
) -> Result<(), Failure> {
    let asked = works.iter().filter_map(|work| match &work.head {
        Head::Keep(row) => Some(row),
        _ => None,
    });
    let rows: Vec<&Row> =
        asked.chain(winners.iter().flat_map(|work| work.commands.iter())).collect();
    let new = ids(tx, &sql::INSERT_PENDING, &rows).await?;
    for (work, answer) in works.iter().zip(answers) {
        if let Head::Keep(row) = &work.head
            && let Some(Cell::Text(Some(id))) = row.first()
            && !new.contains(id)
        {
            *answer = Answer::Known;
        }
    }
    Ok(())
}

/// Starts of children and receivers. One whose activation key is taken is kept without it, and its
/// first burst finds out.
async fn insert_starts(tx: &mut Tx, winners: &[&Work]) -> Result<(), Failure> {
    let starts: Vec<&Start> = winners.iter().flat_map(|work| &work.starts).collect();
    let mut taken: BTreeSet<String> =
        holders(tx, starts.iter().filter_map(|start| start.activation_key.as_deref()))
            .await?
            .into_keys()
            .collect();
    let mut rows: Vec<Row> = Vec::with_capacity(starts.len());
    for start in starts {
        let mut row = start.row.clone();
        if let Some(key) = &start.activation_key
            && !taken.insert(key.clone())
            && let Some(cell) = row.get_mut(sql::INSTANCE_ACTIVATION_KEY)
        {
            *cell = Cell::Text(None);
        }
        rows.push(row);
    }
    tx.run(&sql::INSERT_INSTANCES, &rows.iter().collect::<Vec<_>>()).await
}

/// Who holds each of these activation keys.
async fn holders(
    tx: &mut Tx,
    keys: impl Iterator<Item = &str>,
) -> Result<BTreeMap<String, InstanceId>, Failure> {
    let keys: BTreeSet<&str> = keys.collect();
    let rows: Vec<Row> = keys.into_iter().map(|key| vec![Cell::text(key)]).collect();
    let found = tx.fetch(&sql::SELECT_HOLDERS, &rows.iter().collect::<Vec<_>>()).await?;
    let mut holders = BTreeMap::new();
    for row in &found {
        let (Some(key), Some(id)) = (row.text(0)?, row.text(1)?) else {
            return Err(Error::Corrupt("an activation key without an instance".to_owned()).into());
        };
        holders.insert(key, InstanceId::new(id));
    }
    Ok(holders)
}

async fn ids(tx: &mut Tx, sql: &'static Sql, rows: &[&Row]) -> Result<BTreeSet<String>, Failure> {
    let found = tx.fetch(sql, rows).await?;
    let mut ids = BTreeSet::new();
    for row in &found {
        ids.extend(row.text(0)?);
    }
    Ok(ids)
}

fn all<'a>(winners: &[&'a Work], part: impl Fn(&'a Work) -> &'a Vec<Row>) -> Vec<&'a Row> {
    winners.iter().flat_map(|work| part(work)).collect()
}
