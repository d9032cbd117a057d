//! One caller's work as rows, made in the caller's own task so that the committers only write.

use model::{CommandId, InstanceId, Timestamp};
use store::{
    Burst, Commit, Error, Expected, Firing, NewInstance, OutboxRow, PendingCommand, StoredBookmark,
};

use super::bookmark_key;
use crate::sql::{Cell, Row, Sql};
use crate::{row, statements};

/// What two jobs must not both touch at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Instance(String),
    Command(String),
    Activation(String),
    Gate(String),
}

/// What decides whether the rest is written.
#[derive(Debug)]
pub(crate) enum Head {
    /// A start that must be new.
    Accept(Row),
    /// The first burst of an instance that must be new.
    Insert(Row),
    /// The first burst of an instance that is new, or accepted and not yet run.
    Start(Row),
    /// A burst of an instance that must still have the version.
    Update { row: Row, expected: i64 },
    /// A command; its caller is told whether it is new.
    Keep(Row),
    /// Something that only one can take: a token, an occurrence of a schedule.
    Gate { sql: &'static Sql, row: Row, key: String },
    /// Nothing: the rest is written in any case.
    Always,
}

/// A child or receiver to start.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) row: Row,
    pub(crate) activation_key: Option<String>,
}

/// One caller's work.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) head: Head,
    /// The head's instance; empty where it has none.
    pub(crate) id: InstanceId,
    /// The activation key that the head asks for.
    pub(crate) activation_key: Option<String>,
    pub(crate) burned: Vec<Row>,
    pub(crate) created: Vec<Row>,
    /// `created` as it was given, to look for waiting commands afterwards.
    pub(crate) bookmarks: Vec<StoredBookmark>,
    pub(crate) journal: Option<Row>,
    pub(crate) starts: Vec<Start>,
    pub(crate) commands: Vec<Row>,
    pub(crate) waits: Vec<Row>,
    pub(crate) outbox: Vec<Row>,
    pub(crate) tokens: Vec<Row>,
    pub(crate) settles: Vec<Row>,
    pub(crate) keys: Vec<Key>,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// It is written.
    Done,
    /// The start's id, or the command's, was there, or someone else has passed the gate.
    Known,
    /// The activation key is taken.
    NotAllowed(InstanceId),
    /// A burst, thrown out or committed.
    Committed(Commit),
}

impl Work {
    pub(crate) fn accept(start: &NewInstance) -> Result<Self, Error> {
        let id = start.instance.id.clone();
        let mut work = Self::new(Head::Accept(row::start(start)?), id);
        work.ask_for(start.activation_key.clone());
        Ok(work)
    }

    pub(crate) fn commit(burst: Burst) -> Result<Self, Error> {
        let id = burst.instance.id.clone();
        let activation_key = burst.activation_key.as_deref();
        let head = match burst.expected {
            Expected::Absent => Head::Insert(row::instance(&burst.instance, activation_key, None)?),
            Expected::Unstarted => {
                Head::Start(row::instance(&burst.instance, activation_key, None)?)
            }
            Expected::Version(expected) => {
                Head::Update { row: row::change(&burst, expected), expected }
            }
        };
        let mut work = Self::new(head, id.clone());
        work.ask_for(burst.activation_key);
        work.burned = burst.burned.iter().map(|burned| bookmark_key(burned, id.as_str())).collect();
        work.created = rows(&burst.created, row::bookmark)?;
        work.journal = row::journal(id.as_str(), &burst.journal)?;
        work.starts = starts(&burst.starts)?;
        work.commands = rows(&burst.commands, |command| row::pending(command, command.waiting))?;
        work.outbox = rows(&burst.outbox, row::outbox)?;
        work.tokens = rows(&burst.tokens, row::token)?;
        work.settles = burst.settles.iter().map(key).collect();
        work.bookmarks = burst.created;
        Ok(work)
    }

    pub(crate) fn keep(command: &PendingCommand) -> Result<Self, Error> {
        let row = row::pending(command, command.waiting)?;
        let mut work = Self::new(Head::Keep(row), InstanceId::default());
        work.keys.push(Key::Command(command.id.to_string()));
        Ok(work)
    }

    pub(crate) fn wait(command: &PendingCommand) -> Result<Self, Error> {
        let mut work = Self::new(Head::Always, InstanceId::default());
        work.waits = vec![row::pending(command, true)?];
        work.keys.push(Key::Command(command.id.to_string()));
        Ok(work)
    }

    pub(crate) fn settle(
        id: &CommandId,
        new: &[NewInstance],
        commands: &[PendingCommand],
    ) -> Result<Self, Error> {
        let mut work = Self::new(Head::Always, InstanceId::default());
        work.starts = starts(new)?;
        work.commands = rows(commands, |command| row::pending(command, command.waiting))?;
        work.settles = vec![key(id)];
        work.keys.push(Key::Command(id.to_string()));
        Ok(work)
    }

    /// Ends an event with what follows from it, once.
    pub(crate) fn route(
        id: &CommandId,
        now: Timestamp,
        new: &[NewInstance],
        commands: &[PendingCommand],
    ) -> Result<Self, Error> {
        let row = vec![Cell::text(id.as_str()), Cell::number(now.as_millis())];
        let mut work = Self::gate(&statements::TAKE_EVENTS, row, id.as_str());
        work.starts = starts(new)?;
        work.commands = rows(commands, |command| row::pending(command, command.waiting))?;
        work.settles = vec![key(id)];
        work.keys.push(Key::Command(id.to_string()));
        Ok(work)
    }

    /// Puts a message into the outbox in the place of a command whose time is over.
    pub(crate) fn bury(id: &CommandId, now: Timestamp, dead: &OutboxRow) -> Result<Self, Error> {
        let row = vec![Cell::text(id.as_str()), Cell::number(now.as_millis())];
        let mut work = Self::gate(&statements::TAKE_OVERDUE, row, id.as_str());
        work.outbox = vec![row::outbox(dead)?];
        work.keys.push(Key::Command(id.to_string()));
        Ok(work)
    }

    /// Uses a token up and accepts the command.
    pub(crate) fn redeem(
        hash: &str,
        now: Timestamp,
        command: &PendingCommand,
    ) -> Result<Self, Error> {
        let row = vec![Cell::text(hash), Cell::number(now.as_millis())];
        let mut work = Self::gate(&statements::TAKE_TOKENS, row, hash);
        work.commands = vec![row::pending(command, command.waiting)?];
        Ok(work)
    }

    /// Advances a schedule and accepts its starts.
    pub(crate) fn fire(firing: &Firing) -> Result<Self, Error> {
        let id = firing.schedule_id.as_str();
        let row = vec![
            Cell::text(id),
            Cell::number(firing.occurrence),
            Cell::number(firing.occurrence_next),
            Cell::Number(firing.next_at.map(Timestamp::as_millis)),
        ];
        let mut work = Self::gate(&statements::ADVANCE_SCHEDULES, row, id);
        work.starts = starts(&firing.starts)?;
        Ok(work)
    }

    /// About how many bytes it writes.
    pub(crate) fn bytes(&self) -> usize {
        let head = match &self.head {
            Head::Accept(row)
            | Head::Insert(row)
            | Head::Start(row)
            | Head::Keep(row)
            | Head::Update { row, .. }
            | Head::Gate { row, .. } => Some(row),
            Head::Always => None,
        };
        let starts = self.starts.iter().map(|start| &start.row);
        let lists = [
            &self.burned,
            &self.created,
            &self.commands,
            &self.waits,
            &self.outbox,
            &self.tokens,
            &self.settles,
        ];
        let rows = lists.into_iter().flatten().chain(head).chain(&self.journal).chain(starts);
        rows.flatten().map(Cell::bytes).sum()
    }

    fn new(head: Head, id: InstanceId) -> Self {
        let keys = match &head {
            Head::Keep(_) | Head::Always => Vec::new(),
            Head::Gate { key, .. } => vec![Key::Gate(key.clone())],
            _ => vec![Key::Instance(id.to_string())],
        };
        Self {
            head,
            id,
            keys,
            activation_key: None,
            burned: Vec::new(),
            created: Vec::new(),
            bookmarks: Vec::new(),
            journal: None,
            starts: Vec::new(),
            commands: Vec::new(),
            waits: Vec::new(),
            outbox: Vec::new(),
            tokens: Vec::new(),
            settles: Vec::new(),
        }
    }

    fn gate(sql: &'static Sql, row: Row, key: &str) -> Self {
        Self::new(Head::Gate { sql, row, key: key.to_owned() }, InstanceId::default())
    }

    fn ask_for(&mut self, activation_key: Option<String>) {
        self.keys.extend(activation_key.clone().map(Key::Activation));
        self.activation_key = activation_key;
    }
}

fn key(id: &CommandId) -> Row {
    vec![Cell::text(id.as_str())]
}

fn rows<T>(values: &[T], row: impl Fn(&T) -> Result<Row, Error>) -> Result<Vec<Row>, Error> {
    values.iter().map(row).collect()
}

fn starts(starts: &[NewInstance]) -> Result<Vec<Start>, Error> {
    let start = |start: &NewInstance| {
        Ok(Start { row: row::start(start)?, activation_key: start.activation_key.clone() })
    };
    starts.iter().map(start).collect()
}
