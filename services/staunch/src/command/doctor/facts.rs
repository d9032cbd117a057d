//! What was asked, and what was answered.

use std::path::PathBuf;

use bus::{Holding, Member, Pause, Scope};
use model::Timestamp;
use node::{BrokerSeen, DatabaseSeen};
use protocol::Runtime;

/// All answers. What was not answered is a text with the reason.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The time of this machine.
    pub(crate) now: Timestamp,
    pub(crate) settings: SettingsSeen,
    pub(crate) broker: Result<BrokerSeen, String>,
    pub(crate) cluster: Result<Cluster, String>,
    /// None if NATS does not answer.
    pub(crate) payload_places: Vec<PlaceSeen>,
    pub(crate) database: Result<DatabaseSeen, String>,
    /// None if the database cannot be used with this program.
    pub(crate) work: Option<Result<Work, String>>,
    /// The caller has given a key.
    pub(crate) has_key: bool,
    /// One for each address that was asked.
    pub(crate) servers: Vec<Server>,
    /// What workflows listen to in vain, as a server says it, or why all refuse to.
    pub(crate) lost_sources: Result<Vec<LostSource>, String>,
    pub(crate) host: Host,
    /// The certificates that the settings name.
    pub(crate) certificates: Vec<chassis::Certificate>,
}

/// A place where payloads rest outside of the database, and the reason if it cannot be written.
pub(crate) type PlaceSeen = (String, Result<(), String>);

/// The settings that the checks look at.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingsSeen {
    /// Without passwords.
    pub(crate) nats_url: String,
    /// Without passwords.
    pub(crate) database_url: String,
    /// All its servers are on this machine.
    pub(crate) is_nats_here: bool,
    /// The database is on this machine.
    pub(crate) is_database_here: bool,
    /// Callers reach the API by an `https://` address, that of a proxy perhaps.
    pub(crate) is_public_url_encrypted: bool,
    /// The connection to the database verifies the server's certificate.
    pub(crate) is_database_verified: bool,
}

/// What the buckets and streams have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    pub(crate) members: Vec<Member>,
    /// Each live executor with its answer.
    pub(crate) executors: Vec<(String, Result<Runtime, Unanswered>)>,
    pub(crate) leases: Vec<(String, Holding)>,
    pub(crate) pauses: Vec<(Scope, Pause)>,
    pub(crate) dead_letters: u64,
    /// The cluster that NATS belongs to; none before its first node.
    pub(crate) id: Option<String>,
}

/// Why there is no answer of an executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It is silent.
    Silent,
    /// The question did not reach it: NATS has refused it, for this reason.
    Refused(String),
}

/// What waits in the database. Counts end at a limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    /// The database's time.
    pub(crate) now: Timestamp,
    /// The time of the oldest accepted command that is not applied, and of all of them the number.
    pub(crate) unapplied: (Option<Timestamp>, u64),
    /// Starts that a sweep should have published again.
    pub(crate) unstarted: u64,
    /// The oldest timer that is due, and their number.
    pub(crate) overdue: (Option<Timestamp>, u64),
    /// Messages that were committed longer ago and are not published.
    pub(crate) unpublished: u64,
}

/// A server of the HTTP API.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) url: String,
    /// The live nodes that announce this address; none if the caller named it.
    pub(crate) nodes: Vec<String>,
    /// The node that answered, as its metrics name it.
    pub(crate) node: Option<String>,
    /// Whole seconds between the clock of its machine and the database's, by its metrics.
    pub(crate) clock_apart: Option<u64>,
    /// Its version, or why it does not answer.
    pub(crate) version: Result<String, String>,
    /// It does not take the key of the caller, or that may not ask it.
    pub(crate) is_refusing: bool,
    /// Why it gives the caller no more than it gives everybody.
    pub(crate) refusal: Option<String>,
    /// Why it is not ready.
    pub(crate) unready: Option<String>,
    /// It lets callers without credentials in.
    pub(crate) is_open: bool,
    /// Its address is of this machine alone.
    pub(crate) is_here: bool,
}

/// A stream, a bucket, an object store or a subject whose messages do not reach workflows that listen to
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostSource {
    /// Its kind and its name.
    pub(crate) source: String,
    /// These definitions.
    pub(crate) definitions: String,
    /// Why the settings do not let them use it; none if it does not exist.
    pub(crate) refusal: Option<String>,
}

/// This machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// The folder of the data, its free bytes and all its bytes.
    pub(crate) folder: Option<(PathBuf, u64, u64)>,
    /// The number of files that a process may open.
    pub(crate) descriptors: Option<u64>,
}
