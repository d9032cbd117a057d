//! `staunch role …`: roles in the database, without a server.

use chassis::{Clock as _, SystemClock};
use clap::{Args, Subcommand};
use ingress::password;
use model::limits::KEY_PERMISSIONS_MAX;
use serde_json::{Value, json};
use store::{Audit, AuditOutcome, Role, RoleChange, Store};

use super::key::permission;
use crate::Failure;
use crate::failure::Kind;
use crate::output::{self, Format};

/// Refuses the setting for the roles of a server where the roles of a holder are meant.
///
/// # Errors
/// When `--role` is given.
pub(crate) fn check_setting(settings: &chassis::Args) -> Result<(), Failure> {
    if settings.role.is_none() {
        return Ok(());
    }
    let text =
        "--role is the setting for the roles of a server: give the ids of roles with --roles";
    Err(Failure::usage(text.to_owned()))
}

/// The id of the role with all permissions.
pub(super) const ADMINISTRATOR: &str = "admin";

#[derive(Args, Debug)]
pub(crate) struct RoleArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Creates a role
    Create {
        /// Its id: lowercase letters, digits and dashes
        #[arg(value_parser = role_id)]
        id: String,
        /// Its name; the id if not given
        #[arg(long, value_parser = role_name)]
        name: Option<String>,
        /// Permissions, such as read:* or exec:workflow-definitions; * for all
        #[arg(long, required = true, value_delimiter = ',', value_name = "LIST", value_parser = permission)]
        permissions: Vec<String>,
    },
    /// Lists roles
    Ls,
    /// Changes a role; its users have the new permissions with their next request
    Set {
        /// Its id
        id: String,
        /// Its new name
        #[arg(long, value_parser = role_name)]
        name: Option<String>,
        /// All its permissions from now on
        #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = permission)]
        permissions: Option<Vec<String>>,
    },
    /// Removes a role that nobody has
    Rm {
        /// Its id
        id: String,
    },
}

impl Verb {
    /// The command changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self, Self::Ls)
    }
}

fn role_id(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || text.len() > password::NAME_BYTES_MAX || !text.chars().all(is_plain) {
        return Err("use lowercase letters, digits and dashes".to_owned());
    }
    Ok(text.to_owned())
}

fn role_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    password::check_name(name).map(|()| name.to_owned())
}

/// Runs one of the `role` commands.
///
/// # Errors
/// When the database does not answer, or there is no such role.
pub(crate) async fn run(verb: Verb, store: &dyn Store, format: Format) -> Result<(), Failure> {
    match verb {
        Verb::Create { id, name, permissions } => {
            few_enough(&permissions)?;
            let name = name.unwrap_or_else(|| id.clone());
            let permissions = store::once(permissions);
            let role = Role { id, name, permissions, created_at: SystemClock.now() };
            create(store, &role, format).await
        }
        Verb::Ls => list(&store.roles().await?, format),
        Verb::Set { id, name, permissions } => {
            few_enough(permissions.as_deref().unwrap_or_default())?;
            if let Some(name) = &name {
                let role = store.roles_of(std::slice::from_ref(&id)).await?.pop();
                if role.is_some_and(|role| role.name != *name) {
                    must_differ(store, &id, name).await?;
                }
            }
            let change = RoleChange { name, permissions: permissions.map(store::once) };
            let role = store.change_role(&id, &change).await?.ok_or_else(|| unknown(&id))?;
            let details = json!({"name": change.name, "permissions": change.permissions});
            note(store, "role.update", &id, details).await?;
            output::done(format, &format!("role {id} is changed"), &shown(&role))
        }
        Verb::Rm { id } => remove(store, &id, format).await,
    }
}

async fn create(store: &dyn Store, role: &Role, format: Format) -> Result<(), Failure> {
    must_differ(store, &role.id, &role.name).await?;
    if !store.create_role(role).await? {
        let why = format!("there is a role {} already; change it with `staunch role set`", role.id);
        return Err(Failure::new(Kind::Conflict, why));
    }
    note(store, "role.create", &role.id, json!({"permissions": role.permissions})).await?;
    output::done(format, &format!("role {} is made", role.id), &shown(role))
}

/// Refuses a name that people would take for that of another role.
async fn must_differ(store: &dyn Store, id: &str, name: &str) -> Result<(), Failure> {
    let is_like = |role: &Role| role.id != id && password::are_alike(&role.name, name);
    match store.roles().await?.into_iter().find(is_like) {
        None => Ok(()),
        Some(Role { name, id, .. }) => {
            let why =
                format!("the role {id} has the name {name} already; give another with --name");
            Err(Failure::new(Kind::Conflict, why))
        }
    }
}

async fn remove(store: &dyn Store, id: &str, format: Format) -> Result<(), Failure> {
    let holders = store.role_holders(id).await?;
    if !holders.is_empty() {
        let some = holders.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        let why = format!("{} have the role {id}: {some}; take it from them first", holders.len());
        return Err(Failure::new(Kind::Conflict, why));
    }
    if !store.delete_role(id).await? {
        return Err(unknown(id));
    }
    note(store, "role.delete", id, Value::Null).await?;
    output::done(format, &format!("role {id} is removed"), &json!({"id": id, "removed": true}))
}

/// Creates the role with all permissions if it is missing. One that is there stays as it is.
///
/// # Errors
/// When the database does not answer.
pub(super) async fn make_administrator(store: &dyn Store) -> Result<(), Failure> {
    let role = Role {
        id: ADMINISTRATOR.to_owned(),
        name: "Administrator".to_owned(),
        permissions: vec!["*".to_owned()],
        created_at: SystemClock.now(),
    };
    store.create_role(&role).await?;
    Ok(())
}

/// Refuses roles that do not exist.
///
/// # Errors
/// Not found, with the id.
pub(super) async fn must_exist(store: &dyn Store, ids: &[String]) -> Result<(), Failure> {
    let known = store.roles_of(ids).await?;
    match ids.iter().find(|id| !known.iter().any(|role| role.id == **id)) {
        None => Ok(()),
        Some(id) => Err(unknown(id)),
    }
}

/// Writes an entry of the audit log.
///
/// # Errors
/// When the database does not answer.
pub(super) async fn note(
    store: &dyn Store,
    what: &str,
    target: &str,
    details: Value,
) -> Result<(), Failure> {
    debug_assert!(store::AUDITED.contains(&what), "add {what} to store::AUDITED");
    let entry = Audit {
        at: SystemClock.now(),
        who: "command line".to_owned(),
        what: what.to_owned(),
        target: target.to_owned(),
        details,
        address: None,
        outcome: AuditOutcome::Done,
    };
    Ok(store.audit(entry).await?)
}

fn few_enough(permissions: &[String]) -> Result<(), Failure> {
    match permissions.len() > KEY_PERMISSIONS_MAX {
        true => {
            Err(Failure::usage(format!("a role has at most {KEY_PERMISSIONS_MAX} permissions")))
        }
        false => Ok(()),
    }
}

fn unknown(id: &str) -> Failure {
    Failure::new(Kind::NotFound, format!("there is no role {id}; see `staunch role ls`"))
}

fn list(roles: &[Role], format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&Value::Array(roles.iter().map(shown).collect()));
    }
    let row = |role: &Role| vec![role.id.clone(), role.name.clone(), role.permissions.join(",")];
    let rows: Vec<Vec<String>> = roles.iter().map(row).collect();
    output::table(&["ID", "NAME", "PERMISSIONS"], &rows)
}

fn shown(role: &Role) -> Value {
    json!({
        "id": role.id, "name": role.name, "permissions": role.permissions,
        "createdAt": role.created_at
    })
}
