//! Checks of the nodes, and of what they share on NATS.

use std::collections::BTreeMap;

use bus::Scope;
use node::BrokerSeen;
use protocol::subject;

use super::broker;
use super::check::Check;
use super::facts::{Cluster, Unanswered};
use crate::output::counted;
use crate::roles::ALL;

/// Names that a line shows.
const NAMED_MAX: usize = 5;
/// What stands for the version of a node that does not say it.
const UNSAID: &str = "one that does not say its number";
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
    let is_unread = |bucket| is_unread(broker, bucket);
    let are_nodes_known = !is_unread(subject::NODES_BUCKET);
    let mut checks = match are_nodes_known {
        true => roles(cluster),
        false => vec![unread("which nodes live is", subject::NODES_BUCKET)],
    };
    checks.extend(versions(cluster).filter(|_| are_nodes_known));
    checks.extend(executors(cluster));
    checks.extend(pauses(cluster, are_nodes_known));
    if is_unread(subject::LEASES_BUCKET) {
        checks.push(unread("which instances are held is", subject::LEASES_BUCKET));
    } else if are_nodes_known {
        checks.extend(leases(cluster));
    }
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

/// Whether nothing that was read of a bucket can be relied on: no server leads it.
pub(super) fn is_unread(broker: Option<&BrokerSeen>, bucket: &str) -> bool {
    broker.is_some_and(|broker| broker::has_no_leader(broker, &format!("KV_{bucket}")))
}

fn unread(what: &str, bucket: &str) -> Check {
    let found = format!("{what} not known: no server leads the bucket {bucket}");
    Check::bad("cluster", found, "see the checks of NATS")
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

/// Nodes of several versions, each version with its nodes.
fn versions(cluster: &Cluster) -> Option<Check> {
    let mut nodes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for member in &cluster.members {
        let version = member.version.as_deref().unwrap_or(UNSAID);
        nodes.entry(version).or_default().push(&member.node);
    }
    if nodes.len() < 2 {
        return None;
    }
    let each = nodes.into_iter().map(|(version, nodes)| {
        let named = some(nodes.into_iter());
        format!("{version} ({named})")
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let found = format!("the live nodes run several versions: {each}");
    let advice = "finish the upgrade: two versions side by side are for its duration only";
    Some(Check::warn("cluster", found, advice))
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

fn pauses(cluster: &Cluster, are_nodes_known: bool) -> Vec<Check> {
    let is_live = |node: &str| cluster.members.iter().any(|member| member.node == node);
    let is_gone = |node: &str| are_nodes_known && !is_live(node);
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
                let gone = if is_gone(node) { ", which is gone," } else { "" };
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

#[cfg(test)]
mod tests {
    use bus::Member;

    use super::*;

    fn of(versions: &[(&str, Option<&str>)]) -> Cluster {
        let members = versions.iter().map(|(node, version)| Member {
            node: (*node).to_owned(),
            roles: Vec::new(),
            started_at: model::Timestamp::from_millis(0),
            address: None,
            version: version.map(str::to_owned),
        });
        Cluster { members: members.collect(), ..Cluster::default() }
    }

    #[test]
    fn nodes_of_several_versions_are_named_with_what_they_run() {
        let found = |nodes: &[(&str, Option<&str>)]| versions(&of(nodes)).map(|check| check.found);
        assert_eq!(found(&[("n1", Some("0.1.0")), ("n2", Some("0.1.0"))]), None);
        assert_eq!(found(&[("n1", None), ("n2", None)]), None);
        let several = [("n1", Some("0.2.0")), ("n2", Some("0.1.0")), ("n3", Some("0.2.0"))];
        assert_eq!(
            found(&several).as_deref(),
            Some("the live nodes run several versions: 0.1.0 (n2), 0.2.0 (n1, n3)")
        );
        // A node of an early version says none, and is another one all the same.
        let early = found(&[("n1", Some("0.2.0")), ("n2", None)]).unwrap();
        assert!(early.ends_with("0.2.0 (n1), one that does not say its number (n2)"), "{early}");
    }

    #[test]
    fn buckets_that_no_server_leads_say_nothing_of_nodes_and_leases() {
        let held = bus::Holding { owner: "a".to_owned(), ..bus::Holding::default() };
        let cluster = Ok(Cluster { leases: vec![("i-1".to_owned(), held)], ..Cluster::default() });
        let streams = ["KV_staunch_nodes", "KV_staunch_leases"].map(|name| node::StreamSeen {
            name: name.to_owned(),
            is_there: true,
            replicas: 3,
            has_no_leader: true,
            ..node::StreamSeen::default()
        });
        let mut broker = BrokerSeen { streams: streams.into(), ..BrokerSeen::default() };
        let found = |broker: &BrokerSeen| {
            let checks = checks(&cluster, Some(broker));
            checks.into_iter().map(|check| check.found).collect::<Vec<_>>().join("; ")
        };
        let said = found(&broker);
        for part in ["which nodes live is not known", "which instances are held is not known"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("no node lives") && !said.contains("gone"), "{said}");
        for stream in &mut broker.streams {
            stream.has_no_leader = false;
        }
        assert!(found(&broker).contains("no node lives"), "{}", found(&broker));
    }
}
