//! The real connectors, and which of them makes a call.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bus::Outside;
use engine::{Call, Operation};
use model::{DefinitionId, limits};
use payloads::Payloads;

use crate::calls::{CallEnd, Calls, ErrorKind};
use crate::depot::Depot;
use crate::file::{self, Files};
use crate::guard::{Guard, Hosts};
use crate::http::Http;
use crate::mail::{MailConfig, Smtp};
use crate::nats::Nats;
use crate::sql::{self, Sql};
use crate::unfit::Unfit;
use engine::outside::NatsConfig;

/// The key of the hosts for every definition that has no list of its own.
const OTHERS: &str = "*";

/// The settings of all connectors.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// HTTP calls may go to private and local addresses.
    pub allow_private_addresses: bool,
    /// The hosts that HTTP calls of a definition may go to, by its id; under `*` those of every
    /// other definition. A definition without a list may call any.
    pub hosts: BTreeMap<String, Vec<String>>,
    /// Names and URLs of databases.
    pub sql: Vec<(String, String)>,
    /// A statement may name a database by its URL.
    pub sql_by_url: bool,
    /// The mail server.
    pub mail: MailConfig,
    /// The folder of all files; files are off if there is none.
    pub files: Option<PathBuf>,
    /// What workflows may use of NATS.
    pub nats: NatsConfig,
}

impl Config {
    /// Refuses settings with which a kind of call could never be made: the URL of a database or of the
    /// mail server, the sender of mails, the file of an authority, the folder of files. Files are read;
    /// nothing is connected and nothing is made.
    ///
    /// # Errors
    /// The setting and the reason, without secrets.
    pub fn check(&self) -> Result<(), Unfit> {
        sql::check(&self.sql)?;
        self.mail.check()?;
        self.files.as_deref().map_or(Ok(()), file::check)
    }
}

/// Makes calls to the world.
pub struct Connectors {
    http: Http,
    hosts: BTreeMap<String, Hosts>,
    sql: Sql,
    mail: Smtp,
    files: Files,
    nats: Nats,
}

impl Connectors {
    /// Connectors with these settings. Nothing is connected before the first call.
    ///
    /// `outside` is NATS, where workflows may use it; `payloads` are where large files rest.
    #[must_use]
    pub fn new(
        config: &Config,
        outside: Option<Arc<dyn Outside>>,
        payloads: Option<Payloads>,
    ) -> Self {
        let depot = Depot::new(payloads);
        let guard = Guard { allow_private: config.allow_private_addresses };
        Self {
            http: Http::new(guard, depot.clone()),
            hosts: config.hosts.iter().map(|(id, hosts)| (id.clone(), Hosts::new(hosts))).collect(),
            sql: Sql::new(&config.sql, config.sql_by_url),
            mail: Smtp::new(config.mail.clone(), depot.clone()),
            files: Files::new(config.files.clone(), depot.clone()),
            nats: Nats::new(outside, config.nats.clone(), depot),
        }
    }
}

impl Connectors {
    /// The hosts that this definition may call; none if it may call any.
    fn hosts(&self, of: &DefinitionId) -> Option<&Hosts> {
        self.hosts.get(of.as_str()).or_else(|| self.hosts.get(OTHERS))
    }
}

#[async_trait]
impl Calls for Connectors {
    async fn perform(&self, call: &Call, of: &DefinitionId, traceparent: Option<&str>) -> CallEnd {
        let wait = call.timeout.unwrap_or(limits::CALL_TIME_MAX).min(limits::CALL_TIME_MAX);
        let work = async {
            match &call.operation {
                Operation::Http(request) => {
                    self.http.send(request, &call.key, traceparent, self.hosts(of)).await
                }
                // Boxed, so that the future of an HTTP call is not as large as theirs.
                Operation::Sql(statement) => Box::pin(self.sql.run(statement, &call.key)).await,
                Operation::Mail(mail) => Box::pin(self.mail.send(mail, &call.key)).await,
                Operation::File(access) => Box::pin(self.files.access(access, &call.key)).await,
                Operation::Nats(nats) => {
                    Box::pin(self.nats.call(nats, &call.key, of, call.timeout, traceparent)).await
                }
            }
        };
        match tokio::time::timeout(wait, work).await {
            Ok(end) => end,
            Err(_) => late(call, wait),
        }
    }
}

fn late(call: &Call, wait: Duration) -> CallEnd {
    let message = format!("no answer within {wait:?}: {}", call.operation.summary());
    CallEnd::error(ErrorKind::Timeout, message)
}
