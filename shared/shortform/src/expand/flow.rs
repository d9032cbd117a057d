//! Flowcharts: `flow`, `next` and `a.True -> b`.

use std::collections::BTreeSet;

use model::limits;

use super::Expansion;
use crate::elsa;
use crate::tree::{Mark, Member, Node, Tree};

/// Between the ends of a connection.
pub(crate) const ARROW: &str = " -> ";
/// Bytes of an id of [`limits::ID_CHARS_MAX`].
const ID_BYTES_MAX: usize = 4 * limits::ID_CHARS_MAX;
/// The outcome of a connection that names none.
pub(crate) const DONE: &str = "Done";

impl Expansion<'_> {
    /// An activity, with `flow`, `next` and the texts of connections replaced.
    pub(super) fn charted(&mut self, tree: Tree) -> Tree {
        let mark = tree.mark;
        let Node::Map(mut members) = tree.node else { return tree };
        if let Some(at) = members.iter().position(|member| member.name == "flow") {
            let flow = members.remove(at);
            if members.iter().any(|member| member.name == "activities") {
                self.flaw(flow.mark, "there are activities beside flow: remove one of them");
            }
            if !members.iter().any(|member| member.name == "type") {
                let flowchart = Tree::text(mark, "Elsa.Flowchart");
                members.insert(0, Member::new("type", mark, flowchart));
            }
            let activities = self.named(&flow.value);
            let at = at.min(members.len());
            members.insert(
                at,
                Member { name: "activities".to_owned(), mark: flow.mark, value: activities },
            );
        }
        let type_name = members.iter().find(|member| member.name == "type");
        let type_name = type_name.and_then(|member| member.value.as_text());
        if matches!(type_name, Some("Flowchart" | "Elsa.Flowchart")) {
            self.connect(mark, &mut members);
        }
        Tree { mark, node: Node::Map(members) }
    }

    /// The activities of a flow: a list, or an object whose names are their ids.
    fn named(&mut self, flow: &Tree) -> Tree {
        let items = match &flow.node {
            Node::List(_) => return flow.clone(),
            Node::Map(members) => members.iter().map(|member| self.identified(member)).collect(),
            Node::Scalar(_) => {
                self.flaw(
                    flow.mark,
                    "flow is a list of activities, or an object of activities by id",
                );
                Vec::new()
            }
        };
        Tree { mark: flow.mark, node: Node::List(items) }
    }

    fn identified(&mut self, member: &Member) -> Tree {
        let id = Member::new("id", member.mark, Tree::text(member.mark, &*member.name));
        match &member.value.node {
            Node::Map(members) => {
                if let Some(other) = members.iter().find(|member| member.name == "id") {
                    self.flaw(
                        other.mark,
                        "the name of the activity in flow is its id: remove this one",
                    );
                }
                let members = std::iter::once(id).chain(members.iter().cloned()).collect();
                Tree { mark: member.mark, node: Node::Map(members) }
            }
            Node::List(_) => {
                let mark = member.mark;
                let kind = Member::new("type", mark, Tree::text(mark, "Elsa.Sequence"));
                let activities = Member::new("activities", mark, member.value.clone());
                Tree { mark, node: Node::Map(vec![id, kind, activities]) }
            }
            Node::Scalar(_) => {
                self.flaw(member.value.mark, "this is no activity: write an object with a type");
                member.value.clone()
            }
        }
    }

    /// Writes the connections of a flowchart in the full form.
    fn connect(&mut self, mark: Mark, members: &mut Vec<Member>) {
        let at = |members: &[Member], name: &str| members.iter().position(|it| it.name == name);
        let mut known = BTreeSet::new();
        let mut nexts = Vec::new();
        if let Some(at) = at(members, "activities")
            && let Some(Member { value: Tree { node: Node::List(items), .. }, .. }) =
                members.get_mut(at)
        {
            for item in items {
                nexts.extend(self.next(item));
                known.extend(item.get("id").and_then(Tree::as_text).map(str::to_owned));
            }
        }
        let mut links: Vec<Tree> = Vec::new();
        let written = at(members, "connections");
        if let Some(written) = written.and_then(|at| members.get(at)) {
            match &written.value.node {
                Node::List(items) => {
                    for item in items {
                        links.push(self.link(item, &known));
                    }
                }
                _ => return,
            }
        } else if nexts.is_empty() {
            return;
        }
        for (source, next) in nexts {
            self.follow(&source, &next, &mut links);
        }
        let value = Tree { mark, node: Node::List(links) };
        match written.and_then(|at| members.get_mut(at)) {
            Some(written) => written.value.node = value.node,
            None => members.push(Member::new("connections", mark, value)),
        }
    }

    /// Takes `next` from an activity, which gets an id if it has none.
    fn next(&mut self, activity: &mut Tree) -> Option<(String, Tree)> {
        let kind = activity.get("type").and_then(Tree::as_text).unwrap_or("Activity").to_owned();
        let Tree { mark, node: Node::Map(members) } = activity else { return None };
        let at = members.iter().position(|member| member.name == "next")?;
        let next = members.remove(at).value;
        let id = members.iter().find(|member| member.name == "id");
        let id = id.and_then(|member| member.value.as_text()).map(str::to_owned);
        let id = id.unwrap_or_else(|| {
            let id = self.fresh(&kind);
            members.insert(0, Member::new("id", *mark, Tree::text(*mark, &*id)));
            id
        });
        Some((id, next))
    }

    /// An id as the engine gives it.
    fn fresh(&mut self, kind: &str) -> String {
        let short = kind.rsplit('.').next().unwrap_or(kind);
        let number = self.numbers.entry(short.to_owned()).or_default();
        loop {
            *number += 1;
            let id = format!("{short}{number}");
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }

    fn follow(&mut self, source: &str, next: &Tree, links: &mut Vec<Tree>) {
        match &next.node {
            Node::Map(outcomes) => {
                for outcome in outcomes {
                    self.targets(source, &outcome.name, &outcome.value, links);
                }
            }
            _ => self.targets(source, DONE, next, links),
        }
    }

    fn targets(&mut self, source: &str, outcome: &str, target: &Tree, links: &mut Vec<Tree>) {
        let targets = target.items().unwrap_or(std::slice::from_ref(target));
        for target in targets {
            match target.as_text() {
                Some(id) => links.push(elsa::connection(target.mark, source, outcome, id)),
                None => self.flaw(target.mark, "next names activities by their ids"),
            }
        }
    }

    /// A connection: `a -> b`, `a.True -> b`, `{from: …, to: …}` with more members, or full.
    fn link(&mut self, tree: &Tree, known: &BTreeSet<String>) -> Tree {
        let mark = tree.mark;
        if let Some(text) = tree.as_text() {
            let Some((source, target)) = text.split_once(ARROW.trim()) else {
                self.flaw(
                    mark,
                    format!("{text:?} is no connection: write a -> b, or a.Outcome -> b"),
                );
                return tree.clone();
            };
            return linked(mark, source.trim(), target.trim(), known);
        }
        let text = |name: &str| tree.get(name).and_then(Tree::as_text);
        let (Some(from), Some(to)) = (text("from"), text("to")) else { return tree.clone() };
        let linked = linked(mark, from, to, known);
        let (Node::Map(mut ends), Node::Map(members)) = (linked.node, &tree.node) else {
            return tree.clone();
        };
        let rest = members.iter().filter(|member| member.name != "from" && member.name != "to");
        ends.extend(rest.cloned());
        Tree { mark, node: Node::Map(ends) }
    }
}

fn linked(mark: Mark, from: &str, to: &str, known: &BTreeSet<String>) -> Tree {
    let dots = from.match_indices('.').map(|(at, _)| from.split_at(at));
    // A longer part is no id.
    let dots = dots.take_while(|(id, _)| id.len() <= ID_BYTES_MAX);
    let mut parts = dots.map(|(id, outcome)| (id, outcome.trim_start_matches('.')));
    let (source, outcome) = if known.contains(from) {
        (from, DONE)
    } else {
        // An id that does not exist is named when the definition is checked.
        let first = parts.clone().next();
        parts.find(|(id, _)| known.contains(*id)).or(first).unwrap_or((from, DONE))
    };
    elsa::connection(mark, source, outcome, to)
}
