//! What clients of the hub send, before and after the handshake of SignalR.

use anyhow::{Result, ensure};
use futures::{SinkExt as _, StreamExt as _};
use ingress::Config;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use crate::choice::choice;
use crate::node::Place;

const HANDSHAKE: &str = "{\"protocol\":\"json\",\"version\":1}\u{1e}";

thread_local! {
    static PLACE: Result<Place> = Place::new(Config::default);
}

/// The first byte says whether the handshake comes first, and whether the rest is sent as text or
/// as bytes, in one message or in several.
pub(crate) fn run(bytes: &[u8]) -> Result<()> {
    let (first, bytes) = choice(bytes);
    PLACE.with(|place| {
        let place = place.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
        place.with(async |node, _| {
            let url = format!("ws://{}/elsa/hubs/workflow-instance", node.address);
            let (mut socket, _) = connect_async(url).await?;
            if first & 1 == 0 {
                socket.send(Message::text(HANDSHAKE)).await?;
                let answer = socket.next().await;
                ensure!(
                    matches!(&answer, Some(Ok(Message::Text(text))) if text.as_str() == "{}\u{1e}"),
                    "{answer:?}"
                );
            }
            let size = if first & 2 == 0 { bytes.len() } else { bytes.len() / 3 };
            for part in bytes.chunks(size.max(1)) {
                let message = match str::from_utf8(part) {
                    Ok(text) if first & 4 == 0 => Message::text(text),
                    _ => Message::binary(part.to_vec()),
                };
                // The node closes the connection at what it does not understand.
                if socket.send(message).await.is_err() {
                    break;
                }
            }
            drop(socket.close(None).await);
            while let Some(Ok(message)) = socket.next().await {
                if let Message::Text(text) = message {
                    let whole = text.ends_with('\u{1e}');
                    ensure!(whole, "a record without its end: {text}");
                }
            }
            Ok(())
        })
    })
}
