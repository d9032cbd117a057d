//! Faults of a simulated database, injected around each operation.

use std::time::Duration;

use async_trait::async_trait;
use model::{Instance, Timestamp};

use crate::{Burst, Error, StoredBookmark};

/// One operation of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is the method of its name")]
pub enum Operation {
    Accept,
    Load,
    Commit,
    List,
    Count,
    Journal,
    Values,
    DeleteInstance,
    Unstarted,
    Unfinished,
    SaveDefinition,
    Publish,
    Retract,
    DeleteDefinition,
    DeleteVersion,
    Version,
    Definition,
    Definitions,
    Searchable,
    Triggers,
    TriggersNamed,
    CreateLabel,
    Labels,
    Label,
    ReplaceLabel,
    DeleteLabel,
    LabelsOf,
    SetLabels,
    Schedules,
    SchedulePage,
    Schedule,
    PauseSchedule,
    ResumeSchedule,
    FindBookmarks,
    RouteTemplates,
    AcceptCommand,
    Wait,
    Settle,
    Route,
    IsRouted,
    ForgetRouted,
    Accepted,
    Unapplied,
    Wakeable,
    Overdue,
    Clear,
    Bury,
    Clock,
    DueTimers,
    DueSchedules,
    Fire,
    Unpublished,
    Published,
    Grant,
    Token,
    Redeem,
    SaveKey,
    Key,
    Keys,
    DeleteKey,
    Audit,
    Audits,
    CreateUser,
    Users,
    User,
    UserNamed,
    ChangeUser,
    DeleteUser,
    CreateRole,
    Roles,
    RolesOf,
    ChangeRole,
    DeleteRole,
    ChangePeople,
    CreateApplication,
    Applications,
    ApplicationWithKey,
    DeleteApplication,
    BeginSession,
    Session,
    RenewSession,
    EndSession,
    AddSigningKey,
    SigningKeys,
    RetireSigningKeys,
    DeleteSigningKey,
    CountLogin,
    UncountLogin,
    ForgiveLogins,
    ForgetLogins,
    CreateSecret,
    Secrets,
    Secret,
    ReplaceSecret,
    DeleteSecret,
    RewrapSecrets,
    Claim,
    KeepAnswer,
    Release,
    ForgetRequests,
    SubmitPlan,
    Plan,
    ClaimPlan,
    AddJobs,
    BeginJobs,
    EndJob,
    EndPlan,
    Jobs,
    Progress,
    EndedDefinition,
    Ended,
    RemoveEnded,
    Orphans,
    RemoveOrphans,
    ForgetAudit,
    BeginPayload,
    WritePayload,
    CompletePayload,
    Payload,
    PayloadPart,
    PayloadUsers,
    ClearPayloads,
    UnnamePayload,
    ForgetPayload,
    Ping,
}

impl Operation {
    /// Whether it can change something.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Accept
                | Self::Commit
                | Self::DeleteInstance
                | Self::SaveDefinition
                | Self::Publish
                | Self::Retract
                | Self::DeleteDefinition
                | Self::DeleteVersion
                | Self::CreateLabel
                | Self::ReplaceLabel
                | Self::DeleteLabel
                | Self::SetLabels
                | Self::AcceptCommand
                | Self::Wait
                | Self::Settle
                | Self::Route
                | Self::ForgetRouted
                | Self::Bury
                | Self::Clear
                | Self::Fire
                | Self::Published
                | Self::Grant
                | Self::Redeem
                | Self::SaveKey
                | Self::DeleteKey
                | Self::Audit
                | Self::CreateUser
                | Self::ChangeUser
                | Self::DeleteUser
                | Self::CreateRole
                | Self::ChangeRole
                | Self::DeleteRole
                | Self::ChangePeople
                | Self::CreateApplication
                | Self::DeleteApplication
                | Self::BeginSession
                | Self::RenewSession
                | Self::EndSession
                | Self::AddSigningKey
                | Self::RetireSigningKeys
                | Self::DeleteSigningKey
                | Self::CountLogin
                | Self::UncountLogin
                | Self::ForgiveLogins
                | Self::ForgetLogins
                | Self::CreateSecret
                | Self::ReplaceSecret
                | Self::DeleteSecret
                | Self::RewrapSecrets
                | Self::Claim
                | Self::KeepAnswer
                | Self::Release
                | Self::ForgetRequests
                | Self::SubmitPlan
                | Self::ClaimPlan
                | Self::AddJobs
                | Self::BeginJobs
                | Self::EndJob
                | Self::EndPlan
                | Self::RemoveEnded
                | Self::RemoveOrphans
                | Self::ForgetAudit
                | Self::BeginPayload
                | Self::WritePayload
                | Self::CompletePayload
                | Self::ClearPayloads
                | Self::UnnamePayload
                | Self::ForgetPayload
        )
    }
}

/// One burst, just before it is written.
#[derive(Debug)]
pub struct Written<'a> {
    /// The burst.
    pub burst: &'a Burst,
    /// The instance before the burst.
    pub before: Option<&'a Instance>,
    /// The bookmarks that it burns and that exist.
    pub burned: Vec<&'a StoredBookmark>,
    /// The database's clock.
    pub now: Timestamp,
}

/// Decides which operations fail, and when. Waiting in a hook delays the operation.
#[async_trait]
pub trait Faults: Send + Sync {
    /// Called before the operation does anything.
    ///
    /// # Errors
    /// The operation fails with this error, and has changed nothing.
    async fn before(&self, _operation: Operation) -> Result<(), Error> {
        Ok(())
    }

    /// Called after the operation is done.
    ///
    /// # Errors
    /// The operation fails with this error, although its changes are made: its answer is lost.
    async fn after(&self, _operation: Operation) -> Result<(), Error> {
        Ok(())
    }

    /// The delay of an operation whose caller learns at once that the outcome is unknown. Only
    /// commits are asked.
    fn late(&self, _operation: Operation) -> Option<Duration> {
        None
    }

    /// Gets each burst as it is written, and can check invariants.
    fn witness(&self, _written: &Written<'_>) {}
}

/// No faults.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

impl Faults for NoFaults {}
