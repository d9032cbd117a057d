//! The accounts: that of Staunch, with a user for each role, and one for each kind of client.
//!
//! A client has an account of its own because permissions do not contain it in that of Staunch:
//! nats-server sends its answers to the subject that a client names, with rights of its own, and that
//! may be one that deletes a stream. In another account the same subject leads nowhere.

use bus::Error;
use serde_json::{Value, json};

use super::account::{Account, Export, User};
use super::client::{self, Objects, Worker};
use super::grant::Grant;
use super::workflows::{self, Used};
use super::{role, text};

/// The account that has the streams and buckets.
const STAUNCH: &str = "STAUNCH";
const STARTS: &str = "starts, resumes and cancels instances, raises events";
const WATCHES: &str = "hears lifecycle events and journals as they come";
const WORKS: &str = "takes the tasks of one type, and sends results";
/// The largest number of types of tasks.
const WORKERS_MAX: usize = 1_000;

/// All accounts, that of Staunch first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accounts {
    pub(super) staunch: Account,
    pub(super) clients: Vec<Account>,
}

impl Accounts {
    /// The accounts of a cluster with workers for these types of tasks: `Ship` is version 1 of a type,
    /// `Ship@2` version 2. Versions of one type have one user. No client puts objects.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when two types, or too many, would have the same user.
    pub fn new(kinds: &[&str]) -> Result<Self, Error> {
        Self::of(kinds, Objects::None)
    }

    /// The same, and starters and workers put objects that their commands name. They can replace and remove
    /// each other's.
    ///
    /// # Errors
    /// As [`Accounts::new`].
    pub fn with_objects(kinds: &[&str]) -> Result<Self, Error> {
        Self::of(kinds, Objects::Put)
    }

    /// The same, and executors may do what workflows do with these names in NATS.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when there are too many names, or one that a configuration cannot have.
    pub fn for_workflows(mut self, used: &Used) -> Result<Self, Error> {
        let grant = workflows::grant(used)?;
        let runs = |user: &&mut User| [role::EXECUTOR, role::NODE].contains(&user.name.as_str());
        for user in self.staunch.users.iter_mut().filter(runs) {
            user.grant.publishes(&grant.publish);
            user.grant.subscribes(&grant.subscribe);
        }
        Ok(self)
    }

    fn of(kinds: &[&str], objects: Objects) -> Result<Self, Error> {
        if kinds.len() > WORKERS_MAX {
            return Err(Error::Corrupt(format!("more than {WORKERS_MAX} types of tasks")));
        }
        let mut clients = vec![
            outside("STARTERS", "starter", STARTS, client::starter("starter", objects)),
            outside("WATCHERS", "watcher", WATCHES, client::watcher()),
        ];
        let mut workers: Vec<Worker> = Vec::new();
        for kind in kinds {
            let worker = Worker::of(kind)?;
            match workers.iter_mut().find(|known| known.name == worker.name) {
                Some(known) if known.task_type == worker.task_type => {
                    known.versions.extend(worker.versions);
                }
                Some(known) => {
                    return Err(Error::Corrupt(format!(
                        "the types of tasks {:?} and {:?} would both have the user {:?}: rename one",
                        known.task_type, worker.task_type, worker.name
                    )));
                }
                None => workers.push(worker),
            }
        }
        for worker in workers {
            let name = shouted(&worker.name);
            let mut account = outside(&name, &worker.name, WORKS, worker.exports(objects));
            // It is a service of NATS, though none of the other accounts hears it.
            account.users.iter_mut().for_each(|user| user.grant.subscribes([role::SERVICES]));
            clients.push(account);
        }
        Ok(Self { staunch: staunch()?, clients })
    }

    /// The block `accounts` of nats-server's configuration.
    #[must_use]
    pub fn text(&self) -> String {
        text::write(self)
    }

    /// What an installation that has the other users needs for these workers.
    #[must_use]
    pub fn text_of_workers(&self) -> String {
        text::of_workers(self)
    }

    /// The same for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let users = self.all().flat_map(|account| {
            account.users.iter().map(move |user| {
                json!({
                    "account": account.name, "user": user.name, "passwordVariable": user.variable,
                    "publish": user.grant.publish, "subscribe": user.grant.subscribe,
                })
            })
        });
        json!({ "users": users.collect::<Vec<_>>() })
    }

    /// Every account.
    pub fn all(&self) -> impl Iterator<Item = &Account> {
        std::iter::once(&self.staunch).chain(&self.clients)
    }
}

fn staunch() -> Result<Account, Error> {
    let mut users = Vec::new();
    for name in role::ROLES {
        users.push(user(name, format!("The role {name}."), role::of(name, &[name])?));
    }
    let node = role::of(role::NODE, &role::ROLES)?;
    users.push(user(role::NODE, "A process with several roles.".to_owned(), node));
    let admin = "Operators and the command line: provision, dead letters, every stream.";
    users.push(user(role::ADMIN, admin.to_owned(), role::admin()));
    let purpose = "the processes of Staunch, with its streams and buckets";
    Ok(Account { name: STAUNCH.to_owned(), purpose, users, imports: Vec::new() })
}

fn outside(name: &str, user_name: &str, purpose: &'static str, imports: Vec<Export>) -> Account {
    let grant = client::grant(user_name, &imports);
    let says = format!("Its clients listen below _INBOX.{user_name}. (the inbox prefix).");
    let users = vec![user(user_name, says, grant)];
    Account { name: name.to_owned(), purpose, users, imports }
}

fn user(name: &str, purpose: String, grant: Grant) -> User {
    let variable = format!("{STAUNCH}_NATS_{}_PASSWORD", shouted(name));
    User { name: name.to_owned(), purpose, variable, grant }
}

/// `worker-ship` becomes `WORKER_SHIP`.
fn shouted(name: &str) -> String {
    name.replace('-', "_").to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::permissions::pattern::covers;

    #[test]
    fn every_user_has_a_variable_of_its_own() {
        let accounts = Accounts::new(&["Ship", "Charge Card"]).unwrap();
        let users: Vec<_> = accounts.all().flat_map(|account| &account.users).collect();
        let variables: BTreeSet<_> = users.iter().map(|user| user.variable.as_str()).collect();
        assert_eq!(variables.len(), users.len());
        assert!(variables.contains("STAUNCH_NATS_WORKER_CHARGE_CARD_PASSWORD"), "{variables:?}");
    }

    #[test]
    fn types_of_tasks_with_the_same_user_are_refused() {
        let error = Accounts::new(&["Ship it", "ship-it"]).unwrap_err().to_string();
        assert!(error.contains("worker-ship-it"), "{error}");
        assert!(Accounts::new(&vec!["x"; WORKERS_MAX + 1]).is_err());
    }

    #[test]
    fn versions_of_one_type_have_one_user() {
        let accounts = Accounts::new(&["Ship", "Ship@2"]).unwrap();
        let account = accounts.clients.last().unwrap();
        assert_eq!((account.name.as_str(), accounts.clients.len()), ("WORKER_SHIP", 3));
        for version in [1, 2] {
            let next = format!("$JS.API.CONSUMER.MSG.NEXT.STAUNCH_TASKS.task-Ship-{version}");
            assert!(account.imports.iter().any(|it| it.subject == next), "{next}");
        }
    }

    #[test]
    fn the_user_of_all_roles_may_do_what_each_role_may() {
        let accounts = Accounts::new(&[]).unwrap();
        let find = |name: &str| accounts.staunch.users.iter().find(|it| it.name == name).unwrap();
        let node = &find(role::NODE).grant;
        for name in role::ROLES {
            let grant = &find(name).grant;
            assert!(grant.publish.is_subset(&node.publish), "{name}");
            let own = role::answers(name);
            let heard = grant.subscribe.iter().filter(|subject| **subject != own);
            assert!(heard.into_iter().all(|subject| node.subscribe.contains(subject)), "{name}");
        }
    }

    #[test]
    fn what_workflows_use_is_for_those_that_run_them() {
        let used = Used { streams: vec!["ORDERS".to_owned()], ..Used::default() };
        let before = Accounts::new(&["Ship"]).unwrap();
        let after = before.clone().for_workflows(&used).unwrap();
        let users = before.all().flat_map(|it| &it.users).zip(after.all().flat_map(|it| &it.users));
        let changed = users.filter(|(before, after)| before != after);
        let changed: Vec<_> = changed.map(|(_, user)| user.name.as_str()).collect();
        assert_eq!(changed, [role::EXECUTOR, role::NODE]);
        assert!(after.text().contains("\"$JS.API.CONSUMER.MSG.NEXT.ORDERS.*\""));
        assert_eq!(before.clone().for_workflows(&Used::default()).unwrap(), before);
    }

    #[test]
    fn no_client_gets_more_than_its_subjects() {
        for account in &Accounts::new(&["Ship"]).unwrap().clients {
            for forbidden in [
                "staunch.cmd.alter.x",
                "staunch.cmd.perform.x",
                "staunch.cache.changed",
                "$KV.staunch_leases.x",
                "$JS.API.STREAM.DELETE.STAUNCH_COMMANDS",
                "$JS.API.CONSUMER.CREATE.STAUNCH_TASKS",
                "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_COMMANDS.executor",
                "$JS.ACK.STAUNCH_COMMANDS.executor.1.1.1.1.1",
                "$SYS.REQ.SERVER.PING",
                "$O.staunch_payloads.C.x",
                "$O.staunch_payloads.M.x",
                "$JS.API.STREAM.INFO.OBJ_staunch_payloads",
            ] {
                let imported = account.imports.iter().any(|it| covers(&it.subject, forbidden));
                assert!(!imported, "{} {forbidden}", account.name);
            }
        }
    }
}
