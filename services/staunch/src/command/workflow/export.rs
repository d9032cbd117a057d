//! `staunch workflow export`: definitions as files.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use model::limits::PAGE_ITEMS_MAX;
use serde_json::Value;

use crate::client::{Client, segment};
use crate::document::vocabulary;
use crate::{Failure, output, say};

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// The definitions' ids
    #[arg(required_unless_present = "all", value_name = "ID")]
    ids: Vec<String>,
    /// Every definition
    #[arg(long, conflicts_with = "ids", requires = "to")]
    all: bool,
    /// The form: as Elsa writes it, or short
    #[arg(long = "as", value_enum, default_value_t, value_name = "FORM")]
    form: Form,
    /// The notation: JSON for Elsa's form and YAML for the short form, if not given
    #[arg(long, value_enum, value_name = "NOTATION")]
    notation: Option<Notation>,
    /// Latest, Published or a number
    #[arg(long, default_value = "Latest", value_name = "VERSION")]
    version: String,
    /// A folder: one file for each definition. A single one is written to standard output if it is
    /// not given
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    #[default]
    Elsa,
    Short,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Notation {
    Json,
    Yaml,
}

/// Writes the definitions.
///
/// # Errors
/// When the server does not have one, or a file cannot be written.
pub(crate) async fn run(client: &Client, args: ExportArgs) -> Result<(), Failure> {
    let ids = if args.all { all(client).await? } else { args.ids.clone() };
    if args.to.is_none() && ids.len() > 1 {
        return Err(Failure::usage("several definitions need a folder: name one with --to"));
    }
    let notation = args.notation.unwrap_or(match args.form {
        Form::Elsa => Notation::Json,
        Form::Short => Notation::Yaml,
    });
    for id in &ids {
        let version = segment(&args.version);
        let path = format!("/workflow-definitions/{}/export?versionOptions={version}", segment(id));
        let definition = client.get(&path).await?;
        let document = match args.form {
            Form::Elsa => definition,
            Form::Short => vocabulary().shorten(&definition),
        };
        match (&args.to, notation) {
            (None, Notation::Json) => output::json(&document)?,
            (None, Notation::Yaml) => say::data(shortform::write(&document).trim_end())?,
            (Some(folder), _) => save(folder, id, notation, &document)?,
        }
    }
    Ok(())
}

fn save(folder: &Path, id: &str, notation: Notation, document: &Value) -> Result<(), Failure> {
    let (end, text) = match notation {
        Notation::Json => ("json", format!("{document:#}\n")),
        Notation::Yaml => ("yaml", shortform::write(document)),
    };
    let path = folder.join(format!("{}.{end}", file_name(id)));
    let unwritable = |error| Failure::failed(format!("cannot write {}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    std::fs::write(&path, text).map_err(unwritable)?;
    say::message(&path.display().to_string());
    Ok(())
}

/// The id with everything escaped that leads out of the folder. Two ids never share a name.
fn file_name(id: &str) -> String {
    let name = segment(id);
    match name.strip_prefix('.') {
        Some(rest) => format!("%2E{rest}"),
        None => name,
    }
}

/// The ids of all definitions, one page after the other.
async fn all(client: &Client) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    for page in 0_u64.. {
        let path = format!(
            "/workflow-definitions?versionOptions=Latest&page={page}&pageSize={PAGE_ITEMS_MAX}"
        );
        let found = client.get(&path).await?;
        let items = found.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        ids.extend(items.iter().map(|item| output::text(item, "definitionId")));
        let total = found.get("totalCount").and_then(Value::as_u64).unwrap_or_default();
        if items.is_empty() || u64::try_from(ids.len()).unwrap_or(u64::MAX) >= total {
            break;
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_never_leads_out_of_the_folder() {
        assert_eq!(file_name("order-approval"), "order-approval");
        assert_eq!(file_name("../x"), "%2E.%2Fx");
        assert_eq!(file_name(".."), "%2E.");
        assert_eq!(file_name("a/b ü"), "a%2Fb%20%C3%BC");
    }
}
