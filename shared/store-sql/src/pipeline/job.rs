//! One caller's work as rows. The caller's own task makes them, so that the committers only write.

use std::collections::BTreeSet;

use model::{BookmarkId, CommandId, Instance, InstanceId, PayloadHash, Timestamp, VersionId};
use store::{
    Burst, Commit, Error, Expected, Firing, NewInstance, OutboxRow, PendingCommand, StoredBookmark,
    ValueChanges,
};

use crate::cell::{Cell, Row};
use crate::columns;
use crate::entity::{bookmark, instance, journal, outbox, pending, token, value};
use crate::statements::Gate;

/// Two jobs with the same key never run at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Instance(String),
    Command(String),
    Activation(String),
    Gate(String),
}

/// The part of a work that decides whether the rest is written.
#[derive(Debug)]
pub(crate) enum Head {
    /// A start that must be new.
    Accept(Row),
    /// The first burst of an instance that must be new.
    Insert(Row),
    /// The first burst of an instance that is new, or accepted and not yet run.
    Start(Row),
    /// A burst of an instance that must still have the expected version, which is the last cell of
    /// the row.
    Update { row: Row, expected: i64 },
    /// A command; its caller learns whether it is new.
    Keep(Row),
    /// An item that only one caller can take: a token, an occurrence of a schedule.
    Gate { gate: Gate, row: Row, key: String },
    /// No condition: the rest is always written.
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
    /// The head's instance; empty if it has none.
    pub(crate) id: InstanceId,
    /// The activation key that the head asks for.
    pub(crate) activation_key: Option<String>,
    /// The version that a start or first burst runs.
    pub(crate) version_id: VersionId,
    pub(crate) burned: Vec<Row>,
    pub(crate) created: Vec<Row>,
    /// The bookmarks of `created`, to look for waiting commands afterwards.
    pub(crate) bookmarks: Vec<StoredBookmark>,
    pub(crate) journal: Option<Row>,
    /// The instance whose searchable values are all removed first.
    pub(crate) cleared: Option<Row>,
    /// Searchable values that are removed.
    pub(crate) unvalued: Vec<Row>,
    /// Searchable values, new or changed.
    pub(crate) values: Vec<Row>,
    pub(crate) starts: Vec<Start>,
    pub(crate) commands: Vec<Row>,
    pub(crate) waits: Vec<Row>,
    pub(crate) outbox: Vec<Row>,
    pub(crate) tokens: Vec<Row>,
    /// Payloads that the instance uses from now on, those that it does not use any more, and all that
    /// are kept for a while.
    pub(crate) uses: Vec<Row>,
    pub(crate) unused: Vec<Row>,
    pub(crate) touched: Vec<Row>,
    pub(crate) settles: Vec<Row>,
    pub(crate) keys: Vec<Key>,
}

/// The end of a work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WorkEnd {
    /// It is written.
    Done,
    /// The id of the start or of the command existed, or another caller has passed the gate.
    Known,
    /// The activation key is taken.
    NotAllowed(InstanceId),
    /// A start of a definition version that was deleted.
    Gone,
    /// A burst, rejected or committed.
    Committed(Commit),
}

impl Work {
    pub(crate) fn accept(start: &NewInstance) -> Result<Self, Error> {
        let id = start.instance.id.clone();
        let mut work = Self::new(Head::Accept(start_row(start)?), id);
        work.version_id = start.instance.version_id.clone();
        work.ask_for(start.activation_key.clone());
        work.use_payloads_of(start);
        Ok(work)
    }

    pub(crate) fn commit(burst: Burst) -> Result<Self, Error> {
        let id = burst.instance.id.clone();
        let activation_key = burst.activation_key.clone();
        let now = burst.instance.updated_at;
        let version_id = burst.instance.version_id.clone();
        let values = value_rows(&burst)?;
        let mut row =
            columns::row(instance::Model::of(burst.instance, burst.activation_key, None)?)?;
        let head = match burst.expected {
            Expected::Absent => Head::Insert(row),
            Expected::Unstarted => Head::Start(row),
            Expected::Version(expected) => {
                row.push(Cell::number(expected));
                Head::Update { row, expected }
            }
        };
        let mut work = Self::new(head, id.clone());
        work.ask_for(activation_key);
        work.version_id = version_id;
        work.burned = burst.burned.iter().map(|burned| bookmark_key(burned, &id)).collect();
        work.created = rows(&burst.created, |created| columns::row(bookmark::Model::of(created)?))?;
        let noted = journal::Model::of(id.as_str(), &burst.journal)?;
        work.journal = noted.map(columns::row).transpose()?;
        work.values = values;
        let ValueChanges { replaces, removed, .. } = &burst.values;
        work.unvalued = removed.iter().map(|name| value_key(&id, name)).collect();
        work.cleared = replaces.then(|| vec![Cell::text(id.as_str())]);
        work.start(&burst.starts)?;
        work.commands = command_rows(&burst.commands)?;
        work.outbox = rows(&burst.outbox, |row| columns::row(outbox::Model::of(row)?))?;
        work.tokens = rows(&burst.tokens, |token| columns::row(token::Model::of(token)?))?;
        work.settles = burst.settles.iter().map(key).collect();
        work.bookmarks = burst.created;
        work.uses.extend(burst.payloads.used.iter().map(|hash| use_of(hash, &id)));
        work.unused = burst.payloads.unused.iter().map(|hash| use_of(hash, &id)).collect();
        let touched = BTreeSet::from_iter(burst.payloads.touched());
        work.touched.extend(touched.into_iter().map(|hash| touch(hash, now)));
        Ok(work)
    }

    pub(crate) fn keep(command: &PendingCommand) -> Result<Self, Error> {
        let row = pending_row(command, command.waiting)?;
        let mut work = Self::new(Head::Keep(row), InstanceId::default());
        work.keys.push(Key::Command(command.id.to_string()));
        Ok(work)
    }

    pub(crate) fn wait(command: &PendingCommand) -> Result<Self, Error> {
        let mut work = Self::new(Head::Always, InstanceId::default());
        work.waits = vec![pending_row(command, true)?];
        work.keys.push(Key::Command(command.id.to_string()));
        Ok(work)
    }

    pub(crate) fn settle(
        id: &CommandId,
        new: &[NewInstance],
        commands: &[PendingCommand],
    ) -> Result<Self, Error> {
        let mut work = Self::new(Head::Always, InstanceId::default());
        work.start(new)?;
        work.commands = command_rows(commands)?;
        work.settles = vec![key(id)];
        work.keys.push(Key::Command(id.to_string()));
        Ok(work)
    }

    /// Ends an event with the starts and commands that follow from it, once.
    pub(crate) fn route(
        id: &CommandId,
        now: Timestamp,
        new: &[NewInstance],
        commands: &[PendingCommand],
    ) -> Result<Self, Error> {
        let row = vec![Cell::text(id.as_str()), Cell::number(now.as_millis())];
        let mut work = Self::gate(Gate::Event, row, id.as_str());
        work.start(new)?;
        work.commands = command_rows(commands)?;
        work.settles = vec![key(id)];
        work.keys.push(Key::Command(id.to_string()));
        Ok(work)
    }

    /// Replaces an expired command by a message in the outbox.
    pub(crate) fn bury(id: &CommandId, now: Timestamp, dead: &OutboxRow) -> Result<Self, Error> {
        let row = vec![Cell::text(id.as_str()), Cell::number(now.as_millis())];
        let mut work = Self::gate(Gate::Overdue, row, id.as_str());
        work.outbox = vec![columns::row(outbox::Model::of(dead)?)?];
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
        let mut work = Self::gate(Gate::Token, row, hash);
        work.commands = vec![pending_row(command, command.waiting)?];
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
            Cell::Number(firing.fired_at.map(Timestamp::as_millis)),
            Cell::number(firing.missed),
        ];
        let mut work = Self::gate(Gate::Schedule, row, id);
        work.start(&firing.starts)?;
        Ok(work)
    }

    /// The approximate number of bytes that it writes.
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
            &self.values,
            &self.unvalued,
            &self.commands,
            &self.waits,
            &self.outbox,
            &self.tokens,
            &self.uses,
            &self.unused,
            &self.touched,
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
            version_id: VersionId::default(),
            burned: Vec::new(),
            created: Vec::new(),
            bookmarks: Vec::new(),
            journal: None,
            cleared: None,
            unvalued: Vec::new(),
            values: Vec::new(),
            starts: Vec::new(),
            commands: Vec::new(),
            waits: Vec::new(),
            outbox: Vec::new(),
            tokens: Vec::new(),
            uses: Vec::new(),
            unused: Vec::new(),
            touched: Vec::new(),
            settles: Vec::new(),
        }
    }

    /// The end of a start of a deleted version.
    pub(crate) fn gone(&self) -> WorkEnd {
        match self.head {
            Head::Accept(_) => WorkEnd::Gone,
            _ => WorkEnd::Committed(Commit::Gone(self.version_id.clone())),
        }
    }

    /// Its row of [`crate::statements::SELECT_GONE`]; only starts have one.
    pub(crate) fn gone_row(&self) -> Option<Row> {
        let least: i64 = match self.head {
            Head::Accept(_) | Head::Insert(_) => 0,
            Head::Start(_) => 1,
            Head::Update { .. } | Head::Keep(_) | Head::Gate { .. } | Head::Always => return None,
        };
        let (id, version_id) = (Cell::text(self.id.as_str()), self.version_id.as_str());
        Some(vec![id, Cell::text(version_id), Cell::number(least)])
    }

    fn gate(gate: Gate, row: Row, key: &str) -> Self {
        Self::new(Head::Gate { gate, row, key: key.to_owned() }, InstanceId::default())
    }

    /// Accepts these starts.
    fn start(&mut self, starts: &[NewInstance]) -> Result<(), Error> {
        for start in starts {
            let activation_key = start.activation_key.clone();
            self.starts.push(Start { row: start_row(start)?, activation_key });
            self.use_payloads_of(start);
        }
        Ok(())
    }

    /// An instance uses the payloads that its start command names, however long that waits.
    fn use_payloads_of(&mut self, start: &NewInstance) {
        let Instance { id, created_at, .. } = &start.instance;
        for hash in PayloadHash::named_in(&start.command.payload) {
            self.uses.push(use_of(&hash, id));
            self.touched.push(touch(&hash, *created_at));
        }
    }

    fn ask_for(&mut self, activation_key: Option<String>) {
        self.keys.extend(activation_key.clone().map(Key::Activation));
        self.activation_key = activation_key;
    }
}

impl Start {
    /// The row without its activation key.
    pub(crate) fn row_without_key(&self) -> Row {
        let mut row = self.row.clone();
        if let Some(cell) = row.get_mut(instance::Column::ActivationKey as usize) {
            *cell = Cell::Text(None);
        }
        row
    }
}

fn key(id: &CommandId) -> Row {
    vec![Cell::text(id.as_str())]
}

fn bookmark_key(id: &BookmarkId, instance_id: &InstanceId) -> Row {
    vec![Cell::text(id.as_str()), Cell::text(instance_id.as_str())]
}

fn use_of(hash: &PayloadHash, instance_id: &InstanceId) -> Row {
    vec![Cell::text(hash.as_str()), Cell::text(instance_id.as_str())]
}

fn touch(hash: &PayloadHash, now: Timestamp) -> Row {
    vec![Cell::text(hash.as_str()), Cell::number(now.as_millis())]
}

fn value_key(instance_id: &InstanceId, name: &str) -> Row {
    vec![Cell::text(instance_id.as_str()), Cell::text(name)]
}

fn value_rows(burst: &Burst) -> Result<Vec<Row>, Error> {
    let set = burst.values.set.iter();
    set.map(|(name, key)| columns::row(value::Model::of(&burst.instance, name, key))).collect()
}

fn start_row(start: &NewInstance) -> Result<Row, Error> {
    let (instance, key) = (start.instance.clone(), start.activation_key.clone());
    columns::row(instance::Model::of(instance, key, Some(&start.command))?)
}

fn pending_row(command: &PendingCommand, waiting: bool) -> Result<Row, Error> {
    columns::row(pending::Model::of(command, waiting)?)
}

fn command_rows(commands: &[PendingCommand]) -> Result<Vec<Row>, Error> {
    rows(commands, |command| pending_row(command, command.waiting))
}

fn rows<T>(values: &[T], row: impl Fn(&T) -> Result<Row, Error>) -> Result<Vec<Row>, Error> {
    values.iter().map(row).collect()
}
