//! The graph of a flowchart as seen from one start: which connections lead forward, which back.

use std::collections::{BTreeSet, VecDeque};

/// A connection between children, by position.
pub(super) struct Link {
    pub(super) source: usize,
    pub(super) target: usize,
    /// The outcome it follows.
    pub(super) port: String,
}

/// The direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Onwards, away from the start.
    Forward,
    /// Back to where its source was reached from; valid when every way to the source passes there.
    Backward { is_valid: bool },
    /// Nowhere: its source cannot be reached.
    Unreached,
}

/// A flowchart's connections, classified.
pub(super) struct Graph {
    /// The direction of each link.
    pub(super) direction: Vec<Direction>,
    /// The forward links that lead to each child.
    pub(super) inbound: Vec<Vec<usize>>,
    /// Whether each child can be reached.
    pub(super) reached: Vec<bool>,
}

impl Graph {
    /// Walks breadth first from the start, in declaration order. A connection that would close a
    /// circle of forward ones leads backward.
    pub(super) fn new(links: &[Link], outbound: &[Vec<usize>], root: usize) -> Self {
        let count = outbound.len();
        let mut graph = Self {
            direction: vec![Direction::Unreached; links.len()],
            inbound: vec![Vec::new(); count],
            reached: vec![false; count],
        };
        let mut backward = Vec::new();
        let mut queue = VecDeque::from([root]);
        graph.reached[root] = true;
        while let Some(source) = queue.pop_front() {
            for &at in &outbound[source] {
                let target = links[at].target;
                if graph.leads(links, outbound, target, source) {
                    backward.push(at);
                    graph.direction[at] = Direction::Backward { is_valid: false };
                    continue;
                }
                graph.direction[at] = Direction::Forward;
                graph.inbound[target].push(at);
                if !graph.reached[target] {
                    graph.reached[target] = true;
                    queue.push_back(target);
                }
            }
        }
        for at in backward {
            let is_valid = graph.passes(links, &links[at], root);
            graph.direction[at] = Direction::Backward { is_valid };
        }
        graph
    }

    /// All children from which forward links lead here.
    pub(super) fn ancestors(&self, links: &[Link], of: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut rest = vec![of];
        while let Some(at) = rest.pop() {
            for &link in &self.inbound[at] {
                if found.insert(links[link].source) {
                    rest.push(links[link].source);
                }
            }
        }
        found
    }

    /// Forward links lead from one child to another.
    fn leads(&self, links: &[Link], outbound: &[Vec<usize>], from: usize, to: usize) -> bool {
        if from == to {
            return true;
        }
        if !self.reached[from] {
            return false;
        }
        let mut seen = BTreeSet::from([from]);
        let mut rest = vec![from];
        while let Some(at) = rest.pop() {
            for &link in &outbound[at] {
                let target = links[link].target;
                let forward = self.direction[link] == Direction::Forward;
                if forward && target == to {
                    return true;
                }
                if forward && seen.insert(target) {
                    rest.push(target);
                }
            }
        }
        false
    }

    /// Every forward way from the root to the source of a link passes its target.
    fn passes(&self, links: &[Link], link: &Link, root: usize) -> bool {
        if link.source == link.target || link.target == root {
            return true;
        }
        let mut seen = BTreeSet::from([link.source]);
        let mut rest = vec![link.source];
        while let Some(at) = rest.pop() {
            if at == root {
                return false;
            }
            for &inbound in &self.inbound[at] {
                let source = links[inbound].source;
                if source != link.target && seen.insert(source) {
                    rest.push(source);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `"0>1 1>2"` as links.
    fn graph(text: &str, count: usize) -> (Vec<Link>, Graph) {
        let links: Vec<Link> = text
            .split_whitespace()
            .map(|pair| {
                let (source, target) = pair.split_once('>').unwrap();
                let (source, target) = (source.parse().unwrap(), target.parse().unwrap());
                Link { source, target, port: "Done".to_owned() }
            })
            .collect();
        let mut outbound = vec![Vec::new(); count];
        for (at, link) in links.iter().enumerate() {
            outbound[link.source].push(at);
        }
        let graph = Graph::new(&links, &outbound, 0);
        (links, graph)
    }

    #[test]
    fn connections_are_forward_or_backward_or_out_of_reach() {
        let check = |text: &str, count: usize, expected: &str| {
            let (_, graph) = graph(text, count);
            let letters = graph.direction.iter().map(|direction| match direction {
                Direction::Forward => 'f',
                Direction::Backward { is_valid: true } => 'b',
                Direction::Backward { is_valid: false } => 'x',
                Direction::Unreached => '-',
            });
            assert_eq!(letters.collect::<String>(), expected, "{text}");
        };
        check("0>1 1>2", 3, "ff");
        check("0>1 1>0", 2, "fb");
        check("0>0", 1, "b");
        check("0>1 1>2 2>1", 3, "ffb");
        check("0>1 0>2 1>3 2>3 3>1", 4, "ffffx");
        check("0>1 2>1", 3, "f-");
    }

    #[test]
    fn ancestors_follow_forward_connections_only() {
        let (links, graph) = graph("0>1 1>2 2>1 1>3", 4);
        assert_eq!(graph.ancestors(&links, 3), BTreeSet::from([0, 1]));
        assert_eq!(graph.ancestors(&links, 1), BTreeSet::from([0]));
    }
}
