//! ParallelForEach: runs its body for each item of a list, all at the same time.

use engine::{Activity, Child, Decision, Descriptor, PortKind, Step, Type};

use crate::for_each::given;
use crate::parallel::end_with_last;

/// `Elsa.ParallelForEach`
pub(crate) struct ParallelForEach;

impl Activity for ParallelForEach {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.ParallelForEach", "Looping", "Runs its body for all items at once.")
            .called("Parallel For Each")
            .input("items", Type::List(Box::new(Type::Object)), "The items.")
            .port("body", PortKind::Embedded)
            .loops()
            .gives(&["CurrentIndex", "CurrentValue"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let items = step.list("items")?;
        let Some(body) = step.child("body") else { return Ok(engine::Next::done()) };
        for (at, item) in (0_u64..).zip(items) {
            step.schedule_with(Some(body), Some(at.into()), given(at, item));
        }
        Ok(end_with_last(step))
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, _child: Child) -> Decision {
        Ok(end_with_last(step))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::player;

    #[test]
    fn items_wait_side_by_side() {
        let mut player = player(json!({"type": "ParallelForEach", "items": ["a", "b"], "body":
        {"type": "Sequence", "activities": [
            {"type": "Event", "eventName": "Go"},
            {"type": "WriteLine", "text": {"js": "getVariable('CurrentValue')"}}
        ]}}));
        player.start(json!({}));
        assert_eq!(player.state().bookmarks.len(), 2);
        player.play(|_| Some(json!({})));
        let mut lines = player.lines();
        lines.sort_unstable();
        assert_eq!(lines, ["a", "b"]);
    }
}
