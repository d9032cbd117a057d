//! StateMachine: is in one state at a time, and waits for the triggers of all transitions that leave
//! it. A transition runs the exit of the old state, then its action, then the entry of the new one.
//! A transition without a trigger happens as soon as its state is entered, if its condition holds.

use std::collections::BTreeMap;

use engine::{
    Activity, Child, Decision, Descriptor, Expression, Failure, Moving, Next, NodeRef, Plan,
    Planning, PortKind, Step, Type,
};
use serde_json::{Value, json};

/// `Elsa.StateMachine`
pub(crate) struct StateMachine;

/// The machine of a definition.
struct Machine {
    states: BTreeMap<String, State>,
    transitions: Vec<Transition>,
}

/// A state.
#[derive(Default)]
struct State {
    entry: Option<NodeRef>,
    exit: Option<NodeRef>,
    /// Transitions that leave it and lead to a known state.
    leaving: Vec<usize>,
}

/// A transition.
struct Transition {
    from: String,
    to: String,
    trigger: Option<NodeRef>,
    condition: Option<Expression>,
    action: Option<NodeRef>,
}

/// The work of a child, as its tag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The trigger of this transition.
    Trigger(usize),
    /// The exit of the state that this transition leaves.
    Exit(usize),
    /// The action of this transition.
    Action(usize),
    /// The entry of the current state.
    Entry,
}

impl Role {
    fn tag(self) -> Value {
        match self {
            Self::Trigger(at) => json!({ "trigger": at }),
            Self::Action(at) => json!({ "action": at }),
            Self::Exit(at) => json!({ "exit": at }),
            Self::Entry => json!({}),
        }
    }

    fn of(tag: &Value) -> Self {
        let at = |role: &str| usize::try_from(tag.get(role)?.as_u64()?).ok();
        let role = at("trigger").map(Self::Trigger);
        let role = role.or_else(|| at("action").map(Self::Action));
        role.or_else(|| at("exit").map(Self::Exit)).unwrap_or(Self::Entry)
    }
}

impl Activity for StateMachine {
    fn descriptor(&self) -> Descriptor {
        let what = "Is in one state at a time, and follows transitions between states.";
        Descriptor::new("Elsa.StateMachine", "Flow", what)
            .called("State Machine")
            .input("initialState", Type::String, "The name of the first state.")
            .raw()
            .input("currentState", Type::String, "The state to begin in, if it is another one.")
            .raw()
            .port("states", PortKind::Parts(&["entry", "exit"]))
            .port("transitions", PortKind::Parts(&["trigger", "action"]))
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let mut machine = Machine { states: states(node), transitions: transitions(node) };
        for (at, transition) in machine.transitions.iter().enumerate() {
            let is_followed = machine.states.contains_key(&transition.to);
            if let (true, Some(state)) = (is_followed, machine.states.get_mut(&transition.from)) {
                state.leaving.push(at);
            }
        }
        complain(node, &machine);
        Some(Box::new(machine))
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let Some(machine) = step.plan::<Machine>() else { return Ok(Next::done()) };
        let named = match step.text("currentState")? {
            Some(name) => Some(name),
            None => step.text("initialState")?,
        };
        match named.filter(|name| machine.states.contains_key(name)) {
            Some(name) => machine.enter(step, &name),
            None => Ok(Next::done()),
        }
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, child: Child) -> Decision {
        let Some(machine) = step.plan::<Machine>() else { return Ok(Next::done()) };
        match Role::of(&child.tag.unwrap_or_default()) {
            Role::Trigger(at) => machine.triggered(step, at),
            Role::Exit(at) => machine.act(step, at),
            Role::Action(at) => machine.enter(step, &machine.transitions[at].to),
            Role::Entry => machine.entered(step),
        }
    }

    /// The tags of the children name transitions by their places.
    fn migrate(&self, moving: &mut Moving<'_>) -> Result<(), String> {
        let Some((before, after)) = moving.plans::<Machine>() else { return Ok(()) };
        let current = moving.memory.as_str().unwrap_or_default();
        if !current.is_empty() && !after.states.contains_key(current) {
            return Err(format!("it is in state {current}, which is not there"));
        }
        let gone = "it is on a transition that is not there";
        for tag in 0..moving.tags.len() {
            let role = match Role::of(moving.tags[tag]) {
                Role::Entry => Role::Entry,
                role => moved(moving, before, after, role).ok_or(gone)?,
            };
            *moving.tags[tag] = role.tag();
        }
        Ok(())
    }
}

impl Machine {
    /// Makes this state the current one, and returns its entry.
    fn begin(&self, step: &mut Step<'_, '_>, name: &str) -> Option<NodeRef> {
        if let Some(memory) = step.memory() {
            *memory = Value::from(name);
        }
        self.states.get(name)?.entry
    }

    /// Makes this state the current one, and runs its entry.
    fn enter(&self, step: &mut Step<'_, '_>, name: &str) -> Decision {
        match self.begin(step, name) {
            Some(entry) => Ok(run(step, entry, Role::Entry)),
            None => self.entered(step),
        }
    }

    /// Follows a transition without a trigger, or waits. Several of them are followed at once where
    /// nothing has to run on the way.
    fn entered(&self, step: &mut Step<'_, '_>) -> Decision {
        for _ in 0..=self.transitions.len() {
            let Some(at) = self.open(step)? else { return self.listen(step) };
            let transition = &self.transitions[at];
            let child = match (self.exit(transition), transition.action) {
                (Some(exit), _) => Some((exit, Role::Exit(at))),
                (None, Some(action)) => Some((action, Role::Action(at))),
                (None, None) => self.begin(step, &transition.to).map(|entry| (entry, Role::Entry)),
            };
            if let Some((child, role)) = child {
                return Ok(run(step, child, role));
            }
        }
        let message = "its transitions without triggers lead in a circle: give one of them a \
                       trigger, or a condition that does not hold for ever";
        Err(Failure::new("EndlessTransitions", message))
    }

    /// The first transition without a trigger that leaves the current state and whose condition
    /// holds.
    fn open(&self, step: &mut Step<'_, '_>) -> Result<Option<usize>, Failure> {
        for &at in self.leaving(step) {
            if self.transitions[at].trigger.is_none() && self.holds(step, at)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Waits for the triggers of the current state. A state that nothing leaves ends the machine.
    fn listen(&self, step: &mut Step<'_, '_>) -> Decision {
        let leaving = self.leaving(step);
        let mut is_waiting = false;
        for &at in leaving {
            if let Some(trigger) = self.transitions[at].trigger {
                run(step, trigger, Role::Trigger(at));
                is_waiting = true;
            }
        }
        match (leaving.is_empty(), is_waiting) {
            (true, _) => Ok(Next::done()),
            (false, true) => Ok(Next::Wait),
            (false, false) => {
                let message = format!(
                    "no transition leaves the state {}: their conditions do not hold, and none has \
                     a trigger",
                    current(step)
                );
                Err(Failure::new("NoTransition", message))
            }
        }
    }

    /// The trigger of a transition is over. If its condition holds, the machine leaves its state;
    /// else it waits for the same trigger again.
    fn triggered(&self, step: &mut Step<'_, '_>, at: usize) -> Decision {
        let transition = &self.transitions[at];
        if !self.holds(step, at)? {
            return Ok(match transition.trigger {
                Some(trigger) => run(step, trigger, Role::Trigger(at)),
                None => Next::Wait,
            });
        }
        step.cancel_children();
        match self.exit(transition) {
            Some(exit) => Ok(run(step, exit, Role::Exit(at))),
            None => self.act(step, at),
        }
    }

    /// Runs the action of a transition, then enters the next state.
    fn act(&self, step: &mut Step<'_, '_>, at: usize) -> Decision {
        let transition = &self.transitions[at];
        match transition.action {
            Some(action) => Ok(run(step, action, Role::Action(at))),
            None => self.enter(step, &transition.to),
        }
    }

    fn holds(&self, step: &mut Step<'_, '_>, at: usize) -> Result<bool, Failure> {
        let Some(condition) = &self.transitions[at].condition else { return Ok(true) };
        let property = format!("transitions[{at}].condition");
        Ok(step.evaluate(&property, condition, &Type::Boolean)? == true)
    }

    fn exit(&self, transition: &Transition) -> Option<NodeRef> {
        self.states.get(&transition.from)?.exit
    }

    /// The transitions that leave the current state.
    fn leaving(&self, step: &mut Step<'_, '_>) -> &[usize] {
        self.states.get(&current(step)).map_or(&[], |state| &state.leaving)
    }
}

/// The role with the place that its transition has in the other version: one between the same states,
/// with the same activity in that role. A trigger may lead to another state there.
fn moved(moving: &Moving<'_>, before: &Machine, after: &Machine, role: Role) -> Option<Role> {
    let (at, name): (usize, fn(usize) -> Role) = match role {
        Role::Trigger(at) => (at, Role::Trigger),
        Role::Exit(at) => (at, Role::Exit),
        Role::Action(at) => (at, Role::Action),
        Role::Entry => return Some(role),
    };
    let was = before.transitions.get(at)?;
    let child = |machine: &Machine, transition: &Transition| match role {
        Role::Trigger(_) => transition.trigger,
        Role::Exit(_) => machine.exit(transition),
        Role::Action(_) => transition.action,
        Role::Entry => None,
    };
    let run = child(before, was)?;
    let has_it = |is: &Transition| {
        is.from == was.from && child(after, is).is_some_and(|is| moving.is_same(run, is))
    };
    let is_it = |is: &Transition| is.to == was.to && has_it(is);
    let same = after.transitions.get(at).filter(|is| is_it(is)).map(|_| at);
    let same = same.or_else(|| after.transitions.iter().position(is_it));
    let is_trigger = matches!(role, Role::Trigger(_));
    let other = || after.transitions.iter().position(has_it).filter(|_| is_trigger);
    same.or_else(other).map(name)
}

fn run(step: &mut Step<'_, '_>, child: NodeRef, role: Role) -> Next {
    step.schedule(Some(child), Some(role.tag()));
    Next::Wait
}

fn current(step: &mut Step<'_, '_>) -> String {
    let memory = step.memory().map(|memory| memory.clone());
    memory.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn text(part: &Value, member: &str) -> String {
    part.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The states by name. Names are compared as they are written.
fn states(node: &mut Planning<'_>) -> BTreeMap<String, State> {
    let mut states = BTreeMap::new();
    for part in node.parts("states") {
        let name = text(&part.value, "name");
        let (entry, exit) = (part.node("entry"), part.node("exit"));
        if states.contains_key(&name) {
            node.oversight("states", format!("two states have the name {name:?}: rename one"));
            continue;
        }
        states.insert(name, State { entry, exit, leaving: Vec::new() });
    }
    states
}

fn transitions(node: &mut Planning<'_>) -> Vec<Transition> {
    let parts = node.parts("transitions").into_iter().enumerate();
    let planned = parts.map(|(at, part)| {
        let condition = part.value.get("condition").filter(|condition| !condition.is_null());
        let property = format!("transitions[{at}].condition");
        Transition {
            from: text(&part.value, "from"),
            to: text(&part.value, "to"),
            trigger: part.node("trigger"),
            condition: condition
                .and_then(|condition| node.expression(&property, condition, &Type::Boolean)),
            action: part.node("action"),
        }
    });
    planned.collect()
}

/// Reports states that do not exist.
fn complain(node: &mut Planning<'_>, machine: &Machine) {
    for input in ["initialState", "currentState"] {
        let named = node.literal(input).and_then(Value::as_str).unwrap_or_default().to_owned();
        if !named.is_empty() && !machine.states.contains_key(&named) {
            node.oversight(input, format!("there is no state {named:?}"));
        }
    }
    for (at, transition) in machine.transitions.iter().enumerate() {
        let property = format!("transitions[{at}]");
        for state in [&transition.from, &transition.to] {
            if !machine.states.contains_key(state) {
                node.oversight(&property, format!("there is no state {state:?}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::testing::Player;

    use super::*;
    use crate::tests::{check_lines, oversights, player};

    fn says(text: &str) -> Value {
        json!({"type": "WriteLine", "text": text})
    }

    fn hears(event: &str) -> Value {
        json!({"type": "Event", "id": event, "eventName": event})
    }

    /// Raises the event that this activity waits for.
    fn raise(player: &mut Player<'_>, event: &str) {
        let mut bookmarks = player.state().bookmarks.values();
        let waiting = bookmarks.find(|bookmark| bookmark.activity_id.as_str() == event);
        let id = waiting.unwrap_or_else(|| panic!("nothing waits for {event}")).id.clone();
        player.resume_at(id, json!({}));
    }

    /// A door: closed, open, locked; locked is the end.
    fn door() -> Value {
        json!({"type": "StateMachine", "id": "door", "initialState": "closed",
        "states": [
            {"name": "closed", "entry": says("closing"), "exit": says("leaving closed")},
            {"name": "open", "entry": says("opening")},
            {"name": "locked"}
        ],
        "transitions": [
            {"from": "closed", "to": "open", "trigger": hears("Push"), "action": says("push")},
            {"from": "open", "to": "closed", "trigger": hears("Pull")},
            {"from": "closed", "to": "locked", "trigger": hears("Turn"),
                "condition": {"type": "JavaScript", "value": "getVariable('Key') == 7"}}
        ]})
    }

    fn with_key(root: Value) -> Value {
        json!({"root": {"type": "Sequence", "activities": [root, says("after")],
            "variables": [{"id": "k", "name": "Key", "typeName": "Int32", "value": 7}]}})
    }

    #[test]
    fn a_transition_runs_the_exit_then_its_action_then_the_entry() {
        let mut player = player(with_key(door()));
        player.start(json!({}));
        assert_eq!(player.lines(), ["closing"]);
        assert_eq!(player.state().bookmarks.len(), 2, "it waits for both triggers");
        raise(&mut player, "Push");
        assert_eq!(player.lines(), ["closing", "leaving closed", "push", "opening"]);
        assert_eq!(player.state().bookmarks.len(), 1, "the other trigger is cancelled");
        raise(&mut player, "Pull");
        assert_eq!(player.lines().last().unwrap(), &"closing");
        raise(&mut player, "Turn");
        assert_eq!(player.lines()[4..], ["closing", "leaving closed", "after"]);
    }

    #[test]
    fn a_state_that_nothing_leaves_is_the_end() {
        let mut machine = door();
        machine["currentState"] = json!("locked");
        check_lines(with_key(machine), &["after"]);
        check_lines(json!({"type": "StateMachine"}), &[]);
        check_lines(
            json!({"type": "StateMachine", "initialState": "x",
            "states": [{"name": "x", "entry": says("in")}]}),
            &["in"],
        );
    }

    #[test]
    fn a_condition_that_does_not_hold_waits_for_the_same_trigger_again() {
        let machine = json!({"type": "StateMachine", "initialState": "a",
            "states": [{"name": "a", "entry": says("in a")}, {"name": "b", "entry": says("in b")}],
            "transitions": [{"from": "a", "to": "b", "trigger":
                {"type": "Sequence", "activities": [hears("Go"), {"type": "SetVariable",
                    "variable": {"id": "n", "name": "N"},
                    "value": {"js": "getVariable('N') + 1"}}]},
                "condition": {"js": "getVariable('N') > 1"}}]});
        let mut player = player(json!({"root": {"type": "Sequence", "activities": [machine],
            "variables": [{"id": "n", "name": "N", "typeName": "Int32", "value": 0}]}}));
        player.start(json!({}));
        raise(&mut player, "Go");
        assert_eq!(player.lines(), ["in a"]);
        raise(&mut player, "Go");
        assert_eq!(player.lines(), ["in a", "in b"]);
        assert!(player.status().is_final());
    }

    #[test]
    fn a_transition_without_a_trigger_happens_at_once_if_its_condition_holds() {
        let machine = |transitions: Value| {
            json!({"type": "StateMachine", "initialState": "a", "states": [
                {"name": "a", "entry": says("in a"), "exit": says("out of a")},
                {"name": "b", "entry": says("in b")}, {"name": "c"}, {"name": "d"}],
            "transitions": transitions})
        };
        let never = json!({"type": "JavaScript", "value": "1 > 2"});
        check_lines(
            machine(json!([
                {"from": "a", "to": "c", "condition": never},
                {"from": "a", "to": "b", "action": says("on the way")},
                {"from": "a", "to": "c", "trigger": hears("Go")}])),
            &["in a", "out of a", "on the way", "in b"],
        );
        // Where none holds, it waits for the triggers of the others.
        let mut waiting = player(machine(json!([
            {"from": "a", "to": "b", "condition": never},
            {"from": "a", "to": "c", "trigger": hears("Go")}])));
        waiting.start(json!({}));
        raise(&mut waiting, "Go");
        assert_eq!(waiting.lines(), ["in a", "out of a"]);
        assert!(waiting.status().is_final());
        let fails = |transitions: Value, code: &str| {
            let mut player = player(machine(transitions));
            player.start(json!({}));
            assert_eq!(player.state().incidents[0].code, code);
        };
        fails(json!([{"from": "a", "to": "b", "condition": never}]), "NoTransition");
        let circle = json!([{"from": "a", "to": "c"}, {"from": "c", "to": "d"},
            {"from": "d", "to": "c"}]);
        fails(circle, "EndlessTransitions");
    }

    #[test]
    fn mistakes_are_named_at_publish() {
        let found = oversights(json!({"type": "StateMachine", "initialState": "nowhere",
            "states": [{"name": "a"}, {"name": "a"}],
            "transitions": [{"from": "a", "to": "b", "trigger": hears("Go")},
                {"from": "a", "to": "a"}]}));
        for part in ["no state \"nowhere\"", "two states have the name \"a\"", "no state \"b\""] {
            assert!(found.iter().any(|problem| problem.contains(part)), "{part}: {found:?}");
        }
    }
}
