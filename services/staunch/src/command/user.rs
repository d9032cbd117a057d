//! `staunch user …`: users in the database, without a server.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use chassis::{Chance as _, Clock as _, SystemChance, SystemClock};
use clap::{Args, Subcommand};
use ingress::{password, secret};
use serde_json::{Value, json};
use store::{Store, User, UserChange};

use super::role::{ADMINISTRATOR, make_administrator, must_exist, note};
use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

mod own;

pub(crate) use own::{Change, change_password};

#[derive(Args, Debug)]
pub(crate) struct UserArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Creates a user; asks for the password, or reads one line of standard input
    Create {
        /// The name for the login
        #[arg(value_parser = user_name)]
        name: String,
        /// The ids of its roles
        #[arg(long, value_delimiter = ',', value_name = "IDS")]
        roles: Vec<String>,
        /// Gives the role `admin` with all permissions, and creates it if it is missing
        #[arg(long)]
        admin: bool,
        #[command(flatten)]
        from: From,
    },
    /// Lists users, without their passwords
    Ls,
    /// Sets a user's password, and ends all its sessions
    SetPassword {
        /// The user's name
        name: String,
        #[command(flatten)]
        from: From,
    },
    /// Changes a password with the one until now, at a server and without its database
    ChangePassword(Change),
    /// Sets a user's roles
    SetRoles {
        /// The user's name
        name: String,
        /// The ids of all its roles from now on; none if there are no ids
        #[arg(value_delimiter = ',')]
        roles: Vec<String>,
    },
    /// Lets a disabled user log in again
    Enable {
        /// The user's name
        name: String,
    },
    /// Refuses a user's logins, and ends all its sessions
    Disable {
        /// The user's name
        name: String,
    },
    /// Removes a user, and ends all its sessions
    Rm {
        /// The user's name
        name: String,
    },
}

/// The source of a password. It is never on the command line, which other processes can read.
#[derive(Args, Debug)]
pub(crate) struct From {
    /// File with the password; `-` for standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Draws a password and prints it; it is never shown again
    #[arg(long, conflicts_with = "password_file")]
    generate: bool,
}

impl Verb {
    /// The command changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self, Self::Ls)
    }
}

fn user_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    password::check_name(name).map(|()| name.to_owned())
}

/// Runs one of the `user` commands.
///
/// # Errors
/// When the database does not answer, there is no such user, or the password is refused.
pub(crate) async fn run(verb: Verb, store: &dyn Store, format: Format) -> Result<(), Failure> {
    match verb {
        Verb::Create { name, roles, admin, from } => {
            create(store, name, roles, admin, &from, format).await
        }
        Verb::Ls => list(&store.users().await?, format),
        Verb::ChangePassword(change) => change_password(change, format).await,
        Verb::SetPassword { name, from } => set_password(store, &name, &from, format).await,
        Verb::SetRoles { name, mut roles } => {
            roles.retain(|role| !role.is_empty());
            let roles = Some(store::once(roles));
            let change = UserChange { roles, ..UserChange::default() };
            must_exist(store, change.roles.as_deref().unwrap_or_default()).await?;
            changed(store, &name, change, "has these roles now", format).await
        }
        Verb::Enable { name } => {
            let change = UserChange { is_disabled: Some(false), ..UserChange::default() };
            changed(store, &name, change, "is enabled", format).await
        }
        Verb::Disable { name } => {
            let change = UserChange {
                is_disabled: Some(true),
                ends_sessions: true,
                ..UserChange::default()
            };
            changed(store, &name, change, "is disabled, and logged out everywhere", format).await
        }
        Verb::Rm { name } => {
            let user = named(store, &name).await?;
            store.delete_user(&user.id).await?;
            note(store, "user.delete", &user.id, json!({"name": name})).await?;
            let document = json!({"id": user.id, "name": name, "removed": true});
            output::done(format, &format!("user {name} is removed"), &document)
        }
    }
}

async fn create(
    store: &dyn Store,
    name: String,
    mut roles: Vec<String>,
    admin: bool,
    from: &From,
    format: Format,
) -> Result<(), Failure> {
    let users = store.users().await?;
    if let Some(user) = users.iter().find(|user| password::are_alike(&user.name, &name)) {
        return Err(taken(&user.name));
    }
    if admin {
        make_administrator(store).await?;
        if !roles.iter().any(|role| role == ADMINISTRATOR) {
            roles.push(ADMINISTRATOR.to_owned());
        }
    }
    must_exist(store, &roles).await?;
    let (password, is_drawn) = password_of(from)?;
    let user = User {
        id: SystemChance.new_id(),
        name,
        password_hash: hashed(&password)?,
        roles: store::once(roles),
        is_disabled: false,
        generation: 0,
        created_at: SystemClock.now(),
    };
    if !store.create_user(&user).await? {
        return Err(taken(&user.name));
    }
    let details = json!({"name": user.name, "roles": user.roles});
    note(store, "user.create", &user.id, details).await?;
    let sentence = format!("user {} is made", user.name);
    shown_once(&sentence, shown(&user), is_drawn.then_some(password), format)
}

async fn set_password(
    store: &dyn Store,
    name: &str,
    from: &From,
    format: Format,
) -> Result<(), Failure> {
    let user = named(store, name).await?;
    let (password, is_drawn) = password_of(from)?;
    let change = UserChange {
        password_hash: Some(hashed(&password)?),
        ends_sessions: true,
        ..UserChange::default()
    };
    let user = store.change_user(&user.id, &change).await?.ok_or_else(|| unknown(name))?;
    note(store, "user.update", &user.id, json!({"name": name, "password": true})).await?;
    let sentence = format!("user {name} has a new password, and is logged out everywhere");
    shown_once(&sentence, shown(&user), is_drawn.then_some(password), format)
}

async fn changed(
    store: &dyn Store,
    name: &str,
    change: UserChange,
    what: &str,
    format: Format,
) -> Result<(), Failure> {
    let user = named(store, name).await?;
    let user = store.change_user(&user.id, &change).await?.ok_or_else(|| unknown(name))?;
    let details = json!({"name": name, "roles": change.roles, "isDisabled": change.is_disabled});
    note(store, "user.update", &user.id, details).await?;
    output::done(format, &format!("user {name} {what}"), &shown(&user))
}

/// Reports a change; a password that was drawn is data.
fn shown_once(
    sentence: &str,
    mut document: Value,
    drawn: Option<String>,
    format: Format,
) -> Result<(), Failure> {
    let Some(password) = drawn else { return output::done(format, sentence, &document) };
    match format {
        Format::Json => {
            document["password"] = json!(password);
            output::json(&document)
        }
        Format::Table => {
            say::message(&format!("{sentence}; this is the only time that its password is shown"));
            say::data(&password)
        }
    }
}

/// The password, and whether it was drawn.
fn password_of(from: &From) -> Result<(String, bool), Failure> {
    if from.generate {
        return Ok((secret::password(&SystemChance.seed()), true));
    }
    let stdin = std::io::stdin();
    let given = match from.password_file.as_deref() {
        Some(file) if file != Path::new("-") => password::of_file(file),
        None if stdin.is_terminal() => asked(),
        _ => password::of_reader(stdin.lock()),
    };
    let given = given.and_then(|password| password::check(&password).map(|()| password));
    Ok((given.map_err(Failure::usage)?, false))
}

fn ask(text: &str) -> Result<String, String> {
    rpassword::prompt_password(text).map_err(|error| format!("nobody answers: {error}"))
}

/// Asks for a new password twice, without showing it.
fn asked() -> Result<String, String> {
    let password = ask("Password: ")?;
    match ask("The same again: ")? == password {
        true => Ok(password),
        false => Err("the two passwords differ".to_owned()),
    }
}

fn hashed(password: &str) -> Result<String, Failure> {
    let seed = SystemChance.seed();
    password::hash(password, seed.get(..16).unwrap_or(&seed)).map_err(Failure::failed)
}

async fn named(store: &dyn Store, name: &str) -> Result<User, Failure> {
    store.user_named(name).await?.ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Failure {
    Failure::new(Kind::NotFound, format!("there is no user {name}; see `staunch user ls`"))
}

fn taken(name: &str) -> Failure {
    Failure::new(Kind::Conflict, format!("there is a user {name} already; use another name"))
}

fn list(users: &[User], format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&Value::Array(users.iter().map(shown).collect()));
    }
    let row = |user: &User| {
        let state = if user.is_disabled { "disabled" } else { "" }.to_owned();
        vec![user.name.clone(), user.id.clone(), user.roles.join(","), state]
    };
    let rows: Vec<Vec<String>> = users.iter().map(row).collect();
    output::table(&["NAME", "ID", "ROLES", "STATE"], &rows)
}

fn shown(user: &User) -> Value {
    json!({
        "id": user.id, "name": user.name, "roles": user.roles, "isDisabled": user.is_disabled,
        "createdAt": user.created_at
    })
}
