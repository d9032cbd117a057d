//! Alterations as they are sent: their members in any case, as clients of .NET write them, and each
//! mistake with its place, such as `alterations[1].activities["a"]`.

use std::collections::BTreeMap;

use model::{ActivityId, Alteration, Map, limits};
use serde::Deserialize;
use serde::de::{Error as _, Unexpected};
use serde_json::Value;

use crate::body::{Mismatch, lenient};
use crate::{Problem, bounds};

/// The values of `type`. Elsa reads them exactly.
const TYPES: &str = "one of Cancel, CancelActivity, Migrate, ModifyVariable, ScheduleActivity, Retry, \
                     Skip, Pause, Unpause, written exactly so";
/// The longest key of a map that is shown, in characters.
const KEY_CHARS_SHOWN: usize = 100;

/// Reads the member `alterations` of a request.
///
/// # Errors
/// A list that is empty or too long; an alteration that is none, or names something too long.
pub(crate) fn read(sent: Vec<Value>) -> Result<Vec<Alteration>, Problem> {
    check_count(sent.len())?;
    let read = sent.into_iter().enumerate().map(|(at, one)| {
        let place = format!("alterations[{at}]");
        let read = alteration(one).map_err(|mismatch| mismatch.within(&place));
        let read = read.map_err(|mismatch| Problem::bad_request(mismatch.to_string()))?;
        check(&place, &read)?;
        Ok::<_, Problem>(read)
    });
    read.collect()
}

/// Refuses a list of alterations that is empty or too long.
///
/// # Errors
/// 400 with the number that there may be.
pub(crate) fn check_count(count: usize) -> Result<(), Problem> {
    match count {
        0 => Err(Problem::bad_request(
            "there is no alteration: name at least one, such as {\"type\": \"Retry\"}",
        )),
        1..=limits::ALTERATIONS_MAX => Ok(()),
        _ => Err(Problem::bad_request(format!(
            "there are {count} alterations: use at most {}",
            limits::ALTERATIONS_MAX
        ))),
    }
}

#[derive(Deserialize)]
struct Reason {
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    activity_id: Option<ActivityId>,
    activity_instance_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Migrate {
    target_version: u32,
    #[serde(default)]
    activities: Map,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModifyVariable {
    variable_id: String,
    #[serde(default)]
    value: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Retry {
    #[serde(default)]
    activity_ids: Vec<ActivityId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Skip {
    activity_id: Option<ActivityId>,
    activity_instance_id: Option<String>,
    #[serde(default)]
    outcomes: Vec<String>,
}

fn alteration(sent: Value) -> Result<Alteration, Mismatch> {
    let mut members: Map = lenient::from_value(sent)?;
    let kind = lenient::take(&mut members, "type")?;
    let kind = kind.ok_or_else(|| Mismatch::missing_field("type"))?;
    let kind: String = lenient::from_value(kind).map_err(|mismatch| mismatch.within("type"))?;
    let rest = Value::Object(members);
    Ok(match kind.as_str() {
        "Cancel" => {
            let Reason { reason } = lenient::from_value(rest)?;
            Alteration::Cancel { reason }
        }
        "CancelActivity" => {
            let Target { activity_id, activity_instance_id } = lenient::from_value(rest)?;
            Alteration::CancelActivity { activity_id, activity_instance_id }
        }
        "Migrate" => {
            let Migrate { target_version, activities } = lenient::from_value(rest)?;
            let activities = activities.into_iter().map(mapped).collect::<Result<_, _>>()?;
            Alteration::Migrate { target_version, activities }
        }
        "ModifyVariable" => {
            let ModifyVariable { variable_id, value } = lenient::from_value(rest)?;
            Alteration::ModifyVariable { variable_id, value }
        }
        "ScheduleActivity" => {
            let Target { activity_id, activity_instance_id } = lenient::from_value(rest)?;
            Alteration::ScheduleActivity { activity_id, activity_instance_id }
        }
        "Retry" => {
            let Retry { activity_ids } = lenient::from_value(rest)?;
            Alteration::Retry { activity_ids }
        }
        "Skip" => {
            let Skip { activity_id, activity_instance_id, outcomes } = lenient::from_value(rest)?;
            Alteration::Skip { activity_id, activity_instance_id, outcomes }
        }
        "Pause" => {
            let Reason { reason } = lenient::from_value(rest)?;
            Alteration::Pause { reason }
        }
        "Unpause" => Alteration::Unpause,
        other => {
            let wrong = Mismatch::invalid_value(Unexpected::Str(other), &TYPES);
            return Err(wrong.within("type"));
        }
    })
}

/// An activity, and its id in the other version.
fn mapped((was, is): (String, Value)) -> Result<(ActivityId, ActivityId), Mismatch> {
    let is = lenient::from_value(is).map_err(|mismatch| mismatch.within(&entry(&was)))?;
    Ok((ActivityId::new(was), is))
}

/// The place of an entry of the map of activities.
fn entry(key: &str) -> String {
    let shown: String = key.chars().take(KEY_CHARS_SHOWN).collect();
    format!("activities[{shown:?}]")
}

/// Refuses lists that are too long, and names that are too long.
fn check(place: &str, alteration: &Alteration) -> Result<(), Problem> {
    let member = |name: &str| format!("{place}.{name}");
    let activity = |id: Option<&ActivityId>, execution: Option<&str>| {
        bounds::optional(&member("activityId"), id.map(ActivityId::as_str))?;
        bounds::optional(&member("activityInstanceId"), execution)
    };
    match alteration {
        Alteration::Cancel { reason } | Alteration::Pause { reason } => {
            bounds::optional(&member("reason"), reason.as_deref())
        }
        Alteration::CancelActivity { activity_id, activity_instance_id }
        | Alteration::ScheduleActivity { activity_id, activity_instance_id } => {
            activity(activity_id.as_ref(), activity_instance_id.as_deref())
        }
        Alteration::Skip { activity_id, activity_instance_id, outcomes } => {
            activity(activity_id.as_ref(), activity_instance_id.as_deref())?;
            bounds::list(&member("outcomes"), outcomes)
        }
        Alteration::ModifyVariable { variable_id, .. } => {
            bounds::name(&member("variableId"), variable_id)
        }
        Alteration::Retry { activity_ids } => {
            let what = member("activityIds");
            bounds::count(&what, activity_ids.len())?;
            activity_ids.iter().try_for_each(|id| bounds::name(&what, id.as_str()))
        }
        Alteration::Migrate { target_version, activities } => {
            let version = bounds::version(Some(*target_version));
            version.map_err(|problem| problem.of(&member("targetVersion")))?;
            check_map(place, activities)
        }
        Alteration::Unpause => Ok(()),
    }
}

/// Refuses a map of activities that is too large, or names something too long.
fn check_map(place: &str, activities: &BTreeMap<ActivityId, ActivityId>) -> Result<(), Problem> {
    let (count, max) = (activities.len(), limits::ACTIVITIES_MAX);
    if count > max {
        return Err(Problem::bad_request(format!(
            "{place}.activities has {count} members: use at most {max}"
        )));
    }
    activities.iter().try_for_each(|(was, is)| {
        let here = format!("{place}.{}", entry(was.as_str()));
        bounds::name(&format!("the name of {here}"), was.as_str())?;
        bounds::name(&here, is.as_str())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(sent: Value) -> String {
        let sent = sent.as_array().cloned().unwrap();
        read(sent).unwrap_err().detail().to_owned()
    }

    #[test]
    fn members_are_read_in_any_case() {
        let sent = json!([
            {"Type": "Cancel", "Reason": "r"},
            {"type": "CancelActivity", "ActivityId": "a", "activityinstanceid": null},
            {"TargetVersion": 2.0, "type": "Migrate", "ACTIVITIES": {"a": "b"}},
            {"type": "ModifyVariable", "VariableId": "v", "Value": {"Type": 1}},
            {"type": "ScheduleActivity", "ActivityInstanceId": "e", "more": 1},
            {"type": "Retry", "ActivityIds": ["a"]},
            {"type": "Skip", "ACTIVITYID": "a", "Outcomes": ["Done"]},
            {"type": "Pause", "reason": null},
            {"TYPE": "Unpause"},
        ]);
        let known = json!([
            {"type": "Cancel", "reason": "r"},
            {"type": "CancelActivity", "activityId": "a"},
            {"type": "Migrate", "targetVersion": 2, "activities": {"a": "b"}},
            {"type": "ModifyVariable", "variableId": "v", "value": {"Type": 1}},
            {"type": "ScheduleActivity", "activityInstanceId": "e"},
            {"type": "Retry", "activityIds": ["a"]},
            {"type": "Skip", "activityId": "a", "outcomes": ["Done"]},
            {"type": "Pause"},
            {"type": "Unpause"},
        ]);
        let read_any = read(sent.as_array().cloned().unwrap()).unwrap();
        let expected: Vec<Alteration> = serde_json::from_value(known).unwrap();
        assert_eq!(read_any, expected);
        for alteration in expected {
            assert!(TYPES.contains(alteration.name()), "{alteration}");
        }
    }

    #[test]
    fn a_refusal_has_the_place_of_the_mistake() {
        let second = |one: Value| refused(json!([{"type": "Unpause"}, one]));
        let migrate =
            |map: Value| second(json!({"type": "Migrate", "targetVersion": 2, "activities": map}));
        let long = "x".repeat(1_025);
        let places = [
            (
                second(json!({"type": "cancel"})),
                "alterations[1].type is \"cancel\", and has to be one of Cancel,",
            ),
            (second(json!({"type": 1})), "alterations[1].type is 1, and has to be a text"),
            (second(json!({})), "alterations[1]: missing field `type`"),
            (
                second(json!({"type": "Retry", "Type": "Retry"})),
                "alterations[1]: duplicate field `type`",
            ),
            (second(json!([])), "alterations[1] is a list, and has to be an object"),
            (second(json!({"type": "Migrate"})), "alterations[1]: missing field `targetVersion`"),
            (
                second(json!({"type": "Migrate", "targetVersion": 2.5})),
                "alterations[1].targetVersion is 2.5, and has to be a whole number",
            ),
            (
                second(json!({"type": "Migrate", "targetVersion": 4_294_967_295_u32})),
                "alterations[1].targetVersion: version is 4294967295",
            ),
            (
                second(json!({"type": "Migrate", "targetVersion": 1, "TargetVersion": 2})),
                "alterations[1]: duplicate field `targetVersion`",
            ),
            (migrate(json!(["a"])), "alterations[1].activities is a list, and has to be an object"),
            (
                migrate(json!({"a": 1})),
                "alterations[1].activities[\"a\"] is 1, and has to be a text",
            ),
            (
                migrate(json!({"a": null})),
                "alterations[1].activities[\"a\"] is null, and has to be a text",
            ),
            (migrate(json!({"a": long})), "alterations[1].activities[\"a\"] has 1025 bytes"),
            (migrate(json!({(long.as_str()): "a"})), "the name of alterations[1].activities[\"xxx"),
            (
                second(json!({"type": "Skip", "activityId": "a", "outcomes": ["Done", 7]})),
                "alterations[1].outcomes[1] is 7, and has to be a text",
            ),
            (
                second(json!({"type": "ModifyVariable", "variableId": long})),
                "alterations[1].variableId has 1025 bytes",
            ),
        ];
        for (said, expected) in places {
            assert!(said.starts_with(expected), "{expected}: {said}");
            assert!(said.len() < 400, "{said}");
        }
        let many: Map = (0..10_001).map(|at| (format!("a{at}"), json!("b"))).collect();
        let said = migrate(Value::Object(many));
        assert!(said.starts_with("alterations[1].activities has 10001 members"), "{said}");
        assert!(refused(json!([])).contains("there is no alteration"));
        assert!(refused(json!(vec![1; 101])).contains("use at most 100"));
    }
}
