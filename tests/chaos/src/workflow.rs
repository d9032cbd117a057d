//! The definitions of the tests. Each round has its own; a tag distinguishes them.

use serde_json::{Value, json};

/// Lines that one voyage writes, in order.
pub(crate) const LINES: [&str; 5] = ["began", "called", "child over", "told", "went on"];
/// Events that one voyage waits for, one after the other.
pub(crate) const WAITS: usize = 3;

fn line(text: &str) -> Value {
    json!({"type": "WriteLine", "text": text})
}

fn definition(id: &str, root: &Value) -> Value {
    json!({"definitionId": id, "name": id, "inputs": [{"name": "Number", "type": "Int32"}],
        "root": root})
}

fn sequence(activities: &[Value]) -> Value {
    json!({"type": "Sequence", "activities": activities})
}

/// Names of one round.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) voyage: String,
    pub(crate) child: String,
    pub(crate) listener: String,
    pub(crate) go: String,
    pub(crate) tick: String,
    pub(crate) stray: String,
    news: String,
    told: String,
}

impl Names {
    pub(crate) fn new(tag: &str) -> Self {
        let name = |what: &str| format!("{what}-{tag}");
        Self {
            voyage: name("voyage"),
            child: name("child"),
            listener: name("listener"),
            go: name("go"),
            tick: name("tick"),
            stray: name("stray"),
            news: name("news"),
            told: name("told"),
        }
    }

    /// A voyage includes every kind of work of an instance: an outgoing call, a child, an event
    /// that starts another instance, a file, waits for events and for timers. In addition, a
    /// schedule of one second.
    pub(crate) fn definitions(&self, callee_url: &str) -> [Value; 4] {
        let cron = json!({"type": "Cron", "cronExpression": "* * * * * *",
            "canStartWorkflow": true});
        let tick = definition(&self.tick, &sequence(&[cron, line("tick")]));
        let [child, listener, voyage] = self.voyages(callee_url);
        [child, listener, voyage, tick]
    }

    /// As [`Names::definitions`], without the schedule.
    pub(crate) fn voyages(&self, callee_url: &str) -> [Value; 3] {
        let url = format!("'{callee_url}/call/{}-' + getInput('Number')", self.voyage);
        let file = format!("'{}/' + getInput('Number')", self.voyage);
        let answered = json!([{"statusCode": 200, "activity": line("called")}]);
        let mut activities = vec![
            line("began"),
            json!({"type": "SendHttpRequest", "url": {"js": url},
                "expectedStatusCodes": answered}),
            json!({"type": "ExecuteWorkflow", "workflowDefinitionId": self.child,
                "waitForCompletion": true}),
            line("child over"),
            json!({"type": "PublishEvent", "eventName": self.told}),
            line("told"),
            json!({"type": "SaveFile", "path": {"js": file}, "data": "told"}),
        ];
        let wait = || json!({"type": "Event", "eventName": self.go});
        activities.extend((0..WAITS).map(|_| wait()));
        activities.push(line("went on"));
        activities.push(json!({"type": "Delay", "timeSpan": "00:00:00.3000000"}));
        let hears = json!({"type": "Event", "eventName": self.told, "canStartWorkflow": true});
        [
            definition(&self.child, &line("child")),
            definition(&self.listener, &sequence(&[hears, line("heard")])),
            definition(&self.voyage, &sequence(&activities)),
        ]
    }

    /// Waits for the event `go-waiting-<tag>`.
    pub(crate) fn waiting(tag: &str) -> Value {
        let id = format!("waiting-{tag}");
        let wait = json!({"type": "Event", "eventName": format!("go-{id}")});
        definition(&id, &sequence(&[wait, line("went on")]))
    }

    /// Waits for a worker that takes the task `Ship`.
    pub(crate) fn shipping(id: &str) -> Value {
        let task = json!({"type": "RunTask", "taskName": "Ship"});
        definition(id, &sequence(&[task, line("shipped")]))
    }

    /// Finishes at once.
    pub(crate) fn quick(id: &str) -> Value {
        definition(id, &sequence(&[line("one"), line("two")]))
    }

    /// Finishes at once; takes tens of milliseconds of a core.
    pub(crate) fn laborious(id: &str) -> Value {
        let script = "let sum = 0; for (let i = 0; i < 1000000; i++) sum += i; return sum;";
        let labour = json!({"type": "RunJavaScript", "script": script});
        definition(id, &sequence(&[line("one"), labour, line("two")]))
    }

    /// Makes one outgoing call.
    pub(crate) fn calling(tag: &str, callee_url: &str) -> Value {
        let url = format!("'{callee_url}/call/{tag}-' + getInput('Number')");
        let call = json!({"type": "SendHttpRequest", "url": {"js": url}});
        definition(&format!("calling-{tag}"), &sequence(&[call, line("called")]))
    }

    /// Waits for this number of seconds.
    pub(crate) fn napping(tag: &str, seconds: u32) -> Value {
        let nap = json!({"type": "Delay", "timeSpan": format!("00:00:{seconds:02}")});
        definition(&format!("napping-{tag}"), &sequence(&[nap, line("went on")]))
    }

    /// A definition that is published and never started.
    pub(crate) fn news(&self, version: usize) -> Value {
        definition(&self.news, &line(&format!("news {version}")))
    }
}
