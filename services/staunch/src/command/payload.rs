//! `staunch payload …`: large contents, kept before a start names them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use futures::StreamExt as _;
use tokio::fs::File;
use tokio_util::io::ReaderStream;

use crate::client::{ClientArgs, segment};
use crate::output::{self, Format};
use crate::{Failure, say};

#[derive(Args, Debug)]
pub(crate) struct PayloadArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Keeps a file, and prints the value that names it: for inputs and variables
    Put {
        /// The file
        file: PathBuf,
        /// Its media type
        #[arg(long, default_value = "application/octet-stream", value_name = "TYPE")]
        content_type: String,
    },
    /// Writes a payload to a file, or to standard output
    Get {
        /// Its name, `sha256-…`
        hash: String,
        /// The file
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
}

/// Runs one of the `payload` commands.
///
/// # Errors
/// The refusal of the server; the file cannot be read or written.
pub(crate) async fn run(args: PayloadArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    match args.verb {
        Verb::Put { file, content_type } => {
            let opened = File::open(&file).await.map_err(|error| {
                Failure::usage(format!("cannot read {}: {error}", file.display()))
            })?;
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let name = name.replace(['"', '\\'], "_");
            let disposition = format!("attachment; filename=\"{name}\"");
            let headers =
                [("Content-Type", content_type.as_str()), ("Content-Disposition", &disposition)];
            let body = reqwest::Body::wrap_stream(ReaderStream::new(opened));
            let kept = client.upload("/payloads", &headers, body).await?.body;
            match format {
                Format::Json => output::json(&kept),
                // In one line, as a value in other commands.
                Format::Table => say::data(&kept.to_string()),
            }
        }
        Verb::Get { hash, to } => {
            let answer = client.follow(&format!("/payloads/{}", segment(&hash)), None).await?;
            let mut parts = answer.bytes_stream();
            let target = to.as_deref().unwrap_or(Path::new("-"));
            let mut out: Box<dyn std::io::Write> = match &to {
                Some(path) => {
                    let file = std::fs::File::create(path);
                    Box::new(file.map_err(|error| broken(path, &error))?)
                }
                None => Box::new(std::io::stdout().lock()),
            };
            while let Some(part) = parts.next().await {
                let part = part.map_err(|error| {
                    Failure::failed(format!(
                        "the payload broke off, its bytes are not whole: {error}"
                    ))
                })?;
                out.write_all(&part).map_err(|error| broken(target, &error))?;
            }
            out.flush().map_err(|error| broken(target, &error))
        }
    }
}

fn broken(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("{}: {error}", path.display()))
}
