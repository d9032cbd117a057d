//! `staunch label …`: lists, makes and removes labels of definitions, and says which of them a
//! definition has.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::Failure;
use crate::client::{Client, ClientArgs, segment};
use crate::failure::Kind;
use crate::output::{self, Format};

#[derive(Args, Debug)]
pub(crate) struct LabelArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Lists labels, by name
    Ls {
        /// Only those of the newest version of this definition
        #[arg(long, value_name = "ID")]
        definition: Option<String>,
    },
    /// Makes a label
    Add {
        /// Its name; no other label has it, in any case
        name: String,
        /// Its colour, as #rrggbb
        #[arg(long, value_name = "COLOUR")]
        color: Option<String>,
        /// Its purpose
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Removes a label, also from the definitions that have it
    Rm {
        /// Its name or id
        name: String,
    },
    /// Sets the labels of a definition's newest version; later versions take them along
    Set {
        /// The definition's id
        definition: String,
        /// The names or ids of all its labels from now on; none if there are no names
        labels: Vec<String>,
    },
}

/// Runs one of the `label` commands.
///
/// # Errors
/// The server's refusal, or a name that no label has.
pub(crate) async fn run(args: LabelArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    match args.verb {
        Verb::Ls { definition } => {
            let mut labels = all(&client).await?;
            if let Some(definition) = definition {
                let path = path_of(&newest(&client, &definition).await?);
                let has = client.get(&path).await?;
                let has = has.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
                labels.retain(|label| label.get("id").is_some_and(|id| has.contains(id)));
            }
            show(labels, format)
        }
        Verb::Add { name, color, description } => {
            let body = json!({"name": name, "color": color, "description": description});
            let made = client.post("/labels", &body).await?.body;
            output::done(format, &format!("label {} is made", output::text(&made, "name")), &made)
        }
        Verb::Rm { name } => {
            let id = id_of(&all(&client).await?, &name)?;
            client.delete(&format!("/labels/{}", segment(&id))).await?;
            let removed = json!({"id": id, "removed": true});
            output::done(format, &format!("label {name} is removed"), &removed)
        }
        Verb::Set { definition, labels } => {
            let ids = ids_of(&client, &labels).await?;
            let path = path_of(&newest(&client, &definition).await?);
            let kept = client.post(&path, &json!({"labelIds": ids})).await?.body;
            let has = match labels.is_empty() {
                true => "no labels".to_owned(),
                false => format!("the labels {}", labels.join(", ")),
            };
            output::done(format, &format!("{definition} has {has} now"), &kept)
        }
    }
}

/// The ids of the labels with these names or ids.
///
/// # Errors
/// The server's refusal, or a name that no label has.
pub(crate) async fn ids_of(client: &Client, names: &[String]) -> Result<Vec<String>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let labels = all(client).await?;
    names.iter().map(|name| id_of(&labels, name)).collect()
}

async fn all(client: &Client) -> Result<Vec<Value>, Failure> {
    let listed = client.get("/labels").await?;
    Ok(listed.get("items").and_then(Value::as_array).cloned().unwrap_or_default())
}

fn id_of(labels: &[Value], name: &str) -> Result<String, Failure> {
    let normalized = name.trim().to_lowercase();
    let has_name = |label: &&Value| output::text(label, "normalizedName") == normalized;
    let has_id = |label: &&Value| output::text(label, "id") == name;
    let found = labels.iter().find(has_name).or_else(|| labels.iter().find(has_id));
    found.map(|label| output::text(label, "id")).ok_or_else(|| {
        let sentence = format!("there is no label {name}; see `staunch label ls`");
        Failure::new(Kind::NotFound, sentence)
    })
}

/// The id of a definition's newest version.
async fn newest(client: &Client, definition: &str) -> Result<String, Failure> {
    let found = client.get(&format!("/workflow-definitions/{}", segment(definition))).await?;
    Ok(output::text(&found, "id"))
}

fn path_of(version: &str) -> String {
    format!("/workflow-definitions/{}/labels", segment(version))
}

fn show(labels: Vec<Value>, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&Value::Array(labels));
    }
    let rows = labels.iter().map(|label| {
        let text = |name: &str| output::text(label, name);
        vec![text("name"), text("id"), text("color"), text("description")]
    });
    output::table(&["NAME", "ID", "COLOR", "DESCRIPTION"], &rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_found_by_its_name_in_any_case_and_by_its_id() {
        let labels = [
            json!({"id": "1a", "name": "Shop", "normalizedName": "shop"}),
            json!({"id": "shop", "name": "Other", "normalizedName": "other"}),
        ];
        for (name, id) in [("shop", "1a"), (" SHOP ", "1a"), ("1a", "1a"), ("Other", "shop")] {
            assert_eq!(id_of(&labels, name).ok().as_deref(), Some(id), "{name}");
        }
        assert!(id_of(&labels, "none").is_err());
        assert_eq!(path_of("a/b"), "/workflow-definitions/a%2Fb/labels");
    }
}
