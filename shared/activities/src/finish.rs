//! Finish: ends the instance at once, with everything that still runs in it.

use engine::{Activity, Decision, Descriptor, Next, Step};

/// `Elsa.Finish`
pub(crate) struct Finish;

impl Activity for Finish {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Finish", "Primitives", "Finishes the instance at once.").terminal()
    }

    fn start(&self, _step: &mut Step<'_, '_>) -> Decision {
        Ok(Next::Finish)
    }
}

#[cfg(test)]
mod tests {
    use model::SubStatus;
    use serde_json::json;

    use crate::tests::player;

    #[test]
    fn nothing_is_left_of_it() {
        let mut player = player(json!({"type": "Parallel", "activities": [
            {"type": "Event", "eventName": "Never"},
            {"type": "Finish"},
            {"type": "WriteLine", "text": "never"}
        ]}));
        player.start(json!({}));
        assert_eq!(player.status(), SubStatus::Finished);
        assert!(player.state().bookmarks.is_empty());
        assert!(player.lines().is_empty());
    }
}
