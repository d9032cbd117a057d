//! Compares the accepted work with the contents of the database and the streams at the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Context;
use model::{DefinitionId, InstanceId, SubStatus, Timestamp, What};
use protocol::{Body, Command, Resume};
use store::{InstanceFilter, Page, PendingCommand, Store};
use tokio::time::Instant;

use crate::callee::Callee;
use crate::traffic::Accepted;
use crate::workflow::{LINES, Names};
use crate::world::{World, sql};

/// What a broker lost is published again at most this late: a first pause, one that is twice as long, and the
/// window in which the stream takes a repeated message for a duplicate.
const PATIENCE: Duration = Duration::from_secs(240);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// A time after the end of every test.
pub(crate) const FOR_EVER: Timestamp = Timestamp::from_millis(i64::MAX / 2);

/// The places to read from.
pub(crate) struct Ledger<'a> {
    store: Arc<dyn Store>,
    database_url: String,
    jetstream: Context,
    callee: &'a Callee,
    names: Names,
}

/// The figures that were found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) voyages: usize,
    /// Outgoing calls that were repeated under the same key.
    pub(crate) repeated_calls: usize,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(world: &World, jetstream: Context, callee: &'a Callee, names: Names) -> Self {
        let database_url = world.cluster.database_url().to_owned();
        Self { store: Arc::clone(&world.store), database_url, jetstream, callee, names }
    }

    /// The number of instances of a definition; in this sub-status, if one is given.
    pub(crate) async fn count(&self, definition: &str, status: Option<SubStatus>) -> usize {
        let filter = InstanceFilter {
            definition_ids: vec![DefinitionId::new(definition)],
            sub_statuses: status.into_iter().collect(),
            ..InstanceFilter::default()
        };
        let listed = self.store.list(&filter, Page::new(0, 1)).await.unwrap();
        usize::try_from(listed.total).unwrap()
    }

    /// Waits until all accepted work has finished.
    pub(crate) async fn settled(&self, accepted: &Accepted) {
        let wanted = accepted.voyages.len();
        let definitions = [&self.names.voyage, &self.names.child, &self.names.listener];
        let give_up = Instant::now() + PATIENCE;
        loop {
            let mut finished = 0;
            for definition in definitions {
                finished += self.count(definition, Some(SubStatus::Finished)).await;
            }
            let left = self.leftovers().await;
            if finished >= 3 * wanted && left == 0 {
                return;
            }
            let is_late = Instant::now() >= give_up;
            if is_late {
                let (standing, faults) = (self.standing(), self.faults().await);
                panic!("of {wanted} voyages, {left} left behind:\n{standing}\n{faults:?}");
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Instances that faulted, and why; some of them where there are many.
    async fn faults(&self) -> Vec<(String, Vec<String>)> {
        let filter =
            InstanceFilter { sub_statuses: vec![SubStatus::Faulted], ..InstanceFilter::default() };
        let mut faults = Vec::new();
        for listed in self.store.list(&filter, Page::new(0, 5)).await.unwrap().items {
            let journal = self.store.journal(&listed.id, Page::first()).await.unwrap();
            let faulted = journal.items.into_iter().filter(|entry| entry.what == What::Faulted);
            let reasons = faulted.filter_map(|entry| entry.message).collect();
            faults.push((listed.id.to_string(), reasons));
        }
        faults
    }

    /// Waits until this number of instances of a definition is in this sub-status.
    pub(crate) async fn all_are(&self, definition: &str, status: SubStatus, wanted: usize) {
        let give_up = Instant::now() + PATIENCE;
        while self.count(definition, Some(status)).await != wanted {
            let is_late = Instant::now() >= give_up;
            assert!(!is_late, "{wanted} of {definition} {status}:\n{}", self.standing());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Waits until no row waits to be handled.
    pub(crate) async fn nothing_left(&self) {
        let give_up = Instant::now() + PATIENCE;
        while self.leftovers().await > 0 {
            assert!(Instant::now() < give_up, "left behind:\n{}", self.standing());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Inserts a resume for an instance that waits for it, without notifying a node.
    pub(crate) async fn wait_in_vain(&self, instance: &str) {
        let (id, instance_id) = (format!("in-vain-{instance}"), InstanceId::new(instance));
        let body = Resume { instance_id: instance_id.clone(), ..Resume::default() };
        let command = Command::new(id.as_str().into(), Body::Resume(body));
        let kept = PendingCommand {
            id: command.id.clone(),
            instance_id: Some(instance_id),
            bookmark_id: None,
            hash: None,
            correlation_id: None,
            command: command.encode().unwrap(),
            accepted_at: testkit::now(),
            expires_at: None,
            waiting: true,
        };
        self.store.wait(kept).await.unwrap();
    }

    /// The number of instances of a definition that were resumed exactly once.
    pub(crate) async fn resumed_once(&self, definition: &str, wanted: usize) -> usize {
        let mut once = 0;
        for number in 0..wanted {
            let id = InstanceId::new(format!("{definition}-{number}"));
            let journal = self.store.journal(&id, Page::first()).await.unwrap();
            let resumed = journal.items.iter().filter(|entry| entry.what == What::Resumed).count();
            once += usize::from(resumed == 1);
        }
        once
    }

    /// The current counts, for the message of a failed test.
    fn standing(&self) -> String {
        let ask = |what: &str| sql(&self.database_url, what);
        let mut text = ask("select definition_id, status, count(*) from instances group by 1, 2");
        text += "\n-- pending: id, instance, bookmark, waiting\n";
        text += &ask(
            "select id, instance_id, bookmark_id, hash, waiting, accepted_at from pending_resumes
             limit 20",
        );
        text += "\n-- bookmarks of what is suspended\n";
        text += &ask("select instance_id, name, hash, due_at, created_at from bookmarks limit 20");
        text += "\n-- outbox\n";
        text += &ask("select id, instance_id, created_at from outbox limit 20");
        text
    }

    /// Checks that everything was done once: one voyage, one child and one listener; every line
    /// once and in order; calls under one key; every event once; one dead letter for each message
    /// that cannot be read.
    pub(crate) async fn balanced(&self, accepted: &Accepted) -> Found {
        let wanted = accepted.voyages.len();
        for definition in [&self.names.voyage, &self.names.child, &self.names.listener] {
            let finished = self.count(definition, Some(SubStatus::Finished)).await;
            assert_eq!((self.count(definition, None).await, finished), (wanted, wanted));
        }
        let mut found = Found { voyages: wanted, ..Found::default() };
        for instance in &accepted.voyages {
            assert_eq!(self.lines(instance).await, LINES, "{instance}");
            let (calls, keys) = self.callee.asked(instance);
            assert_eq!(keys, 1, "{instance} called under {keys} keys");
            found.repeated_calls += calls - 1;
        }
        let told = self.subjects("STAUNCH_EVENTS", "staunch.event", &self.names.voyage).await;
        for instance in &accepted.voyages {
            for what in ["started", "finished"] {
                let subject = format!("staunch.event.{}.{instance}.{what}", self.names.voyage);
                assert_eq!(told.get(&subject), Some(&1), "{subject}");
            }
        }
        let dead = self.subjects("STAUNCH_DEAD", "staunch.dead.cmd.start", "").await;
        let subject = format!("staunch.dead.cmd.start.{}", self.names.voyage);
        let dead = dead.get(&subject).copied().unwrap_or_default();
        assert_eq!(dead, accepted.garbage, "among the dead");
        found
    }

    /// The lines that an instance has written.
    pub(crate) async fn lines(&self, instance: &str) -> Vec<String> {
        let id = InstanceId::new(instance);
        let journal = self.store.journal(&id, Page::first()).await.unwrap();
        let lines = journal.items.into_iter().filter(|entry| entry.what == What::Line);
        lines.filter_map(|entry| entry.message).collect()
    }

    /// Rows that wait to be handled: in the outbox, accepted and not applied, or without a bookmark
    /// to wait for.
    pub(crate) async fn leftovers(&self) -> usize {
        let store = &self.store;
        let unpublished = store.unpublished(FOR_EVER, 100).await.unwrap().len();
        let unapplied = store.unapplied(FOR_EVER, 100).await.unwrap().len();
        let unstarted = store.unstarted(FOR_EVER, 100).await.unwrap().len();
        let unfinished = store.unfinished(FOR_EVER, 100).await.unwrap().len();
        let kept = "select count(*) from pending_resumes where id not like 'stray-%'";
        let kept = sql(&self.database_url, kept);
        let kept: usize = kept.parse().unwrap();
        unpublished + unapplied + unstarted + unfinished + kept
    }

    /// The number of messages by subject below a prefix and a name.
    async fn subjects(&self, stream: &str, prefix: &str, name: &str) -> BTreeMap<String, usize> {
        use futures::TryStreamExt as _;
        let stream = self.jetstream.get_stream(stream).await.unwrap();
        let filter =
            if name.is_empty() { format!("{prefix}.>") } else { format!("{prefix}.{name}.>") };
        let subjects = stream.info_with_subjects(filter).await.unwrap();
        subjects.try_collect::<Vec<_>>().await.unwrap().into_iter().collect()
    }
}
