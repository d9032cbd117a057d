//! Plans: alterations of many instances, one job each, worked off in the background.

use async_trait::async_trait;
use model::{Alteration, InstanceId, Timestamp};
use serde_json::Value;

use crate::{Error, Listed, Page};

/// Alterations of all instances that a filter selects.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterationPlan {
    /// Its id.
    pub id: String,
    /// The alterations of each instance, in order.
    pub alterations: Vec<Alteration>,
    /// The filter, as it was submitted.
    pub filter: Value,
    /// Who submitted it, for the audit log.
    pub submitted_by: String,
    /// Its phase.
    pub status: PlanStatus,
    /// How far the instances are found; none before the first of them, and after the last.
    pub cursor: Option<String>,
    /// The time when it was submitted.
    pub created_at: Timestamp,
    /// The time when the work on it began.
    pub started_at: Option<Timestamp>,
    /// The time when it ended.
    pub completed_at: Option<Timestamp>,
}

/// The phase of a plan, in Elsa's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanStatus {
    /// Submitted.
    #[default]
    Pending,
    /// Its instances are being found.
    Generating,
    /// Its jobs are being done.
    Running,
    /// All its jobs are done: some of them may have failed.
    Completed,
    /// It could not be carried out.
    Failed,
}

/// The alteration of one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterationJob {
    /// The instance.
    pub instance_id: InstanceId,
    /// Its phase.
    pub status: JobStatus,
    /// What happened, for people.
    pub message: Option<String>,
    /// The time when its instance was found.
    pub created_at: Timestamp,
    /// The time when it began.
    pub started_at: Option<Timestamp>,
    /// The time when it ended.
    pub completed_at: Option<Timestamp>,
}

/// The phase of a job, in Elsa's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Its command is sent.
    Running,
    /// The instance is altered.
    Completed,
    /// The alterations do not fit the instance.
    Failed,
}

/// How many jobs of a plan are in each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says what it means")]
pub struct Progress {
    pub pending: u64,
    pub running: u64,
    pub completed: u64,
    pub failed: u64,
}

macro_rules! names {
    ($type:ident: $($name:ident),+) => {
        impl $type {
            /// Every phase.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Its name, as Elsa writes it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $(stringify!($name) => Ok(Self::$name),)+
                    _ => Err(format!("{text:?} is not a {}", stringify!($type))),
                }
            }
        }
    };
}

names!(PlanStatus: Pending, Generating, Running, Completed, Failed);
names!(JobStatus: Pending, Running, Completed, Failed);

impl Progress {
    /// Counts jobs in this phase.
    pub fn add(&mut self, status: JobStatus, jobs: u64) {
        let count = match status {
            JobStatus::Pending => &mut self.pending,
            JobStatus::Running => &mut self.running,
            JobStatus::Completed => &mut self.completed,
            JobStatus::Failed => &mut self.failed,
        };
        *count += jobs;
    }
}

impl PlanStatus {
    /// Whether nothing more happens.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// Plans and their jobs. Every call may be repeated: a plan survives a crash between any two.
#[async_trait]
pub trait Plans: Send + Sync {
    /// Keeps a plan; false when one has its id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn submit_plan(&self, plan: &AlterationPlan) -> Result<bool, Error>;

    /// The plan of this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn plan(&self, id: &str) -> Result<Option<AlterationPlan>, Error>;

    /// The oldest plan that is not over and that nobody else holds at `now`. The caller holds it
    /// until `until`, and longer when it asks again in time.
    ///
    /// # Errors
    /// See [`Error`].
    async fn claim_plan(
        &self,
        owner: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<AlterationPlan>, Error>;

    /// Adds a job for each of these instances that has none yet, and then moves the plan on.
    ///
    /// # Errors
    /// See [`Error`].
    async fn add_jobs(
        &self,
        id: &str,
        instances: &[InstanceId],
        next: PlanStatus,
        cursor: Option<String>,
        now: Timestamp,
    ) -> Result<(), Error>;

    /// Jobs that are not over, in the order of their instances, at most `limit`. Those without an
    /// end become `Running`.
    ///
    /// # Errors
    /// See [`Error`].
    async fn begin_jobs(
        &self,
        id: &str,
        after: Option<&InstanceId>,
        limit: u64,
        now: Timestamp,
    ) -> Result<Vec<InstanceId>, Error>;

    /// Ends a job; one that is over stays as it is.
    ///
    /// # Errors
    /// See [`Error`].
    async fn end_job(
        &self,
        id: &str,
        instance: &InstanceId,
        status: JobStatus,
        message: Option<String>,
        now: Timestamp,
    ) -> Result<(), Error>;

    /// Ends a plan; one that is over stays as it is.
    ///
    /// # Errors
    /// See [`Error`].
    async fn end_plan(&self, id: &str, status: PlanStatus, now: Timestamp) -> Result<(), Error>;

    /// One page of the jobs, or of those in one phase, in the order of their instances.
    ///
    /// # Errors
    /// See [`Error`].
    async fn jobs(
        &self,
        id: &str,
        status: Option<JobStatus>,
        page: Page,
    ) -> Result<Listed<AlterationJob>, Error>;

    /// How many jobs are in each phase.
    ///
    /// # Errors
    /// See [`Error`].
    async fn progress(&self, id: &str) -> Result<Progress, Error>;
}
