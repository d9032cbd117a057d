//! Definitions in memory.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use async_trait::async_trait;
use model::{Definition, DefinitionId, Instance, Schedule, ScheduleId, Trigger, VersionId};

use super::tables::{ScheduleRow, Tables};
use super::{MemoryStore, Operation};
use crate::{
    Base, DefinitionColumn, DefinitionFilter, Definitions, Deleted, Error, Listed, Page,
    Publication, Published, Retracted, Saved, SearchableFilter, SearchableNames, VersionOption,
    check,
};

#[async_trait]
impl Definitions for MemoryStore {
    async fn save(&self, definition: &Definition, base: &Base) -> Result<Saved, Error> {
        self.run(Operation::SaveDefinition, |tables| {
            check::definition(definition)?;
            let latest = tables.latest(&definition.definition_id);
            if !base.holds(latest) {
                return Ok(Saved::Overtaken { by: latest.cloned().map(Box::new) });
            }
            tables.check_identity(definition)?;
            let known = tables.definitions.get(&definition.id);
            if known.is_some_and(Definition::is_immutable) {
                return Err(check::immutable_version(definition));
            }
            tables.inherit_labels(definition);
            if definition.is_latest {
                tables.others(definition).for_each(|other| other.is_latest = false);
            }
            let draft = Definition { is_published: false, ..definition.clone() };
            tables.deleted.remove(&draft.id);
            tables.definitions.insert(draft.id.clone(), draft);
            Ok(Saved::Done)
        })
        .await
    }

    async fn publish_all(&self, publications: Vec<Publication>) -> Result<Published, Error> {
        self.run(Operation::Publish, |tables| {
            publications.iter().try_for_each(check::publication)?;
            let before = (publications.len() > 1).then(|| tables.of_definitions());
            for publication in publications {
                let published = tables.publish(publication);
                if !matches!(published, Ok(Published::Done)) {
                    before.into_iter().for_each(|before| tables.restore(before));
                    return published;
                }
            }
            Ok(Published::Done)
        })
        .await
    }

    async fn retract(&self, id: &DefinitionId, base: &Base) -> Result<Retracted, Error> {
        self.run(Operation::Retract, |tables| {
            if !base.holds(tables.latest(id)) {
                return Ok(Retracted::Overtaken);
            }
            let mut versions = tables.definitions.values_mut();
            let published = versions.find(|d| d.definition_id == *id && d.is_published);
            let Some(published) = published else { return Ok(Retracted::NotPublished) };
            published.is_published = false;
            let retracted = published.clone();
            tables.triggers.retain(|trigger| trigger.definition_id != *id);
            tables.retire(|schedule| schedule.definition_id == *id);
            Ok(Retracted::Done(Box::new(retracted)))
        })
        .await
    }

    async fn delete_definition(&self, id: &DefinitionId, base: &Base) -> Result<Deleted, Error> {
        self.run(Operation::DeleteDefinition, |tables| {
            if !base.holds(tables.latest(id)) {
                return Ok(Deleted::Overtaken);
            }
            let instances = tables.unfinished(|instance| instance.definition_id == *id);
            if instances > 0 {
                return Ok(Deleted::InUse { instances });
            }
            let before = tables.definitions.len();
            let Tables { definitions, deleted, version_labels, .. } = &mut *tables;
            definitions.retain(|version_id, definition| {
                let stays = definition.definition_id != *id;
                if !stays {
                    deleted.insert(version_id.clone());
                }
                stays
            });
            version_labels.retain(|(version_id, _)| definitions.contains_key(version_id));
            tables.triggers.retain(|trigger| trigger.definition_id != *id);
            tables.retire(|schedule| schedule.definition_id == *id);
            tables.end_pauses(id);
            let versions = before - tables.definitions.len();
            Ok(Deleted::Done { versions: u64::try_from(versions).unwrap_or(u64::MAX) })
        })
        .await
    }

    async fn delete_version(&self, id: &VersionId) -> Result<Deleted, Error> {
        self.run(Operation::DeleteVersion, |tables| {
            let instances = tables.unfinished(|instance| instance.version_id == *id);
            if instances > 0 {
                return Ok(Deleted::InUse { instances });
            }
            let Some(gone) = tables.definitions.remove(id) else {
                return Ok(Deleted::Done { versions: 0 });
            };
            tables.deleted.insert(id.clone());
            tables.drop_labels(id);
            tables.triggers.retain(|trigger| trigger.version_id != *id);
            tables.retire(|schedule| schedule.version_id == *id);
            if gone.is_latest
                && let Some(newest) = tables.others(&gone).max_by_key(|other| other.version)
            {
                newest.is_latest = true;
            }
            Ok(Deleted::Done { versions: 1 })
        })
        .await
    }

    async fn version(&self, id: &VersionId) -> Result<Option<Definition>, Error> {
        self.run(Operation::Version, |tables| Ok(tables.definitions.get(id).cloned())).await
    }

    async fn definition(
        &self,
        id: &DefinitionId,
        version: VersionOption,
    ) -> Result<Option<Definition>, Error> {
        self.run(Operation::Definition, |tables| {
            let versions = tables.definitions.values();
            let newest = versions
                .filter(|definition| definition.definition_id == *id && is(definition, version))
                .max_by_key(|definition| definition.version);
            Ok(newest.cloned())
        })
        .await
    }

    async fn definitions(
        &self,
        filter: &DefinitionFilter,
        page: Page,
    ) -> Result<Listed<Definition>, Error> {
        self.run(Operation::Definitions, |tables| {
            let mut found: Vec<&Definition> =
                tables.definitions.values().filter(|one| tables.fits(one, filter)).collect();
            found.sort_by(|left, right| {
                let by = match filter.order.by {
                    DefinitionColumn::CreatedAt => left.created_at.cmp(&right.created_at),
                    DefinitionColumn::Name => left.name.cmp(&right.name),
                    DefinitionColumn::Version => left.version.cmp(&right.version),
                };
                let by = if filter.order.ascending { by } else { by.reverse() };
                let ties = |d: &Definition| (Reverse(d.version), d.definition_id.clone());
                by.then_with(|| ties(left).cmp(&ties(right)))
            });
            Ok(page.of(found.into_iter().cloned()))
        })
        .await
    }

    async fn searchable(&self, filter: &SearchableFilter) -> Result<SearchableNames, Error> {
        self.run(Operation::Searchable, |tables| {
            let mut names = SearchableNames::new();
            for definition in tables.definitions.values().filter(|one| is_asked(one, filter)) {
                for (name, kind) in definition.searchable() {
                    names.entry(name.to_owned()).or_default().insert(kind);
                }
            }
            Ok(names)
        })
        .await
    }

    async fn triggers(&self, hash: &str) -> Result<Vec<Trigger>, Error> {
        self.run(Operation::Triggers, |tables| {
            Ok(tables.triggers.iter().filter(|trigger| trigger.hash == hash).cloned().collect())
        })
        .await
    }

    async fn triggers_named(&self, name: &str) -> Result<Vec<Trigger>, Error> {
        self.run(Operation::TriggersNamed, |tables| {
            Ok(tables.triggers.iter().filter(|trigger| trigger.name == name).cloned().collect())
        })
        .await
    }

    async fn schedules(&self) -> Result<Vec<Schedule>, Error> {
        self.run(Operation::Schedules, |tables| {
            let rows = tables.schedules.values().filter(|row| !row.retired);
            Ok(rows.map(|row| row.schedule.clone()).collect())
        })
        .await
    }
}

impl Tables {
    fn unfinished(&self, is_wanted: impl Fn(&Instance) -> bool) -> u64 {
        let instances = self.instances.values().map(|row| &row.instance);
        let found = instances.filter(|one| !one.status.is_final() && is_wanted(one)).count();
        u64::try_from(found).unwrap_or(u64::MAX)
    }

    /// The other versions of the same definition.
    fn others(&mut self, of: &Definition) -> impl Iterator<Item = &mut Definition> {
        self.definitions
            .values_mut()
            .filter(|other| other.definition_id == of.definition_id && other.id != of.id)
    }

    fn publish(&mut self, publication: Publication) -> Result<Published, Error> {
        let Publication { definition, base, triggers, schedules } = publication;
        let latest = self.latest(&definition.definition_id);
        if !base.holds(latest) {
            return Ok(Published::Overtaken { by: latest.cloned().map(Box::new) });
        }
        self.check_identity(&definition)?;
        let id = definition.definition_id.clone();
        let newer = self
            .others(&definition)
            .find(|other| other.is_published && other.version > definition.version);
        if let Some(newer) = newer {
            return Ok(Published::Overtaken { by: Some(Box::new(newer.clone())) });
        }
        let known = self.definitions.get(&definition.id);
        let stored = check::published_over(known, definition)?;
        if let Some(by) = self.clash(&id, &triggers) {
            return Ok(Published::RouteTaken { by: Box::new(by) });
        }
        self.inherit_labels(&stored);
        for other in self.others(&stored) {
            other.is_latest = false;
            other.is_published = false;
        }
        self.deleted.remove(&stored.id);
        self.definitions.insert(stored.id.clone(), stored);
        self.triggers.retain(|trigger| trigger.definition_id != id);
        for trigger in triggers {
            self.add_trigger(trigger);
        }
        self.replace_schedules(&id, schedules);
        Ok(Published::Done)
    }

    /// A copy of what publications change.
    fn of_definitions(&self) -> Self {
        Self {
            definitions: self.definitions.clone(),
            deleted: self.deleted.clone(),
            version_labels: self.version_labels.clone(),
            triggers: self.triggers.clone(),
            schedules: self.schedules.clone(),
            ..Self::default()
        }
    }

    fn restore(&mut self, before: Self) {
        self.definitions = before.definitions;
        self.deleted = before.deleted;
        self.version_labels = before.version_labels;
        self.triggers = before.triggers;
        self.schedules = before.schedules;
    }

    fn fits(&self, definition: &Definition, filter: &DefinitionFilter) -> bool {
        fits(definition, filter) && self.has_label_of(&definition.id, &filter.labels)
    }

    pub(super) fn latest(&self, id: &DefinitionId) -> Option<&Definition> {
        let mut versions = self.definitions.values();
        versions.find(|version| version.definition_id == *id && version.is_latest)
    }

    /// Checks that a version keeps its definition, and that a number belongs to one version.
    fn check_identity(&mut self, definition: &Definition) -> Result<(), Error> {
        let known = self.definitions.get(&definition.id);
        if known.is_some_and(|known| known.definition_id != definition.definition_id) {
            return Err(check::foreign_version(definition));
        }
        if self.others(definition).any(|other| other.version == definition.version) {
            return Err(check::taken_number(definition));
        }
        Ok(())
    }

    /// The trigger of another definition that collides with one of these HTTP triggers.
    fn clash(&self, id: &DefinitionId, triggers: &[Trigger]) -> Option<Trigger> {
        let others = self.triggers.iter().filter(|other| other.definition_id != *id);
        check::clash(triggers, others.cloned())
    }

    fn add_trigger(&mut self, trigger: Trigger) {
        let key = |trigger: &Trigger| {
            (trigger.definition_id.clone(), trigger.activity_id.clone(), trigger.hash.clone())
        };
        if let Err(place) = self.triggers.binary_search_by_key(&key(&trigger), key) {
            self.triggers.insert(place, trigger);
        }
    }

    fn retire(&mut self, which: impl Fn(&Schedule) -> bool) {
        for row in self.schedules.values_mut().filter(|row| which(&row.schedule)) {
            row.retired = true;
        }
    }

    /// Replaces the definition's schedules by these. A schedule that existed keeps its counter, its
    /// pause and what it has done;
    /// with an unchanged recurrence it also keeps its next time.
    fn replace_schedules(&mut self, id: &DefinitionId, schedules: Vec<Schedule>) {
        let earlier = |row: &ScheduleRow| !row.retired && row.schedule.definition_id == *id;
        let active: BTreeSet<ScheduleId> = self
            .schedules
            .iter()
            .filter(|(_, row)| earlier(row))
            .map(|(id, _)| id.clone())
            .collect();
        self.retire(|schedule| schedule.definition_id == *id);
        for mut schedule in schedules {
            let (mut pause, mut last_at, mut missed) = (None, None, 0);
            if let Some(row) = self.schedules.get(&schedule.id) {
                (pause, last_at, missed) = (row.pause.clone(), row.last_at, row.missed);
                let known = &row.schedule;
                schedule.occurrence = schedule.occurrence.max(known.occurrence);
                if active.contains(&schedule.id) && known.recurrence == schedule.recurrence {
                    schedule.next_at = known.next_at;
                }
            }
            let id = schedule.id.clone();
            let row = ScheduleRow { schedule, retired: false, pause, last_at, missed };
            self.schedules.insert(id, row);
        }
    }
}

fn is(definition: &Definition, version: VersionOption) -> bool {
    let Definition { is_latest, is_published, .. } = *definition;
    match version {
        VersionOption::Latest => is_latest,
        VersionOption::Published => is_published,
        VersionOption::Draft => is_latest && !is_published,
        VersionOption::LatestOrPublished => is_latest || is_published,
        VersionOption::LatestAndPublished => is_latest && is_published,
        VersionOption::All => true,
        VersionOption::Number(number) => definition.version == number,
    }
}

fn fits(definition: &Definition, filter: &DefinitionFilter) -> bool {
    let ids = &filter.definition_ids;
    let version_ids = &filter.version_ids;
    (ids.is_empty() || ids.contains(&definition.definition_id))
        && (version_ids.is_empty() || version_ids.contains(&definition.id))
        && is(definition, filter.version)
        && filter.search.as_ref().is_none_or(|text| {
            check::definition_search_text(definition).contains(&text.to_lowercase())
        })
        && (filter.name.is_none() || filter.name == definition.name)
        && filter.is_system.is_none_or(|wanted| wanted == definition.is_system)
}

fn is_asked(definition: &Definition, filter: &SearchableFilter) -> bool {
    let id = &definition.definition_id;
    (filter.definition_ids.is_empty() || filter.definition_ids.contains(id))
        && !filter.excluded_definition_ids.contains(id)
        && filter.version_id.as_ref().is_none_or(|version_id| *version_id == definition.id)
        && filter.version.is_none_or(|version| version == definition.version)
}
