//! From facts to checks: pure, so that a table of cases tests it.

use std::time::Duration;

use chassis::Certificate;
use model::Timestamp;
use protocol::subject;

use super::check::Check;
use super::facts::{Facts, Host, LostSource, PlaceSeen, Server, SettingsSeen};
use super::{broker, cluster, database};

/// Clocks that differ by more make figures and logs hard to read.
const SKEW_NOTED: Duration = Duration::from_millis(500);
/// Clocks that differ by more make timers seem late, and tokens expire early.
const SKEW_BAD: Duration = Duration::from_secs(5);
/// A process with fewer descriptors refuses connections early.
const DESCRIPTORS_ADVISED: u64 = 4_096;
/// What does not exist and is listened to, if there is more of it.
const SOURCES_SHOWN: usize = 20;
const GIB: u64 = 1024 * 1024 * 1024;

/// Every check, area by area.
pub(super) fn judge(facts: &Facts) -> Vec<Check> {
    let mut checks = broker::checks(&facts.broker, &facts.settings);
    checks.extend(database::checks(&facts.database, &facts.settings));
    checks.extend(clocks(facts));
    checks.extend(home(facts));
    checks.extend(cluster::checks(&facts.cluster, facts.broker.as_ref().ok()));
    // Where nobody knows which nodes live, none is said to be missing.
    let are_unknown = cluster::is_unread(facts.broker.as_ref().ok(), subject::NODES_BUCKET);
    let has_timer = are_unknown
        || facts.cluster.as_ref().is_ok_and(|cluster| cluster::has_role(cluster, "timer"));
    checks.extend(
        facts.work.as_ref().map(|work| database::work(work, has_timer)).unwrap_or_default(),
    );
    checks.extend(facts.payload_places.iter().map(payload_place));
    checks.extend(servers(&facts.servers));
    checks.extend(facts.servers.iter().filter_map(|server| refusal(server, facts)));
    match &facts.lost_sources {
        Ok(lost) => checks.extend(lost.iter().take(SOURCES_SHOWN).map(lost_source)),
        Err(reason) => checks.push(Check::ok(
            "work",
            format!("whether workflows get what they listen to was not looked at: {reason}"),
        )),
    }
    checks.extend(unasked(facts));
    checks.extend(without_tls(&facts.servers, &facts.settings));
    checks.extend(facts.servers.iter().filter_map(clock_of_node));
    checks.extend(facts.servers.iter().filter_map(shared_address));
    checks.extend(host(&facts.host));
    checks.extend(facts.certificates.iter().map(|one| certificate(one, facts.now)));
    checks.extend(settings(&facts.settings, facts.broker.as_ref().is_ok_and(|it| it.wants_login)));
    checks
}

fn clocks(facts: &Facts) -> Vec<Check> {
    let broker = facts.broker.as_ref().ok().and_then(|broker| broker.time);
    let database = facts.database.as_ref().ok().map(|database| database.time);
    let each = [("NATS", broker), ("the database", database)];
    each.into_iter().filter_map(|(of, time)| Some(clock(facts.now, of, time?))).collect()
}

/// Compares this machine's clock with another one, whose answer may be as old as half a round trip.
fn clock(now: Timestamp, of: &str, (time, half): (Timestamp, Duration)) -> Check {
    let apart = now.since(time).max(time.since(now)).saturating_sub(half);
    let found = format!("the clocks of this machine and {of} are {} ms apart", apart.as_millis());
    let advice = "synchronise the clocks of all machines (NTP): timers follow the database's, and \
                  logs and certificates that of each machine";
    match apart {
        apart if apart <= SKEW_NOTED => Check::ok("clock", found),
        apart if apart <= SKEW_BAD => Check::warn("clock", found, advice),
        _ => Check::bad("clock", found, advice),
    }
}

/// Addresses without TLS, unless callers come through a proxy that ends it.
fn without_tls(servers: &[Server], settings: &SettingsSeen) -> Option<Check> {
    let is_plain = |server: &&Server| {
        let is_behind = settings.is_public_url_encrypted && !server.nodes.is_empty();
        server.version.is_ok() && !server.is_here && server.url.starts_with("http://") && !is_behind
    };
    let plain: Vec<_> = servers.iter().filter(is_plain).map(|one| one.url.as_str()).collect();
    if plain.is_empty() {
        return None;
    }
    let found = format!("without TLS keys travel in clear to {}", plain.join(", "));
    let advice = "set --tls-cert and --tls-key, or let a proxy end TLS and name it in --base-url";
    Some(Check::warn("api", found, advice))
}

/// The clock of a node's machine, as the node compares it with the database's.
fn clock_of_node(server: &Server) -> Option<Check> {
    let apart = Duration::from_secs(server.clock_apart?);
    let node = server.node.as_deref().unwrap_or(&server.url);
    let found = format!("the clocks of {node} and the database are {} s apart", apart.as_secs());
    let advice = format!(
        "synchronise the clock of the machine of {node} (NTP): the times in its log, and what it \
         compares with others' clocks (tokens of an issuer, certificates), follow it"
    );
    match apart {
        Duration::ZERO => None,
        apart if apart <= SKEW_BAD => Some(Check::warn("clock", found, advice)),
        _ => Some(Check::bad("clock", found, advice)),
    }
}

/// Live nodes with an address that were not asked, because the caller has named one address.
fn unasked(facts: &Facts) -> Option<Check> {
    let [server] = facts.servers.as_slice() else { return None };
    if !server.nodes.is_empty() {
        return None;
    }
    let members = facts.cluster.as_ref().ok()?.members.iter();
    let others =
        members.filter(|one| one.address.is_some() && Some(&one.node) != server.node.as_ref());
    let others: Vec<_> = others.map(|one| one.node.as_str()).collect();
    // Where the answer names no node, one of them has answered.
    if others.len() <= usize::from(server.node.is_none()) {
        return None;
    }
    let count = others.len();
    let named = cluster::some(others.into_iter());
    let found = match &server.node {
        Some(node) => format!("{node} alone was asked, and not these live nodes: {named}"),
        None => format!("one address alone was asked, and {count} live nodes have one: {named}"),
    };
    // The caller has said so: this is no reason for a warning at each call.
    let how = "leave --server and STAUNCH_SERVER out to ask every live node";
    Some(Check::ok("api", format!("{found} ({how})")))
}

/// A server that gives the caller no more than it gives everybody, and what was not read for that.
fn refusal(server: &Server, facts: &Facts) -> Option<Check> {
    server.refusal.as_ref()?;
    let who = match (server.nodes.as_slice(), &server.node) {
        ([], Some(node)) => node.clone(),
        ([], None) => server.url.clone(),
        (nodes, _) => nodes.join(", "),
    };
    // Metrics name their node. What is listened to is read from any server, and where all refuse from none.
    let unread = match (server.node.is_some(), facts.lost_sources.is_err()) {
        (false, true) => "its metrics, its clock and what workflows listen to were not read",
        (false, false) => "its metrics and clock were not read",
        (true, true) => "what workflows listen to was not read",
        (true, false) if facts.has_key => "only what needs no key was read",
        (true, false) => return None,
    };
    let found = match facts.has_key {
        true => format!("the API key is refused by {who}, so {unread}"),
        false => format!("{who} was asked without an API key, so {unread}"),
    };
    let advice = "give a key that it takes with --api-key or STAUNCH_API_KEY";
    Some(Check::warn("api", found, advice))
}

/// Nodes that cannot be told apart by their addresses: one of them answered for all.
fn shared_address(server: &Server) -> Option<Check> {
    let Server { url, nodes, .. } = server;
    if nodes.len() < 2 {
        return None;
    }
    let found = format!("{} all announce {url}: one of them was asked", nodes.join(", "));
    let advice = "set --node-address on each node to an address that is its own";
    Some(Check::warn("api", found, advice))
}

/// Two databases behind one NATS would take each other's commands.
fn home(facts: &Facts) -> Option<Check> {
    let theirs = facts.cluster.as_ref().ok()?.id.as_ref()?;
    let ours = facts.database.as_ref().ok()?.cluster_id.as_ref()?;
    if theirs == ours {
        return Some(Check::ok(
            "cluster",
            format!("NATS and the database belong to cluster {ours}"),
        ));
    }
    let found = format!("NATS belongs to cluster {theirs}, and the database to cluster {ours}");
    let advice = "correct --nats-url or --database-url; if the other database is gone for good, run \
                  `staunch provision --claim`";
    Some(Check::bad("cluster", found, advice))
}

/// A place where payloads rest.
fn payload_place((place, written): &PlaceSeen) -> Check {
    match written {
        Ok(()) => Check::ok("payloads", format!("payloads can be written to {place}, and read")),
        Err(reason) => {
            let found = format!("payloads cannot be written to {place}, or not be read: {reason}");
            let advice = "correct payload-store, or the permissions and credentials for it: large \
                          files are refused until then";
            Check::bad("payloads", found, advice)
        }
    }
}

/// Something that workflows listen to in vain.
fn lost_source(lost: &LostSource) -> Check {
    let LostSource { source, definitions, refusal } = lost;
    let listens = if definitions.contains(", ") || definitions.ends_with(" more") {
        "listen"
    } else {
        "listens"
    };
    if let Some(reason) = refusal {
        let found =
            format!("{definitions} {listens} to {source}, which the settings refuse: {reason}");
        let advice = "allow it with nats-subjects or nats-buckets, on every node the same, or correct \
                      the workflow (`staunch listener ls`)";
        return Check::warn("work", found, advice);
    }
    let found = format!(
        "{source} does not exist, and {definitions} {listens} to it: no message comes from it"
    );
    let advice = "make it, or correct its name in the workflow: executors look for it again and again \
                  (`staunch listener ls`)";
    Check::warn("work", found, advice)
}

fn servers(servers: &[Server]) -> Vec<Check> {
    let mut checks = Vec::new();
    let here = chassis::version();
    for server in servers {
        let url = &server.url;
        let version = match &server.version {
            Ok(version) => version,
            Err(reason) if server.is_refusing => {
                let advice = "give the key of a caller with --api-key or STAUNCH_API_KEY";
                checks.push(Check::bad(
                    "api",
                    format!("{url} refuses to answer: {reason}"),
                    advice,
                ));
                continue;
            }
            Err(reason) => {
                let advice = "start it, or name another with --server";
                checks.push(Check::bad("api", format!("{url} does not answer: {reason}"), advice));
                continue;
            }
        };
        match &server.unready {
            Some(reason) => checks.push(Check::bad(
                "api",
                format!("{url} is not ready: {reason}"),
                "see the checks of NATS and the database, and the log of this node",
            )),
            None => checks.push(Check::ok("api", format!("{url} is ready, version {version}"))),
        }
        if *version != here {
            let found = format!("{url} runs version {version}, and this program is {here}");
            let advice = "finish the upgrade: two versions side by side are for its duration only";
            checks.push(Check::warn("api", found, advice));
        }
        if server.is_open && !server.is_here {
            let found = format!("{url} lets every caller in: whoever reaches it may do everything");
            let advice = "set --auth api-key (or identity, oidc), or listen on 127.0.0.1";
            checks.push(Check::bad("api", found, advice));
        }
    }
    checks
}

fn host(host: &Host) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some((folder, free, all)) = &host.folder {
        let (gib, percent) = (*free as f64 / GIB as f64, free * 100 / (*all).max(1));
        let found = format!("{gib:.1} GiB are free at {} ({percent} %)", folder.display());
        let advice = "make room: a full disk stops every commit";
        checks.push(match (percent, *free) {
            (_, free) if free < GIB / 4 => Check::bad("host", found, advice),
            (percent, free) if percent < 10 && free < 10 * GIB => {
                Check::warn("host", found, advice)
            }
            _ => Check::ok("host", found),
        });
    }
    if let Some(descriptors) = host.descriptors {
        let found = format!("a process may open {descriptors} files here");
        checks.push(match descriptors < DESCRIPTORS_ADVISED {
            true => Check::warn(
                "host",
                found,
                format!(
                    "raise the limit to {DESCRIPTORS_ADVISED} or more (ulimit -n, LimitNOFILE)"
                ),
            ),
            false => Check::ok("host", found),
        });
    }
    checks
}

fn certificate(certificate: &Certificate, now: Timestamp) -> Check {
    let Certificate { setting, path, expires } = certificate;
    let path = path.display();
    let advice = "replace the file: new connections use it, without a restart";
    let expires = match expires {
        Ok(expires) => *expires,
        Err(reason) => {
            return Check::bad("settings", format!("{setting} {path}: {reason}"), advice);
        }
    };
    let days = expires.since(now).as_secs() / (24 * 60 * 60);
    let found = format!("{setting} {path} expires at {expires}, in {days} days");
    match expires.since(now) {
        left if left >= chassis::EXPIRY_NOTED => Check::ok("settings", found),
        Duration::ZERO => {
            Check::bad("settings", format!("{setting} {path} has expired at {expires}"), advice)
        }
        _ => Check::warn("settings", found, advice),
    }
}

fn settings(settings: &SettingsSeen, has_login: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    if !settings.is_nats_here && !has_login {
        let found = "NATS wants no login, and is not on this machine alone".to_owned();
        let advice = "give Staunch and every client a user of their own: see nats/server.conf";
        checks.push(Check::warn("settings", found, advice));
    }
    if !settings.is_database_here && !settings.is_database_verified {
        let found = "the connection to the database verifies no certificate".to_owned();
        let advice = "add sslmode=verify-full and sslrootcert to the database's URL";
        checks.push(Check::warn("settings", found, advice));
    }
    checks
}
