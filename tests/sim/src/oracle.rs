//! The required state at the end: every accepted command was applied, once.

use std::collections::{BTreeMap, BTreeSet};

use bus::Stream;
use executor::Record;
use model::{Definition, Entry, Instance, InstanceId, SubStatus, What, derived};
use store::{
    DefinitionFilter, Definitions as _, InstanceFilter, Instances as _, Page, VersionOption,
};

use crate::definitions::{BUSY, CONTENDED, LISTENING, TICK, URL};
use crate::edition;
use crate::expect::{Expect, Expectations};
use crate::world::World;

/// The whole state at the end.
pub(crate) struct Found {
    instances: BTreeMap<InstanceId, (Instance, Vec<Entry>)>,
    /// All versions of the definition with several publishers.
    contended: Vec<Definition>,
}

impl Found {
    pub(crate) async fn read(world: &World) -> Self {
        let store = &world.cluster.store;
        let mut instances = BTreeMap::new();
        let listed = store.list(&InstanceFilter::default(), Page::first()).await.unwrap();
        assert!(listed.total <= listed.items.len() as u64, "too many instances for one page");
        for instance in listed.items {
            let loaded = store.load(&instance.id).await.unwrap().unwrap();
            let journal = store.journal(&instance.id, Page::first()).await.unwrap().items;
            instances.insert(instance.id, (loaded.instance, journal));
        }
        let filter = DefinitionFilter {
            definition_ids: vec![CONTENDED.into()],
            version: VersionOption::All,
            ..DefinitionFilter::default()
        };
        let contended = store.definitions(&filter, Page::first()).await.unwrap().items;
        Self { instances, contended }
    }

    /// The differences from the required state. Empty when there are none.
    pub(crate) fn complaints(&self, world: &World, expected: &Expectations) -> Vec<String> {
        let mut complaints = Vec::new();
        for expect in expected.iter().filter(|expect| !expect.is_dead) {
            self.check_expected(world, expect, &mut complaints);
        }
        self.check_each(&mut complaints);
        self.check_children(expected, &mut complaints);
        self.check_messages(world, expected, &mut complaints);
        self.check_ticker(world, &mut complaints);
        self.check_calls(world, expected, &mut complaints);
        self.check_events(world, &mut complaints);
        self.check_versions(world, &mut complaints);
        check_leftovers(world, &mut complaints);
        check_dead(world, expected, &mut complaints);
        complaints
    }

    fn check_expected(&self, world: &World, expect: &Expect, complaints: &mut Vec<String>) {
        let id = &expect.id;
        let Some((instance, journal)) = self.instances.get(&InstanceId::new(id)) else {
            let is_excused = expect.stored_nanos.is_some_and(|at| world.has_lost(at));
            if !is_excused {
                complaints.push(format!("{id}: accepted and lost"));
            }
            return;
        };
        if instance.status != expect.status {
            let (is, last) = (instance.status, journal.last());
            complaints.push(format!("{id} is {is}, not {}; it ended with {last:?}", expect.status));
        }
        let written = lines(journal);
        if expect.lines.as_ref().is_some_and(|lines| *lines != written) {
            complaints.push(format!("{id} wrote {written:?}, not {:?}", expect.lines));
        }
        if instance.definition_version < expect.version_min {
            complaints.push(format!(
                "{id} runs version {}, though everyone had {}",
                instance.definition_version, expect.version_min
            ));
        }
        let migrated = migrations(journal);
        if migrated != expect.migrations {
            complaints
                .push(format!("{id} migrated to {migrated:?}, not to {:?}", expect.migrations));
        }
        if !expect.order.is_empty() {
            check_order(expect, instance, complaints);
        }
        // The times in the journal are those of nodes, whose clocks may be wrong.
        if let Some(gap) = expect.gap.filter(|_| world.cluster.nemesis.plan().skew_max_ms == 0) {
            let times: Vec<_> = journal
                .iter()
                .filter(|entry| entry.what == What::Line)
                .map(|entry| entry.timestamp)
                .collect();
            if times.len() > 1 && times[1].since(times[0]) < gap {
                complaints.push(format!("{id}: a timer fired early: {times:?}"));
            }
        }
    }

    /// Checks the conditions that hold for every instance.
    fn check_each(&self, complaints: &mut Vec<String>) {
        for (id, (instance, journal)) in &self.instances {
            if !instance.status.is_final() {
                complaints
                    .push(format!("{id} ({}) is {}", instance.definition_id, instance.status));
            }
            let sequences = journal.iter().map(|entry| entry.sequence);
            if !sequences.eq(1..=journal.len() as u64) {
                let sequences: Vec<_> = journal.iter().map(|entry| entry.sequence).collect();
                complaints.push(format!("{id}: the journal is not without gaps: {sequences:?}"));
            }
            match Record::decode(&instance.state) {
                Ok(record) if record.state.journal_sequence != journal.len() as u64 => {
                    complaints.push(format!("{id}: the journal is not that of its state"));
                }
                Ok(_) => {}
                Err(error) => complaints.push(format!("{id}: the state is unreadable: {error}")),
            }
        }
    }

    fn check_children(&self, expected: &Expectations, complaints: &mut Vec<String>) {
        let parents: usize = expected.iter().map(|expect| expect.children).sum();
        let children: Vec<_> = self.of("child").collect();
        if children.len() != parents {
            complaints.push(format!("{} children of {parents} parents", children.len()));
        }
        for (id, journal) in children {
            if lines(journal) != ["x", "y"] {
                complaints.push(format!("child {id} wrote {:?}", lines(journal)));
            }
        }
    }

    /// Checks that no message started two instances: each that it may start is expected.
    fn check_messages(&self, world: &World, expected: &Expectations, complaints: &mut Vec<String>) {
        if world.loses_streams() {
            return;
        }
        let expected: BTreeSet<_> = expected.iter().map(|expect| expect.id.as_str()).collect();
        for (id, _) in self.of(LISTENING) {
            if !expected.contains(id.as_str()) {
                complaints.push(format!("{id}: no message starts it, or one has started two"));
            }
        }
    }

    /// Checks that every occurrence of the schedule exists once and none was early.
    fn check_ticker(&self, world: &World, complaints: &mut Vec<String>) {
        let ticks: BTreeSet<_> = self.of("ticker").map(|(id, _)| id.clone()).collect();
        let (schedule, first, until) =
            (&world.ticker.id, world.ticker_first(), world.ticker_until());
        let whole = until.since(first).as_millis() / TICK.as_millis();
        let due = usize::try_from(whole).unwrap() + 1;
        if ticks.len() < due || ticks.len() > due + 1 {
            complaints.push(format!("{} ticks, not {due}", ticks.len()));
        }
        for occurrence in 0..ticks.len() {
            let id = derived(&["schedule", schedule.as_str(), &occurrence.to_string()]);
            let Some((instance, journal)) = self.instances.get(&InstanceId::new(id)) else {
                complaints.push(format!("tick {occurrence} is missing"));
                continue;
            };
            if lines(journal) != ["tock"] {
                complaints.push(format!("tick {occurrence} wrote {:?}", lines(journal)));
            }
            let nominal = first.after(TICK * u32::try_from(occurrence).unwrap());
            if instance.created_at < nominal {
                complaints.push(format!("tick {occurrence} came early: {}", instance.created_at));
            }
        }
    }

    fn check_calls(&self, world: &World, expected: &Expectations, complaints: &mut Vec<String>) {
        for path in ["first", "second", BUSY] {
            let callers = expected.iter().filter(|expect| expect.calls.contains(&path)).count();
            let keys = world.cluster.outside.keys(&format!("{URL}{path}"));
            if keys.len() != callers {
                let count = keys.len();
                complaints.push(format!("{path} was called under {count} keys by {callers}"));
            }
        }
    }

    /// Checks that each instance that has ended has its event.
    fn check_events(&self, world: &World, complaints: &mut Vec<String>) {
        if world.loses_streams() {
            return;
        }
        let mut ends: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (_, message) in world.cluster.bus.stored(Stream::Events) {
            let id = message.id().unwrap_or_default().to_owned();
            ends.entry(message.subject).or_default().insert(id);
        }
        for (id, (instance, _)) in &self.instances {
            let what = match instance.status {
                SubStatus::Finished => "finished",
                SubStatus::Cancelled => "cancelled",
                _ => continue,
            };
            let subject = protocol::subject::lifecycle(&instance.definition_id, id, what);
            let count = ends.get(&subject).map_or(0, BTreeSet::len);
            if count != 1 {
                complaints.push(format!("{id}: {count} events say that it is {what}"));
            }
        }
    }

    fn check_versions(&self, world: &World, complaints: &mut Vec<String>) {
        let instances = self.instances.values();
        let instances = instances
            .filter(|(instance, _)| instance.definition_id.as_str() == CONTENDED)
            .map(|(instance, journal)| (instance, lines(journal)));
        let editions = world.editions.lock().unwrap();
        edition::check(&editions, &self.contended, instances, complaints);
    }

    fn of(&self, definition: &str) -> impl Iterator<Item = (&InstanceId, &Vec<Entry>)> {
        self.instances
            .iter()
            .filter(move |(_, (instance, _))| instance.definition_id.as_str() == definition)
            .map(|(id, (_, journal))| (id, journal))
    }
}

fn lines(journal: &[Entry]) -> Vec<String> {
    let lines = journal.iter().filter(|entry| entry.what == What::Line);
    lines.filter_map(|entry| entry.message.clone()).collect()
}

/// The versions to which an instance was migrated.
fn migrations(journal: &[Entry]) -> Vec<u64> {
    let altered = journal.iter().filter(|entry| entry.what == What::Altered);
    altered.filter_map(|entry| entry.payload.as_ref()?["toVersion"].as_u64()).collect()
}

fn check_leftovers(world: &World, complaints: &mut Vec<String>) {
    let sizes = world.cluster.store.sizes();
    let pending = sizes.pending - world.late_reports();
    if (sizes.bookmarks, pending, sizes.outbox, sizes.tokens) != (0, 0, 0, 0) {
        complaints.push(format!("left in the database: {sizes:?}"));
    }
    if pending > 0
        && let Some(row) = world.cluster.store.pending().first()
    {
        let (id, aim, waiting) = (&row.id, &row.instance_id, row.waiting);
        complaints.push(format!("command {id} for {aim:?} is not applied; waiting: {waiting}"));
    }
    let commands = world.cluster.bus.stored(Stream::Commands);
    if let Some((_, message)) = commands.first() {
        complaints.push(format!("{} commands left, as {}", commands.len(), message.subject));
    }
}

/// Per-sender order: numbered commands are applied in order, and no number is left out.
fn check_order(expect: &Expect, instance: &Instance, complaints: &mut Vec<String>) {
    let Ok(record) = Record::decode(&instance.state) else { return };
    let applied = record.applied.iter().map(|id| id.as_str().to_owned());
    let applied: Vec<_> = applied.filter(|id| expect.order.contains(id)).collect();
    if applied != expect.order {
        complaints.push(format!("{} applied {applied:?}, not {:?}", expect.id, expect.order));
    }
    let numbers: Vec<_> = record.sequences.iter().map(|sequence| sequence.number).collect();
    if numbers != [expect.order.len() as u64] {
        complaints.push(format!("{} has counted up to {numbers:?}", expect.id));
    }
}

/// Checks that the dead letters are the required ones and no others.
fn check_dead(world: &World, expected: &Expectations, complaints: &mut Vec<String>) {
    let dead: Vec<_> = expected.iter().filter(|expect| expect.is_dead).collect();
    let mut found = BTreeSet::new();
    for (_, message) in world.cluster.bus.stored(Stream::Dead) {
        let reason = message.header(protocol::header::REASON).unwrap_or_default();
        let id = message.header(protocol::header::COMMAND_ID).unwrap_or_default();
        if dead.iter().any(|expect| expect.id == id) {
            found.insert(id.to_owned());
            continue;
        }
        complaints.push(format!("{} is among the dead: {reason}", message.subject));
    }
    let missing = dead.iter().filter(|expect| !found.contains(&expect.id));
    if !world.loses_streams() {
        complaints.extend(missing.map(|expect| format!("{} is not among the dead", expect.id)));
    }
}
