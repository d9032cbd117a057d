//! The incidents of instances, grouped by their cause. Incidents are in the states of instances, so
//! the newest instances with incidents are read, up to a number and a time; the answer says when there
//! are more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use model::{Incident, Instance, InstanceId, Timestamp, derived, limits};
use serde_json::{Value, json};
use store::{InstanceFilter, InstanceOrder, Page, TimeColumn, TimeFilter, TimeOperator};
use tokio::time::Instant;

use super::definitions::definition_id;
use super::last_hour::{PARTS, part_of};
use super::side_by_side::side_by_side;
use crate::body::Params;
use crate::cause::cause;
use crate::paging::Part;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::states::{self, Purpose};
use crate::{App, Problem, record};

/// The instances that one answer reads at most.
const READ_MAX: u64 = limits::PAGE_ITEMS_MAX;
/// The instances that are read between two looks at the time.
const BATCH: usize = 100;
/// The longest time of reading.
const TIME_MAX: Duration = Duration::from_secs(5);
/// The ids of instances that a group names at most.
const NAMED_MAX: usize = 100;

/// Incidents with one cause, of one activity of one definition.
struct Group {
    definition_id: String,
    incident: Incident,
    cause: String,
    count: u64,
    first: Timestamp,
    instances: BTreeSet<(Timestamp, InstanceId)>,
    /// The incidents in each part of the last hour.
    last_hour: [u64; PARTS],
}

/// Groups the incidents that are not resolved by their cause: definition, activity, code, and the
/// message without numbers and ids. Only the 1000 instances with incidents that changed last are
/// read, for at most five seconds: `isCutShort` says that there are more.
#[utoipa::path(get, path = "/incidents/groups", tag = "incidents",
    params(("definitionId" = Option<String>, Query), ("since" = Option<String>, Query),
        ("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = shape::incident::IncidentGroups),
        (status = 400, body = ProblemBody)))]
pub(super) async fn groups(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let page = Part::of_list(&params, &["definitionId", "since"])?.page()?;
    let filter = filter(&params)?;
    let until = Instant::now() + TIME_MAX;
    let found = app.cx.store.list(&filter, Page::new(0, READ_MAX)).await?;
    let (mut read, mut unreadable, now) = (0_usize, 0_u64, app.now());
    let mut groups = BTreeMap::new();
    for batch in found.items.chunks(BATCH) {
        if Instant::now() >= until {
            break;
        }
        let ids: Vec<_> = batch.iter().map(|instance| instance.id.clone()).collect();
        let work = ids.into_iter().map(|id| incidents(&app, id));
        for (instance, incidents) in batch.iter().zip(side_by_side(work).await) {
            match incidents? {
                Some(incidents) => add(&mut groups, instance, incidents, now),
                None => unreadable += 1,
            }
        }
        read += batch.len();
    }
    let mut groups: Vec<(String, Group)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| (Reverse(group.count), Reverse(group.incident.timestamp)));
    let shown = page.of(groups.iter().map(|(id, group)| group.present(id)));
    Ok(Json(json!({
        "items": shown.items,
        "totalCount": shown.total,
        "instancesRead": read,
        "instancesUnreadable": unreadable,
        "instancesWithIncidents": found.total,
        "isCutShort": found.total > read as u64,
    })))
}

fn filter(params: &Params) -> Result<InstanceFilter, Problem> {
    let of = params.one("definitionId").filter(|id| !id.is_empty());
    let since = params.one("since").filter(|text| !text.is_empty());
    let since = since.map(|text| {
        Timestamp::parse(text).map_err(|error| Problem::bad_request(format!("since: {error}")))
    });
    let time = |at| TimeFilter {
        column: TimeColumn::UpdatedAt,
        operator: TimeOperator::GreaterThanOrEqual,
        at,
    };
    Ok(InstanceFilter {
        definition_ids: of.map(definition_id).transpose()?.into_iter().collect(),
        has_incidents: Some(true),
        times: since.transpose()?.map(time).into_iter().collect(),
        order: Some(InstanceOrder { by: Some(TimeColumn::UpdatedAt), ascending: false }),
        ..InstanceFilter::default()
    })
}

/// The incidents of an instance; none if its state cannot be read.
async fn incidents(app: &App, id: InstanceId) -> Result<Option<Vec<Incident>>, Problem> {
    let Some((loaded, _room)) =
        states::load(app, &id, Purpose::Look, app.config.answer_time_max).await?
    else {
        return Ok(Some(Vec::new()));
    };
    Ok(match record::read(&loaded.instance.state) {
        Ok(record) => Some(record.state.incidents),
        Err(error) => {
            tracing::debug!(%error, instance = %id, "its incidents cannot be read");
            None
        }
    })
}

fn add(
    groups: &mut BTreeMap<String, Group>,
    instance: &Instance,
    incidents: Vec<Incident>,
    now: Timestamp,
) {
    let definition_id = instance.definition_id.as_str();
    for incident in incidents {
        let cause = cause(&incident.message);
        let path = incident.activity_node_id.as_str();
        let id = derived(&["incident", definition_id, path, &incident.code, &cause]);
        let at = incident.timestamp;
        let group = groups.entry(id).or_insert_with(|| Group {
            definition_id: definition_id.to_owned(),
            incident: incident.clone(),
            cause,
            count: 0,
            first: at,
            instances: BTreeSet::new(),
            last_hour: [0; PARTS],
        });
        group.count += 1;
        if let Some(part) = part_of(at, now).and_then(|part| group.last_hour.get_mut(part)) {
            *part += 1;
        }
        group.first = group.first.min(at);
        if at > group.incident.timestamp {
            group.incident = incident;
        }
        // An instance may have several incidents of a group: its newest one counts.
        if !group.instances.iter().any(|(_, known)| *known == instance.id) {
            group.instances.insert((at, instance.id.clone()));
        }
    }
}

impl Group {
    fn present(&self, id: &str) -> Value {
        let Self { incident, instances, .. } = self;
        let newest: Vec<_> = instances.iter().rev().take(NAMED_MAX).map(|(_, id)| id).collect();
        json!({
            "id": id,
            "definitionId": self.definition_id,
            "activityId": incident.activity_id,
            "activityNodeId": incident.activity_node_id,
            "activityType": incident.activity_type,
            "code": incident.code,
            "cause": self.cause,
            "message": incident.message,
            "count": self.count,
            "instanceCount": instances.len(),
            "firstAt": self.first,
            "lastAt": incident.timestamp,
            "lastHourParts": self.last_hour,
            "newestInstanceId": newest.first(),
            "workflowInstanceIds": newest,
        })
    }
}
