//! Flowchart: runs activities along connections. An activity runs when every path that can still reach
//! it has arrived (counter mode, with dead paths eliminated), or as its merge mode says (token mode).

mod count;
mod graph;
mod moved;
mod token;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use engine::{
    Activity, Child, Decision, Descriptor, Failure, Moving, Next, NodeRef, Plan, Planning,
    PortKind, Step,
};
use serde_json::{Value, json};

use self::count::Counts;
use self::graph::{Direction, Graph, Link};
use self::token::MergeMode;
use crate::flow_join::Mode;

/// The most activities that an error lists.
const SHOWN_MAX: usize = 12;

/// `Elsa.Flowchart`
pub(crate) struct Flowchart;

/// A flowchart of a definition.
struct Chart {
    children: Vec<NodeRef>,
    places: BTreeMap<NodeRef, usize>,
    joins: Vec<bool>,
    /// When each child runs in token mode.
    merges: Vec<MergeMode>,
    links: Vec<Link>,
    /// Links by source, in declaration order.
    outbound: Vec<Vec<usize>>,
    /// The activity that it starts with when no trigger started it.
    root: usize,
    /// The graph as seen from each possible start.
    graphs: Vec<OnceLock<Graph>>,
}

impl Activity for Flowchart {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Flowchart", "Flow", "Runs activities along their connections.")
            .port("activities", PortKind::List)
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let children = node.children("activities");
        let links = links(node, &children);
        let root = default_root(node, &children, &links);
        warn_of_start(node, &children, root);
        let merges = children.iter().map(|child| MergeMode::planned(node, *child)).collect();
        warn_of_unreached(node, &children, &links, root);
        let is_join = |child: &NodeRef| node.descriptor(*child).type_name == "Elsa.FlowJoin";
        let mut outbound = vec![Vec::new(); children.len()];
        for (at, link) in links.iter().enumerate() {
            outbound[link.source].push(at);
        }
        Some(Box::new(Chart {
            joins: children.iter().map(is_join).collect(),
            places: children.iter().enumerate().map(|(at, child)| (*child, at)).collect(),
            graphs: children.iter().map(|_| OnceLock::new()).collect(),
            outbound,
            merges,
            links,
            root,
            children,
        }))
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let Some(chart) = step.plan::<Chart>() else { return Ok(Next::done()) };
        if chart.children.is_empty() {
            return Ok(Next::done());
        }
        if token::is_chosen(step)? {
            token::begin(step);
        }
        let root = chart.root(step);
        step.schedule(Some(chart.children[root]), None);
        Ok(Next::Wait)
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, child: Child) -> Decision {
        let Some(chart) = step.plan::<Chart>() else { return Ok(Next::done()) };
        let Some(node) = child.node else { return Ok(Next::done()) };
        let Some(&at) = chart.places.get(&node) else { return Ok(Next::done()) };
        if step.is_terminal(node) {
            return Ok(Next::done());
        }
        if token::is_begun(step) {
            return token::child_completed(chart, chart.graph(step), step, at, &child);
        }
        let came_back = child.tag.as_ref().is_some_and(|tag| tag["backward"] == json!(true));
        let mut walk = Walk { chart, graph: chart.graph(step), step, scheduled: false };
        walk.leave(at, &child.outcomes, came_back)?;
        let scheduled = walk.scheduled;
        if scheduled || step.has_open_children() { Ok(Next::Wait) } else { Ok(Next::done()) }
    }

    fn jump(&self, step: &mut Step<'_, '_>, child: NodeRef) -> Result<(), Failure> {
        let Some(chart) = step.plan::<Chart>() else { return Ok(()) };
        if token::is_begun(step) {
            step.schedule(Some(child), None);
            return Ok(());
        }
        let at = chart.places.get(&child).copied().unwrap_or_default();
        if !chart.graph(step).reached[at] {
            return Err(unreachable(step));
        }
        // Not counted as a visit: when the connections to it are followed, it runs as ever.
        step.schedule(Some(child), Some(json!({"backward": true})));
        Ok(())
    }

    fn migrate(&self, moving: &mut Moving<'_>) -> Result<(), String> {
        moved::migrate(moving);
        Ok(())
    }
}

fn unreachable(step: &Step<'_, '_>) -> Failure {
    let id = step.activity_id();
    let message = format!("flowchart {id} cannot reach this activity from where it started");
    Failure::new("UnreachableActivity", message)
}

impl Chart {
    fn root(&self, step: &Step<'_, '_>) -> usize {
        step.trigger().and_then(|trigger| self.places.get(&trigger).copied()).unwrap_or(self.root)
    }

    fn graph(&self, step: &Step<'_, '_>) -> &Graph {
        let root = self.root(step);
        self.graphs[root].get_or_init(|| Graph::new(&self.links, &self.outbound, root))
    }
}

/// The work that follows from one completed child.
struct Walk<'s, 'r, 'a> {
    chart: &'a Chart,
    graph: &'a Graph,
    step: &'s mut Step<'r, 'a>,
    scheduled: bool,
}

/// An activity whose outgoing links are being decided.
struct Frame<'o> {
    at: usize,
    /// Empty on a dead path.
    outcomes: &'o [String],
    next: usize,
}

/// The state of a link, as its target sees it.
enum LinkState {
    Schedule,
    Skip,
    Nothing,
}

impl Walk<'_, '_, '_> {
    /// Leaves an activity through its links. Walks dead paths with an explicit stack, without
    /// recursion: they can be as long as the flowchart.
    fn leave(&mut self, at: usize, outcomes: &[String], came_back: bool) -> Result<(), Failure> {
        if !self.graph.reached[at] {
            return Err(unreachable(self.step));
        }
        if !came_back {
            self.counts().visit(at);
        }
        if self.chart.joins[at] {
            self.cancel_ancestors(at)?;
        }
        self.follow(Frame { at, outcomes, next: 0 })
    }

    fn follow(&mut self, first: Frame<'_>) -> Result<(), Failure> {
        let mut stack = vec![first];
        while let Some(frame) = stack.last_mut() {
            let Some(&link) = self.chart.outbound[frame.at].get(frame.next) else {
                stack.pop();
                continue;
            };
            frame.next += 1;
            let Link { target, ref port, .. } = self.chart.links[link];
            let followed = frame.outcomes.contains(port);
            self.counts().pass(link, followed);
            match self.graph.direction[link] {
                Direction::Backward { is_valid } if followed => self.go_back(target, is_valid)?,
                Direction::Backward { .. } | Direction::Unreached => {}
                Direction::Forward => match self.verdict(link, target)? {
                    LinkState::Schedule => self.schedule(target)?,
                    LinkState::Skip => {
                        self.counts().visit(target);
                        stack.push(Frame { at: target, outcomes: &[], next: 0 });
                    }
                    LinkState::Nothing => {}
                },
            }
        }
        Ok(())
    }

    fn go_back(&mut self, target: usize, is_valid: bool) -> Result<(), Failure> {
        if !is_valid {
            let message = "a connection leads back into the middle of a loop: lead it to an \
                           activity that every way here passes through";
            return Err(Failure::new("InvalidBackwardConnection", message));
        }
        let child = self.chart.children[target];
        self.step.schedule(Some(child), Some(json!({"backward": true})));
        self.scheduled = true;
        Ok(())
    }

    fn schedule(&mut self, target: usize) -> Result<(), Failure> {
        self.step.schedule(Some(self.chart.children[target]), None);
        self.scheduled = true;
        if self.mode(target)? == Mode::Any {
            self.cancel_ancestors(target)?;
        }
        Ok(())
    }

    fn mode(&mut self, target: usize) -> Result<Mode, Failure> {
        if self.chart.joins[target] {
            Mode::of(self.step, self.chart.children[target])
        } else {
            Ok(Mode::Active)
        }
    }

    fn verdict(&mut self, link: usize, target: usize) -> Result<LinkState, Failure> {
        let mode = self.mode(target)?;
        let inbound = &self.graph.inbound[target];
        let child = self.chart.children[target];
        if mode == Mode::Any {
            let fresh = self.counts().link(link) > self.counts().visits(target);
            if !fresh || self.step.is_scheduled(child) {
                return Ok(LinkState::Nothing);
            }
        }
        let counts = self.counts();
        let visits = counts.visits(target);
        let least = inbound.iter().map(|link| counts.link(*link)).min().unwrap_or_default();
        let most = inbound.iter().map(|link| counts.link(*link)).max().unwrap_or_default();
        let came = |link: &usize| counts.link(*link) == most && counts.was_followed(*link);
        let (all_passed, any_came) = (least > visits, inbound.iter().any(came));
        let schedule = match mode {
            Mode::Any => any_came,
            Mode::Active => all_passed && any_came,
            Mode::All => all_passed && inbound.iter().all(came),
        };
        Ok(match (schedule, all_passed) {
            (true, _) => LinkState::Schedule,
            (false, true) => LinkState::Skip,
            (false, false) => LinkState::Nothing,
        })
    }

    /// Cancels what still runs on the way to a join, and treats its links as dead paths.
    fn cancel_ancestors(&mut self, join: usize) -> Result<(), Failure> {
        let running = self.step.running_children();
        let ancestors = if running.is_empty() {
            BTreeSet::new()
        } else {
            self.graph.ancestors(&self.chart.links, join)
        };
        for execution in running {
            let place = self.chart.places.get(&execution.node).copied();
            if let Some(at) = place.filter(|at| *at != join && ancestors.contains(at)) {
                self.step.cancel(execution);
                self.counts().visit(at);
                self.follow(Frame { at, outcomes: &[], next: 0 })?;
            }
        }
        Ok(())
    }

    fn counts(&mut self) -> Counts<'_> {
        Counts::new(self.step.memory())
    }
}

/// The connections whose two ends exist. The others are noted as oversights. Warns of connections
/// that are never followed.
fn links(node: &mut Planning<'_>, children: &[NodeRef]) -> Vec<Link> {
    let (links, flaws) = read_links(node, children);
    for (property, flaw) in flaws {
        node.oversight(&property, flaw);
    }
    for (_, link) in &links {
        node.connect(children[link.source], &link.port);
    }
    for (at, link) in &links {
        let Some(outcomes) = node.outcomes(children[link.source]) else { continue };
        if !outcomes.names.contains(&link.port) {
            let (port, source) = (&link.port, node.id(children[link.source]));
            let flaw = match outcomes.is_all {
                true => format!("is never followed, as activity {source} has no outcome {port}"),
                false => format!(
                    "may never be followed, as the workflow that activity {source} runs does not \
                     declare the outcome {port}"
                ),
            };
            let message = format!("this connection {flaw}: use {}", outcomes.names.join(" or "));
            node.warning(&place(*at), message);
        }
    }
    links.into_iter().map(|(_, link)| link).collect()
}

/// The property that a connection is.
fn place(at: usize) -> String {
    format!("connections[{at}]")
}

/// A place in the definition, and what is wrong there.
type Flaw = (String, String);

/// The connections with their places in the list, and those that cannot be followed.
fn read_links(node: &Planning<'_>, children: &[NodeRef]) -> (Vec<(usize, Link)>, Vec<Flaw>) {
    let places: BTreeMap<&str, usize> =
        children.iter().enumerate().rev().map(|(at, child)| (node.id(*child), at)).collect();
    let names: BTreeMap<&str, usize> = children
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(at, child)| Some((node.name(*child)?, at)))
        .collect();
    let find = |id: &str| places.get(id).or_else(|| names.get(id)).copied();
    let raw = match node.raw("connections") {
        None => return (Vec::new(), Vec::new()),
        Some(Value::Array(raw)) => raw,
        Some(_) => {
            let message = "this is not a list: write [ … ]".to_owned();
            return (Vec::new(), vec![("connections".to_owned(), message)]);
        }
    };
    let (mut links, mut flaws) = (Vec::new(), Vec::new());
    for (at, connection) in raw.iter().enumerate() {
        let ends =
            (end(connection, "source", "sourcePort"), end(connection, "target", "targetPort"));
        let (Some((source, port)), Some((target, _))) = ends else {
            let message = "this connection does not name a source and a target activity";
            flaws.push((place(at), message.to_owned()));
            continue;
        };
        let port = port.unwrap_or("Done").to_owned();
        match (find(source), find(target)) {
            (Some(source), Some(target)) => links.push((at, Link { source, target, port })),
            // An activity that is there and does not compile is a problem already.
            (from, to) => flaws.extend(
                [(source, from), (target, to)]
                    .into_iter()
                    .filter(|(id, place)| place.is_none() && !is_written(node, id))
                    .map(|(id, _)| {
                        let message = format!(
                            "this connection ({source} to {target}) names activity {id}, which is \
                             not in this flowchart: remove it, or add the activity{}",
                            there_are(node)
                        );
                        (place(at), message)
                    }),
            ),
        }
    }
    (links, flaws)
}

/// The activities of the document that a connection may name, those of unknown types included; nothing
/// where they are many.
fn there_are(node: &Planning<'_>) -> String {
    let ids: BTreeSet<_> = written(node).filter_map(|activity| activity["id"].as_str()).collect();
    if ids.is_empty() || ids.len() > SHOWN_MAX {
        return String::new();
    }
    let ids: Vec<_> = ids.into_iter().collect();
    format!("; there are: {}", ids.join(", "))
}

/// Whether the document has an activity of this id or name here.
fn is_written(node: &Planning<'_>, id: &str) -> bool {
    written(node).any(|activity| activity["id"] == id || activity["name"] == id)
}

fn written<'a>(node: &'a Planning<'_>) -> impl Iterator<Item = &'a Value> {
    node.raw("activities").and_then(Value::as_array).into_iter().flatten()
}

/// `{"source": {"activity": …, "port": …}}`, or `{"source": …, "sourcePort": …}`.
fn end<'a>(connection: &'a Value, side: &str, port: &str) -> Option<(&'a str, Option<&'a str>)> {
    let end = connection.get(side)?;
    match end {
        Value::String(id) => Some((id, connection.get(port).and_then(Value::as_str))),
        _ => {
            let id = end.get("activity")?.as_str()?;
            Some((id, end.get("port").and_then(Value::as_str)))
        }
    }
}

fn default_root(node: &Planning<'_>, children: &[NodeRef], links: &[Link]) -> usize {
    let targets: BTreeSet<usize> = links.iter().map(|link| link.target).collect();
    let start = children.iter().position(|child| node.descriptor(*child).is_start);
    start
        .or_else(|| children.iter().position(|child| node.can_start(*child)))
        .or_else(|| (0..children.len()).find(|at| !targets.contains(at)))
        .unwrap_or_default()
}

/// Warns of a `start` that names another activity than the one that the flowchart begins with: it is
/// not read, as Elsa does not read it.
fn warn_of_start(node: &mut Planning<'_>, children: &[NodeRef], root: usize) {
    let named = node.raw("start").and_then(|start| {
        let id = start.as_str().or_else(|| start.get("id")?.as_str())?;
        (!id.is_empty()).then(|| id.to_owned())
    });
    let (Some(id), Some(&root)) = (named, children.get(root)) else { return };
    let is_it = |child: NodeRef| node.id(child) == id || node.name(child) == Some(&id);
    if is_it(root) {
        return;
    }
    let is_missing = if children.iter().any(|child| is_it(*child)) {
        ""
    } else {
        ", and it names an activity that is not in this flowchart"
    };
    let message = format!(
        "start has no effect{is_missing}: the flowchart begins with {}; to begin elsewhere, put an \
         Elsa.Start there",
        node.id(root)
    );
    node.warning("start", message);
}

/// The activities that connections lead to from activities which do not compile.
fn behind_mistakes(node: &Planning<'_>, children: &[NodeRef]) -> Vec<usize> {
    let position = |id: &str| {
        let is_it = |child: &NodeRef| node.id(*child) == id || node.name(*child) == Some(id);
        children.iter().position(is_it)
    };
    let raw = node.raw("connections").and_then(Value::as_array).into_iter().flatten();
    let behind = raw.filter_map(|connection| {
        let (source, _) = end(connection, "source", "sourcePort")?;
        let (target, _) = end(connection, "target", "targetPort")?;
        let is_mistake = position(source).is_none() && is_written(node, source);
        if is_mistake { position(target) } else { None }
    });
    behind.collect()
}

/// Warns of activities to which no connection leads from where the flowchart may start.
fn warn_of_unreached(node: &mut Planning<'_>, children: &[NodeRef], links: &[Link], root: usize) {
    let mut rest: Vec<usize> =
        (0..children.len()).filter(|at| *at == root || node.can_start(children[*at])).collect();
    let mut reached: BTreeSet<usize> = rest.iter().copied().collect();
    for &at in &rest {
        node.begins_with(children[at]);
    }
    // An activity that does not compile may lead anywhere that it is connected to.
    let entered = behind_mistakes(node, children);
    rest.extend(entered.into_iter().filter(|at| reached.insert(*at)));
    let mut from: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for link in links {
        from.entry(link.source).or_default().push(link.target);
    }
    while let Some(at) = rest.pop() {
        let next = from.get(&at).into_iter().flatten();
        rest.extend(next.filter(|target| reached.insert(**target)));
    }
    for (at, child) in children.iter().enumerate() {
        if !reached.contains(&at) {
            let reason = "no connection leads to it from the start; connect it, or remove it";
            node.unreachable(*child, reason);
        }
    }
}

/// The mode of a join, read from its own input.
impl Mode {
    fn of(step: &mut Step<'_, '_>, join: NodeRef) -> Result<Self, Failure> {
        let value = step.value_of(join, "mode")?;
        Ok(Self::named(value.as_str().unwrap_or_default()))
    }
}
