//! Checks of the nodes, and of what they share on NATS.

use bus::Scope;
use node::BrokerSeen;

use super::check::Check;
use super::facts::{Cluster, Unanswered};
use crate::output::counted;
use crate::roles::ALL;

/// Names that a line shows.
const NAMED_MAX: usize = 5;
/// Commands in the queue that are worth a word, and those above which the API refuses more.
const BACKLOG: (u64, u64) = (1_000, model::limits::BACKLOG_MAX);

/// Whether a live node has this role.
pub(super) fn has_role(cluster: &Cluster, role: &str) -> bool {
    cluster.members.iter().any(|member| member.roles.iter().any(|own| own == role))
}

/// Every check of the cluster.
pub(super) fn checks(cluster: &Result<Cluster, String>, broker: Option<&BrokerSeen>) -> Vec<Check> {
    let cluster = match cluster {
        Ok(cluster) => cluster,
        Err(reason) => {
            let found = format!("the nodes cannot be listed: {reason}");
            return vec![Check::bad("cluster", found, "see the checks of NATS")];
        }
    };
    let mut checks = roles(cluster);
    checks.extend(executors(cluster));
    checks.extend(pauses(cluster));
    checks.extend(leases(cluster));
    if cluster.dead_letters > 0 {
        let (one, many) =
            ("dead letter waits for an operator", "dead letters wait for an operator");
        let found = counted(cluster.dead_letters, one, many);
        let advice = "see them with `staunch dead ls`; then replay or remove each";
        checks.push(Check::warn("cluster", found, advice));
    }
    let consumers = broker.map(|broker| broker.consumers.as_slice()).unwrap_or_default();
    let waiting = consumers.iter().map(|consumer| consumer.pending + consumer.in_hand).sum::<u64>();
    let found = counted(waiting, "command is in the queue", "commands are in the queue");
    let advice = "start more executors, or see with `staunch top` what they do";
    checks.push(match waiting {
        waiting if waiting < BACKLOG.0 => Check::ok("cluster", found),
        waiting if waiting < BACKLOG.1 => Check::warn("cluster", found, advice),
        _ => Check::bad("cluster", format!("{found}; the API refuses more"), advice),
    });
    checks
}

fn roles(cluster: &Cluster) -> Vec<Check> {
    if cluster.members.is_empty() {
        let advice = "start one with `staunch server`, or correct --nats-url";
        return vec![Check::bad("cluster", "no node lives", advice)];
    }
    let names = cluster.members.iter().map(|member| member.node.as_str());
    let live = counted(cluster.members.len() as u64, "node is live", "nodes are live");
    let mut checks = vec![Check::ok("cluster", format!("{live}: {}", some(names)))];
    for role in ALL.into_iter().filter(|role| !has_role(cluster, role)) {
        let what = match role {
            "executor" => "no command is applied",
            "timer" => "no timer fires, and nobody sweeps up after crashes",
            "cache-notifier" => {
                "no node learns of a new version of a published workflow: starts run the one before \
                 until a cache-notifier lives"
            }
            _ => "nobody answers HTTP",
        };
        let found = format!("no live node has the role {role}: {what}");
        let advice = format!("start one with `staunch server --role {role}`");
        checks.push(Check::bad("cluster", found, advice));
    }
    checks
}

fn executors(cluster: &Cluster) -> Vec<Check> {
    let unanswered =
        cluster.executors.iter().filter_map(|(node, answer)| Some((node, answer.as_ref().err()?)));
    let each = unanswered.map(|(node, why)| match why {
        Unanswered::Silent => {
            let found = format!("the executor {node} does not answer");
            let advice = "it may hang, be overloaded, or be cut off: see its log and its health";
            Check::bad("cluster", found, advice)
        }
        Unanswered::Refused(reason) => {
            let found = format!("the executor {node} was not asked: {reason}");
            let advice = "run this command with a login of NATS that may ask, such as that of the \
                          role ingress";
            Check::warn("cluster", found, advice)
        }
    });
    each.collect()
}

fn pauses(cluster: &Cluster) -> Vec<Check> {
    let live = |node: &str| cluster.members.iter().any(|member| member.node == node);
    let each = cluster.pauses.iter().map(|(scope, pause)| {
        let reason = pause.reason.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        let by = format!("since {} by {}{reason}", pause.since, pause.by);
        match scope {
            Scope::Cluster => Check::warn(
                "cluster",
                format!("the whole cluster is paused {by}"),
                "end it with `staunch runtime resume`",
            ),
            Scope::Node(node) => {
                let gone = if live(node) { "" } else { ", which is gone," };
                Check::warn(
                    "cluster",
                    format!("the node {node}{gone} is paused {by}"),
                    format!("end it with `staunch runtime resume --node {node}`"),
                )
            }
        }
    });
    each.collect()
}

fn leases(cluster: &Cluster) -> Option<Check> {
    let live = |node: &str| cluster.members.iter().any(|member| member.node == node);
    let gone: Vec<_> = cluster.leases.iter().filter(|(_, held)| !live(&held.owner)).collect();
    if gone.is_empty() {
        let (one, many) = ("instance is held by an executor", "instances are held by executors");
        let found = counted(cluster.leases.len() as u64, one, many);
        return Some(Check::ok("cluster", found));
    }
    let owners: std::collections::BTreeSet<_> =
        gone.iter().map(|(_, held)| held.owner.as_str()).collect();
    let (one, many) =
        ("lease belongs to a node that is gone", "leases belong to nodes that are gone");
    let found = format!("{}: {}", counted(gone.len() as u64, one, many), some(owners.into_iter()));
    let advice = "they end by themselves within seconds; ask again, and if they are still there, \
                  take them away with `staunch lease rm --stale`: that is safe";
    Some(Check::warn("cluster", found, advice))
}

/// The first of these names.
pub(super) fn some<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    let shown = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    if names.len() > NAMED_MAX { format!("{shown} …") } else { shown }
}
