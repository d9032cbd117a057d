//! Schedules for people, in memory.

use async_trait::async_trait;
use model::{DefinitionId, Schedule, ScheduleId, Timestamp};

use super::tables::{ScheduleRow, Tables};
use super::{MemoryStore, Operation};
use crate::{Error, Listed, Page, ScheduleFilter, SchedulePause, ScheduleStatus, Schedules, check};

#[async_trait]
impl Schedules for MemoryStore {
    async fn schedule_page(
        &self,
        filter: &ScheduleFilter,
        page: Page,
    ) -> Result<Listed<ScheduleStatus>, Error> {
        self.run(Operation::SchedulePage, |tables| {
            let rows = tables.schedules.values().filter(|row| !row.retired && fits(filter, row));
            let mut rows: Vec<_> = rows.collect();
            rows.sort_by_key(|row| {
                let next_at = row.schedule.next_at;
                (next_at.is_none(), next_at, &row.schedule.id)
            });
            Ok(page.of(rows.into_iter().map(status)))
        })
        .await
    }

    async fn schedule(&self, id: &ScheduleId) -> Result<Option<ScheduleStatus>, Error> {
        self.run(Operation::Schedule, |tables| {
            Ok(tables.schedules.get(id).filter(|row| !row.retired).map(status))
        })
        .await
    }

    async fn pause_schedule(&self, id: &ScheduleId, pause: &SchedulePause) -> Result<bool, Error> {
        check::texts([Some(pause.by.as_str())])?;
        self.run(Operation::PauseSchedule, |tables| {
            let row = tables.schedules.get_mut(id).filter(|row| row.fires());
            let Some(row) = row else { return Ok(false) };
            row.pause = Some(pause.clone());
            Ok(true)
        })
        .await
    }

    async fn resume_schedule(
        &self,
        read: &Schedule,
        next_at: Option<Timestamp>,
    ) -> Result<bool, Error> {
        self.run(Operation::ResumeSchedule, |tables| {
            let is_same = |row: &&mut ScheduleRow| {
                let Schedule { occurrence, version_id, .. } = &row.schedule;
                let is_paused = !row.retired && row.pause.is_some();
                is_paused && *occurrence == read.occurrence && *version_id == read.version_id
            };
            let Some(row) = tables.schedules.get_mut(&read.id).filter(is_same) else {
                return Ok(false);
            };
            row.pause = None;
            row.schedule.next_at = next_at;
            // A timer that still holds the time of before the pause must not fire it.
            row.schedule.occurrence += 1;
            Ok(true)
        })
        .await
    }
}

fn fits(filter: &ScheduleFilter, row: &ScheduleRow) -> bool {
    let ScheduleFilter { definition_id, is_paused } = filter;
    definition_id.as_ref().is_none_or(|id| *id == row.schedule.definition_id)
        && is_paused.is_none_or(|is_paused| is_paused == row.pause.is_some())
}

fn status(row: &ScheduleRow) -> ScheduleStatus {
    ScheduleStatus {
        schedule: row.schedule.clone(),
        pause: row.pause.clone(),
        last_at: row.last_at,
        missed: row.missed,
    }
}

impl Tables {
    /// Ends the pauses of a definition that is deleted.
    pub(super) fn end_pauses(&mut self, id: &DefinitionId) {
        for row in self.schedules.values_mut().filter(|row| row.schedule.definition_id == *id) {
            row.pause = None;
        }
    }
}
