//! `staunch archive …`: lists and reads the instances that retention has archived.

use std::path::Path;

use archive::{Archive, Error, Line};
use chassis::Settings;
use clap::{Args, Subcommand};
use model::InstanceId;
use serde_json::json;

use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

#[derive(Args, Debug)]
pub(crate) struct ArchiveArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Lists the files, oldest first
    Ls {
        /// Of this definition
        #[arg(long, value_name = "ID")]
        definition: Option<String>,
    },
    /// Prints an instance as a file that `staunch instance import` reads
    Get {
        /// Its id
        id: String,
    },
    /// Prints the instances of a file, one a line
    Cat {
        /// Its name, as `ls` shows it
        file: String,
    },
}

/// Runs one of the `archive` commands.
///
/// # Errors
/// When `archive-to` is not set, or the archive does not answer or have what is asked for.
pub(crate) async fn run(verb: Verb, settings: &Settings, format: Format) -> Result<(), Failure> {
    let Some(place) = &settings.archive_to else {
        let advice =
            "there is no archive: name it with --archive-to, a folder or s3://bucket/prefix";
        return Err(Failure::usage(advice));
    };
    must_exist(place)?;
    let archive = Archive::open(place).map_err(failure)?;
    match verb {
        Verb::Ls { definition } => list(&archive, definition, format).await,
        Verb::Get { id } => {
            let id = InstanceId::parse(&id).map_err(|error| Failure::usage(error.to_string()))?;
            output::json(&json!(archive.instance(&id).await.map_err(failure)?))
        }
        Verb::Cat { file } => {
            let lines = archive.file(&file).await.map_err(failure)?;
            lines.iter().try_for_each(|line: &Line| say::data(&json!(line).to_string()))
        }
    }
}

/// Refuses a folder that is not there: to open it would make an empty archive.
fn must_exist(place: &str) -> Result<(), Failure> {
    Archive::check(place).map_err(failure)?;
    if place.contains("://") || Path::new(place).is_dir() {
        return Ok(());
    }
    let message = format!("there is no archive: {place} is not a folder; correct --archive-to");
    Err(Failure::new(Kind::NotFound, message))
}

async fn list(archive: &Archive, of: Option<String>, format: Format) -> Result<(), Failure> {
    let of = of.map(Into::into);
    let manifests = archive.list(of.as_ref()).await.map_err(failure)?;
    if format == Format::Json {
        return output::json(&json!(manifests));
    }
    let rows: Vec<Vec<String>> = manifests
        .iter()
        .map(|manifest| {
            vec![
                manifest.file.clone(),
                manifest.definition_id.to_string(),
                manifest.instances.len().to_string(),
                manifest.bytes.to_string(),
                manifest.written_at.to_string(),
            ]
        })
        .collect();
    output::table(&["FILE", "DEFINITION", "INSTANCES", "BYTES", "WRITTEN"], &rows)
}

fn failure(error: Error) -> Failure {
    let kind = match error {
        Error::Place(..) => Kind::Usage,
        Error::Unavailable(_) => Kind::Unavailable,
        Error::NotFound(_) => Kind::NotFound,
        Error::Corrupt(..) => Kind::Failed,
    };
    Failure::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_refused_and_not_made() {
        let here = tempfile::tempdir().unwrap();
        let missing = here.path().join("archive");
        let refused = must_exist(missing.to_str().unwrap()).unwrap_err();
        assert_eq!(refused.kind, Kind::NotFound, "{refused}");
        assert!(!missing.exists());
        assert!(must_exist(here.path().to_str().unwrap()).is_ok());
        assert!(must_exist("s3://bucket/prefix").is_ok());
        assert_eq!(must_exist("gs://bucket").unwrap_err().kind, Kind::Usage);
    }
}
