//! One batch as statements: the heads decide which works are written, then one statement per table
//! writes the rest of those.

use std::collections::{BTreeMap, BTreeSet};

use model::InstanceId;
use protocol::Message;
use sea_orm::{FromQueryResult as _, QueryResult};
use store::{Commit, PendingCommand, StoredBookmark};

use super::job::{Head, Start, Work, WorkEnd};
use crate::cell::{Cell, Row};
use crate::entity::pending;
use crate::failure::Failure;
use crate::sql::Sql;
use crate::statements as sql;
use crate::statements::Gate;
use crate::tx::Tx;

/// Writes the batch within the transaction; returns the end of each work, in order.
pub(crate) async fn apply(
    tx: &mut Tx,
    works: &[&Work],
    published: &[Row],
) -> Result<Vec<WorkEnd>, Failure> {
    let mut answers = decide(tx, works).await?;
    let winners: Vec<&Work> = works
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| {
            matches!(answer, WorkEnd::Done | WorkEnd::Committed(Commit::Done { .. }))
        })
        .map(|(work, _)| *work)
        .collect();

    tx.run(&sql::DELETE_BOOKMARKS, &all(&winners, |work| &work.burned)).await?;
    tx.run(&sql::INSERT_BOOKMARKS, &all(&winners, |work| &work.created)).await?;
    let journal: Vec<&Row> = winners.iter().filter_map(|work| work.journal.as_ref()).collect();
    tx.run(&sql::INSERT_JOURNAL, &journal).await?;
    let cleared: Vec<&Row> = winners.iter().filter_map(|work| work.cleared.as_ref()).collect();
    tx.run(&sql::CLEAR_VALUES, &cleared).await?;
    tx.run(&sql::DELETE_VALUES, &all(&winners, |work| &work.unvalued)).await?;
    tx.run(&sql::UPSERT_VALUES, &all(&winners, |work| &work.values)).await?;
    insert_starts(tx, &winners).await?;
    keep(tx, works, &winners, &mut answers).await?;
    tx.run(&sql::UPSERT_WAITING, &all(&winners, |work| &work.waits)).await?;
    tx.run(&sql::DELETE_PENDING, &all(&winners, |work| &work.settles)).await?;
    tx.run(&sql::INSERT_TOKENS, &all(&winners, |work| &work.tokens)).await?;
    tx.run(&sql::INSERT_USES, &all(&winners, |work| &work.uses)).await?;
    tx.run(&sql::DELETE_USES, &all(&winners, |work| &work.unused)).await?;
    let touched: BTreeMap<&Cell, &Row> = winners
        .iter()
        .flat_map(|work| &work.touched)
        .filter_map(|row| Some((row.first()?, row)))
        .collect();
    tx.run(&sql::TOUCH_PAYLOADS, &touched.into_values().collect::<Vec<_>>()).await?;
    tx.run(&sql::INSERT_OUTBOX, &all(&winners, |work| &work.outbox)).await?;
    tx.run(&sql::DELETE_OUTBOX, &published.iter().collect::<Vec<_>>()).await?;
    Ok(answers)
}

/// The commands that wait for these new bookmarks, oldest first, for each list of bookmarks.
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

fn candidate(found: &QueryResult) -> Result<PendingCommand, Failure> {
    Ok(pending::Model::from_query_result(found, "")?.pending()?)
}

/// Runs the heads. Works that lose have their final end, the others a preliminary `Done`.
async fn decide(tx: &mut Tx, works: &[&Work]) -> Result<Vec<WorkEnd>, Failure> {
    let holders =
        holders(tx, works.iter().filter_map(|work| work.activation_key.as_deref())).await?;
    let holder = |work: &Work| holders.get(work.activation_key.as_ref()?).cloned();
    let blocked = |work: &Work| match (&work.head, holder(work)) {
        (_, None) => false,
        // The row that holds the key is this work's own.
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
    let mut won = ids(tx, &sql::ACCEPT_INSTANCES, &inserts).await?;
    won.extend(ids(tx, &sql::START_INSTANCES, &begins).await?);
    won.extend(ids(tx, &sql::UPDATE_INSTANCES, &updates).await?);
    let lost = works.iter().filter(|work| !won.contains(work.id.as_str()) && !blocked(work));
    let gone = gone(tx, lost.copied()).await?;
    let passed = gates(tx, works).await?;
    let stopped = tx.fetch(&sql::SELECT_VERSIONS, &stopped.iter().collect::<Vec<_>>()).await?;
    let mut versions = BTreeMap::new();
    for found in &stopped {
        let (id, version): (String, i64) = (found.try_get_by(0)?, found.try_get_by(1)?);
        versions.insert(id, version);
    }

    let answer = |work: &&Work| {
        let has_won = won.contains(work.id.as_str());
        let version = versions.get(work.id.as_str()).copied();
        match (&work.head, holder(work).filter(|_| blocked(work))) {
            (Head::Keep(_) | Head::Always, _) => WorkEnd::Done,
            (Head::Gate { key, .. }, _) if passed.contains(key) => WorkEnd::Done,
            (Head::Gate { .. }, _) => WorkEnd::Known,
            _ if gone.contains(work.id.as_str()) => work.gone(),
            (Head::Accept(_), None) if has_won => WorkEnd::Done,
            (_, None) if has_won => WorkEnd::Committed(Commit::Done { waiting: Vec::new() }),
            (Head::Accept(_), Some(holder)) if version.is_none() => WorkEnd::NotAllowed(holder),
            (Head::Accept(_), _) => WorkEnd::Known,
            (Head::Insert(_), Some(holder)) if version.is_none() => {
                WorkEnd::Committed(Commit::NotAllowed(holder))
            }
            (Head::Start(_), Some(holder)) if version.is_none_or(|version| version == 0) => {
                WorkEnd::Committed(Commit::NotAllowed(holder))
            }
            (Head::Update { expected, .. }, Some(holder)) if version == Some(*expected) => {
                WorkEnd::Committed(Commit::NotAllowed(holder))
            }
            _ => WorkEnd::Committed(Commit::Conflict),
        }
    };
    Ok(works.iter().map(answer).collect())
}

/// The works among these that are starts of deleted versions. Queries the database only if a start
/// was not written, which is rare.
pub(crate) async fn gone<'w>(
    tx: &mut Tx,
    lost: impl Iterator<Item = &'w Work>,
) -> Result<BTreeSet<String>, Failure> {
    let rows: Vec<Row> = lost.filter_map(Work::gone_row).collect();
    ids(tx, &sql::SELECT_GONE, &rows.iter().collect::<Vec<_>>()).await
}

/// The keys of the works that pass their gates; one statement for each kind of gate.
async fn gates(tx: &mut Tx, works: &[&Work]) -> Result<BTreeSet<String>, Failure> {
    let mut passed = BTreeSet::new();
    for kind in Gate::ALL {
        let rows: Vec<&Row> = works
            .iter()
            .filter_map(|work| match &work.head {
                Head::Gate { gate, row, .. } if *gate == kind => Some(row),
                _ => None,
            })
            .collect();
        passed.extend(ids(tx, kind.sql(), &rows).await?);
    }
    Ok(passed)
}

/// Keeps commands. The caller of a [`Head::Keep`] learns whether its command was new.
async fn keep(
    tx: &mut Tx,
    works: &[&Work],
    winners: &[&Work],
    answers: &mut [WorkEnd],
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
            *answer = WorkEnd::Known;
        }
    }
    Ok(())
}

/// Inserts the starts of children and receivers. A start whose activation key is taken is kept
/// without the key; its first burst is then not allowed.
async fn insert_starts(tx: &mut Tx, winners: &[&Work]) -> Result<(), Failure> {
    let starts: Vec<&Start> = winners.iter().flat_map(|work| &work.starts).collect();
    let mut taken: BTreeSet<String> =
        holders(tx, starts.iter().filter_map(|start| start.activation_key.as_deref()))
            .await?
            .into_keys()
            .collect();
    let mut keyless: Vec<Option<Row>> = Vec::with_capacity(starts.len());
    for start in &starts {
        let is_taken = start.activation_key.as_ref().is_some_and(|key| !taken.insert(key.clone()));
        keyless.push(is_taken.then(|| start.row_without_key()));
    }
    let rows: Vec<&Row> = starts
        .iter()
        .zip(&keyless)
        .map(|(start, keyless)| keyless.as_ref().unwrap_or(&start.row))
        .collect();
    tx.run(&sql::INSERT_INSTANCES, &rows).await
}

/// The instance that holds each of these activation keys.
async fn holders(
    tx: &mut Tx,
    keys: impl Iterator<Item = &str>,
) -> Result<BTreeMap<String, InstanceId>, Failure> {
    let keys: BTreeSet<&str> = keys.collect();
    let rows: Vec<Row> = keys.into_iter().map(|key| vec![Cell::text(key)]).collect();
    let found = tx.fetch(&sql::SELECT_HOLDERS, &rows.iter().collect::<Vec<_>>()).await?;
    let mut holders = BTreeMap::new();
    for row in &found {
        let (key, id): (String, String) = (row.try_get_by(0)?, row.try_get_by(1)?);
        holders.insert(key, InstanceId::new(id));
    }
    Ok(holders)
}

async fn ids(tx: &mut Tx, sql: &'static Sql, rows: &[&Row]) -> Result<BTreeSet<String>, Failure> {
    let found = tx.fetch(sql, rows).await?;
    let mut ids = BTreeSet::new();
    for row in &found {
        ids.insert(row.try_get_by(0)?);
    }
    Ok(ids)
}

fn all<'a>(winners: &[&'a Work], part: impl Fn(&'a Work) -> &'a Vec<Row>) -> Vec<&'a Row> {
    winners.iter().flat_map(|work| part(work)).collect()
}
