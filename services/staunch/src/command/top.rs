//! `staunch top`: what the nodes do, each second, from their metrics and the API.

mod frame;
mod sample;

use std::io::IsTerminal as _;
use std::time::Duration;

use clap::Args;

use crate::client::ClientArgs;
use crate::output::Format;
use crate::{Failure, say};

use frame::Frame;
use sample::Sampler;

#[derive(Args, Debug)]
pub(crate) struct TopArgs {
    /// Shows one frame and ends
    #[arg(long)]
    once: bool,
    /// Seconds between two frames
    #[arg(
        long,
        default_value_t = 1,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=3_600)
    )]
    every: u64,
    /// Further addresses with metrics, such as those of --admin-listen of nodes without the role
    /// ingress, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "URL")]
    nodes: Vec<String>,
    #[command(flatten)]
    client: ClientArgs,
}

/// Shows frames until Ctrl-C, or one of them.
///
/// # Errors
/// When the server does not answer at the beginning, or refuses.
pub(crate) async fn run(args: TopArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    let mut sampler = Sampler::new(client, &args.client, args.nodes)?;
    let mut before = sampler.sample().await?;
    let is_page = format == Format::Table && !args.once && std::io::stdout().is_terminal();
    let _page = is_page.then(say::Page::open).transpose()?;
    let every = Duration::from_secs(args.every);
    loop {
        let is_over = tokio::select! {
            ended = tokio::signal::ctrl_c() => {
                ended.map_err(|error| Failure::failed(format!("no signals: {error}")))?;
                true
            }
            () = tokio::time::sleep(every) => false,
        };
        if is_over {
            return Ok(());
        }
        let now = match sampler.sample().await {
            Ok(now) => now,
            Err(failure) if !args.once => before.silent(&failure),
            Err(failure) => return Err(failure),
        };
        let frame = Frame::between(&before, &now);
        match format {
            Format::Json if args.once => say::json(&frame.document())?,
            Format::Json => say::json_line(&frame.document())?,
            Format::Table if is_page => say::screen(&fitted(&frame.lines()))?,
            Format::Table => frame.lines().iter().try_for_each(|line| say::data(line))?,
        }
        if args.once {
            return Ok(());
        }
        before = now;
    }
}

/// The lines as far as the terminal has room.
fn fitted(lines: &[String]) -> Vec<String> {
    let (rows, columns) = size();
    let cut = |line: &String| line.chars().take(columns).collect();
    lines.iter().take(rows.saturating_sub(1)).map(cut).collect()
}

#[cfg(unix)]
fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_row > 0 => (size.ws_row.into(), size.ws_col.into()),
        _ => USUAL_SIZE,
    }
}

#[cfg(not(unix))]
fn size() -> (usize, usize) {
    USUAL_SIZE
}

/// Rows and columns of a terminal that does not say them.
const USUAL_SIZE: (usize, usize) = (24, 80);
