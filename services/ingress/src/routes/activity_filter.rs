//! Which instances a plan alters, by what their activities did. The executions of activities are
//! computed from journals, so each instance that the other members of a filter select is read.

use axum::http::StatusCode;
use model::{InstanceId, limits};
use serde::{Deserialize, Serialize};
use store::InstanceFilter;
use utoipa::ToSchema;

use super::side_by_side::side_by_side;
use crate::executions::{EXECUTION_STATUSES, ExecutionSummary, Executions};
use crate::{App, Problem, bounds, record};

/// The filters of one plan at most.
const FILTERS_MAX: usize = 8;

/// The characters of a text that a refusal shows.
const SHOWN_MAX: usize = 50;

/// An instance fulfils it if one execution of an activity fits all of its members. A filter without
/// members is left out.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[schema(example = json!({"activityId": "charge", "status": "Faulted"}))]
pub(crate) struct ActivityFilter {
    activity_id: Option<String>,
    /// The id of one execution.
    activity_instance_id: Option<String>,
    /// Ids from the workflow down to the activity.
    node_id: Option<String>,
    name: Option<String>,
    /// Such as `Elsa.SendHttpRequest`.
    activity_type: Option<String>,
    /// `Pending`, `Running`, `Completed`, `Canceled` or `Faulted`.
    status: Option<String>,
}

impl ActivityFilter {
    fn members(&self) -> [(&'static str, &Option<String>); 6] {
        [
            ("activityId", &self.activity_id),
            ("activityInstanceId", &self.activity_instance_id),
            ("nodeId", &self.node_id),
            ("name", &self.name),
            ("activityType", &self.activity_type),
            ("status", &self.status),
        ]
    }

    /// Whether it selects nothing by itself.
    pub(super) fn is_empty(&self) -> bool {
        self.members().iter().all(|(_, text)| text.is_none())
    }

    /// Refuses what the filter at this position cannot compare.
    fn check(&self, at: usize) -> Result<(), Problem> {
        for (what, text) in self.members() {
            bounds::optional(&format!("activityFilters[{at}].{what}"), text.as_deref())?;
        }
        let is_status =
            |text: &String| EXECUTION_STATUSES.iter().any(|one| one.eq_ignore_ascii_case(text));
        match &self.status {
            Some(text) if !is_status(text) => Err(Problem::bad_request(format!(
                "activityFilters[{at}]: status {:?} is not valid: use one of {}",
                text.chars().take(SHOWN_MAX).collect::<String>(),
                EXECUTION_STATUSES.join(", ")
            ))),
            _ => Ok(()),
        }
    }

    fn fits(&self, execution: &ExecutionSummary) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        let name = execution.activity_name.as_deref();
        is(&self.activity_id, &execution.activity_id)
            && is(&self.activity_instance_id, &execution.id)
            && is(&self.node_id, &execution.activity_node_id)
            && is(&self.activity_type, &execution.activity_type)
            && self.name.as_ref().is_none_or(|wanted| name == Some(wanted.as_str()))
            && self.status.as_ref().is_none_or(|it| it.eq_ignore_ascii_case(execution.status))
    }
}

/// The instances that the filter of a plan selects.
pub(crate) struct Selection {
    /// What the database compares.
    pub(crate) instances: InstanceFilter,
    activities: Vec<ActivityFilter>,
}

/// Instances that were compared with activity filters.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    pub(crate) selected: Vec<InstanceId>,
    /// Instances that could not be compared, each with the reason.
    pub(crate) unknown: Vec<(InstanceId, String)>,
}

/// Whether an instance fulfils activity filters.
enum Verdict {
    Fits,
    Misses,
    Unknown(String),
}

impl Selection {
    /// The instances of this filter that fulfil all of these activity filters.
    pub(super) fn new(
        instances: InstanceFilter,
        activities: Vec<ActivityFilter>,
    ) -> Result<Self, Problem> {
        if activities.len() > FILTERS_MAX {
            let count = activities.len();
            return Err(Problem::bad_request(format!(
                "{count} activityFilters are too many: use at most {FILTERS_MAX}"
            )));
        }
        activities.iter().enumerate().try_for_each(|(at, filter)| filter.check(at))?;
        let activities = activities.into_iter().filter(|filter| !filter.is_empty()).collect();
        Ok(Self { instances, activities })
    }

    /// Whether the journals of instances have to be read.
    pub(crate) fn reads_journals(&self) -> bool {
        !self.activities.is_empty()
    }

    /// Compares instances, which the database has selected, with the activity filters.
    pub(crate) async fn search(
        &self,
        app: &App,
        ids: Vec<InstanceId>,
    ) -> Result<Searched, Problem> {
        if !self.reads_journals() {
            return Ok(Searched { selected: ids, unknown: Vec::new() });
        }
        let work = ids.into_iter().map(|id| async move { (self.compare(app, &id).await, id) });
        let mut searched = Searched::default();
        for (verdict, id) in side_by_side(work).await {
            match verdict? {
                Verdict::Fits => searched.selected.push(id),
                Verdict::Misses => {}
                Verdict::Unknown(reason) => searched.unknown.push((id, reason)),
            }
        }
        Ok(searched)
    }

    async fn compare(&self, app: &App, id: &InstanceId) -> Result<Verdict, Problem> {
        let executions = match executions(app, id).await {
            Ok(Some(executions)) => executions,
            Ok(None) => return Ok(Verdict::Misses),
            Err(problem) if problem.status() == StatusCode::INTERNAL_SERVER_ERROR => {
                let reason = "its state or journal cannot be read, so its activities are not known";
                return Ok(Verdict::Unknown(reason.to_owned()));
            }
            Err(problem) => return Err(problem),
        };
        let fulfilled = |filter: &ActivityFilter| {
            executions.all().iter().any(|execution| filter.fits(&execution.summary))
        };
        Ok(match self.activities.iter().all(fulfilled) {
            true => Verdict::Fits,
            false if executions.is_cut => Verdict::Unknown(format!(
                "its journal has more than {} lines, and activityFilters compares the newest \
                 ones: name the instance in workflowInstanceIds instead",
                limits::HISTORY_LINES_MAX
            )),
            false => Verdict::Misses,
        })
    }
}

/// The executions of an instance; none if it is not there any more.
async fn executions(app: &App, id: &InstanceId) -> Result<Option<Executions>, Problem> {
    let Some(seen) = record::find(app, id).await? else { return Ok(None) };
    Executions::of(app, &seen).await.map(Some)
}
