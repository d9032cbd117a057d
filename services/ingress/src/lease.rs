//! Leases on tasks: what a worker gets with a task that it took over HTTP, and brings back.
//!
//! A lease says where the task is answered on NATS. It is signed, and nothing of it is kept: any node
//! that has the keys of this cluster can answer the task for the worker.

use std::time::Duration;

use bus::Handed;
use model::{InstanceId, Timestamp};
use protocol::TaskRequest;
use serde::{Deserialize, Serialize};

use crate::identity::token::{self, Flaw};
use crate::{App, Problem};

/// The `typ` of a lease: nothing else that is signed with the same key can stand for one.
const KIND: &str = "staunch-task-lease";
/// Characters of a lease: more than one has whose names are as long as they may be.
const CHARS_MAX: usize = 8 * 1024;
/// The longest time by which a lease ends before the task would be given to another worker.
const MARGIN_MAX: Duration = Duration::from_secs(1);

/// What a lease says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lease {
    /// The task.
    pub(crate) task_id: String,
    /// Its type.
    pub(crate) task_type: String,
    /// The version of the type.
    pub(crate) version: u32,
    /// The attempt.
    pub(crate) attempt: u32,
    /// The instance that waits.
    pub(crate) instance_id: InstanceId,
    /// Where the task is answered.
    pub(crate) address: String,
    /// The time, in milliseconds, within which it has to be answered.
    wait_ms: u64,
    /// When the lease is over.
    pub(crate) expires_at: Timestamp,
}

impl Lease {
    /// The lease on a task that was taken just now.
    pub(crate) fn of(handed: &Handed, task: &TaskRequest, now: Timestamp) -> Self {
        let lease = Self {
            task_id: task.task_id.clone(),
            task_type: task.task_type.clone(),
            version: task.task_version,
            attempt: task.attempt,
            instance_id: task.workflow_instance_id.clone(),
            address: handed.address.clone(),
            wait_ms: u64::try_from(handed.ack_wait.as_millis()).unwrap_or(u64::MAX),
            expires_at: now,
        };
        lease.renewed(now)
    }

    /// The same lease, from this time on.
    pub(crate) fn renewed(self, now: Timestamp) -> Self {
        let wait = Duration::from_millis(self.wait_ms);
        let margin = MARGIN_MAX.min(wait / 10);
        Self { expires_at: now.after(wait.saturating_sub(margin)), ..self }
    }
}

/// Signs a lease.
///
/// # Errors
/// 503 when the keys cannot be read.
pub(crate) async fn sign(app: &App, lease: &Lease) -> Result<String, Problem> {
    let key = app.identity.keys.signer(&app.cx, &app.config.identity).await?;
    token::sign_as(KIND, lease, &key).map_err(|flaw| {
        tracing::error!(%flaw, "a lease on a task cannot be signed");
        Problem::internal()
    })
}

/// Reads the lease on this task.
///
/// # Errors
/// 403 when it is none of this cluster or was changed, 400 when it is on another task, 409 when it is
/// over, 503 when the keys cannot be read.
pub(crate) async fn open(app: &App, task_id: &str, text: &str) -> Result<Lease, Problem> {
    if text.len() > CHARS_MAX {
        return Err(invalid(Flaw::Malformed));
    }
    let sealed = token::open(text).map_err(invalid)?;
    let key = app.identity.keys.key(&app.cx, &app.config.identity, &sealed.key_id).await?;
    let key = key.ok_or_else(|| invalid(Flaw::Key))?;
    let lease: Lease = sealed.read(KIND, &key).map_err(invalid)?;
    if lease.task_id != task_id {
        return Err(Problem::bad_request(format!(
            "the lease is on task {}, and the path names task {task_id}",
            lease.task_id
        )));
    }
    if lease.expires_at <= app.now() {
        return Err(expired(&lease));
    }
    Ok(lease)
}

fn invalid(flaw: Flaw) -> Problem {
    let why = match flaw {
        Flaw::Key => "it is signed with a key that is not known here",
        Flaw::Signature => "its signature is wrong",
        _ => "it is no lease",
    };
    let detail = format!(
        "the lease is refused: {why}; send it as POST /tasks/poll or the last heartbeat gave it"
    );
    Problem::new(axum::http::StatusCode::FORBIDDEN, "invalid-lease", detail)
}

fn expired(lease: &Lease) -> Problem {
    let Lease { task_id, expires_at, .. } = lease;
    Problem::conflict(
        "lease-expired",
        format!(
            "the lease on task {task_id} ended at {expires_at}, and another worker may have the \
             task: poll again, and send heartbeats in time, each with the lease of the one before"
        ),
    )
    .with("taskId", task_id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_ends_before_the_task_goes_to_another() {
        let now = Timestamp::from_millis(10_000);
        let ends = |seconds: u64| {
            let lease = Lease {
                task_id: "t".to_owned(),
                task_type: "Ship".to_owned(),
                version: 1,
                attempt: 1,
                instance_id: "i".into(),
                address: String::new(),
                wait_ms: seconds * 1_000,
                expires_at: Timestamp::default(),
            };
            lease.renewed(now).expires_at.as_millis()
        };
        assert_eq!([ends(30), ends(2), ends(0)], [39_000, 11_800, 10_000]);
    }
}
