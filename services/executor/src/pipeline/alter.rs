//! load, for a command that alters an instance: finds the version to migrate to, and refuses what
//! does not fit.

use std::sync::Arc;

use engine::{Alter, Env, Input, Program};
use model::{Alteration, Instance};
use protocol::Refusal;
use store::VersionOption;

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
        (Some(version), Some(row)) => target(cx, row, version).await?,
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
    };
    if let Err(problems) = cx.engine.admits(&program, &before.record.state, &alter, &env) {
        *known = Some(before);
        let reasons: Vec<_> = problems.iter().map(ToString::to_string).collect();
        return Ok(Found::Refused(Refusal::Unfit, reasons.join("; ")));
    }
    let (input, work) = (Input::Alter(alter), work.clone());
    Ok(Found::Ready(Box::new(Ready { before, program, input, work })))
}

/// The program to migrate to, or the reason why there is none.
async fn target(
    cx: &Cx,
    row: &Instance,
    version: u32,
) -> Result<Result<Option<Arc<Program>>, String>, Stop> {
    let definition_id = &row.definition_id;
    let found = cx.store.definition(definition_id, VersionOption::Number(version)).await?;
    let Some(found) = found else {
        return Ok(Err(format!("definition {definition_id} has no version {version}")));
    };
    if found.published_at.is_none() {
        return Ok(Err(format!("version {version} of {definition_id} was never published")));
    }
    match cx.catalog.program(&found.id).await {
        Ok(Some(program)) => Ok(Ok(Some(program))),
        Ok(None) => Ok(Err(format!("definition {definition_id} has no version {version}"))),
        Err(error) => Ok(Err(broken(error)?)),
    }
}
