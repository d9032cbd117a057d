//! Token mode: a completed activity puts a token on each connection that it leaves through, and
//! every target decides by its merge mode whether it runs. Dead paths put no tokens, so a target
//! that waits for all its paths may wait for ever: the flowchart then fails and names it.

use std::collections::BTreeSet;

use engine::{Child, Decision, Failure, FlowMode, Next, NodeRef, Planning, Step};
use serde_json::{Value, json};

use super::Chart;
use super::graph::Graph;
use crate::flow_join::Mode;

/// The custom property of an activity that says when it runs.
const MERGE_PROPERTY: &str = "mergeMode";

/// When an activity runs, in token mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MergeMode {
    /// When a token comes and no other path to it has a token on its way.
    #[default]
    Stream,
    /// When every forward connection to it has a token.
    Merge,
    /// When every connection to it has a token, those that lead back included.
    Converge,
    /// With the first token; one token of each other connection is then dropped.
    Cascade,
    /// As `Cascade`; what runs or is scheduled on the way to it is cancelled.
    Race,
}

impl MergeMode {
    /// Reads the merge mode of an activity of a flowchart.
    pub(super) fn planned(node: &mut Planning<'_>, child: NodeRef) -> Self {
        let named = node.custom_of(child, MERGE_PROPERTY).and_then(Value::as_str);
        let named = named.unwrap_or("None");
        // In any case, as Elsa reads it.
        match named.to_ascii_lowercase().as_str() {
            "none" | "stream" => Self::Stream,
            "merge" => Self::Merge,
            "converge" => Self::Converge,
            "cascade" => Self::Cascade,
            "race" => Self::Race,
            _ => {
                let id = node.id(child);
                let message = format!(
                    "activity {id} has the merge mode {named:?}: use None, Stream, Merge, \
                     Converge, Cascade or Race"
                );
                node.oversight("activities", message);
                Self::Stream
            }
        }
    }
}

/// Whether the start of the instance, or else the flowchart, or else the definition, or else the
/// configuration asks for token mode.
///
/// # Errors
/// [`Failure`] when the start asks for a mode that does not exist.
pub(super) fn is_chosen(step: &Step<'_, '_>) -> Result<bool, Failure> {
    let started = step.property(FlowMode::PROPERTY).map(FlowMode::named).transpose();
    let started = started.map_err(|reason| Failure::input(FlowMode::PROPERTY, reason))?;
    // A stored definition may name a mode that does not exist: it decides nothing.
    let written = [step.custom(FlowMode::CUSTOM), step.definition_custom(FlowMode::CUSTOM)];
    let written = written.map(|mode| mode.and_then(|mode| FlowMode::named(mode).ok().flatten()));
    let mut said = [started.flatten()].into_iter().chain(written).flatten();
    Ok(match said.next() {
        Some(mode) => mode == FlowMode::Token,
        None => step.env().installation.token_mode,
    })
}

/// Begins an execution in token mode.
pub(super) fn begin(step: &mut Step<'_, '_>) {
    if let Some(memory) = step.memory() {
        *memory = json!({"tokens": []});
    }
}

/// Whether an execution is in token mode.
pub(super) fn is_begun(step: &mut Step<'_, '_>) -> bool {
    step.memory().is_some_and(|memory| memory.get("tokens").is_some())
}

/// Goes on after a child.
pub(super) fn child_completed<'a>(
    chart: &'a Chart,
    graph: &'a Graph,
    step: &mut Step<'_, 'a>,
    at: usize,
    child: &Child,
) -> Decision {
    let outbound = chart.outbound[at].iter().copied();
    let left: Vec<usize> =
        outbound.filter(|link| child.outcomes.contains(&chart.links[*link].port)).collect();
    let mut flow = Flow { tokens: Tokens::read(step), chart, graph, step };
    let comes_here = |token: &Token| chart.links[token.link].target == at;
    // What it puts on its connections belongs to the next round of a loop.
    flow.unblock(comes_here);
    flow.tokens.0.extend(left.iter().map(|link| Token { link: *link, is_blocked: false }));
    flow.tokens.0.retain(|token| token.is_blocked || !comes_here(token));
    for link in left {
        // A race that is decided takes back what is on its way to it.
        let is_taken_back = chart.links[link].target != at && !flow.tokens.has(link, false);
        if !is_taken_back {
            flow.arrive(link)?;
        }
    }
    flow.unblock(|_| true);
    flow.tokens.write(flow.step);
    flow.rest()
}

/// A token on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    link: usize,
    /// The next token that arrives on the connection is dropped.
    is_blocked: bool,
}

/// The tokens of one execution, kept in its memory.
struct Tokens(Vec<Token>);

impl Tokens {
    fn read(step: &mut Step<'_, '_>) -> Self {
        let kept = step.memory().and_then(|memory| memory["tokens"].as_array().cloned());
        let read = |token: Value| {
            let link = usize::try_from(token["link"].as_u64()?).ok()?;
            Some(Token { link, is_blocked: token["blocked"] == true })
        };
        Self(kept.unwrap_or_default().into_iter().filter_map(read).collect())
    }

    fn write(&self, step: &mut Step<'_, '_>) {
        let tokens = self.0.iter().map(|token| match token.is_blocked {
            true => json!({"link": token.link, "blocked": true}),
            false => json!({"link": token.link}),
        });
        let tokens: Vec<Value> = tokens.collect();
        if let Some(memory) = step.memory() {
            memory["tokens"] = tokens.into();
        }
    }

    fn has(&self, link: usize, is_blocked: bool) -> bool {
        self.0.contains(&Token { link, is_blocked })
    }

    fn remove(&mut self, link: usize, is_blocked: bool) {
        if let Some(at) = self.0.iter().position(|token| *token == Token { link, is_blocked }) {
            self.0.remove(at);
        }
    }
}

/// The work that follows from one completed child.
struct Flow<'s, 'r, 'a> {
    tokens: Tokens,
    chart: &'a Chart,
    graph: &'a Graph,
    step: &'s mut Step<'r, 'a>,
}

impl Flow<'_, '_, '_> {
    /// A token has come to the end of a connection: runs the target if its merge mode says so.
    fn arrive(&mut self, link: usize) -> Result<(), Failure> {
        let target = self.chart.links[link].target;
        let merge = self.merge(target)?;
        let runs = match merge {
            MergeMode::Stream => !self.is_on_its_way_to(target),
            MergeMode::Merge => {
                let inbound = &self.graph.inbound[target];
                inbound.len() < 2 || inbound.iter().all(|link| self.tokens.has(*link, false))
            }
            MergeMode::Converge => self.inbound(target).all(|link| self.tokens.has(link, false)),
            MergeMode::Cascade | MergeMode::Race => {
                self.is_first(link, target, merge == MergeMode::Race)
            }
        };
        if runs {
            self.step.schedule(Some(self.chart.children[target]), None);
        }
        Ok(())
    }

    fn merge(&mut self, target: usize) -> Result<MergeMode, Failure> {
        if !self.chart.joins[target] {
            return Ok(self.chart.merges[target]);
        }
        Ok(match Mode::of(self.step, self.chart.children[target])? {
            Mode::Any => MergeMode::Race,
            Mode::All | Mode::Active => MergeMode::Merge,
        })
    }

    /// All connections to an activity.
    fn inbound(&self, target: usize) -> impl Iterator<Item = usize> {
        let links = self.chart.links.iter().enumerate();
        links.filter(move |(_, link)| link.target == target).map(|(at, _)| at)
    }

    /// An activity from which a forward connection leads here has a token that it has not used.
    fn is_on_its_way_to(&self, target: usize) -> bool {
        let inbound = self.graph.inbound[target].iter();
        let sources: BTreeSet<usize> = inbound.map(|link| self.chart.links[*link].source).collect();
        let mut free = self.tokens.0.iter().filter(|token| !token.is_blocked);
        free.any(|token| sources.contains(&self.chart.links[token.link].target))
    }

    /// The first token to arrive blocks the other connections; a token on a blocked connection is
    /// dropped together with the block.
    fn is_first(&mut self, link: usize, target: usize, cancels: bool) -> bool {
        if self.tokens.has(link, true) {
            self.tokens.remove(link, true);
            self.tokens.remove(link, false);
            return false;
        }
        if cancels {
            self.cancel_ancestors(target);
        }
        let others = self.graph.inbound[target].iter().filter(|other| **other != link);
        self.tokens.0.extend(others.map(|link| Token { link: *link, is_blocked: true }));
        true
    }

    /// Removes these blocks where nothing is on its way to the connection any more: what comes there
    /// later is not what was blocked.
    fn unblock(&mut self, is_meant: impl Fn(&Token) -> bool) {
        let running = self.step.running_children().into_iter().map(|it| it.node);
        let open = running.chain(self.step.scheduled_children());
        let open = open.filter_map(|node| self.chart.places.get(&node).copied());
        let free = self.tokens.0.iter().filter(|token| !token.is_blocked);
        let coming = free.map(|token| self.chart.links[token.link].target);
        let active: BTreeSet<usize> = open.chain(coming).collect();
        let (links, graph) = (&self.chart.links, self.graph);
        self.tokens.0.retain(|token| {
            let source = links[token.link].source;
            let is_awaited =
                || active.contains(&source) || !active.is_disjoint(&graph.ancestors(links, source));
            !token.is_blocked || !is_meant(token) || is_awaited()
        });
    }

    /// Cancels what runs or is scheduled on the way to an activity, and removes the tokens that lead
    /// there.
    fn cancel_ancestors(&mut self, target: usize) {
        let links = &self.chart.links;
        let mut ancestors = self.graph.ancestors(links, target);
        ancestors.remove(&target);
        let is_ancestor = |node: NodeRef| {
            self.chart.places.get(&node).is_some_and(|place| ancestors.contains(place))
        };
        for execution in self.step.running_children() {
            if is_ancestor(execution.node) {
                self.step.cancel(execution);
            }
        }
        for node in self.step.scheduled_children() {
            if is_ancestor(node) {
                self.step.unschedule(node);
            }
        }
        self.tokens.0.retain(|token| !ancestors.contains(&links[token.link].target));
    }

    /// Waits for open children. Without any, the flowchart is over, unless an activity waits for
    /// paths on which nothing can come any more.
    fn rest(self) -> Decision {
        if self.step.has_open_children() {
            return Ok(Next::Wait);
        }
        let Some(left) = self.tokens.0.iter().find(|token| !token.is_blocked) else {
            return Ok(Next::done());
        };
        let target = self.chart.children[self.chart.links[left.link].target];
        let id = self.step.id_of(target);
        Err(Failure::new(
            "BlockedJoin",
            format!(
                "activity {id} waits for a token of every connection to it, and some of them were \
                 not followed: give it the merge mode Stream or Race, or use counter mode"
            ),
        ))
    }
}
