//! `staunch app …`: applications in the database, without a server.

use chassis::{Chance as _, Clock as _, SystemChance, SystemClock};
use clap::{Args, Subcommand};
use ingress::{password, secret};
use serde_json::{Value, json};
use store::{Application, Store};

use super::role::{must_exist, note};
use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

#[derive(Args, Debug)]
pub(crate) struct AppArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Creates an application and prints its API key, which is never shown again
    Create {
        /// Its name
        #[arg(value_parser = app_name)]
        name: String,
        /// The ids of its roles
        #[arg(long, value_delimiter = ',', value_name = "IDS")]
        roles: Vec<String>,
    },
    /// Lists applications, without their keys
    Ls,
    /// Removes an application
    Rm {
        /// Its name
        name: String,
    },
}

impl Verb {
    /// The command changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self, Self::Ls)
    }
}

fn app_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    password::check_name(name).map(|()| name.to_owned())
}

/// Runs one of the `app` commands.
///
/// # Errors
/// When the database does not answer, or there is no such application.
pub(crate) async fn run(verb: Verb, store: &dyn Store, format: Format) -> Result<(), Failure> {
    match verb {
        Verb::Create { name, roles } => create(store, name, roles, format).await,
        Verb::Ls => list(&store.applications().await?, format),
        Verb::Rm { name } => {
            let found = store.applications().await?.into_iter().find(|one| one.name == name);
            let Some(found) = found else {
                let why = format!("there is no application {name}; see `staunch app ls`");
                return Err(Failure::new(Kind::NotFound, why));
            };
            store.delete_application(&found.id).await?;
            note(store, "application.delete", &found.id, json!({"name": name})).await?;
            let document = json!({"id": found.id, "name": name, "removed": true});
            output::done(format, &format!("application {name} is removed"), &document)
        }
    }
}

async fn create(
    store: &dyn Store,
    name: String,
    roles: Vec<String>,
    format: Format,
) -> Result<(), Failure> {
    must_exist(store, &roles).await?;
    let taken = |name: &str| {
        let why = format!("there is an application {name} already; use another name");
        Failure::new(Kind::Conflict, why)
    };
    let others = store.applications().await?;
    if let Some(other) = others.iter().find(|other| password::are_alike(&other.name, &name)) {
        return Err(taken(&other.name));
    }
    let client_id = secret::short_id(&SystemChance.new_id());
    let api_key = secret::api_key(&client_id, &SystemChance.seed());
    let application = Application {
        id: SystemChance.new_id(),
        name,
        key_hash: secret::hash(&api_key),
        client_id,
        roles: store::once(roles),
        created_at: SystemClock.now(),
    };
    if !store.create_application(&application).await? {
        return Err(taken(&application.name));
    }
    let details = json!({"name": application.name, "roles": application.roles});
    note(store, "application.create", &application.id, details).await?;
    match format {
        Format::Json => {
            let mut document = shown(&application);
            document["apiKey"] = json!(api_key);
            output::json(&document)
        }
        Format::Table => {
            say::message(&format!(
                "application {} is made; this is the only time that its key is shown",
                application.name
            ));
            output::pairs(&[("client id", application.client_id), ("API key", api_key)])
        }
    }
}

fn list(found: &[Application], format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&Value::Array(found.iter().map(shown).collect()));
    }
    let row = |one: &Application| {
        vec![one.name.clone(), one.id.clone(), one.client_id.clone(), one.roles.join(",")]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    output::table(&["NAME", "ID", "CLIENT ID", "ROLES"], &rows)
}

fn shown(one: &Application) -> Value {
    json!({
        "id": one.id, "name": one.name, "clientId": one.client_id, "roles": one.roles,
        "createdAt": one.created_at
    })
}
