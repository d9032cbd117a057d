//! The registration of a definition: its triggers and schedules.

use std::collections::BTreeMap;

use model::{DefinitionId, Schedule, Trigger};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait as _, DatabaseTransaction, EntityTrait as _, IntoActiveModel as _, QueryFilter as _,
};

use crate::entity::{schedule, trigger};
use crate::failure::Failure;

pub(super) async fn put_triggers(
    tx: &DatabaseTransaction,
    id: &DefinitionId,
    triggers: &[Trigger],
) -> Result<(), Failure> {
    trigger::Entity::delete_many()
        .filter(trigger::Column::DefinitionId.eq(id.as_str()))
        .exec(tx)
        .await?;
    for trigger in triggers {
        let row = trigger::Model::of(trigger)?;
        trigger::Entity::insert(row.into_active_model())
            .on_conflict_do_nothing()
            .exec_without_returning(tx)
            .await?;
    }
    Ok(())
}

/// Replaces the definition's schedules by these. A schedule that existed keeps its counter, its pause
/// and what it has done; with an unchanged recurrence it also keeps its next time.
pub(super) async fn put_schedules(
    tx: &DatabaseTransaction,
    id: &DefinitionId,
    schedules: &[Schedule],
) -> Result<(), Failure> {
    let ids: Vec<&str> = schedules.iter().map(|schedule| schedule.id.as_str()).collect();
    let known: BTreeMap<String, schedule::Model> = schedule::Entity::find()
        .filter(schedule::Column::Id.is_in(ids))
        .all(tx)
        .await?
        .into_iter()
        .map(|row| (row.id.clone(), row))
        .collect();
    retire(tx, schedule::Column::DefinitionId, id.as_str()).await?;
    for schedule in schedules {
        let mut row = schedule::Model::of(schedule)?;
        if let Some(known) = known.get(&row.id) {
            row.occurrence = Ord::max(row.occurrence, known.occurrence);
            (row.paused_at, row.paused_by) = (known.paused_at, known.paused_by.clone());
            (row.last_at, row.missed) = (known.last_at, known.missed);
            let goes_on = !known.retired && known.definition_id == id.as_str();
            if goes_on && known.recurrence == row.recurrence {
                row.next_at = known.next_at;
            }
            schedule::Entity::delete_by_id(&known.id).exec(tx).await?;
        }
        schedule::Entity::insert(row.into_active_model()).exec_without_returning(tx).await?;
    }
    Ok(())
}

/// Removes the triggers and retires the schedules: nothing starts the definition any more.
pub(super) async fn unregister(
    tx: &DatabaseTransaction,
    triggers: trigger::Column,
    schedules: schedule::Column,
    id: &str,
) -> Result<(), Failure> {
    trigger::Entity::delete_many().filter(triggers.eq(id)).exec(tx).await?;
    retire(tx, schedules, id).await
}

/// Ends the pauses of a definition that is deleted: one of the same id begins without them.
pub(super) async fn end_pauses(tx: &DatabaseTransaction, id: &DefinitionId) -> Result<(), Failure> {
    use schedule::Column::{DefinitionId, PausedAt, PausedBy};
    schedule::Entity::update_many()
        .col_expr(PausedAt, Expr::value(None::<i64>))
        .col_expr(PausedBy, Expr::value(None::<String>))
        .filter(DefinitionId.eq(id.as_str()))
        .exec(tx)
        .await?;
    Ok(())
}

async fn retire(
    tx: &DatabaseTransaction,
    column: schedule::Column,
    id: &str,
) -> Result<(), Failure> {
    schedule::Entity::update_many()
        .col_expr(schedule::Column::Retired, Expr::value(true))
        .filter(column.eq(id))
        .exec(tx)
        .await?;
    Ok(())
}
