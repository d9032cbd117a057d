//! `staunch support-bundle`: a zip file with what someone needs who helps: its own settings, versions, the
//! doctor's report, topology, nodes, metrics, the last log lines, dead letters without their bodies. No
//! secrets.

mod contents;
mod scrub;

use std::fs::OpenOptions;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use chassis::{Clock as _, Settings, SystemClock};
use clap::Args;
use serde_json::json;
use zip::write::SimpleFileOptions;

use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

use contents::Entry;
use scrub::Scrubber;

#[derive(Args, Debug)]
pub(crate) struct SupportBundleArgs {
    /// The file to write; `staunch-support-<time>.zip` if not given
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Address of the HTTP API; that of every live node if not given
    #[arg(long, env = "STAUNCH_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Addresses of --admin-listen of nodes, for their last log lines, and their metrics where they have
    /// not the role ingress; separated by commas, at most 64
    #[arg(long, value_delimiter = ',', value_name = "URL")]
    pub(crate) nodes: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Gathers everything and writes the file. What does not answer is named in it.
///
/// # Errors
/// When the file exists or cannot be written.
pub(crate) async fn run(
    file: Option<PathBuf>,
    server: Option<String>,
    nodes: Vec<String>,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    let file = file.unwrap_or_else(|| {
        let time: String =
            SystemClock.now().to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        PathBuf::from(format!("staunch-support-{time}.zip"))
    });
    let out = create(&file)?;
    let scrubber = Scrubber::of(settings);
    let entries = contents::gather(server, nodes, settings).await;
    let entries: Vec<Entry> =
        entries.into_iter().map(|(name, text)| (name, scrubber.clean(&text))).collect();
    write(out, &entries)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", file.display())))?;
    let names: Vec<_> = entries.iter().map(|(name, _)| name.as_str()).collect();
    match format {
        Format::Json => {
            output::json(&json!({"file": file.display().to_string(), "entries": names}))
        }
        Format::Table => {
            names.iter().try_for_each(|name| say::data(name))?;
            say::message(&format!(
                "{} is written; read it before you send it to anybody",
                file.display()
            ));
            Ok(())
        }
    }
}

/// A new file that nobody else reads.
fn create(file: &Path) -> Result<std::fs::File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::AlreadyExists => Kind::Conflict,
            _ => Kind::Failed,
        };
        Failure::new(kind, format!("cannot make {}: {error}", file.display()))
    })
}

fn write(out: impl Write + Seek, entries: &[Entry]) -> Result<(), Box<dyn std::error::Error>> {
    let mut zip = zip::ZipWriter::new(out);
    for (name, text) in entries {
        zip.start_file(name.as_str(), SimpleFileOptions::default())?;
        zip.write_all(text.as_bytes())?;
    }
    zip.finish()?;
    Ok(())
}
