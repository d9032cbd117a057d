//! Delay: waits for a while.

use engine::{Activity, Decision, Descriptor, Kind, Next, Resumed, Step, Type};
use serde_json::json;

/// `Elsa.Delay`
pub(crate) struct Delay;

impl Activity for Delay {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Delay", "Scheduling", "Waits for a while.")
            .kind(Kind::Action)
            .input("timeSpan", Type::TimeSpan, "The time to wait.")
            .default("00:01:00")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let span = step.span("timeSpan")?.unwrap_or_default();
        if span.is_zero() {
            return Ok(Next::done());
        }
        let due = step.now().after(span);
        step.wait_until(due, json!({"ResumeAt": due}))?;
        Ok(Next::Wait)
    }

    fn resume(&self, _step: &mut Step<'_, '_>, _resumed: Resumed) -> Decision {
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use engine::Rest;
    use serde_json::{Value, json};

    use crate::tests::{player, problems};

    #[test]
    fn it_is_due_when_the_time_has_passed() {
        let check = |span: Value, millis: i64| {
            let mut player = player(json!({"type": "Delay", "timeSpan": span}));
            player.start(json!({}));
            let bookmark = player.state().bookmarks.values().next().unwrap();
            let due = bookmark.due_at.unwrap().as_millis() - bookmark.created_at.as_millis();
            assert_eq!((bookmark.name.as_str(), due), ("Elsa.Delay", millis));
            player.play_timers();
            assert_eq!(player.rest(), Rest::Finished);
        };
        check(json!("00:00:05"), 5_000);
        check(json!("PT0.25S"), 250);
        check(json!({"js": "'1.00:00:00'"}), 86_400_000);
        check(Value::Null, 60_000);
    }

    #[test]
    fn no_time_at_all_is_no_wait() {
        let mut player = player(json!({"type": "Delay", "timeSpan": "00:00:00"}));
        player.start(json!({}));
        assert_eq!(player.rest(), Rest::Finished);
    }

    #[test]
    fn nonsense_is_a_problem() {
        let problems = problems(json!({"type": "Delay", "id": "d", "timeSpan": "soon"}));
        assert_eq!(
            problems,
            ["activity d: timeSpan: \"soon\" is not a duration: write 00:00:05, PT5S or 5s"]
        );
    }
}
