//! load, for a command that alters an instance: finds the version to migrate to, and refuses what
//! does not fit.

use std::sync::Arc;

use engine::{Alter, Env, Input, Program};
use model::Alteration;
use protocol::Refusal;

use super::load::{Found, Ready, broken};
use crate::burst::Known;
use crate::cx::Cx;
use crate::stop::Stop;
use crate::work::Work;

/// The turn that alters the instance, or the reasons why it cannot be altered so.
pub(super) async fn alter(
    cx: &Cx,
    known: &mut Option<Known>,
    before: Known,
    current: Arc<Program>,
    asked: Alter,
    work: &Work,
) -> Result<Found, Stop> {
    let target = match (Alteration::target_version(&asked.alterations), &before.row) {
        (Some(version), Some(row)) => {
            let found = cx.catalog.migration_target(&row.definition_id, version).await;
            found.or_else(|error| broken(error).map(Err))?.map(Some)
        }
        _ => Ok(None),
    };
    let (program, from) = match target {
        Ok(Some(target)) => (target, Some(current)),
        Ok(None) => (current, None),
        Err(reason) => {
            *known = Some(before);
            return Ok(Found::Refused(Refusal::Unfit, reason));
        }
    };
    let alter = Alter { from, ..asked };
    let env = Env {
        now: cx.now(),
        seed: [0; 32],
        command_id: work.id.clone(),
        installation: Arc::clone(&cx.config.installation),
        contents: engine::Contents::default(),
    };
    if let Err(problems) = cx.engine.admits(&program, &before.record.state, &alter, &env) {
        *known = Some(before);
        let reasons: Vec<_> = problems.iter().map(ToString::to_string).collect();
        return Ok(Found::Refused(Refusal::Unfit, reasons.join("; ")));
    }
    let (input, work) = (Input::Alter(alter), work.clone());
    Ok(Found::Ready(Box::new(Ready { before, program, input, work })))
}
