//! BulkDispatchWorkflows: starts another workflow once for each item of a list, and waits until all
//! of them have ended if asked to.
//!
//! Children are numbered, and their ids end with their numbers. The execution remembers the numbers
//! of the children that have ended, so an end that is delivered twice counts once.

use engine::{
    Activity, Child, Decision, Descriptor, Dispatch, Effect, Failure, Kind, Next, PortKind,
    Resumed, Step, Type,
};
use model::{BookmarkId, DefinitionId, InstanceId, Map, Stimulus, limits};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::dispatch_workflow::{CHILD, REFUSED};
use crate::shown;

/// `Elsa.BulkDispatchWorkflows`
pub(crate) struct BulkDispatchWorkflows;

/// The number of children that are asked for in one step.
const CHUNK: usize = 100;
/// The ports of the activities that run for a child that has ended.
const COMPLETED: &str = "childCompleted";
const FAULTED: &str = "childFaulted";

/// What the execution remembers between its decisions.
#[derive(Default, Serialize, Deserialize)]
struct Bulk {
    /// The id of every child begins with it.
    base: String,
    definition_id: DefinitionId,
    /// Input of every child.
    input: Map,
    /// The input that an item becomes if it is not an object.
    key: String,
    /// The bookmark at which the ends of the children arrive; none when nobody waits for them.
    bookmark_id: Option<BookmarkId>,
    /// Items whose children are not asked for yet, the last one first.
    items: Vec<Value>,
    /// Children that are asked for.
    asked: usize,
    /// One bit for each child that has ended.
    ended: Vec<u32>,
    /// The number of those bits.
    ended_count: usize,
}

impl Activity for BulkDispatchWorkflows {
    fn descriptor(&self) -> Descriptor {
        let what = "Starts another workflow once for each item, and waits for all of them.";
        Descriptor::new("Elsa.BulkDispatchWorkflows", "Composition", what)
            .called("Bulk Dispatch Workflows")
            .kind(Kind::Task)
            .input("workflowDefinitionId", Type::String, "The workflow's definition id.")
            .required()
            .input(
                "items",
                Type::List(Box::new(Type::Object)),
                "The items, at most 10,000. The members of an object are inputs of its child.",
            )
            .input("defaultItemInputKey", Type::String, "The input for an item without members.")
            .default("Item")
            .input(
                "correlationIdFunction",
                Type::String,
                "The child's correlation id: evaluated for each item, which is args.item.",
            )
            .arguments(&["item"])
            .input("input", Type::Dictionary, "Input of every child.")
            .input("waitForCompletion", Type::Boolean, "Wait until all children have ended.")
            .default(true)
            .input("startNewTrace", Type::Boolean, "The children begin their own traces.")
            .default(false)
            .input("channelName", Type::String, "Not used; kept for exports.")
            .gives(&[
                "ChildInstanceId",
                "WorkflowInstanceId",
                "WorkflowStatus",
                "WorkflowSubStatus",
                "WorkflowOutput",
            ])
            .port(COMPLETED, PortKind::Embedded)
            .port(FAULTED, PortKind::Embedded)
            .outcomes(&["Completed", "Canceled", "Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let definition_id = DefinitionId::new(step.required("workflowDefinitionId")?);
        let mut items = step.list("items")?;
        let (count, max) = (items.len(), limits::BULK_CHILDREN_MAX);
        if count > max {
            let message = format!(
                "{count} items, more than the {max} that are allowed: \
                                   divide them over several activities"
            );
            return Err(Failure::input("items", message));
        }
        if items.is_empty() {
            return Ok(Next::done());
        }
        items.reverse();
        let bookmark_id = if step.flag("waitForCompletion")? {
            let parent = step.instance_id().clone();
            let shown = json!({"ParentInstanceId": parent, "ScheduledInstanceIdsCount": count});
            let stimulus = Stimulus { name: step.type_name().to_owned(), payload: shown.clone() };
            Some(step.wait(&stimulus, shown, None)?)
        } else {
            None
        };
        let bulk = Bulk {
            base: step.new_id(),
            definition_id,
            input: step.object("input")?,
            key: step.required("defaultItemInputKey")?,
            bookmark_id,
            items,
            ended: vec![0; count.div_ceil(u32::BITS as usize)],
            ..Bulk::default()
        };
        ask(step, bulk)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        step.wait_again();
        let child = resumed.input.remove(CHILD).unwrap_or_default();
        let mut bulk = recall(step);
        let id = child["workflowInstanceId"].as_str().unwrap_or_default().to_owned();
        if !bulk.counts(&id) {
            return Ok(keep(step, &bulk));
        }
        let next = keep(step, &bulk);
        if let Some(reason) = child[REFUSED].as_str() {
            step.note(format!("child {id}: {reason}"));
        }
        let status = child["subStatus"].as_str().unwrap_or_default();
        let port = match status {
            "Finished" => step.child(COMPLETED),
            "Faulted" => step.child(FAULTED),
            _ => None,
        };
        if port.is_none() {
            return Ok(next);
        }
        let output = match child.get("output") {
            Some(output) if !output.is_null() => output.clone(),
            _ => Value::Object(resumed.input),
        };
        let given = Map::from_iter([
            ("ChildInstanceId".to_owned(), Value::from(id.as_str())),
            ("WorkflowInstanceId".to_owned(), id.into()),
            ("WorkflowStatus".to_owned(), child["status"].clone()),
            ("WorkflowSubStatus".to_owned(), status.into()),
            ("WorkflowOutput".to_owned(), output),
        ]);
        step.schedule_with(port, None, given);
        Ok(Next::Wait)
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, child: Child) -> Decision {
        let bulk = recall(step);
        if child.tag.is_some() { ask(step, bulk) } else { Ok(keep(step, &bulk)) }
    }
}

/// Asks for the next children; the rest follow in further steps, so that no turn becomes too large.
fn ask(step: &mut Step<'_, '_>, mut bulk: Bulk) -> Decision {
    let rest = bulk.items.len().saturating_sub(CHUNK);
    for item in bulk.items.split_off(rest).into_iter().rev() {
        let correlation_id = correlation_id(step, &item)?;
        let input = bulk.input_of(step.instance_id(), item);
        step.emit(Effect::Dispatch(Dispatch {
            instance_id: InstanceId::new(format!("{}-{}", bulk.base, bulk.asked)),
            definition_id: bulk.definition_id.clone(),
            correlation_id,
            input,
            bookmark_id: bulk.bookmark_id.clone(),
        }));
        bulk.asked += 1;
    }
    if !bulk.items.is_empty() {
        step.schedule(None, Some(Value::from(bulk.asked)));
    }
    Ok(keep(step, &bulk))
}

fn correlation_id(step: &mut Step<'_, '_>, item: &Value) -> Result<Option<String>, Failure> {
    let args = Map::from_iter([("item".to_owned(), item.clone())]);
    match step.value_with("correlationIdFunction", args)? {
        Value::String(text) if !text.is_empty() => {
            shown::check("correlationIdFunction", Some(&text))?;
            Ok(Some(text))
        }
        _ => Ok(None),
    }
}

/// Remembers what is done, and says whether that is all.
fn keep(step: &mut Step<'_, '_>, bulk: &Bulk) -> Next {
    if let Some(memory) = step.memory() {
        *memory = json!(bulk);
    }
    if !bulk.items.is_empty() || step.has_open_children() {
        return Next::Wait;
    }
    match bulk.bookmark_id {
        None => Next::done(),
        Some(_) if bulk.ended_count < bulk.asked => Next::Wait,
        Some(_) => Next::Complete(vec!["Completed".to_owned(), "Done".to_owned()]),
    }
}

fn recall(step: &mut Step<'_, '_>) -> Bulk {
    let memory = step.memory().map(std::mem::take).unwrap_or_default();
    serde_json::from_value(memory).unwrap_or_default()
}

impl Bulk {
    /// The input of the child of an item.
    fn input_of(&self, parent: &InstanceId, item: Value) -> Map {
        let mut input = self.input.clone();
        input.insert("ParentInstanceId".to_owned(), parent.as_str().into());
        match item {
            Value::Object(members) => input.extend(members),
            item => drop(input.insert(self.key.clone(), item)),
        }
        input
    }

    /// Notes that this child has ended; false when it is no child of this execution, or counted
    /// before.
    fn counts(&mut self, child_id: &str) -> bool {
        let number =
            child_id.strip_prefix(self.base.as_str()).and_then(|rest| rest.strip_prefix('-'));
        let Some(number) = number.and_then(|number| number.parse::<usize>().ok()) else {
            return false;
        };
        let bit = 1 << (number % u32::BITS as usize);
        match self.ended.get_mut(number / u32::BITS as usize) {
            Some(word) if number < self.asked && *word & bit == 0 => *word |= bit,
            _ => return false,
        }
        self.ended_count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use model::SubStatus;

    use super::*;
    use crate::tests::player;

    fn document(items: Value, waits: bool) -> Value {
        let line = |text: &str| json!({"type": "WriteLine", "text": {"js": text}});
        json!({"type": "BulkDispatchWorkflows", "id": "bulk", "workflowDefinitionId": "child",
            "items": items, "input": {"shared": true}, "waitForCompletion": waits,
            "correlationIdFunction": {"js": "`order-${args.item.n ?? args.item}`"},
            "childCompleted": line("`good ${getVariable('WorkflowOutput').v}`"),
            "childFaulted": line("`bad ${getVariable('ChildInstanceId').split('-').pop()}`")})
    }

    fn dispatches(effects: &[Effect]) -> Vec<&Dispatch> {
        let asked = effects.iter().map(|effect| match effect {
            Effect::Dispatch(dispatch) => dispatch,
            other => panic!("not a dispatch: {other:?}"),
        });
        asked.collect()
    }

    fn ended(id: &str, status: &str) -> Value {
        json!({"v": 7, CHILD: {"workflowInstanceId": id, "status": "Finished",
            "subStatus": status}})
    }

    #[test]
    fn every_item_becomes_a_child() {
        let mut player = player(document(json!([{"n": 1, "shared": false}, "two"]), false));
        player.start(json!({}));
        assert_eq!(player.outcomes("bulk"), ["Done"]);
        let asked = dispatches(&player.effects);
        assert!(asked.iter().all(|dispatch| dispatch.bookmark_id.is_none()));
        let inputs: Vec<_> = asked.iter().map(|dispatch| json!(dispatch.input)).collect();
        let parent = "instance-1";
        assert_eq!(
            inputs,
            [
                json!({"shared": false, "ParentInstanceId": parent, "n": 1}),
                json!({"shared": true, "ParentInstanceId": parent, "Item": "two"}),
            ]
        );
        let ids: Vec<_> = asked.iter().filter_map(|asked| asked.correlation_id.clone()).collect();
        assert_eq!(ids, ["order-1", "order-two"]);
    }

    #[test]
    fn without_items_it_is_done_at_once() {
        let mut player = player(document(json!([]), true));
        player.start(json!({}));
        assert_eq!((player.outcomes("bulk"), player.effects.len()), (vec!["Done".into()], 0));
    }

    #[test]
    fn each_child_counts_once_and_runs_the_activity_for_its_end() {
        let mut player = player(document(json!([1, 2, 3]), true));
        player.start(json!({}));
        let asked = dispatches(&player.effects);
        let ids: Vec<_> = asked.iter().map(|asked| asked.instance_id.to_string()).collect();
        let bookmark = asked[0].bookmark_id.clone().unwrap();
        let mut end =
            |id: &str, status: &str| player.resume_at(bookmark.clone(), ended(id, status)).status();
        assert_eq!(end(&ids[1], "Finished"), SubStatus::Suspended);
        assert_eq!(end(&ids[1], "Finished"), SubStatus::Suspended, "delivered twice");
        assert_eq!(end("nobody-2", "Finished"), SubStatus::Suspended, "no child of this one");
        assert_eq!(end(&ids[2], "Faulted"), SubStatus::Suspended);
        assert_eq!(end(&ids[0], "Cancelled"), SubStatus::Finished);
        assert_eq!(player.lines(), ["good 7", "bad 2"]);
        assert_eq!(player.outcomes("bulk"), ["Completed", "Done"]);
    }

    #[test]
    fn the_last_end_waits_for_the_activities_of_earlier_ones() {
        let mut document = document(json!([1, 2]), true);
        document["childCompleted"] = json!({"type": "Event", "eventName": "Go"});
        let mut player = player(document);
        player.start(json!({}));
        let asked = dispatches(&player.effects);
        let ids: Vec<_> = asked.iter().map(|asked| asked.instance_id.to_string()).collect();
        let bookmark = asked[0].bookmark_id.clone().unwrap();
        player.resume_at(bookmark.clone(), ended(&ids[0], "Finished"));
        player.resume_at(bookmark, ended(&ids[1], "Cancelled"));
        assert_eq!(player.status(), SubStatus::Suspended);
        assert!(player.resume("Elsa.Event", json!({})));
        assert_eq!(player.outcomes("bulk"), ["Completed", "Done"]);
    }

    #[test]
    fn thousands_of_children_take_several_turns() {
        const COUNT: usize = 2_500;
        let items: Vec<_> = (0..COUNT).collect();
        let mut document = document(json!(items), true);
        document["correlationIdFunction"] = Value::Null;
        let mut player = player(document);
        player.start(json!({}));
        assert!(player.state().turns >= 3, "{} turns", player.state().turns);
        let asked = dispatches(&player.effects);
        let ids: Vec<_> = asked.iter().map(|asked| asked.instance_id.to_string()).collect();
        assert_eq!(ids.len(), COUNT);
        let bookmark = asked[0].bookmark_id.clone().unwrap();
        for id in ids.iter().rev() {
            assert_eq!(player.status(), SubStatus::Suspended);
            player.resume_at(bookmark.clone(), ended(id, "Cancelled"));
        }
        assert_eq!(player.outcomes("bulk"), ["Completed", "Done"]);
    }

    #[test]
    fn too_many_items_are_an_incident() {
        let items: Vec<_> = (0..=limits::BULK_CHILDREN_MAX).collect();
        let mut player = player(document(json!(items), true));
        player.start(json!({}));
        let said = player.incident().unwrap();
        assert!(said.starts_with("items: 10001 items, more than the 10000"), "{said}");
    }
}
