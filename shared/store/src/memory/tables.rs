//! The rows, and the rules that several operations share.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    BookmarkId, CommandId, Definition, Entry, Instance, InstanceId, PayloadHash, Schedule,
    ScheduleId, SearchKey, Timestamp, Token, Trigger, VersionId,
};
use protocol::Message;

use super::Sizes;
use super::requests::RequestRow;
use crate::{
    AlterationJob, AlterationPlan, ApiKey, Application, Attempts, Audit, Label, NewInstance,
    OutboxRow, PayloadChanges, PendingCommand, Role, SchedulePause, Secret, Session, SigningKey,
    StoredBookmark, User,
};

/// An instance and the values kept beside it.
pub(super) struct InstanceRow {
    pub(super) instance: Instance,
    pub(super) command: Option<Message>,
    pub(super) activation_key: Option<String>,
}

/// A schedule. A retired one belongs to no published version; it stays so that its counter never
/// counts the same occurrence twice.
#[derive(Clone)]
pub(super) struct ScheduleRow {
    pub(super) schedule: Schedule,
    pub(super) retired: bool,
    pub(super) pause: Option<SchedulePause>,
    pub(super) last_at: Option<Timestamp>,
    pub(super) missed: u64,
}

impl ScheduleRow {
    /// Neither retired nor paused.
    pub(super) fn fires(&self) -> bool {
        !self.retired && self.pause.is_none()
    }
}

/// A plan and its owner.
pub(super) struct PlanRow {
    pub(super) plan: AlterationPlan,
    pub(super) owner: Option<String>,
    pub(super) held_until: Timestamp,
}

/// A payload, complete or not, with its parts.
pub(super) struct PayloadRow {
    /// Its name and size, once it is complete.
    pub(super) complete: Option<(PayloadHash, u64)>,
    /// Where its parts are; here if none.
    pub(super) place: Option<String>,
    /// It has lost its name, and gets none any more.
    pub(super) is_nameless: bool,
    pub(super) parts: BTreeMap<u32, Vec<u8>>,
    pub(super) touched_at: Timestamp,
}

#[derive(Default)]
pub(super) struct Tables {
    pub(super) instances: BTreeMap<InstanceId, InstanceRow>,
    pub(super) journals: BTreeMap<InstanceId, Vec<Entry>>,
    /// Searchable values by instance and name.
    pub(super) values: BTreeMap<InstanceId, BTreeMap<String, SearchKey>>,
    pub(super) bookmarks: BTreeMap<(InstanceId, BookmarkId), StoredBookmark>,
    pub(super) pending: BTreeMap<CommandId, PendingCommand>,
    /// Events that were handed out, each with its time.
    pub(super) routed: BTreeMap<CommandId, Timestamp>,
    pub(super) outbox: BTreeMap<String, OutboxRow>,
    pub(super) tokens: BTreeMap<String, Token>,
    /// By the ids of their parts.
    pub(super) payloads: BTreeMap<String, PayloadRow>,
    pub(super) payload_uses: BTreeSet<(PayloadHash, InstanceId)>,
    pub(super) definitions: BTreeMap<VersionId, Definition>,
    /// Versions that were deleted: they cannot be started any more.
    pub(super) deleted: BTreeSet<VersionId>,
    /// By id.
    pub(super) labels: BTreeMap<String, Label>,
    /// Each with the id of a label that it has.
    pub(super) version_labels: BTreeSet<(VersionId, String)>,
    pub(super) triggers: Vec<Trigger>,
    pub(super) schedules: BTreeMap<ScheduleId, ScheduleRow>,
    pub(super) keys: BTreeMap<String, ApiKey>,
    pub(super) audits: Vec<Audit>,
    pub(super) users: BTreeMap<String, User>,
    pub(super) roles: BTreeMap<String, Role>,
    pub(super) applications: BTreeMap<String, Application>,
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) signing_keys: BTreeMap<String, SigningKey>,
    /// By subject, each with the time from which it does not count.
    pub(super) attempts: BTreeMap<String, (Attempts, Timestamp)>,
    pub(super) secrets: BTreeMap<String, Secret>,
    pub(super) requests: BTreeMap<CommandId, RequestRow>,
    pub(super) plans: BTreeMap<String, PlanRow>,
    /// By plan and instance.
    pub(super) jobs: BTreeMap<(String, InstanceId), AlterationJob>,
}

impl Tables {
    pub(super) fn sizes(&self) -> Sizes {
        Sizes {
            instances: self.instances.len(),
            bookmarks: self.bookmarks.len(),
            pending: self.pending.len(),
            outbox: self.outbox.len(),
            tokens: self.tokens.len(),
        }
    }

    /// The instance that holds the activation key, other than this one.
    pub(super) fn holder(&self, key: Option<&str>, except: &InstanceId) -> Option<InstanceId> {
        let key = key?;
        let holds = |row: &&InstanceRow| {
            row.activation_key.as_deref() == Some(key) && row.instance.id != *except
        };
        self.instances.values().find(holds).map(|row| row.instance.id.clone())
    }

    /// Keeps a start, without a result. An existing instance stays as it is. A start whose
    /// activation key is taken is kept without the key; its first commit is then not allowed.
    pub(super) fn accept_quietly(&mut self, start: NewInstance) {
        if self.instances.contains_key(&start.instance.id) {
            return;
        }
        let taken = self.holder(start.activation_key.as_deref(), &start.instance.id).is_some();
        let activation_key = if taken { None } else { start.activation_key.clone() };
        self.insert_start(NewInstance { activation_key, ..start });
    }

    pub(super) fn insert_start(&mut self, start: NewInstance) {
        let NewInstance { instance, command, activation_key } = start;
        let activation_key = if instance.status.is_final() { None } else { activation_key };
        let id = instance.id.clone();
        let used = PayloadHash::named_in(&command.payload).into_iter().collect();
        let payloads = PayloadChanges { used, ..PayloadChanges::none() };
        self.refer(&id, &payloads, instance.created_at);
        self.instances.insert(id, InstanceRow { instance, command: Some(command), activation_key });
    }

    /// Removes an instance with its bookmarks, journal, tokens and kept commands.
    pub(super) fn remove_instance(&mut self, id: &InstanceId) {
        self.bookmarks.retain(|_, bookmark| bookmark.instance_id != *id);
        self.pending.retain(|_, command| command.instance_id.as_ref() != Some(id));
        self.tokens.retain(|_, token| token.instance_id != *id);
        self.journals.remove(id);
        self.values.remove(id);
        self.payload_uses.retain(|(_, user)| user != id);
        self.instances.remove(id);
    }

    /// Keeps a command; false when its id is there already.
    pub(super) fn accept_command(&mut self, command: PendingCommand) -> bool {
        if self.pending.contains_key(&command.id) {
            return false;
        }
        self.pending.insert(command.id.clone(), command);
        true
    }

    /// Ends a command with the starts and commands that follow from it.
    pub(super) fn settle(
        &mut self,
        id: &CommandId,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) {
        for start in starts {
            self.accept_quietly(start);
        }
        for command in commands {
            self.accept_command(command);
        }
        self.pending.remove(id);
    }

    /// Keeps a bookmark, unless the instance has it already.
    pub(super) fn create_bookmark(&mut self, created: StoredBookmark) {
        let id = created.instance_id.clone();
        let same = |known: &StoredBookmark| {
            known.bookmark.id == created.bookmark.id
                || known.bookmark.activity_instance_id == created.bookmark.activity_instance_id
                    && known.bookmark.hash == created.bookmark.hash
        };
        let first = (id.clone(), BookmarkId::default());
        let mut known = self.bookmarks.range(first..).map(|(_, known)| known);
        if !known.by_ref().take_while(|known| known.instance_id == id).any(same) {
            self.bookmarks.insert((id, created.bookmark.id.clone()), created);
        }
    }

    /// The waiting commands that fit, oldest first.
    pub(super) fn waiting(&self, fits: impl Fn(&PendingCommand) -> bool) -> Vec<&PendingCommand> {
        let waiting = self.pending.values().filter(|command| command.waiting);
        let mut found: Vec<_> = waiting.filter(|command| fits(command)).collect();
        found.sort_by(|a, b| (a.accepted_at, &a.id).cmp(&(b.accepted_at, &b.id)));
        found
    }

    /// Whether the instance of the command has been over since `before` or longer.
    pub(super) fn is_over(&self, command: &PendingCommand, before: Timestamp) -> bool {
        let instance = command.instance_id.as_ref().and_then(|id| self.instances.get(id));
        instance.and_then(|row| row.instance.finished_at).is_some_and(|time| time <= before)
    }
}
