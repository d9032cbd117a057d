//! Operations on an instance from outside its workflow: checked here for a dry run, applied by an
//! executor like any other command.

mod sent;

use std::sync::Arc;

use model::{Alteration, InstanceId, SubStatus};
use protocol::{Alter, Refusal, ReplyWhen};
use serde_json::{Value, json};
use store::{AuditOutcome, PendingCommand};

use crate::pipeline;
use crate::pipeline::identify::{self, Asking};
use crate::pipeline::reply::{Patience, Reply};
use crate::record::{self, Seen};
use crate::{App, Problem};
pub(crate) use sent::{check_count, read};

/// The result of alterations.
#[derive(Debug)]
pub(crate) enum Altered {
    /// They are applied; the status of the instance after them.
    Applied(SubStatus),
    /// They are refused, for these reasons.
    Refused(Refusal, String),
    /// They are accepted, and will be applied or refused later.
    Accepted,
}

impl Altered {
    /// What the audit log says about them.
    pub(crate) fn end(&self) -> (AuditOutcome, Option<Refusal>) {
        match self {
            Self::Applied(_) => (AuditOutcome::Done, None),
            Self::Refused(refusal, _) => (AuditOutcome::Refused, Some(*refusal)),
            Self::Accepted => (AuditOutcome::Accepted, None),
        }
    }
}

/// The alterations for the audit log: without values, which may be secret.
pub(crate) fn audited(alterations: &[Alteration]) -> Value {
    let shown = alterations.iter().map(|alteration| {
        let mut shown = json!(alteration);
        if let Some(members) = shown.as_object_mut() {
            members.shift_remove("value");
        }
        shown
    });
    json!({ "alterations": shown.collect::<Vec<_>>() })
}

/// Applies alterations to one instance, and waits until they are applied or refused.
pub(crate) async fn alter(
    app: &Arc<App>,
    asking: &Asking,
    id: &InstanceId,
    alterations: Vec<Alteration>,
    patience: Patience,
) -> Result<Altered, Problem> {
    let seen = record::get(app, id).await?;
    let status = seen.status();
    if seen.has_applied(&asking.id) {
        return Ok(Altered::Applied(status));
    }
    drop(seen);
    let body =
        protocol::Body::Alter(Alter { instance_id: id.clone(), alterations: alterations.clone() });
    let command = asking.command(app, body, patience);
    let pending = PendingCommand {
        id: command.id.clone(),
        instance_id: Some(id.clone()),
        bookmark_id: None,
        hash: None,
        correlation_id: None,
        command: identify::encoded(&command)?,
        accepted_at: app.now(),
        expires_at: None,
        waiting: false,
    };
    match pipeline::command(app, asking, pending, patience).await? {
        Reply::Outcome(outcome) => match outcome.refusal {
            None => Ok(Altered::Applied(outcome.sub_status.unwrap_or(status))),
            Some(Refusal::Waiting) => Ok(Altered::Accepted),
            Some(refusal) => Ok(Altered::Refused(refusal, outcome.message.unwrap_or_default())),
        },
        Reply::Done => {
            let Some(seen) = record::get_after(app, id).await? else {
                return Ok(Altered::Accepted);
            };
            if seen.has_applied(&asking.id) {
                return Ok(Altered::Applied(seen.status()));
            }
            // It was refused, and the reason did not arrive.
            let reasons = misfits(app, &seen, &alterations).await?;
            let reason = "it was refused when it was sent first".to_owned();
            let reason = reasons.into_iter().next().unwrap_or(reason);
            Ok(Altered::Refused(Refusal::Unfit, reason))
        }
        Reply::Accepted | Reply::Late => Ok(Altered::Accepted),
    }
}

/// The longest wait of a caller.
pub(crate) fn patience(app: &App) -> Patience {
    Patience::Until(ReplyWhen::Committed, app.config.answer_time_max)
}

/// The reasons why alterations would be refused now; empty if they fit. Changes nothing.
pub(crate) async fn misfits(
    app: &App,
    seen: &Seen,
    alterations: &[Alteration],
) -> Result<Vec<String>, Problem> {
    if seen.status() == SubStatus::Pending {
        return Ok(vec!["the instance has not run yet".to_owned()]);
    }
    let row = &seen.instance;
    let Some(current) = app.cx.catalog.program(&row.version_id).await? else {
        return Ok(vec![format!("definition version {} does not exist any more", row.version_id)]);
    };
    let (program, from) = match Alteration::target_version(alterations) {
        None => (current, None),
        Some(version) => {
            match app.cx.catalog.migration_target(&row.definition_id, version).await? {
                Ok(target) => (target, Some(current)),
                Err(reason) => return Ok(vec![reason]),
            }
        }
    };
    let alter = engine::Alter { alterations: alterations.to_vec(), from };
    let env = app.env("dry-run".into());
    let problems = app.cx.engine.admits(&program, seen.state(), &alter, &env).err();
    Ok(problems.unwrap_or_default().iter().map(ToString::to_string).collect())
}
